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
from statistics import fmean

import numpy as np
from rig.conversations import EMBEDDED, gather, open_bench_stores, store_conversation
from rig.learning import PENALTY, Example, FloorExample, learn, learn_floor
from rig.locomo import Conversation, NotLoCoMo, Question, Statement, read_conversations, read_statements
from rig.retrieval import DEPTHS, Judged, judge
from rig.table import print_table

from bot.features.parts import Stores
from memory.recall.ranking import (
    FEATURES,
    HYBRID_FEATURES,
    LEXICAL_FEATURES,
    Floor,
    RankerWeights,
    compute_features,
    load_weights,
    rank,
    weigh_best,
)
from memory.recall.recall import Candidates

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "memory" / "recall" / "ranker_weights.json"
FOLDS = ROOT / "benchmarks" / "ranker_folds.json"
_NO_ROWS = np.zeros((0, len(FEATURES)))


SILENCED = 0.01
"""Share of the questions with an answer for which a learned floor recalls nothing."""
_TRADED = (0.0025, 0.005, 0.01, 0.02, 0.05)
_PARTS = ((12, 6), (60, 3))
"""Sizes of smaller chats, with their number in each conversation: the floor must suit them too."""
_STRANGE_EVERY, _STRANGE_IN_PARTS = 6, 60
"""Of the questions about other conversations, one in so many is asked as well. None has an answer."""
_PLAIN, _WITH_FACTS = "", "facts"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedQuestion:
    """A question with its candidates, with vectors and without, before ranking.

    `chat` is the size of a part of the conversation, or says if the whole of it has facts.
    """

    conversation: str
    chat: str
    question: Question
    hybrid: Candidates
    lexical: Candidates
    turn_ids: Mapping[str, str]
    has_answer: bool

    @property
    def teaches_weights(self) -> bool:
        """True for questions of whole conversations that have an answer there."""
        return self.has_answer and self.chat in (_PLAIN, _WITH_FACTS)


async def main() -> None:
    """Gather, learn with each conversation left out, judge, learn from all, write."""
    options = _options()
    try:
        conversations = read_conversations(options.data)
        statements = read_statements(options.facts) if options.facts else {}
    except NotLoCoMo as error:
        sys.exit(str(error))
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench_stores(Path(directory), EMBEDDED) as stores:
            asked = [
                each
                for one in conversations
                for each in await _gather(stores, one, conversations, statements.get(one.name, ()))
            ]
    folds = {
        one.name: _learn([each for each in asked if each.conversation != one.name]) for one in conversations
    }
    _print(asked, folds)
    if options.write:
        _write(_learn(asked), folds, asked)


async def _gather(
    stores: Stores,
    conversation: Conversation,
    conversations: Sequence[Conversation],
    statements: Sequence[Statement],
) -> list[RankedQuestion]:
    """Ask in the whole conversation, without and with facts, and in parts of it."""
    sys.stderr.write(
        f"{conversation.name}: {len(conversation.turns)} messages, {len(conversation.questions)} questions\n"
    )
    others = [
        question.about(other.speakers, conversation.speakers)
        for other in conversations
        if other.name != conversation.name
        for question in other.questions
    ]
    asked = await _ask(stores, conversation, others[::_STRANGE_EVERY], chat=_PLAIN)
    if statements:
        strange = others[1::_STRANGE_EVERY]
        asked += await _ask(stores, conversation, strange, chat=_WITH_FACTS, statements=statements)
    for size, count in _PARTS:
        for number in range(count):
            first = number * (len(conversation.turns) - size) // max(1, count - 1)
            part = conversation.part(first, size)
            strange = others[number::_STRANGE_IN_PARTS]
            asked += await _ask(stores, part, strange, chat=f"{size} messages", number=number)
    return asked


async def _ask(
    stores: Stores,
    conversation: Conversation,
    strange: Sequence[Question],
    *,
    chat: str,
    number: int = 0,
    statements: Sequence[Statement] = (),
) -> list[RankedQuestion]:
    stored = await store_conversation(stores, conversation, statements, chat=f"{chat} {number}")
    return [
        RankedQuestion(
            conversation=conversation.name,
            chat=chat,
            question=question,
            hybrid=await gather(stores, stored, question),
            lexical=await gather(stores, stored, question, by_words_alone=True),
            turn_ids=stored.turn_ids,
            has_answer=has_answer,
        )
        for questions, has_answer in ((conversation.questions, True), (strange, False))
        for question in questions
    ]


def _learn(asked: Sequence[RankedQuestion], *, silenced: float = SILENCED) -> RankerWeights:
    taught = [each for each in asked if each.teaches_weights]
    weights = replace(
        load_weights(),
        hybrid=_weigh([_example(each, each.hybrid, HYBRID_FEATURES) for each in taught], HYBRID_FEATURES),
        lexical=_weigh([_example(each, each.lexical, LEXICAL_FEATURES) for each in taught], LEXICAL_FEATURES),
    )
    return _with_floor(asked, weights, silenced=silenced)


def _with_floor(asked: Sequence[RankedQuestion], weights: RankerWeights, *, silenced: float) -> RankerWeights:
    """Learn the floor with vectors. That for words alone serves the languages that are not learned from here."""
    examples = [_floor_example(each, weights) for each in asked]
    return replace(weights, hybrid_floor=_learn_floor(examples, silenced=silenced))


