"""Batches: the waiting updates that make the next turn, also again after an edit, and its Stop button (pure)."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from bot.transport.controls import STOP_BUTTON
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.updates import (
    IncomingMessage,
    continuation,
    full_text,
    is_bare_file,
    may_go_on,
    origin_of,
    parse_command,
)
from memory.errors import RecordCorrupt
from memory.history.fact import AwaitedCorrection, find_correction
from memory.history.message import Continuation, Message, Quote, render_message
from memory.history.store import HistorySnapshot

AGAIN_WITHIN_S = 48 * 3600
"""A bot may delete a message for 48 hours (Bot API, deleteMessage). Later, old parts of the answer would stay."""
_ALONE = "alone"
_NAMES_PICTURE = re.compile(
    r"\b(?:pictures?|photos?|pics?|images?|screenshots?|fotos?|bild|bilder|imagen|imágenes|imagem|imagens)\b"
    r"|\b(?:фото|картин|снимк|скриншот|изображени)|عکس|تصویر",
    re.IGNORECASE,
)
"""Words for a picture in the six languages of the bot. A question with one may be sent before its picture."""
UNKEPT_QUOTE = "(a message that was sent in incognito: nothing of it is kept)"
"""Replaces what a message quotes of one that was sent in incognito."""
OVERHEARD_S = 600
"""Seconds for which a mention asks for a file that was overheard before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstWaits:
    """Seconds that a turn waits for the next part of an album, the next forward or the rest of a long paste."""

    bundle_s: float = 1.0
    paste_s: float = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The updates of one turn, oldest first: messages of one person, edits of one turn's messages, or one other.

    Each message has the text of its last edit. `folded` are the ids of these edits, or of repeated presses, which end
    with the turn.
    """

    updates: tuple[WaitingUpdate, ...]
    folded: tuple[int, ...] = ()
    overheard: tuple[WaitingUpdate, ...] = ()
    """Messages with files that were heard before, and that the batch asks for. They wait in no inbox."""

    @property
    def update_ids(self) -> tuple[int, ...]:
        """The ids of all updates that end with this turn."""
        return (*[update.update_id for update in self.updates], *self.folded)

    @property
    def messages(self) -> tuple[WaitingUpdate, ...]:
        """All messages of the turn, in the order in which they are kept."""
        return (*self.overheard, *self.updates)


def read_waiting(
    payloads: Iterable[str], *, unkept: Collection[int], answers: Collection[int]
) -> list[WaitingUpdate]:
    """Return the updates. Those that are kept quote nothing that was said in incognito. Raises RecordCorrupt.

    `unkept` are the ids of updates that were sent in incognito, `answers` of those that answer such a message.
    """
    return [
        replace(
            update if update.update_id in unkept or update.update_id not in answers else _unquoting(update),
            is_kept=update.is_kept and update.update_id not in unkept,
            answers_unkept=update.update_id in answers,
        )
        for update in map(parse_waiting, payloads)
    ]


def _unquoting(update: WaitingUpdate) -> WaitingUpdate:
    reply = update.message.reply_to
    bare = reply and replace(reply, text=UNKEPT_QUOTE, quote="", file=None, note="")
    return replace(update, message=replace(update.message, reply_to=bare))


def plan_batch(
    waiting: Sequence[WaitingUpdate],
    joined: Collection[int] = (),
    stopped_before: int | None = None,
    *,
    corrections: Sequence[AwaitedCorrection] = (),
) -> Batch:
    """Return the first update and the same person's messages right behind it: three lines get one answer.

    Behind another person's message only the rest of an album, a paste or the like belongs to it.

    A command is a batch of its own, and so are a press and an answer to one of `corrections`. Equal presses that
    would be answered by several messages are folded in. An edit of these messages is
    folded in; any other edit is a batch of its own. A /stop separates the messages before it from those after it. A
    resumed turn answers exactly what it had `joined`.
    """
    resumed = [update for update in waiting if update.update_id in joined] if joined else []
    if resumed:
        messages = [update for update in resumed if update.admission.action != "edit"]
        return _fold(messages, resumed) if messages else Batch(updates=tuple(resumed))
    first, *others = waiting
    if not others or first.admission.action != "turn":
        return Batch(
            updates=(first,), folded=tuple(each.update_id for each in others if _repeats(each, first))
        )
    batch, is_interrupted = [first], False
    if correction_in(first, corrections):
        return _fold(batch, waiting)
    for update in others:
        if _is_edit_of(update, batch):
            continue
        if update.admission.action == "turn" and update.message.sender_id != first.message.sender_id:
            is_interrupted = True
            continue
        if is_interrupted and not continuation(batch[-1].message, update.message):
            break
        if not _belongs_to(first, update, stopped_before) or correction_in(update, corrections):
            break
        batch.append(update)
    return _fold(batch, waiting)


def with_overheard(batch: Batch, snapshot: HistorySnapshot) -> tuple[Batch, HistorySnapshot]:
    """Return the batch with the overheard files that it asks for, and the snapshot without their lines of talk.

    Lines whose messages are in the history go too.
    """
    batch = replace(batch, overheard=_find_overheard(batch, snapshot))
    known = {(each.telegram_message_id, each.sent_at) for each in snapshot.newest}
    known |= {(each.message.message_id, float(each.message.date)) for each in batch.overheard}
    lines = [each for each in snapshot.talk.lines if (each.telegram_message_id, each.sent_at) not in known]
    return batch, replace(snapshot, talk=replace(snapshot.talk, lines=tuple(lines)))


def _find_overheard(batch: Batch, snapshot: HistorySnapshot) -> tuple[WaitingUpdate, ...]:
    """Return messages with files that were heard before, and that are not in the history.

    These are the other items of the batch's albums, and of the album that it replies to. A mention without a file asks
    for the newest picture or document of the last minutes.
    """
    asked = next((each.message for each in batch.updates if _asks_for_file(each)), None)
    wanted = {album for each in batch.updates for album in _albums_of(each.message)}
    if asked is None and not wanted:
        return ()
    known = {each.telegram_message_id for each in snapshot.newest}
    known |= {each.message.reply_to.message_id for each in batch.updates if each.message.reply_to}
    heard = [each for each in _heard_in(snapshot) if each.message.message_id not in known]
    if asked is not None:
        lately = [each.message for each in heard if _is_asked_for(each.message, at=asked.date)]
        wanted |= {_album_of(message) for message in lately[-1:]}
    return tuple(each for each in heard if _album_of(each.message) in wanted)


def _asks_for_file(update: WaitingUpdate) -> bool:
    message = update.message
    is_plain = message.attachment is None and message.reply_to is None and origin_of(message) == "typed"
    return update.admission.reason == "mention" and is_plain


def _is_asked_for(heard: IncomingMessage, *, at: int) -> bool:
    is_readable = heard.attachment is not None and heard.attachment.kind in {"photo", "document"}
    return is_readable and 0 <= at - heard.date <= OVERHEARD_S


def _albums_of(message: IncomingMessage) -> Iterator[str]:
    """Yield the album of the message, and the one of the message that it replies to."""
    for album in (message.media_group_id, message.reply_to and message.reply_to.media_group_id):
        if album:
            yield album


def _album_of(message: IncomingMessage) -> str:
    """Return a name that the items of an album share, and that no other message has."""
    return message.media_group_id or f"message {message.message_id}"


def _heard_in(snapshot: HistorySnapshot) -> Iterator[WaitingUpdate]:
    """Yield the messages of talk that have a file. A damaged one is left out."""
    for line in snapshot.talk.lines:
        if line.update:
            with suppress(RecordCorrupt):
                yield parse_waiting(line.update)


def correction_in(update: WaitingUpdate, awaited: Sequence[AwaitedCorrection]) -> AwaitedCorrection | None:
    """Return the question about a fact that this message answers. It must be a text of the person who was asked."""
    message = update.message
    is_text = message.text and message.attachment is None and origin_of(message) == "typed"
    if not awaited or update.admission.action != "turn" or message.reply_to is None or not is_text:
        return None
    return find_correction(
        awaited, telegram_id=message.reply_to.message_id, sender_id=message.sender_id, now=float(message.date)
    )


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
    return batch.updates[-1].order_id < (stopped_before or 0) or bool(own_presses(batch, waiting))


def own_presses(batch: Batch, waiting: Sequence[WaitingUpdate]) -> list[WaitingUpdate]:
    """Return the presses of the batch's Stop button by the person who asked."""
    if len(waiting) == len(batch.updates):
        return []
    first = batch.updates[0]
    return [
        update
        for update in waiting
        if update.callback is not None
        and stops_turn(update.callback.data, first.update_id)
        and update.callback.sender_id == first.message.sender_id
    ]


