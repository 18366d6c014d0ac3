"""Asks the product's recall and simpler retrievers over the same index, and collects what they find in a set."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from bot.features.parts import Stores
from bot.features.settings import AllSettings
from memory.recall.ranking import RankedHit, RankerWeights, rank, select_relevant
from memory.recall.recall import LIST_LIMIT, Candidates
from memory.recall.updates import find_newer, raise_newer, with_newer
from memory.tokens import CachingTokenCounter, tokenizer_for
from rig.conversations import StoredConversation, gather, store_conversation, turns_of
from rig.locomo import Conversation, Question, Statement
from rig.prompt_share import PromptShare, distinct, measure_budgets, measure_prompt
from rig.retrieval import DEPTHS, Judged

OURS, WITH_FLOOR = "Mnemogram", "Mnemogram, above its floor"
COSINE, BM25, RRF, LAST = "cosine", "BM25", "RRF", "the last messages"
COMPARED = (OURS, COSINE, BM25, RRF)
COVERAGES = {"with facts": 1.0, "with half of the facts": 0.5}
"""Share of the statements that are facts. The other half are other messages' as a rule."""
STRANGE_EVERY = 6
"""Of the questions about other conversations of the set, one in so many is asked as well."""
TOLD_AT_MOST: int = AllSettings.model_fields["recall_k"].default
METER = CachingTokenCounter(tokenizer_for("gpt-4o"))
_RRF_K = 60
"""The constant of the paper on reciprocal rank fusion (Cormack et al., SIGIR 2009)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationSet:
    """Conversations that are judged together."""

    name: str
    conversations: Sequence[Conversation]
    statements: Mapping[str, Sequence[Statement]] = field(default_factory=dict[str, Sequence[Statement]])
    """Conversation → what a model has extracted from it."""

    def strange_to(self, conversation: Conversation) -> list[Question]:
        """Return questions about the other conversations, with the names of this one's speakers."""
        others = [
            question.about(other.speakers, conversation.speakers)
            for other in self.conversations
            if other.name != conversation.name
            for question in other.questions
        ]
        return others[::STRANGE_EVERY]


