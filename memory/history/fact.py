"""Facts: single statements about people and things, kept apart from the talk that they rest on (pure).

A reply to the question for the right statement becomes the statement of the fact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from memory.codec import Id, Seconds, dump_json, parse_json
from memory.history.message import ImportedFrom, Message, own_words

LONGEST_STATEMENT = 300
"""Characters of a statement."""
LONGEST_SUBJECT = 60
"""Characters of a subject."""
STANDING_LIMIT = 20
"""Standing wishes of a writer that a prompt has, the newest ones."""
CORRECTION_WAITS_S = 3600
"""Seconds in which a reply counts as the correction. Later it is a message like others."""
CORRECTIONS_AT_MOST = 10
"""Questions of one chat or topic that wait at the same time, the newest ones."""

FactKind = Literal["fact", "standing"]
"""standing: a lasting wish of its writer, about how to be answered or what suits them. Their prompts always have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A statement about a person or a thing. It is data about the talk, never a permission or an instruction."""

    SCRIPT_FIELDS: ClassVar = frozenset({"id", "valid_to", "closed_by"})
    id: str
    subject: str
    """The name of a person of the chat, or of a thing."""
    subject_id: Id | None = None
    """Sender id of the person; None for anything else."""
    statement: str
    """One sentence on one line."""
    kind: FactKind = "fact"
    said_by: Id | None
    """Sender id of the writer of its messages."""
    message_ids: tuple[str, ...]
    """Messages that it rests on, at least one, all of the same writer."""
    valid_from: Seconds
    """Unix seconds: the time of the first of its messages."""
    valid_to: Seconds | None = None
    """Time of the message that contradicts it; None while it holds."""
    closed_by: str = ""
    """Id of the fact that contradicts it; "" while it holds."""
    confidence: float
    """From 0 to 1, as the model judged it; 1 for a statement that a person has corrected."""
    is_corrected: bool = False
    """True if a person has written the statement, in /facts or on the page."""
    imported_from: ImportedFrom = ""
    """The service whose export it rests on. Such a file may be forged: it gives no standing wish and ends no fact that
    was told here."""

    @property
    def is_standing(self) -> bool:
        """True for a standing wish that holds."""
        return self.kind == "standing" and self.valid_to is None


def is_source(message: Message) -> bool:
    """Return True if facts may rest on the message: a person typed or spoke it, and it is not refused."""
    return message.sender is not None and not message.is_refused and bool(own_words(message).strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedCorrection:
    """A question of the bot about one fact, whose answer is awaited."""

    telegram_id: int
    """Telegram id of the question. The answer replies to it."""
    fact_id: str
    sender_id: int
    """The person who was asked."""
    owner_id: int
    """The person whose list of facts was shown there."""
    first: int
    """Place of the first fact of the page that was shown there."""
    asked_at: float
    """Unix seconds."""


def find_correction(
    awaited: Sequence[AwaitedCorrection], *, telegram_id: int, sender_id: int | None, now: float
) -> AwaitedCorrection | None:
    """Return the question that a reply to this message by this person answers, or None."""
    for each in awaited:
        is_recent = now - each.asked_at < CORRECTION_WAITS_S
        if is_recent and (each.telegram_id, each.sender_id) == (telegram_id, sender_id):
            return each
    return None


def without_correction(
    awaited: Sequence[AwaitedCorrection], telegram_id: int
) -> tuple[AwaitedCorrection, ...]:
    """Return the questions except those in this message."""
    return tuple(each for each in awaited if each.telegram_id != telegram_id)


def with_correction(
    awaited: Sequence[AwaitedCorrection], new: AwaitedCorrection
) -> tuple[AwaitedCorrection, ...]:
    """Return the questions with a new one, without the one that its message had and those that have expired."""
    recent = [each for each in awaited if new.asked_at - each.asked_at < CORRECTION_WAITS_S]
    return (*without_correction(recent, new.telegram_id), new)[-CORRECTIONS_AT_MOST:]


def dump_corrections(awaited: Sequence[AwaitedCorrection]) -> str:
    """Return the questions as the store keeps them; "" if there are none."""
    return dump_json(tuple[AwaitedCorrection, ...], tuple(awaited)) if awaited else ""


def parse_corrections(line: str) -> tuple[AwaitedCorrection, ...]:
    """Return the questions that `dump_corrections` wrote."""
    return parse_json(tuple[AwaitedCorrection, ...], line) if line else ()