def seconds_for_more(batch: Batch, waiting: Sequence[WaitingUpdate], waits: BurstWaits) -> float:
    """Return how long after the newest message a continuation of it may come; 0 if none can."""
    newest = batch.updates[-1]
    has_later = waiting[-1].update_id > newest.update_id and any(
        update.update_id > newest.update_id and update.update_id not in batch.folded for update in waiting
    )
    if newest.admission.action != "turn" or has_later:
        return 0.0
    message = newest.message
    if message.media_group_id or message.forwarded_from or _waits_for_other_half(batch):
        return waits.bundle_s
    return waits.paste_s if may_go_on(newest.message) else 0.0


def _waits_for_other_half(batch: Batch) -> bool:
    """Return True if a picture has no question yet, or a question that names a picture has none."""
    messages = [update.message for update in batch.updates]
    if is_bare_file(messages[-1]):
        return not any(message.text for message in messages)
    return _NAMES_PICTURE.search(messages[-1].text) is not None and not any(
        message.attachment or message.reply_to for message in messages
    )


def plan_continuations(batch: Batch) -> tuple[Continuation, ...]:
    """Return for each message of the batch how it continues the one before it."""
    messages = [update.message for update in batch.messages]
    return ("", *(continuation(before, after) for before, after in pairwise(messages)))


