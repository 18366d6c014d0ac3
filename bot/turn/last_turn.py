"""The last turn of a conversation: an edit of its question makes the bot answer it again (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import IncomingMessage, parse_command
from bot.turn.batch import Batch
from memory.history.message import Message, Quote, render_message
from memory.history.store import HistorySnapshot

AGAIN_WITHIN_S = 48 * 3600
"""A bot may delete a message for 48 hours (Bot API, deleteMessage). Later, old parts of the answer would stay."""


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
    """Return the messages without quotations of an older version of a message, stored or new."""
    edited = {
        each.telegram_message_id: render_message(each)
        for each in (*stored, *messages)
        if each.edited_at is not None
    }
    return [replace(each, quote=None) if _is_outdated(each.quote, edited) else each for each in messages]


def _is_outdated(quote: Quote | None, edited: Mapping[int | None, str]) -> bool:
    now = edited.get(quote.telegram_message_id) if quote else None
    return quote is not None and now is not None and quote.text.rstrip("…") not in now


def _names_artifact(snapshot: HistorySnapshot, turn: LastTurn, edited: Message) -> bool:
    """Return True if the note of another message than the edited one names an artifact of the turn."""
    undone = [each for each in snapshot.ledger if each.last_sequence >= turn.sequence]
    made = [entry.artifact_id for each in undone for entry in each.entries if entry.artifact_id]
    return any(artifact in each.note for each in turn.messages if each is not edited for artifact in made)


def _is_by(message: Message, sender_id: int | None) -> bool:
    return message.role == "user" and message.sender is not None and message.sender.id == sender_id
