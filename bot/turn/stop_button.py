"""What a Stop button carries: whom it is for, which turn it ends, and whether its message is more than it (pure)."""

from bot.transport.gating import STOP_BUTTON

_ALONE = "alone"


def dump_stop(asker_id: int, first_update: int) -> str:
    """The data of the button of the turn that begins with this update; at most 64 bytes, as Telegram has it."""
    return f"{STOP_BUTTON}:{asker_id}:{first_update}"


def as_alone(data: str) -> str:
    """The data of that button where its message has nothing but it: a late press may take the message away."""
    word, asker_id, first_update = data.split(":")
    return ":".join((word, asker_id, _ALONE, first_update))


def is_meant_by(data: str, first_update: int) -> bool:
    """Whether a button with this data ends the turn that begins with this update. Data without a turn ends any."""
    word, *rest = data.split(":")
    return word == STOP_BUTTON and (not rest or rest[-1] == str(first_update))


def is_stop(data: str) -> bool:
    """Whether a button with this data is ours, of whatever turn."""
    return data.split(":")[0] == STOP_BUTTON


def is_alone(data: str) -> bool:
    """Whether the message of the button with this data has nothing but it."""
    return is_stop(data) and data.split(":")[2:3] == [_ALONE]