def _repeats(press: WaitingUpdate, first: WaitingUpdate) -> bool:
    """Return True if the first press gets a new message, and this one of the same person would get it again.

    Some clients repeat a press that is not answered at once (python-telegram-bot#1069, webogram#1129).
    """
    if press.callback is None or first.callback is None:
        return False
    rule = first.callback.rule
    is_same = replace(press.callback, id=first.callback.id) == first.callback
    is_there = press.message.message_id == first.message.message_id
    return rule is not None and rule.is_answered_anew and is_same and is_there


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
    message = replace(
        newest,
        language_code=sent.language_code,
        reply_to=sent.reply_to,
        forwarded_from=sent.forwarded_from,
        forwarded_id=sent.forwarded_id,
        via_bot_id=sent.via_bot_id,
    )
    return replace(update, message=message)


def _is_edit_of(edit: WaitingUpdate, messages: Sequence[WaitingUpdate]) -> bool:
    return edit.admission.action == "edit" and edit.message.message_id in {
        update.message.message_id for update in messages
    }


def _belongs_to(first: WaitingUpdate, update: WaitingUpdate, stopped_before: int | None) -> bool:
    is_same_sender = first.message.sender_id == update.message.sender_id
    stop = stopped_before or 0
    is_same_side = (first.update_id < stop) == (update.update_id < stop)
    is_same_side &= update.is_kept == first.is_kept
    return update.admission.action == "turn" and is_same_sender and is_same_side


