"""Learns the ranker's weights from conversations in LoCoMo's format, through the product's own index and features.

RankerWeights learned from all of them go to memory/recall/ranker_weights.json, those learned without one conversation each to
benchmarks/ranker_folds.json, which benchmarks/recall.py judges with. See docs/recall.md.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from rig.conversations import EMBEDDED, gather, open_bench_stores, store_conversation
from rig.learning import PENALTY, Example, learn
from rig.locomo import Conversation, NotLoCoMo, Question, read_conversations
from rig.retrieval import DEPTHS, Judged, judge
from rig.table import print_table

from bot.app.stores import Stores
from memory.recall.ranking import (
    FEATURES,
    HYBRID_FEATURES,
    LEXICAL_FEATURES,
    RankerWeights,
    compute_features,
    load_weights,
    rank,
)
from memory.recall.recall import Candidates

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "memory" / "recall" / "ranker_weights.json"
FOLDS = ROOT / "benchmarks" / "ranker_folds.json"
_NO_ROWS = np.zeros((0, len(FEATURES)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedQuestion:
    """A question with its candidates, with vectors and without, before ranking."""

    conversation: str
    question: Question
    hybrid: Candidates
    lexical: Candidates
    turn_ids: Mapping[str, str]


async def main() -> None:
    """Gather, learn with each conversation left out, judge, learn from all, write."""
    options = _options()
    try:
        conversations = read_conversations(options.data)
    except NotLoCoMo as error:
        sys.exit(f"--data: {error}")
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench_stores(Path(directory), EMBEDDED) as stores:
            asked = [each for one in conversations for each in await _gather(stores, one)]
    folds = {
        one.name: _learn([each for each in asked if each.conversation != one.name]) for one in conversations
    }
    _print(asked, folds)
    if options.write:
        _write(_learn(asked), folds, questions=len(asked))


async def _gather(stores: Stores, conversation: Conversation) -> list[RankedQuestion]:
    sys.stderr.write(
        f"{conversation.name}: {len(conversation.turns)} messages, {len(conversation.questions)} questions\n"
    )
    stored = await store_conversation(stores, conversation)
    candidates: list[RankedQuestion] = []
    for question in conversation.questions:
        hybrid = await gather(stores, stored, question)
        lexical = await gather(stores, stored, question, by_words_alone=True)
        candidates.append(
            RankedQuestion(
                conversation=conversation.name,
                question=question,
                hybrid=hybrid,
                lexical=lexical,
                turn_ids=stored.turn_ids,
            )
        )
    return candidates


def _learn(asked: Sequence[RankedQuestion]) -> RankerWeights:
    return replace(
        load_weights(),
        hybrid=_weigh([_example(each, each.hybrid, HYBRID_FEATURES) for each in asked], HYBRID_FEATURES),
        lexical=_weigh([_example(each, each.lexical, LEXICAL_FEATURES) for each in asked], LEXICAL_FEATURES),
    )


def _example(asked: RankedQuestion, candidates: Candidates, names: Sequence[str]) -> Example:
    messages = candidates.messages
    turns = [asked.turn_ids[each] for each in messages.ids] if messages else []
    columns = [FEATURES.index(name) for name in names]
    rows = compute_features(candidates.question, messages, listed=candidates.listed) if messages else _NO_ROWS
    return Example(
        features=rows[:, columns],
        is_evidence=np.array([turn in asked.question.evidence for turn in turns], dtype=bool),
    )


def _weigh(examples: Sequence[Example], names: Sequence[str]) -> dict[str, float]:
    """Round each weight to two digits: recall stays the same."""
    return {name: float(f"{weight:.2g}") for name, weight in zip(names, learn(examples), strict=True)}


def _print(asked: Sequence[RankedQuestion], folds: Mapping[str, RankerWeights]) -> None:
    rows: list[list[str]] = []
    for kind in ("hybrid", "lexical"):
        judged = [_judged(each, folds[each.conversation], is_hybrid=kind == "hybrid") for each in asked]
        for name in (*folds, "all"):
            quality = judge([each for each in judged if name in (each.conversation, "all")])
            rows.append([f"{kind}, {name}", *(f"{quality.recall[depth]:.1f}" for depth in DEPTHS)])
    heads = ["weights learned without it", *(f"recall@{depth}" for depth in DEPTHS)]
    print_table("Each conversation by weights that were learned from the others", heads, rows)


def _judged(asked: RankedQuestion, weights: RankerWeights, *, is_hybrid: bool) -> Judged:
    candidates = asked.hybrid if is_hybrid else asked.lexical
    found: list[str] = []
    if candidates.messages:
        ranking = rank(candidates.question, candidates.messages, listed=candidates.listed, weights=weights)
        found = [asked.turn_ids[each.message_id] for each in ranking.best(DEPTHS[-1])]
    return Judged(conversation=asked.conversation, question=asked.question, found=found)


def _write(weights: RankerWeights, folds: Mapping[str, RankerWeights], *, questions: int) -> None:
    learned = (
        f"benchmarks/learn_ranker.py: conditional logit over each question's candidates, penalty {PENALTY:g} on the "
        f"squares of standardised weights, {questions} questions of the LoCoMo conversations {', '.join(folds)}, "
        "two digits kept; see docs/recall.md"
    )
    shipped = {**_read(SHIPPED), "learned": learned, "hybrid": weights.hybrid, "lexical": weights.lexical}
    _dump(SHIPPED, shipped)
    stored = {name: {"hybrid": fold.hybrid, "lexical": fold.lexical} for name, fold in folds.items()}
    _dump(FOLDS, {"about": "RankerWeights learned without the conversation of this name.", "folds": stored})


def _read(path: Path) -> dict[str, object]:
    return json.loads(path.read_text(encoding="utf-8"))


def _dump(path: Path, document: Mapping[str, object]) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a file of LoCoMo's format")
    parser.add_argument(
        "--write", action="store_true", help="write the weights; without it they are only judged"
    )
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
