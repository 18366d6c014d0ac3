"""What recall tells in a prompt: the share of the evidence, and its price in lines, words and tokens."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from bot.agent.prompt.draft import draft_prompt
from bot.agent.prompt.parts import PromptParts
from memory.chat_history import RankedMessage, keep_one_of_each
from memory.facts.selection import Memories, select_memories
from memory.history.selectors import TokenCounter
from memory.recall.ranking import RankedHit
from rig.conversations import StoredConversation, turns_of
from rig.locomo import Question
from rig.retrieval import message_recall

BUDGETS = (200, 500, 1_000, 2_000, 4_000)
"""Tokens that recalled lines may take."""
MOST_LINES = 60
CANDIDATES_PER_MEMORY = 2
"""Hits of which a memory is selected, see ChatHistory.recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptShare:
    """The recalled part of a prompt. `evidence` is the share of the question's evidence in it, from 0 to 1."""

    evidence: float
    lines: int
    words: int
    tokens: int
    """With the headings."""


def measure_prompt(
    stored: StoredConversation,
    question: Question,
    relevant: Sequence[RankedHit],
    *,
    k: int,
    meter: TokenCounter,
) -> PromptShare:
    """Select and quote as the product does. A fact tells the messages that it cites."""
    memories = select_memories(distinct(stored, relevant)[: CANDIDATES_PER_MEMORY * k], k)
    draft = draft_prompt(PromptParts(system="", recalled=memories), meter=meter)
    sections = [draft["recalled"], draft["facts"]]
    texts = [piece.text for section in sections for piece in section.pieces]
    told = {each.message.id for each in memories.messages}
    told.update(each for fact in memories.facts for each in fact.message_ids)
    return PromptShare(
        evidence=_share(stored, question, told),
        lines=len(texts),
        words=sum(len(text.split()) for text in texts),
        tokens=sum(section.tokens for section in sections),
    )


def measure_budgets(
    stored: StoredConversation, question: Question, ranked: Sequence[RankedHit], *, meter: TokenCounter
) -> dict[int, float]:
    """Return the share of the evidence in the best lines that fit each of BUDGETS, quoted as the product does."""
    memories = Memories(messages=tuple(distinct(stored, ranked)[:MOST_LINES]))
    section = draft_prompt(PromptParts(system="", recalled=memories), meter=meter)["recalled"]
    shares: dict[int, float] = dict.fromkeys(BUDGETS, 0.0)
    told: set[str] = set()
    tokens = meter.count(section.heading)
    for piece in reversed(section.pieces):  # the best come last
        told.add(piece.id)
        tokens += piece.tokens + 1
        share = _share(stored, question, told)
        shares.update({budget: share for budget in BUDGETS if tokens <= budget})
    return shares


def _share(stored: StoredConversation, question: Question, told: Collection[str]) -> float:
    return message_recall(question.evidence, turns_of(stored, list(told)))


def distinct(stored: StoredConversation, hits: Sequence[RankedHit]) -> list[RankedMessage]:
    """Return the messages of these hits with their facts, without repeated texts, as ChatHistory.search does."""
    return keep_one_of_each(
        [
            RankedMessage(
                message=stored.messages[hit.message_id],
                score=hit.score,
                facts=stored.facts.get(hit.message_id, ()),
            )
            for hit in hits
        ]
    )


def average(shares: Sequence[PromptShare]) -> list[str]:
    """Return the cells of a row: evidence in percent, lines, words and tokens, each the mean over all questions."""
    return [
        f"{100 * fmean(each.evidence for each in shares):.1f}",
        f"{fmean(each.lines for each in shares):.1f}",
        f"{fmean(each.words for each in shares):.0f}",
        f"{fmean(each.tokens for each in shares):.0f}",
    ]
