"""Learns the ranker's weights, and says what the floor does with them, through the product's own index and features.

RankerWeights learned from everything go to memory/recall/ranker_weights.json. Those learned without a fifth of the
public conversations go to benchmarks/ranker_folds.json, which benchmarks/recall.py judges with. See docs/recall.md.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
from rig.conversations import EMBEDDED, open_bench_stores
from rig.learning import PENALTY, Example, Matrix, learn
from rig.learning_sets import FOLDS, OWN, RankedQuestion, gather_set, learning_sets
from rig.locomo import NotLoCoMo, read_conversations
from rig.retrieval import Judged, judge
from rig.table import print_table

from memory.recall.lexicon.analyser import ASKS
from memory.recall.lexicon.analysis import QuestionAnalysis
from memory.recall.ranking import (
    FEATURES,
    HYBRID_FEATURES,
    LEXICAL_FEATURES,
    RankerWeights,
    compute_features,
    cover_words,
    load_weights,
    measure_talk,
    rank,
    select_relevant,
)
from memory.recall.recall import LIST_LIMIT, Candidates
from memory.recall.scored_messages import ScoredMessages

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "memory" / "recall" / "ranker_weights.json"
FOLDS_FILE = ROOT / "benchmarks" / "ranker_folds.json"
BENT = ("words", "words_log", "meaning", "window", "author", "session_meaning")
"""Features whose weights change with the length of talk."""
STATED = ("words", "window", "meaning")
"""Features whose weights differ for texts that ask nothing."""
UNCOVERED = ("words", "window", "meaning", "session_meaning")
"""Features whose weights change with the share of the question's words that no message has."""
_Counts = dict[tuple[str, bool], list[bool]]
"""(group of questions, if they have an answer) → if the floor was wrong."""


async def main() -> None:
    """Gather, learn with each fold left out, judge, learn from all, write."""
    options = _options()
    try:
        sets = learning_sets(read_conversations(options.data), read_conversations(options.private))
    except NotLoCoMo as error:
        sys.exit(str(error))
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench_stores(Path(directory), EMBEDDED) as stores:
            asked = [each for one in sets for each in await gather_set(stores, one)]
    learn_and_judge(asked, is_written=options.write)


def learn_and_judge(asked: Sequence[RankedQuestion], *, is_written: bool) -> None:
    """Learn from what was gathered, print how good that is, and write it on demand."""
    folds: list[RankerWeights] = []
    silenced: _Counts = {}
    for fold in range(FOLDS):
        sys.stderr.write(f"fold {fold + 1} of {FOLDS}\n")
        weights = learn_weights([each for each in asked if each.fold != fold])
        _count_silences(silenced, [each for each in asked if each.fold == fold], weights)
        folds.append(weights)
    _print_recall(asked, folds)
    _print_silences(silenced)
    if is_written:
        _write(learn_weights(asked), folds, asked)


def learn_weights(asked: Sequence[RankedQuestion]) -> RankerWeights:
    """Return weights, with the floors as they are shipped: those are set by hand, see docs/recall.md."""
    taught = [each for each in asked if each.teaches_weights]
    hybrid = learn([_example(each, each.hybrid, is_hybrid=True) for each in taught])
    lexical = learn([_example(each, each.lexical, is_hybrid=False) for each in taught if each.lexical])
    ends = np.cumsum([len(HYBRID_FEATURES), len(BENT), len(STATED)])
    plain, bent, stated, uncovered = np.split(hybrid, ends)
    return replace(
        load_weights(),
        hybrid=_named(HYBRID_FEATURES, plain),
        in_long_talk=_named(BENT, bent),
        for_statements=_named(STATED, stated),
        for_new_words=_named(UNCOVERED, uncovered),
        lexical=_named(LEXICAL_FEATURES, lexical),
    )


def _example(asked: RankedQuestion, candidates: Candidates, *, is_hybrid: bool) -> Example:
    messages = candidates.messages
    if not messages:
        return Example(features=np.zeros((0, 1)), is_evidence=np.zeros(0, dtype=bool))
    question = candidates.question
    rows = compute_features(question, messages, listed=candidates.listed)
    turns = [asked.turn_ids[each] for each in messages.ids]
    return Example(
        features=_bend(rows, question, messages) if is_hybrid else _columns(rows, LEXICAL_FEATURES),
        is_evidence=np.array([turn in asked.question.evidence for turn in turns], dtype=bool),
        importance=asked.importance,
    )


def _bend(rows: Matrix, question: QuestionAnalysis, messages: ScoredMessages) -> Matrix:
    """Return the features, and those with more than one weight once more, times what the weight depends on."""
    parts = (
        (HYBRID_FEATURES, 1.0),
        (BENT, measure_talk(question, messages)),
        (STATED, float(ASKS not in question.signs)),
        (UNCOVERED, 1.0 - cover_words(question, messages)),
    )
    return np.concatenate([factor * _columns(rows, names) for names, factor in parts], axis=1)