@dataclass(slots=True)
class Results:
    """What the retrievers found in one set."""

    name: str
    answers: dict[str, list[Judged]] = field(default_factory=dict[str, list[Judged]])
    """Retriever → its answers to the questions that have evidence."""
    prompts: dict[str, list[PromptShare]] = field(default_factory=dict[str, list[PromptShare]])
    """What reaches the prompt by default settings."""
    budgets: dict[str, list[Mapping[int, float]]] = field(
        default_factory=dict[str, list[Mapping[int, float]]]
    )
    """Retriever → the share of the evidence within each number of tokens."""
    recalled: dict[str, list[bool]] = field(default_factory=dict[str, list[bool]])
    """Kind of question without an answer → if something was above the floor."""
    search_s: list[float] = field(default_factory=list[float])
    index_s: float = 0.0
    messages: int = 0
    points: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def ours(self) -> Sequence[Judged]:
        """Our own answers without facts."""
        return self.answers[OURS]


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks questions in the stores, and adds the answers to the results."""

    stores: Stores
    results: Results

    async def ask_all(
        self,
        conversation: Conversation,
        weights: RankerWeights,
        *,
        strange: Sequence[Question] = (),
        statements: Sequence[Statement] = (),
    ) -> None:
        """Ask all questions of a conversation, and again with its statements as facts."""
        await self._ask_plain(conversation, weights, strange)
        for name, share in COVERAGES.items() if statements else ():
            chosen = [each for each in statements if each.is_among(share)]
            stored = await self._store(conversation, chosen, chat=name)
            for question in conversation.questions:
                _, found = await self._search(stored, question, weights)
                self._add(f"{OURS}, {name}", stored, question, found.best)
                self._add_prompt(name, stored, question, found.told)

    async def _ask_plain(
        self, conversation: Conversation, weights: RankerWeights, strange: Sequence[Question]
    ) -> None:
        results = self.results
        stored = await self._store(conversation, (), chat="")
        results.messages += len(conversation.turns)
        results.index_s += stored.index_s
        for question in conversation.questions:
            began = perf_counter()
            candidates, found = await self._search(stored, question, weights)
            results.search_s.append(perf_counter() - began)
            self._add(WITH_FLOOR, stored, question, found.relevant)
            self._add_prompt("without facts", stored, question, found.told)
            by_words, by_meaning = await _lists(self.stores, candidates)
            lists = {
                OURS: found.best,
                COSINE: by_meaning,
                BM25: by_words,
                RRF: fuse(by_words, by_meaning),
                LAST: [*stored.turn_ids][::-1],
            }
            for name, ids in lists.items():
                self._add(name, stored, question, ids)
                shares = measure_budgets(stored, question, _as_hits(ids), meter=METER)
                results.budgets.setdefault(name, []).append(shares)
        for kind, questions in (("abstention", conversation.unanswerable), ("strange", strange)):
            for question in questions:
                _, found = await self._search(stored, question, weights)
                results.recalled.setdefault(kind, []).append(bool(found.relevant))

    async def _store(
        self, conversation: Conversation, statements: Sequence[Statement], *, chat: str
    ) -> StoredConversation:
        results = self.results
        stored = await store_conversation(
            self.stores, conversation, statements, chat=f"{results.name} {chat}"
        )
        name = chat or "without facts"
        results.points[name] = results.points.get(name, 0) + await self.stores.recall.count(stored.ref)
        return stored

    async def _search(
        self, stored: StoredConversation, question: Question, weights: RankerWeights
    ) -> tuple[Candidates, "Found"]:
        candidates = await gather(self.stores, stored, question)
        if not candidates.messages:
            return candidates, Found()
        ranking = rank(candidates.question, candidates.messages, listed=candidates.listed, weights=weights)
        relevant = select_relevant(candidates.question, ranking, weights=weights)
        best, above = ([hit.message_id for hit in each.best(LIST_LIMIT)] for each in (ranking, relevant))
        newer = find_newer(candidates.question, relevant, ranking, first=TOLD_AT_MOST)
        raised = raise_newer(relevant, ranking, newer)
        told = with_newer(raised.best(LIST_LIMIT), raised, newer)
        return candidates, Found(best, above, told)

    def _add(
        self, retriever: str, stored: StoredConversation, question: Question, ids: Sequence[str]
    ) -> None:
        """Add what a retriever found: ids of messages, the best first."""
        once = [each.message.id for each in distinct(stored, _as_hits(ids))]
        found = turns_of(stored, once[: DEPTHS[-1]])
        judged = Judged(conversation=stored.conversation.name, question=question, found=found)
        self.results.answers.setdefault(retriever, []).append(judged)

    def _add_prompt(
        self, name: str, stored: StoredConversation, question: Question, hits: Sequence[RankedHit]
    ) -> None:
        share = measure_prompt(stored, question, hits, meter=METER)
        self.results.prompts.setdefault(name, []).append(share)


@dataclass(frozen=True, slots=True)
class Found:
    """Ids of messages that recall found, the best first: all, and those above the floor.

    `told` are the latter with updates after older statements, as a prompt tells them.
    """

    best: Sequence[str] = ()
    relevant: Sequence[str] = ()
    told: Sequence[RankedHit] = ()


def fuse(*lists: Sequence[str]) -> list[str]:
    """Merge lists by reciprocal rank fusion: each list gives a message 1 / (60 + its rank)."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for position, message in enumerate(ranked, start=1):
            scores[message] = scores.get(message, 0.0) + 1 / (_RRF_K + position)
    return sorted(scores, key=lambda each: -scores[each])


def _as_hits(ids: Iterable[str]) -> list[RankedHit]:
    return [RankedHit(message, 0, 0.0) for message in ids]


async def _lists(stores: Stores, candidates: Candidates) -> tuple[list[str], list[str]]:
    """Return the best by words and the best by meaning, as an index returns them."""
    index, query = stores.recall.spaces.serving.index, candidates.query
    if query is None:
        return [], []
    hits = await index.search(query)
    messages = await index.score(query, {each.sequence for each in hits})
    by_sequence = dict(zip(messages.sequences.tolist(), messages.ids, strict=True))
    by_words = sorted((each for each in hits if each.sparse > 0), key=lambda each: -each.sparse)
    by_meaning = sorted(
        (each for each in hits if each.dense is not None), key=lambda each: -(each.dense or 0.0)
    )
    return (
        [by_sequence[each.sequence] for each in by_words],
        [by_sequence[each.sequence] for each in by_meaning],
    )
