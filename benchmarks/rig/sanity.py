"""Our own pairs of a question and the statement that answers it, 20 in each of six languages."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.features.parts import Stores
from memory.recall.recall import RecallQuestion
from rig.conversations import store_conversation
from rig.locomo import Conversation, Turn

PAIRS = Path(__file__).parent.parent / "sanity_pairs.json"
_BEGAN = 1_760_000_000.0
_APART_S = 86_400.0
"""A day, so that no statement is found because of its neighbours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SanityResult:
    """Number of questions whose statement was found first, and among the first three."""

    language: str
    pairs: int
    first: int
    third: int


def read_pairs() -> Mapping[str, Sequence[tuple[str, str]]]:
    """By language: (question, statement)."""
    documents = json.loads(PAIRS.read_text(encoding="utf-8"))["languages"]
    return {
        language: [(pair["question"], pair["statement"]) for pair in pairs]
        for language, pairs in documents.items()
    }


async def ask_pairs(stores: Stores, pairs: Mapping[str, Sequence[tuple[str, str]]]) -> list[SanityResult]:
    """Store the statements of a language in one chat, then ask its questions as another person."""
    return [await _ask(stores, language, stored) for language, stored in pairs.items()]


async def _ask(stores: Stores, language: str, pairs: Sequence[tuple[str, str]]) -> SanityResult:
    turns = tuple(
        Turn(id=str(number), speaker="someone", text=statement, sent_at=_BEGAN + _APART_S * number)
        for number, (_, statement) in enumerate(pairs)
    )
    stored = await store_conversation(
        stores, Conversation(name=f"sanity {language}", speakers=("someone",), turns=turns, questions=())
    )
    places: list[int] = []
    for number, (question, _) in enumerate(pairs):
        asked = RecallQuestion(text=question, now=turns[-1].sent_at + _APART_S)
        hits = await stores.recall.search(stored.ref, 0, asked, k=len(pairs))
        found = [stored.turn_ids[hit.message_id] for hit in hits]
        places.append(found.index(str(number)) if str(number) in found else len(pairs))
    return SanityResult(
        language=language,
        pairs=len(pairs),
        first=sum(place == 0 for place in places),
        third=sum(place < 3 for place in places),
    )