def _content(message: IncomingMessage) -> tuple[str, str]:
    return full_text(message), message.attachment.unique_id if message.attachment else message.note


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn:
    """The newest messages of a conversation: those of one person, oldest first, and the answer to them."""

    messages: tuple[Message, ...]
    answer: Message

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all its messages."""
        return (*(message.id for message in self.messages), self.answer.id)

    @property
    def sequence(self) -> int:
        """The sequence of its first message."""
        return self.messages[0].sequence or 0

    def find(self, telegram_message_id: int) -> Message | None:
        """Return its message with this Telegram id."""
        return next((each for each in self.messages if each.telegram_message_id == telegram_message_id), None)


def find_last_turn(snapshot: HistorySnapshot, edited: IncomingMessage, *, now: float) -> LastTurn | None:
    """Return the turn of the edited message if it is the last one and may be answered again, else None.

    It may not be if its answer is missing, stopped or too old. Nor if a newer edit is stored, or if the edit made
    it a command. Nor if another of its messages has a document: its text would be deleted with the turn.
    `now` is in Unix seconds.
    """
    *before, answer = snapshot.newest or (None,)
    if answer is None or answer.role != "assistant" or answer.is_stopped or parse_command(edited) is not None:
        return None
    asker = before[-1].sender if before else None
    question = tuple(takewhile(lambda message: _is_by(message, asker and asker.id), reversed(before)))[::-1]
    if not question or now - answer.sent_at > AGAIN_WITHIN_S:
        return None
    turn = LastTurn(messages=question, answer=answer)
    message = turn.find(edited.message_id)
    if message is None or (edited.edit_date or edited.date) < (message.edited_at or 0):
        return None
    return None if _names_artifact(snapshot, turn, message) else turn


def plan_again(turn: LastTurn, waiting: Sequence[WaitingUpdate], joined: Sequence[int] = ()) -> Batch:
    """Return the last edit of each of the turn's messages. Earlier edits are folded in.

    A resumed turn takes those that it had `joined`.
    """
    edits = [
        update
        for update in waiting
        if update.admission.action == "edit"
        and turn.find(update.message.message_id) is not None
        and (not joined or update.update_id in joined)
    ]
    last = {edit.message.message_id: edit for edit in edits}
    return Batch(
        updates=tuple(last.values()),
        folded=tuple(edit.update_id for edit in edits if edit not in last.values()),
    )


def with_edits(turn: LastTurn, edited: Mapping[int, Message]) -> list[Message]:
    """Return the turn's messages to append, with the edited ones by Telegram id. Quotations of these are removed."""
    return [
        replace(now, quote=None) if now.quote and now.quote.telegram_message_id in edited else now
        for now in (edited.get(each.telegram_message_id or 0, each) for each in turn.messages)
    ]


def drop_outdated_quotes(messages: Sequence[Message], stored: Sequence[Message] = ()) -> list[Message]:
    """Return the messages without quotations of a refused message, or of an older version, stored or new."""
    edited = {
        each.telegram_message_id: "" if each.is_refused else render_message(each)
        for each in (*stored, *messages)
        if each.edited_at is not None or each.is_refused
    }
    return [replace(each, quote=None) if _is_outdated(each.quote, edited) else each for each in messages]


def _is_outdated(quote: Quote | None, edited: Mapping[int | None, str]) -> bool:
    now = edited.get(quote.telegram_message_id) if quote else None
    return quote is not None and now is not None and (not now or quote.text.rstrip("…") not in now)


def _names_artifact(snapshot: HistorySnapshot, turn: LastTurn, edited: Message) -> bool:
    """Return True if a note in another message than the edited one names an artifact of the turn."""
    undone = [each for each in snapshot.ledger if each.last_sequence >= turn.sequence]
    made = [entry.artifact_id for each in undone for entry in each.entries if entry.artifact_id]
    notes = [
        each.note + (each.quote.file if each.quote else "") for each in turn.messages if each is not edited
    ]
    return any(artifact in note for note in notes for artifact in made)


def _is_by(message: Message, sender_id: int | None) -> bool:
    return message.role == "user" and message.sender is not None and message.sender.id == sender_id


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