def _learn_floor(examples: Sequence[FloorExample | None], *, silenced: float) -> Floor:
    base, growth, coverage = learn_floor([each for each in examples if each], silenced=silenced)
    return replace(
        load_weights().hybrid_floor,
        base=float(f"{base:.2g}"),
        growth=float(f"{growth:.2g}"),
        coverage=float(f"{coverage:.2g}"),
    )


def _floor_example(asked: RankedQuestion, weights: RankerWeights) -> FloorExample | None:
    """Return None for a question that finds nothing whatever the floor is."""
    found = asked.hybrid
    if found.messages is None or not len(found.messages):
        return None
    ranking = rank(found.question, found.messages, listed=found.listed, weights=weights)
    evidence = weigh_best(found.question, ranking, weights=weights)
    return FloorExample(
        score=float(ranking.scores[0]) - evidence.rise,
        scored=len(found.messages),
        coverage=evidence.coverage,
        has_answer=asked.has_answer,
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
    taught = [each for each in asked if each.teaches_weights]
    for kind in ("hybrid", "lexical"):
        judged = [
            (each, _judged(each, folds[each.conversation], is_hybrid=kind == "hybrid")) for each in taught
        ]
        for chat in dict.fromkeys(each.chat for each in taught):
            for name in (*folds, "all"):
                quality = judge(
                    [
                        found
                        for each, found in judged
                        if each.chat == chat and name in (each.conversation, "all")
                    ]
                )
                figures = (f"{quality.recall[depth]:.1f}" for depth in DEPTHS)
                rows.append([f"{kind}, {name}{', with facts' if chat else ''}", *figures])
    heads = ["weights learned without it", *(f"recall@{depth}" for depth in DEPTHS)]
    print_table("Each conversation by weights that were learned from the others", heads, rows)
    _print_floors(asked, folds)


def _print_floors(asked: Sequence[RankedQuestion], folds: Mapping[str, RankerWeights]) -> None:
    """Print what floors of several heights do, each learned without the conversation that is asked."""
    chats = list(dict.fromkeys(each.chat for each in asked))
    shares = ("answerable silenced", "strange recalled")
    rows: list[list[str]] = []
    examples = {name: [_floor_example(each, weights) for each in asked] for name, weights in folds.items()}
    for silenced in _TRADED:
        counts: dict[tuple[str, bool], list[bool]] = {}
        for name, some in examples.items():
            pairs = list(zip(asked, some, strict=True))
            others = [found for each, found in pairs if each.conversation != name]
            floor = _learn_floor(others, silenced=silenced)
            for each, found in pairs:
                if each.conversation == name:
                    is_told = found is not None and found.score >= floor.among(
                        found.scored, coverage=found.coverage
                    )
                    is_wrong = not is_told if each.has_answer else is_told
                    counts.setdefault((each.chat, each.has_answer), []).append(is_wrong)
        cells = [f"{100 * fmean(counts[chat, has]):.1f}" for chat in chats for has in (True, False)]
        rows.append([f"{100 * silenced:g} %", *cells])
    heads = [f"{chat or 'whole'}: {share}" for chat in chats for share in shares]
    print_table(
        "Floors by the share that they silence while they are learned, in percent", ["floor", *heads], rows
    )


def _judged(asked: RankedQuestion, weights: RankerWeights, *, is_hybrid: bool) -> Judged:
    candidates = asked.hybrid if is_hybrid else asked.lexical
    found: list[str] = []
    if candidates.messages:
        ranking = rank(candidates.question, candidates.messages, listed=candidates.listed, weights=weights)
        found = [asked.turn_ids[each.message_id] for each in ranking.best(DEPTHS[-1])]
    return Judged(conversation=asked.conversation, question=asked.question, found=found)


def _write(
    weights: RankerWeights, folds: Mapping[str, RankerWeights], asked: Sequence[RankedQuestion]
) -> None:
    count = sum(each.teaches_weights and each.chat == _PLAIN for each in asked)
    learned = (
        f"benchmarks/learn_ranker.py: conditional logit over each question's candidates, penalty {PENALTY:g} on the "
        f"squares of standardised weights, {count} questions of the LoCoMo conversations {', '.join(folds)}, "
        "without facts and with them, two digits kept; see docs/recall.md"
    )
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))["floor"]
    learned_floor = (
        f"hybrid: logistic regression, so high that {100 * SILENCED:g} % of the questions with an answer find nothing; "
        "lexical: set by hand, so that the sanity pairs of all languages are found"
    )
    floor = {**shipped, "learned": learned_floor, "hybrid": _floor(weights)}
    _dump(SHIPPED, {"learned": learned, "hybrid": weights.hybrid, "lexical": weights.lexical, "floor": floor})
    stored = {
        name: {"hybrid": fold.hybrid, "lexical": fold.lexical, "floor": _floor(fold)}
        for name, fold in folds.items()
    }
    _dump(FOLDS, {"about": "RankerWeights learned without the conversation of this name.", "folds": stored})


def _floor(weights: RankerWeights) -> dict[str, float]:
    floor = weights.hybrid_floor
    return {"base": floor.base, "growth": floor.growth, "coverage": floor.coverage}


def _dump(path: Path, document: Mapping[str, object]) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a file of LoCoMo's format")
    parser.add_argument("--facts", type=Path, help="statements about these conversations, learned from too")
    parser.add_argument(
        "--write", action="store_true", help="write the weights; without it they are only judged"
    )
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
