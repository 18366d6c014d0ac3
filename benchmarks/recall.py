"""Share of the evidence that recall and simpler retrievers find, on conversations in LoCoMo's format.

Every conversation is written to the product's own stores and searched by its own recall. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median

from rig.conversations import (
    EMBEDDED,
    StoredConversation,
    gather,
    open_bench_stores,
    store_conversation,
    turns_of,
)
from rig.locomo import (
    JUDGED,
    Conversation,
    NotLoCoMo,
    Question,
    Statement,
    read_conversations,
    read_statements,
)
from rig.plot import draw
from rig.prompt_share import PromptShare, average, distinct, measure_prompt
from rig.retrieval import DEPTHS, Judged, Quality, judge
from rig.sanity import SanityResult, ask_pairs, read_pairs
from rig.table import print_table

from bot.features.parts import Stores
from bot.features.settings import AllSettings
from memory.recall.ranking import RankedHit, RankerWeights, load_weights, rank, select_relevant
from memory.recall.recall import LIST_LIMIT, Candidates
from memory.tokens import tokenizer_for

OURS = "Mnemogram"
WITH_FLOOR = "Mnemogram, above its floor"
COVERAGES = {"with facts": 1.0, "with half of the facts": 0.5}
"""Share of the statements that are facts. The other half are other messages' as a rule."""
FORMER_K = 3
"""RECALL_K before facts."""
FOLDS = Path(__file__).parent / "ranker_folds.json"
DEEPEST = DEPTHS[-1]
METER = tokenizer_for("gpt-4o")
RECALL_K: int = AllSettings.model_fields["recall_k"].default
_UNDRAWN = {f"{OURS}, {name}, above its floor" for name in COVERAGES}
_RRF_K = 60
"""The constant of the paper on reciprocal rank fusion (Cormack et al., SIGIR 2009)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Milliseconds: of a whole search, medians and 95th percentile; of indexing a message, the mean."""

    search_p50: float
    search_p95: float
    index: float


