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
from dataclasses import dataclass, replace
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
from rig.locomo import JUDGED, Conversation, NotLoCoMo, Question, read_conversations
from rig.plot import draw
from rig.retrieval import DEPTHS, Judged, Quality, judge
from rig.sanity import SanityResult, ask_pairs, read_pairs
from rig.table import print_table

from bot.app.stores import Stores
from memory.recall.ranking import RankerWeights, load_weights, rank, select_relevant
from memory.recall.recall import Candidates

OURS = "Mnemogram"
WITH_FLOOR = "Mnemogram, above its floor"
FOLDS = Path(__file__).parent / "ranker_folds.json"
DEEPEST = DEPTHS[-1]
_RRF_K = 60
"""The constant of the paper on reciprocal rank fusion (Cormack et al., SIGIR 2009)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Milliseconds: of a whole search, medians and 95th percentile; of indexing a message, the mean."""

    search_p50: float
    search_p95: float
    index: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Results and costs of every retriever. `left_out`: conversations judged by weights of the others."""

    answers: Mapping[str, Sequence[Judged]]
    timing: Timing
    sanity: Sequence[SanityResult]
    left_out: Sequence[str]

    @property
    def ours(self) -> Sequence[Judged]:
        """Our own answers."""
        return self.answers[OURS]

    @property
    def conversations(self) -> Sequence[str]:
        """Their names, in order."""
        return list(dict.fromkeys(each.conversation for each in self.ours))


async def main() -> None:
    """Store every conversation, ask every retriever every question, and print."""
    options = _options()
    conversations = _conversations(options.data)
    folds = read_folds()
    answers: dict[str, list[Judged]] = {}
    seconds: list[float] = []
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench_stores(Path(directory), options.embedder) as stores:
            stored = [await _store(stores, conversation) for conversation in conversations]
            for each in stored:
                weights = folds.get(each.conversation.name, load_weights())
                _say(f"asking {len(each.conversation.questions)} questions of {each.conversation.name}")
                for question in each.conversation.questions:
                    found, took = await answer(stores, each, question, weights)
                    seconds.append(took)
                    for retriever, ids in found.items():
                        answers.setdefault(retriever, []).append(
                            Judged(conversation=each.conversation.name, question=question, found=ids)
                        )
            sanity = await ask_pairs(stores, read_pairs())
    if not conversations:
        _print_sanity(sanity)
        return
    report = Report(
        answers=answers,
        timing=Timing(
            search_p50=1000 * median(seconds),
            search_p95=1000 * sorted(seconds)[int(0.95 * len(seconds))],
            index=1000 * sum(each.index_s for each in stored) / sum(len(each.turn_ids) for each in stored),
        ),
        sanity=sanity,
        left_out=sorted(each.name for each in conversations if each.name in folds),
    )
    if options.plot:
        options.plot.write_text(_plot(report), encoding="utf-8")
    if options.json:
        print(json.dumps(_document(report)))
    else:
        _print(report)


async def answer(
    stores: Stores, stored: StoredConversation, question: Question, weights: RankerWeights
) -> tuple[dict[str, list[str]], float]:
    """Return the results of each retriever, the best first, and the seconds of ours."""
    began = time.perf_counter()
    candidates = await gather(stores, stored, question)
    ours: list[str] = []
    told_ones: list[str] = []
    took = time.perf_counter() - began
    if candidates.messages:
        ranking = rank(candidates.question, candidates.messages, listed=candidates.listed, weights=weights)
        took = time.perf_counter() - began
        ours = [each.message_id for each in ranking.best(DEEPEST)]
        relevant = select_relevant(candidates.question, ranking, weights=weights)
        told_ones = [each.message_id for each in relevant.best(DEEPEST)]
    by_words, by_meaning = await _lists(stores, candidates)
    found = {
        OURS: ours,
        WITH_FLOOR: told_ones,
        "RRF of words and meaning": fuse(by_words, by_meaning)[:DEEPEST],
        "BM25 (words alone)": by_words[:DEEPEST],
        "cosine (meaning alone)": by_meaning[:DEEPEST],
    }
    told_last = [turn.id for turn in reversed(stored.conversation.turns[-DEEPEST:])]
    ids = {name: turns_of(stored, messages) for name, messages in found.items()}
    return {**ids, "the last messages": told_last}, took


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
    documents: dict[str, dict[str, dict[str, float]]] = json.loads(FOLDS.read_text(encoding="utf-8"))["folds"]
    shipped = load_weights()
    return {
        name: replace(shipped, hybrid=weights["hybrid"], lexical=weights["lexical"])
        for name, weights in documents.items()
    }


async def _store(stores: Stores, conversation: Conversation) -> StoredConversation:
    _say(f"indexing {conversation.name}: {len(conversation.turns)} messages")
    return await store_conversation(stores, conversation)


def _print(report: Report) -> None:
    heads = [*(f"recall@{depth}" for depth in DEPTHS), *(f"hit@{depth}" for depth in DEPTHS)]
    print_table(
        f"{len(report.ours):,} questions of categories 1 to 4, all retrievers over the same index",
        ["retriever", *heads],
        [[name, *_figures(judge(judged))] for name, judged in report.answers.items()],
    )
    categories = {
        f"{number} {name}": [each for each in report.ours if each.question.category == number]
        for number, name in JUDGED.items()
    }
    conversations = {
        name: [each for each in report.ours if each.conversation == name] for name in report.conversations
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
    _print_sanity(report.sanity)
    print(
        f"A search takes {report.timing.search_p50:.1f} ms (median; p95 {report.timing.search_p95:.1f}), with the "
        f"embedding of the question; indexing takes {report.timing.index:.1f} ms a message."
    )
    silent = sum(not each.found for each in report.answers[WITH_FLOOR])
    print(f"The floor leaves {silent} of {len(report.ours):,} questions without an answer from memory.")
    if report.left_out:
        print(
            f"RankerWeights: learned without the conversation that is asked ({', '.join(report.left_out)})."
        )
    if len(report.left_out) < len(report.conversations):
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
    return {
        "retrievers": {name: _quality(judged) for name, judged in report.answers.items()},
        "categories": {
            str(number): _quality([each for each in report.ours if each.question.category == number])
            for number in JUDGED
        },
        "silent": sum(not each.found for each in report.answers[WITH_FLOOR]),
        "search_ms": {"p50": report.timing.search_p50, "p95": report.timing.search_p95},
        "index_ms_per_message": report.timing.index,
        "sanity": {each.language: {"first": each.first, "third": each.third} for each in report.sanity},
        "left_out": list(report.left_out),
    }


def _quality(judged: Sequence[Judged]) -> dict[str, object]:
    quality = judge(judged)
    return {"questions": quality.questions, "recall": dict(quality.recall), "hit": dict(quality.hit)}


def _plot(report: Report) -> str:
    title = f"Evidence found for {len(report.ours):,} questions on {len(report.conversations)} LoCoMo conversations"
    rows = [(name, judge(judged).recall) for name, judged in report.answers.items()]
    return draw(title, rows, ours=OURS)


def _conversations(data: Path | None) -> list[Conversation]:
    if data is None:  # `make bench` goes on: the conversations are not ours to ship
        _say("no --data: only the sanity pairs are asked")
        return []
    try:
        return read_conversations(data)
    except NotLoCoMo as error:
        sys.exit(f"--data: {error}")


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
    parser.add_argument("--plot", type=Path, help="also draw the table as an SVG into this file")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
