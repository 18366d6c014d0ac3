"""What a Stop button carries: whom it is for, and which turn it ends (pure)."""

from bot.transport.gating import STOP_BUTTON


def dump_stop(asker_id: int, first_update: int) -> str:
    """The data of the button of the turn that begins with this update; at most 64 bytes, as Telegram has it."""
    return f"{STOP_BUTTON}:{asker_id}:{first_update}"


def is_meant_by(data: str, first_update: int) -> bool:
    """Whether a button with this data ends the turn that begins with this update. Data without a turn ends any."""
    word, *rest = data.split(":")
    return word == STOP_BUTTON and (not rest or rest[-1] == str(first_update))