def _columns(rows: Matrix, names: Sequence[str]) -> Matrix:
    return rows[:, [FEATURES.index(name) for name in names]]


def _named(names: Sequence[str], weights: Matrix) -> dict[str, float]:
    """Round each weight to two digits: recall stays the same."""
    return {name: float(f"{weight:.2g}") for name, weight in zip(names, weights, strict=True)}


def _count_silences(counts: _Counts, asked: Sequence[RankedQuestion], weights: RankerWeights) -> None:
    """Count for which questions the floor is wrong: it silences an answer, or recalls for a strange question."""
    for each in asked:
        found, is_told = each.hybrid, False
        if not each.teaches_floor:
            continue
        if found.messages:
            ranking = rank(found.question, found.messages, listed=found.listed, weights=weights)
            is_told = bool(len(select_relevant(found.question, ranking, weights=weights).rows))
        counts.setdefault((_group(each), each.has_answer), []).append(is_told != each.has_answer)


def _print_recall(asked: Sequence[RankedQuestion], folds: Sequence[RankerWeights]) -> None:
    rows: list[list[str]] = []
    taught = [each for each in asked if each.teaches_weights and each.set_name != OWN]
    for kind in ("hybrid", "lexical"):
        for name in dict.fromkeys(each.set_name for each in taught):
            judged = [
                _judged(each, candidates, folds[each.fold or 0])
                for each in taught
                if each.set_name == name and (candidates := each.hybrid if kind == "hybrid" else each.lexical)
            ]
            if not judged:
                continue
            figures = judge(judged)
            errors = " / ".join(f"{figure.error:.1f}" for figure in figures.values())
            rows.append([f"{kind}, {name}", *(f"{figure.mean:.1f}" for figure in figures.values()), errors])
    heads = ["weights learned from the other folds", "@5", "@10", "@25", "standard error"]
    print_table("Recall by weights that were learned without the conversation that is asked", heads, rows)


def _print_silences(counts: _Counts) -> None:
    rows = [
        [group, *(f"{100 * fmean(counts[group, has_answer]):.1f}" for has_answer in (True, False))]
        for group in dict.fromkeys(group for group, _ in counts)
    ]
    heads = ["in percent", "silenced questions with an answer", "recalled for strange questions"]
    print_table(
        "The floor as it is shipped, with weights that were learned without the conversation", heads, rows
    )


def _group(asked: RankedQuestion) -> str:
    return f"{asked.set_name}, {asked.chat or 'whole'}"


def _judged(asked: RankedQuestion, candidates: Candidates, weights: RankerWeights) -> Judged:
    found: list[str] = []
    if candidates.messages:
        ranking = rank(candidates.question, candidates.messages, listed=candidates.listed, weights=weights)
        found = [asked.turn_ids[each.message_id] for each in ranking.best(LIST_LIMIT)]
    return Judged(conversation=asked.conversation, question=asked.question, found=found)


def _write(weights: RankerWeights, folds: Sequence[RankerWeights], asked: Sequence[RankedQuestion]) -> None:
    questions = {
        name: sum(each.teaches_weights and each.set_name == name for each in asked)
        for name in dict.fromkeys(each.set_name for each in asked)
    }
    learned = (
        f"benchmarks/learn_ranker.py: conditional logit over each question's candidates, penalty {PENALTY:g} on the "
        f"squares of standardised weights, two digits kept. Questions: "
        f"{', '.join(f'{count} of {name}' for name, count in questions.items())}; see docs/recall.md"
    )
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))["floor"]
    _dump(SHIPPED, {"learned": learned, **_by_kind(weights), "floor": shipped})
    public = [each for each in asked if each.fold is not None]
    stored = [
        {"without": sorted({each.conversation for each in public if each.fold == number}), **_by_kind(fold)}
        for number, fold in enumerate(folds)
    ]
    about = "RankerWeights learned without the conversations of these names."
    _dump(FOLDS_FILE, {"about": about, "folds": stored})


def _by_kind(weights: RankerWeights) -> dict[str, Mapping[str, float]]:
    return {
        "hybrid": weights.hybrid,
        "in_long_talk": weights.in_long_talk,
        "for_statements": weights.for_statements,
        "for_new_words": weights.for_new_words,
        "lexical": weights.lexical,
    }


def _dump(path: Path, document: Mapping[str, object]) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="LoCoMo: learned from as it is and turned into private chats"
    )
    parser.add_argument(
        "--private", type=Path, required=True, help="talk in which speaker_a asks and speaker_b is the bot"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the weights; without it they are only judged"
    )
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
