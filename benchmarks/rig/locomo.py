"""Reads conversations in LoCoMo's format: turns of two speakers in dated sessions, and questions with their evidence."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from zlib import crc32

JUDGED = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The categories of questions that have an answer; 5, adversarial, has none."""
NOTHING_TO_FIND = "abstention"
"""The kind of questions whose answer nobody has told."""
TURN_S = 60.0
"""LoCoMo dates sessions, not turns: a turn a minute, as chats go."""

_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


class NotLoCoMo(Exception):
    """The file is not in LoCoMo's format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one speaker wrote; `id` such as D1:3 (session 1, turn 3), `sent_at` in Unix seconds."""

    id: str
    speaker: str
    text: str
    sent_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the ids of the existing turns that answer it; none if nothing is to be found."""

    text: str
    kind: str
    evidence: frozenset[str]

    def about(self, former: Sequence[str], present: Sequence[str]) -> "Question":
        """Return the question with other people's names."""
        text = self.text
        for number, name in enumerate(former):
            text = re.sub(rf"\b{re.escape(name)}\b", f"\x00{number}", text)
        for number, name in enumerate(present):
            text = text.replace(f"\x00{number}", name)
        return replace(self, text=text)

    def spoken_by(self, asker: str, *, to: str) -> "Question":
        """Return the question with "I" and "my" for the asker's name, "you" and "your" for the other's."""
        text = self.text
        for name, subject, owner in ((asker, "I", "my"), (to, "you", "your")):
            text = re.sub(rf"\b{re.escape(name)}['\u2019]s\b", owner, text)
            text = re.sub(rf"\b{re.escape(name)}\b", subject, text)
        return replace(self, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation, its turns in order, and its questions."""

    name: str
    speakers: tuple[str, ...]
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    """Questions that turns answer."""
    unanswerable: tuple[Question, ...] = ()
    """Questions about the conversation whose answer nobody has told."""
    asker: str | None = None
    """The speaker that asks the questions; None for an outsider."""
    bot: str | None = None
    """The speaker whose turns are the bot's messages."""

    def as_private_chat(self) -> "Conversation":
        """Return the conversation as one of the first speaker, who asks the questions, with the bot."""
        asker, bot = self.speakers
        return replace(
            self,
            questions=tuple(each.spoken_by(asker, to=bot) for each in self.questions),
            unanswerable=tuple(each.spoken_by(asker, to=bot) for each in self.unanswerable),
            asker=asker,
            bot=bot,
        )

    def part(self, first: int, size: int) -> "Conversation":
        """Return a chat of `size` turns from `first` on, with the questions whose whole evidence it has."""
        turns = self.turns[first : first + size]
        ids = {turn.id for turn in turns}
        questions = tuple(each for each in self.questions if each.evidence <= ids)
        return replace(self, turns=turns, questions=questions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a model has extracted from turns (`evidence`, ids as in Turn) about a speaker."""

    text: str
    speaker: str
    evidence: tuple[str, ...]

    def is_among(self, share: float) -> bool:
        """Return True for this share of all statements, always for the same ones."""
        return crc32(self.text.encode()) < share * 2**32


def read_statements(path: Path) -> dict[str, list[Statement]]:
    """Return the statements of a file by conversation. Raises NotLoCoMo, which says what is wrong with it."""
    try:
        return {
            document["sample_id"]: [
                Statement(text=each["statement"], speaker=each["speaker"], evidence=_ids(each["evidence"]))
                for each in document["facts"]
            ]
            for document in json.loads(path.read_text(encoding="utf-8"))
        }
    except OSError as error:
        raise NotLoCoMo(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotLoCoMo(f"{path} has no statements: {error!r}") from error


def read_conversations(path: Path) -> list[Conversation]:
    """Every conversation of the file. Raises NotLoCoMo, which says what is wrong with it."""
    try:
        documents = json.loads(path.read_text(encoding="utf-8"))
        return [_conversation(document, number) for number, document in enumerate(documents, start=1)]
    except OSError as error:
        raise NotLoCoMo(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotLoCoMo(f"{path} is not in LoCoMo's format: {error!r}") from error


def _conversation(document: dict[str, Any], number: int) -> Conversation:
    told = document["conversation"]
    turns = tuple(_turns(told))
    ids = {turn.id for turn in turns}
    questions = tuple(_questions(document["qa"], ids))
    return Conversation(
        name=str(document.get("sample_id", f"conversation {number}")),
        speakers=(told["speaker_a"], told["speaker_b"]),
        turns=turns,
        questions=tuple(each for each in questions if each.evidence),
        unanswerable=tuple(each for each in questions if not each.evidence),
    )


def _turns(told: dict[str, Any]) -> Iterator[Turn]:
    sessions = sorted(int(match[1]) for name in told if (match := _SESSION.fullmatch(name)))
    for session in sessions:
        began = datetime.strptime(told[f"session_{session}_date_time"].strip(), _DATE).replace(tzinfo=UTC)
        for number, turn in enumerate(cast(list[dict[str, Any]], told[f"session_{session}"])):
            yield Turn(
                id=turn["dia_id"],
                speaker=turn["speaker"],
                text=turn["text"],
                sent_at=began.timestamp() + TURN_S * number,
            )


def _questions(documents: list[dict[str, Any]], ids: set[str]) -> Iterator[Question]:
    """Yield the questions of categories 1 to 4 with evidence, and those that say that nothing is to be found.

    Some entries of the evidence are ids that do not exist. LoCoMo's questions of category 5 have evidence: they ask
    one person about the other's words.
    """
    for document in documents:
        evidence = ids.intersection(_ids(document["evidence"]))
        is_judged = document["category"] in JUDGED and evidence
        if is_judged or document.get("kind") == NOTHING_TO_FIND:
            kind = document.get("kind") or JUDGED[document["category"]]
            yield Question(text=document["question"], kind=kind, evidence=frozenset(evidence))


def _ids(evidence: list[Any]) -> tuple[str, ...]:
    """Some entries hold several ids in one string, or zeros before them."""
    named = _TURN.findall(" ".join(map(str, evidence)))
    return tuple(f"D{int(session)}:{int(turn)}" for session, turn in named)
