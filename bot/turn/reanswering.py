"""An edit of what was answered last has it answered again: which turn that is, and what it is asked now (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import IncomingMessage, parse_command
from bot.turn.batch import Batch
from memory.history.message import Message, Quote, told_text
from memory.history.store import HistorySnapshot

AGAIN_WITHIN_S = 48 * 3600
"""A bot may delete a message for 48 hours (Bot API, deleteMessage): the parts of a longer answer could not go after that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn:
    """The newest messages of a conversation: what one person wrote, oldest first, and the answer to it."""

    messages: tuple[Message, ...]
    answer: Message

    @property
    def ids(self) -> tuple[str, ...]:
        """Of all of its messages."""
        return (*(message.id for message in self.messages), self.answer.id)

    @property
    def sequence(self) -> int:
        """Where it begins."""
        return self.messages[0].sequence or 0

    def find(self, telegram_message_id: int) -> Message | None:
        """Its message that is shown under this id."""
        found = [each for each in self.messages if each.telegram_message_id == telegram_message_id]
        return found[0] if found else None


def find_last_turn(snapshot: HistorySnapshot, edited: IncomingMessage, *, now: float) -> LastTurn | None:
    """The turn that this message belongs to, if it is the last one and may be answered again; `now` in Unix seconds.

    None for an answer that was stopped or never came, one that is too old, an older edit than the one that is kept, and
    what has become a command; also where another of its messages came with a document, whose text would go with the turn.
    """
    *before, answer = snapshot.newest or (None,)
    if answer is None or answer.role != "assistant" or answer.is_stopped or parse_command(edited) is not None:
        return None
    asker = before[-1].sender if before else None
    asked = tuple(takewhile(lambda message: _is_by(message, asker and asker.id), reversed(before)))[::-1]
    if not asked or now - answer.sent_at > AGAIN_WITHIN_S:
        return None
    turn = LastTurn(messages=asked, answer=answer)
    message = turn.find(edited.message_id)
    if message is None or (edited.edit_date or edited.date) < (message.edited_at or 0):
        return None
    return None if _names_artifact(snapshot, turn, message) else turn


def plan_again(turn: LastTurn, waiting: Sequence[WaitingUpdate], joined: Sequence[int] = ()) -> Batch:
    """The last edit of each of the turn's messages; those before it are folded in. A resumed turn takes those `joined`."""
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


def retell(turn: LastTurn, edited: Mapping[int, Message]) -> list[Message]:
    """The turn's messages with what these say now (by Telegram id), as messages to append.

    A quotation of what was edited goes with it.
    """
    return [
        replace(now, quote=None) if now.quote and now.quote.telegram_message_id in edited else now
        for now in (edited.get(each.telegram_message_id or 0, each) for each in turn.messages)
    ]


def without_outdated_quotes(messages: Sequence[Message], kept: Sequence[Message] = ()) -> list[Message]:
    """The messages, of which none quotes another one's, or a kept one's, words from before that was edited."""
    edited = {
        each.telegram_message_id: told_text(each) for each in (*kept, *messages) if each.edited_at is not None
    }
    return [replace(each, quote=None) if _is_outdated(each.quote, edited) else each for each in messages]


def _is_outdated(quote: Quote | None, edited: Mapping[int | None, str]) -> bool:
    now = edited.get(quote.telegram_message_id) if quote else None
    return quote is not None and now is not None and quote.text.rstrip("…") not in now


def _names_artifact(snapshot: HistorySnapshot, turn: LastTurn, edited: Message) -> bool:
    """Whether another message than the edited one tells of an artifact that the turn's record has made."""
    undone = [each for each in snapshot.ledger if each.last_sequence >= turn.sequence]
    made = [entry.artifact_id for each in undone for entry in each.entries if entry.artifact_id]
    return any(artifact in each.note for each in turn.messages if each is not edited for artifact in made)


def _is_by(message: Message, sender_id: int | None) -> bool:
    return message.role == "user" and message.sender is not None and message.sender.id == sender_id