@dataclass(slots=True)
class Results:
    """What the retrievers found, and what our prompts told, by their names. `seconds`: of each of our searches."""

    answers: dict[str, list[Judged]] = field(default_factory=dict[str, list[Judged]])
    prompts: dict[str, list[PromptShare]] = field(default_factory=dict[str, list[PromptShare]])
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    index_s: dict[str, float] = field(default_factory=dict[str, float])
    points: dict[str, int] = field(default_factory=dict[str, int])
    messages: int = 0

    def add_answer(
        self, retriever: str, stored: StoredConversation, question: Question, ids: Sequence[str]
    ) -> None:
        """Add what a retriever found: ids of messages, the best first."""
        found = turns_of(stored, ids[:DEEPEST])
        judged = Judged(conversation=stored.conversation.name, question=question, found=found)
        self.answers.setdefault(retriever, []).append(judged)

    @property
    def ours(self) -> Sequence[Judged]:
        """Our own answers without facts."""
        return self.answers[OURS]

    @property
    def conversations(self) -> Sequence[str]:
        """Their names, in order."""
        return list(dict.fromkeys(each.conversation for each in self.ours))

    def timing(self, name: str) -> Timing:
        """Return the times of our searches under this name."""
        seconds = sorted(self.seconds[name])
        return Timing(
            search_p50=1000 * median(seconds),
            search_p95=1000 * seconds[int(0.95 * len(seconds))],
            index=1000 * self.index_s[name] / self.messages,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Results with those of the sanity pairs. `left_out`: conversations judged by weights of the others."""

    results: Results
    sanity: Sequence[SanityResult]
    left_out: Sequence[str]


async def main() -> None:
    """Store every conversation, ask every retriever every question, and print."""
    options = _options()
    conversations, statements = _read(options.data, options.facts)
    folds = read_folds()
    results = Results()
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench_stores(Path(directory), options.embedder) as stores:
            for conversation in conversations:
                weights = folds.get(conversation.name, load_weights())
                await Asker(stores, results).ask_all(
                    conversation, statements.get(conversation.name, ()), weights
                )
            sanity = await ask_pairs(stores, read_pairs())
    if not conversations:
        _print_sanity(sanity)
        return
    report = Report(
        results=results,
        sanity=sanity,
        left_out=sorted(each.name for each in conversations if each.name in folds),
    )
    if options.plot:
        options.plot.write_text(_plot(results), encoding="utf-8")
    if options.json:
        print(json.dumps(_document(report)))
    else:
        _print(report)


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks questions in the stores, and adds the answers to the results."""

    stores: Stores
    results: Results

    async def ask_all(
        self, conversation: Conversation, statements: Sequence[Statement], weights: RankerWeights
    ) -> None:
        """Ask all questions of a conversation: without facts, and with them if there are statements."""
        _say(
            f"{conversation.name}: {len(conversation.turns)} messages, {len(conversation.questions)} questions"
        )
        results = self.results
        results.messages += len(conversation.turns)
        shares = {"": 0.0, **(COVERAGES if statements else {})}
        for name, share in shares.items():
            chosen = [each for each in statements if each.is_among(share)]
            stored = await store_conversation(self.stores, conversation, chosen, chat=name)
            ours = f"{OURS}, {name}" if name else OURS
            results.index_s[ours] = results.index_s.get(ours, 0.0) + stored.index_s
            points = await self.stores.recall.count(stored.ref)
            results.points[ours] = results.points.get(ours, 0) + points
            for question in conversation.questions:
                relevant = await self._ask(stored, question, weights, name=ours)
                for k in (RECALL_K,) if name else (FORMER_K, RECALL_K):
                    share_told = measure_prompt(stored, question, relevant, k=k, meter=METER)
                    label = f"{k}, {name or 'without facts'}"
                    results.prompts.setdefault(label, []).append(share_told)

    async def _ask(
        self, stored: StoredConversation, question: Question, weights: RankerWeights, *, name: str
    ) -> Sequence[RankedHit]:
        """Return our hits above the floor."""
        results, best, relevant = self.results, list[RankedHit](), list[RankedHit]()
        began = time.perf_counter()
        candidates = await gather(self.stores, stored, question)
        took = time.perf_counter() - began
        if candidates.messages:
            ranking = rank(
                candidates.question, candidates.messages, listed=candidates.listed, weights=weights
            )
            took = time.perf_counter() - began
            best = ranking.best(LIST_LIMIT)
            relevant = select_relevant(candidates.question, ranking, weights=weights).best(LIST_LIMIT)
        results.seconds.setdefault(name, []).append(took)
        found, above = ([each.message.id for each in distinct(stored, hits)] for hits in (best, relevant))
        results.add_answer(name, stored, question, found)
        results.add_answer(f"{name}, above its floor", stored, question, above)
        if name == OURS:
            by_words, by_meaning = await _lists(self.stores, candidates)
            results.add_answer("RRF of words and meaning", stored, question, fuse(by_words, by_meaning))
            results.add_answer("BM25 (words alone)", stored, question, by_words)
            results.add_answer("cosine (meaning alone)", stored, question, by_meaning)
            results.add_answer("the last messages", stored, question, [*stored.turn_ids][::-1])
        return relevant


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


def fuse(*lists: Sequence[str]) -> list[str]:
    """Reciprocal rank fusion: each list gives a message 1 / (60 + its rank)."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for position, message in enumerate(ranked, start=1):
            scores[message] = scores.get(message, 0.0) + 1 / (_RRF_K + position)
    return sorted(scores, key=lambda each: -scores[each])


def read_folds() -> dict[str, RankerWeights]:
    """Return, for each conversation behind the shipped weights, weights learned without it."""
    documents = json.loads(FOLDS.read_text(encoding="utf-8"))["folds"]
    shipped = load_weights()
    return {
        name: replace(
            shipped,
            hybrid=weights["hybrid"],
            lexical=weights["lexical"],
            hybrid_floor=replace(shipped.hybrid_floor, **weights["floor"]),
        )
        for name, weights in documents.items()
    }


def _print(report: Report) -> None:
    results = report.results
    heads = [*(f"recall@{depth}" for depth in DEPTHS), *(f"hit@{depth}" for depth in DEPTHS)]
    print_table(
        f"{len(results.ours):,} questions of categories 1 to 4, all retrievers over the same index",
        ["retriever", *heads],
        [[name, *_figures(judge(judged))] for name, judged in results.answers.items()],
    )
    categories = {
        f"{number} {name}": [each for each in results.ours if each.question.category == number]
        for number, name in JUDGED.items()
    }
    conversations = {
        name: [each for each in results.ours if each.conversation == name] for name in results.conversations
    }
    for title, groups in (("category", categories), ("conversation", conversations)):
        print_table(
            f"{OURS} by {title}",
            [title, "questions", *heads],
            [
                [name, f"{len(judged):,}", *_figures(judge(judged))]
                for name, judged in groups.items()
                if judged
            ],
        )
    print_table(
        f"What reaches the prompt, above the floor (RECALL_K is {RECALL_K} by default, and was {FORMER_K})",
        ["RECALL_K", "evidence %", "lines", "words", "tokens"],
        [[name, *average(shares)] for name, shares in results.prompts.items()],
    )
    _print_sanity(report.sanity)
    for name, points in results.points.items():
        timing = results.timing(name)
        silent = sum(not each.found for each in results.answers[f"{name}, above its floor"])
        print(
            f"{name}: a search takes {timing.search_p50:.1f} ms (median; p95 {timing.search_p95:.1f}), with the "
            f"embedding of the question; indexing takes {timing.index:.1f} ms a message, {points:,} points in all. "
            f"The floor leaves {silent} of {len(results.ours):,} questions without an answer from memory."
        )
    if report.left_out:
        print(
            f"RankerWeights: learned without the conversation that is asked ({', '.join(report.left_out)})."
        )
    if len(report.left_out) < len(results.conversations):
        print(
            "RankerWeights: the shipped ones for the other conversations, which they were not learned from."
        )


def _print_sanity(sanity: Sequence[SanityResult]) -> None:
    print_table(
        "20 questions of our own in each language, among 20 statements",
        ["language", "first", "among the first 3"],
        [
            [each.language, f"{each.first} of {each.pairs}", f"{each.third} of {each.pairs}"]
            for each in sanity
        ],
    )


def _figures(quality: Quality) -> list[str]:
    return [f"{share[depth]:.1f}" for share in (quality.recall, quality.hit) for depth in DEPTHS]


def _document(report: Report) -> dict[str, object]:
    results = report.results
    return {
        "retrievers": {name: _quality(judged) for name, judged in results.answers.items()},
        "categories": {
            str(number): _quality([each for each in results.ours if each.question.category == number])
            for number in JUDGED
        },
        "prompts": {name: average(shares) for name, shares in results.prompts.items()},
        "silent": sum(not each.found for each in results.answers[WITH_FLOOR]),
        "timing_ms": {name: asdict(results.timing(name)) for name in results.points},
        "points": results.points,
        "sanity": {each.language: {"first": each.first, "third": each.third} for each in report.sanity},
        "left_out": list(report.left_out),
    }


def _quality(judged: Sequence[Judged]) -> dict[str, object]:
    quality = judge(judged)
    return {"questions": quality.questions, "recall": dict(quality.recall), "hit": dict(quality.hit)}


def _plot(results: Results) -> str:
    title = f"Evidence found for {len(results.ours):,} questions on {len(results.conversations)} LoCoMo conversations"
    rows = [(name, judge(judged).recall) for name, judged in results.answers.items() if name not in _UNDRAWN]
    return draw(title, rows, ours=OURS)


def _read(
    data: Path | None, facts: Path | None
) -> tuple[list[Conversation], Mapping[str, Sequence[Statement]]]:
    if data is None:  # `make bench` goes on: the conversations are not ours to ship
        _say("no --data: only the sanity pairs are asked")
        return [], {}
    try:
        return read_conversations(data), read_statements(facts) if facts else {}
    except NotLoCoMo as error:
        sys.exit(str(error))


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, help="conversations in LoCoMo's format; without it only the sanity pairs"
    )
    parser.add_argument(
        "--embedder",
        default=EMBEDDED,
        help="`embedded`, or an embedding model of OPENAI_BASE_URL (key: OPENAI_API_KEY)",
    )
    parser.add_argument(
        "--facts", type=Path, help="statements about these conversations, which are facts in a second run"
    )
    parser.add_argument("--plot", type=Path, help="also draw the table as an SVG into this file")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
