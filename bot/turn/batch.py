"""Which of the waiting updates make the next turn (pure)."""

from collections.abc import Sequence

from bot.transport.ingest import WaitingUpdate


def plan_batch(
    waiting: Sequence[WaitingUpdate], *, joined: Sequence[int] = (), stopped_before: int | None = None
) -> tuple[WaitingUpdate, ...]:
    """The first update, and the same person's plain messages right behind it: three lines get one answer.

    A command stands alone, and so does an edit. A /stop parts what came before it from what came after. A resumed turn answers
    exactly what it had `joined`.
    """
    resumed = tuple(update for update in waiting if update.update_id in joined)
    if resumed:
        return resumed
    first, *others = waiting
    batch = [first]
    for update in others:
        if not _belongs_to(first, update, stopped_before):
            break
        batch.append(update)
    return tuple(batch)


def is_stopped(update: WaitingUpdate, stopped_before: int | None) -> bool:
    """Whether a /stop came after this update."""
    return stopped_before is not None and update.update_id < stopped_before


def _belongs_to(first: WaitingUpdate, update: WaitingUpdate, stopped_before: int | None) -> bool:
    are_messages = first.admission.action == update.admission.action == "turn"
    is_same_sender = first.message.sender_id == update.message.sender_id
    is_same_side = is_stopped(first, stopped_before) == is_stopped(update, stopped_before)
    return are_messages and is_same_sender and is_same_side
