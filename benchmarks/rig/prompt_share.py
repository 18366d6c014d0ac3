"""What recall tells in a prompt: the share of the evidence, and its price in lines, words and tokens."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from bot.agent.functions_based import PromptLimits
from bot.agent.prompt.draft import draft_prompt, recall_budget
from bot.agent.prompt.parts import ChatView, PromptParts
from memory.chat_history import FACT_HITS, RankedMessage, keep_one_of_each
from memory.facts.selection import Memories, RecallBudget, select_memories
from memory.history.selectors import TokenCounter
from memory.recall.excerpts import excerpt_of, read_question
from memory.recall.ranking import RankedHit
from rig.conversations import StoredConversation, ask, turns_of
from rig.locomo import Question
from rig.retrieval import message_recall

BUDGETS = (200, 500, 1_000, 2_000, 4_000)
"""Tokens that recalled lines may take."""
MOST_LINES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptShare:
    """The recalled part of a prompt. `evidence` is the share of the question's evidence in it, from 0 to 1."""

    evidence: float
    lines: int
    words: int
    tokens: int
    """With the headings."""


def measure_prompt(
    stored: StoredConversation, question: Question, relevant: Sequence[RankedHit], *, meter: TokenCounter
) -> PromptShare:
    """Select and quote as the product does by default. A fact tells the messages that it cites."""
    now = ask(stored, question).now
    view = ChatView(is_group=not stored.conversation.bot)
    limits = PromptLimits(context_window=0, answer_tokens=0)
    budget = recall_budget(
        lines=limits.recall_k, tokens=limits.recall_tokens, view=view, people={}, now=now, meter=meter
    )
    memories = _select(stored, question, relevant, budget)
    asked = replace(next(iter(stored.messages.values())), id="question", sent_at=now)
    parts = PromptParts(
        system="", recalled=memories, prompt=[asked], is_group=view.is_group, clocks=view.clocks
    )
    draft = draft_prompt(parts, meter=meter)
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
    now, view = ask(stored, question).now, ChatView(is_group=not stored.conversation.bot)
    shares: dict[int, float] = {}
    for tokens in BUDGETS:
        budget = recall_budget(lines=MOST_LINES, tokens=tokens, view=view, people={}, now=now, meter=meter)
        memories = _select(stored, question, ranked, budget)
        shares[tokens] = _share(stored, question, {each.message.id for each in memories.messages})
    return shares


def _select(
    stored: StoredConversation, question: Question, hits: Sequence[RankedHit], budget: RecallBudget
) -> Memories:
    """Select as ChatHistory.recall does."""
    words = read_question(question.text)
    ranked = distinct(stored, hits)[: budget.lines + min(budget.lines, FACT_HITS)]
    return select_memories(
        ranked, budget, shorten=lambda hit: replace(hit, excerpt=excerpt_of(hit.message, words))
    )


def _share(stored: StoredConversation, question: Question, told: Collection[str]) -> float:
    return message_recall(question.evidence, turns_of(stored, list(told)))


def distinct(stored: StoredConversation, hits: Sequence[RankedHit]) -> list[RankedMessage]:
    """Return the messages of these hits with their facts, without repeated texts, as ChatHistory.search does."""
    return keep_one_of_each(
        [
            RankedMessage(
                message=replace(stored.messages[hit.message_id], sequence=hit.sequence),
                score=hit.score,
                newer=hit.newer,
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
