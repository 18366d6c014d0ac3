"""Which of the waiting updates make the next turn, and how they belong together (pure)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bot.transport.continuations import continuation, may_go_on
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import IncomingMessage
from bot.turn.stop_button import is_meant_by
from memory.history.message import Continuation


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstWaits:
    """How long a turn waits, in seconds, for what may follow an album's part or a forward, or a text that may go on."""

    bundle_s: float = 1.0
    paste_s: float = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one turn is about, oldest first: several only of one person's messages, or of edits of one turn's messages.

    Each message reads as its last edit has it. `folded` are the ids of these edits, which end with the turn.
    """

    updates: tuple[WaitingUpdate, ...]
    folded: tuple[int, ...] = ()

    @property
    def first(self) -> WaitingUpdate:
        """The oldest."""
        return self.updates[0]

    @property
    def newest(self) -> WaitingUpdate:
        """What the reply answers; a stop after it means this turn."""
        return self.updates[-1]

    @property
    def update_ids(self) -> tuple[int, ...]:
        """Of all the updates that end with this turn."""
        return (*(update.update_id for update in self.updates), *self.folded)


def plan_batch(
    waiting: Sequence[WaitingUpdate], *, joined: Collection[int] = (), stopped_before: int | None = None
) -> Batch:
    """The first update, and the same person's plain messages right behind it: three lines get one answer.

    A command stands alone, and so does an edit, but for edits of these messages: they are folded in. A /stop parts what
    came before it from what came after. A resumed turn answers exactly what it had `joined`.
    """
    resumed = [update for update in waiting if update.update_id in joined]
    if resumed:
        messages = [update for update in resumed if update.admission.action != "edit"]
        return _fold(messages, resumed) if messages else Batch(updates=tuple(resumed))
    first, *others = waiting
    if first.admission.action != "turn":
        return Batch(updates=(first,))
    batch = [first]
    for update in others:
        if _is_edit_of(update, batch):
            continue
        if not _belongs_to(first, update, stopped_before):
            break
        batch.append(update)
    return _fold(batch, waiting)


def is_outdated(waiting: Sequence[WaitingUpdate], joined: Collection[int]) -> bool:
    """Whether something that an interrupted turn had joined was edited since: it begins anew then."""
    known = [update for update in waiting if update.update_id in joined]
    return any(
        has_changed(update, known)
        for update in waiting
        if update.update_id not in joined and update.admission.action == "edit"
    )


def has_changed(edit: WaitingUpdate, known: Sequence[WaitingUpdate]) -> bool:
    """Whether the edit changes what one of these says. Telegram tells of edits too that change nothing that we read."""
    before = [update.message for update in known if update.message.message_id == edit.message.message_id]
    return bool(before) and _content(before[-1]) != _content(edit.message)


def is_stopped(batch: Batch, waiting: Sequence[WaitingUpdate], stopped_before: int | None) -> bool:
    """Whether a /stop came after this batch, or who asked has pressed its Stop button."""
    return _is_before(batch.newest, stopped_before) or bool(own_presses(batch, waiting))


def own_presses(batch: Batch, waiting: Sequence[WaitingUpdate]) -> list[WaitingUpdate]:
    """The presses of the batch's Stop button by who asked; others have to show that they may."""
    return [
        update
        for update in waiting
        if update.callback is not None
        and is_meant_by(update.callback.data, batch.first.update_id)
        and update.callback.sender_id == batch.first.message.sender_id
    ]


def seconds_for_more(batch: Batch, waiting: Sequence[WaitingUpdate], waits: BurstWaits) -> float:
    """For how long, since the newest message came, another may come that is one with it; 0 where none can."""
    newest = batch.newest
    if newest.admission.action != "turn" or any(
        update.update_id > newest.update_id and update.update_id not in batch.folded for update in waiting
    ):
        return 0.0
    if newest.message.media_group_id or newest.message.forwarded_from:
        return waits.bundle_s
    return waits.paste_s if may_go_on(newest.message) else 0.0


def plan_continuations(batch: Batch) -> tuple[Continuation, ...]:
    """For each message of the batch how it continues the one before it."""
    messages = [update.message for update in batch.updates]
    return ("", *(continuation(before, after) for before, after in pairwise(messages)))


def _fold(messages: Sequence[WaitingUpdate], among: Sequence[WaitingUpdate]) -> Batch:
    edits = [update for update in among if _is_edit_of(update, messages)]
    return Batch(
        updates=tuple(_edited(update, edits) for update in messages),
        folded=tuple(edit.update_id for edit in edits),
    )


def _edited(update: WaitingUpdate, edits: Sequence[WaitingUpdate]) -> WaitingUpdate:
    """The update with what its message says after these edits. What it was sent as stays: a reply, a forward."""
    theirs = [edit.message for edit in edits if _is_edit_of(edit, [update])]
    if not theirs:
        return update
    newest = max(theirs, key=lambda message: (message.edit_date or message.date, message.update_id))
    sent = update.message
    now = replace(
        newest, update_id=update.update_id, language_code=sent.language_code, reply_to=sent.reply_to
    )
    return replace(update, message=now)


def _is_edit_of(edit: WaitingUpdate, messages: Sequence[WaitingUpdate]) -> bool:
    return edit.admission.action == "edit" and edit.message.message_id in {
        update.message.message_id for update in messages
    }


def _belongs_to(first: WaitingUpdate, update: WaitingUpdate, stopped_before: int | None) -> bool:
    is_message = update.admission.action == "turn"
    is_same_sender = first.message.sender_id == update.message.sender_id
    return (
        is_message
        and is_same_sender
        and _is_before(first, stopped_before) == _is_before(update, stopped_before)
    )


def _is_before(update: WaitingUpdate, stopped_before: int | None) -> bool:
    return stopped_before is not None and update.update_id < stopped_before


def _content(message: IncomingMessage) -> tuple[str, str]:
    return message.text, message.attachment.unique_id if message.attachment else message.note
