"""Batches: the waiting updates that make the next turn, and the Stop button that ends it (pure)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bot.transport.gating import STOP_BUTTON
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import IncomingMessage, continuation, may_go_on
from memory.history.message import Continuation

_ALONE = "alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstWaits:
    """Seconds that a turn waits for the next part of an album, the next forward or the rest of a long paste."""

    bundle_s: float = 1.0
    paste_s: float = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The updates of one turn, oldest first: messages of one person, edits of one turn's messages, or one other.

    Each message has the text of its last edit. `folded` are the ids of these edits, which end with the turn.
    """

    updates: tuple[WaitingUpdate, ...]
    folded: tuple[int, ...] = ()

    @property
    def first(self) -> WaitingUpdate:
        """The oldest update."""
        return self.updates[0]

    @property
    def newest(self) -> WaitingUpdate:
        """The update that the reply answers. A stop after it concerns this turn."""
        return self.updates[-1]

    @property
    def update_ids(self) -> tuple[int, ...]:
        """The ids of all updates that end with this turn."""
        return (*(update.update_id for update in self.updates), *self.folded)


def plan_batch(
    waiting: Sequence[WaitingUpdate], *, joined: Collection[int] = (), stopped_before: int | None = None
) -> Batch:
    """Return the first update and the same person's messages right behind it: three lines get one answer.

    A command is a batch of its own, and so is an edit, except edits of these messages: they are folded in. A
    /stop separates the messages before it from those after it. A resumed turn answers exactly what it had
    `joined`.
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
    """Return True if a message of an interrupted turn was edited since: the turn must start again."""
    known = [update for update in waiting if update.update_id in joined]
    return any(
        has_changed(update, known)
        for update in waiting
        if update.update_id not in joined and update.admission.action == "edit"
    )


def has_changed(edit: WaitingUpdate, known: Sequence[WaitingUpdate]) -> bool:
    """Return True if the edit changes the content of one of these. Some edits change nothing that we read."""
    before = [update.message for update in known if update.message.message_id == edit.message.message_id]
    return bool(before) and _content(before[-1]) != _content(edit.message)


def is_stopped(batch: Batch, waiting: Sequence[WaitingUpdate], stopped_before: int | None) -> bool:
    """Return True if a /stop came after this batch, or if the person who asked pressed its Stop button."""
    return _is_before(batch.newest, stopped_before) or bool(own_presses(batch, waiting))


def own_presses(batch: Batch, waiting: Sequence[WaitingUpdate]) -> list[WaitingUpdate]:
    """Return the presses of the batch's Stop button by the person who asked."""
    return [
        update
        for update in waiting
        if update.callback is not None
        and stops_turn(update.callback.data, batch.first.update_id)
        and update.callback.sender_id == batch.first.message.sender_id
    ]


def seconds_for_more(batch: Batch, waiting: Sequence[WaitingUpdate], waits: BurstWaits) -> float:
    """Return how long after the newest message a continuation of it may come; 0 if none can."""
    newest = batch.newest
    if newest.admission.action != "turn" or any(
        update.update_id > newest.update_id and update.update_id not in batch.folded for update in waiting
    ):
        return 0.0
    if newest.message.media_group_id or newest.message.forwarded_from:
        return waits.bundle_s
    return waits.paste_s if may_go_on(newest.message) else 0.0


def plan_continuations(batch: Batch) -> tuple[Continuation, ...]:
    """Return for each message of the batch how it continues the one before it."""
    messages = [update.message for update in batch.updates]
    return ("", *(continuation(before, after) for before, after in pairwise(messages)))


def _fold(messages: Sequence[WaitingUpdate], among: Sequence[WaitingUpdate]) -> Batch:
    edits = [update for update in among if _is_edit_of(update, messages)]
    return Batch(
        updates=tuple(_edited(update, edits) for update in messages),
        folded=tuple(edit.update_id for edit in edits),
    )


def _edited(update: WaitingUpdate, edits: Sequence[WaitingUpdate]) -> WaitingUpdate:
    """Return the update with its message after these edits. It stays the reply or forward that it was."""
    theirs = [edit for edit in edits if _is_edit_of(edit, [update])]
    if not theirs:
        return update
    newest = max(
        theirs, key=lambda edit: (edit.message.edit_date or edit.message.date, edit.update_id)
    ).message
    sent = update.message
    message = replace(newest, language_code=sent.language_code, reply_to=sent.reply_to)
    return replace(update, message=message)


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


def dump_stop(asker_id: int, first_update: int) -> str:
    """Return the data of the Stop button of the turn that begins with this update; Telegram allows 64 bytes."""
    return f"{STOP_BUTTON}:{asker_id}:{first_update}"


def with_nothing_else(data: str) -> str:
    """Return the button's data for a message that has only the button: a late press may delete the message."""
    word, asker_id, first_update = data.split(":")
    return ":".join((word, asker_id, _ALONE, first_update))


def stops_turn(data: str, first_update: int) -> bool:
    """Return True if a button with this data ends the turn that begins with this update.

    Data without a turn ends any.
    """
    word, *rest = data.split(":")
    return word == STOP_BUTTON and (not rest or rest[-1] == str(first_update))


def is_alone(data: str) -> bool:
    """Return True if the message of this Stop button has nothing but the button."""
    return data.split(":")[2:3] == [_ALONE]
