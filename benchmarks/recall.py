"""Share of the evidence that recall and simpler retrievers find, on sets of conversations in LoCoMo's format.

Every conversation is written to the product's own stores and searched by its own recall. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rig.conversations import EMBEDDED, open_bench_stores
from rig.locomo import NotLoCoMo, read_conversations, read_statements
from rig.plot import draw
from rig.recall_report import as_document, plot_rows, print_results, print_sanity
from rig.retrievers import OURS, Asker, EvaluationSet, Results
from rig.sanity import ask_pairs, read_pairs

from bot.features.parts import Stores
from memory.recall.ranking import RankerWeights, load_weights

FOLDS = Path(__file__).parent / "ranker_folds.json"


async def main() -> None:
    """Store every conversation, ask every retriever every question, and print a table for each set."""
    options = _options()
    sets = _read_sets(options)
    folds = read_folds()
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench_stores(Path(directory), options.embedder) as stores:
            results = [await _ask_set(stores, each, folds) for each in sets]
            sanity = await ask_pairs(stores, read_pairs())
    if options.plot:
        title = "Share of each question's evidence among the best messages, in percent"
        options.plot.write_text(draw(title, plot_rows(results), ours=OURS), encoding="utf-8")
    if options.json:
        print(json.dumps(as_document(results, sanity)))
        return
    for each in results:
        print_results(each)
    print_sanity(sanity)


async def _ask_set(stores: Stores, evaluated: EvaluationSet, folds: Mapping[str, RankerWeights]) -> Results:
    """Ask all questions of a set. Say after each conversation how long the rest will take."""
    results = Results(name=evaluated.name)
    asker = Asker(stores, results)
    began, total = time.monotonic(), sum(len(each.questions) for each in evaluated.conversations)
    for conversation in evaluated.conversations:
        await asker.ask_all(
            conversation,
            weights_for(conversation.name, folds),
            strange=evaluated.strange_to(conversation),
            statements=evaluated.statements.get(conversation.name, ()),
        )
        done, took = len(results.ours), time.monotonic() - began
        left_s = took / done * (total - done) if done else 0.0
        _say(
            f"{evaluated.name}, {conversation.name}: {done} of {total} questions after {took:,.0f} s, "
            f"about {left_s:,.0f} s left in this set"
        )
    return results


def read_folds() -> dict[str, RankerWeights]:
    """Return, for each conversation behind the shipped weights, weights learned without it."""
    shipped = load_weights()
    weights: dict[str, RankerWeights] = {}
    for fold in json.loads(FOLDS.read_text(encoding="utf-8"))["folds"]:
        without = fold.pop("without")
        weights.update(dict.fromkeys(without, replace(shipped, **fold)))
    return weights


def weights_for(conversation: str, folds: Mapping[str, RankerWeights]) -> RankerWeights:
    """Return weights that were not learned from this conversation."""
    return folds.get(conversation) or load_weights()


def _read_sets(options: argparse.Namespace) -> list[EvaluationSet]:
    if (
        not options.data and not options.private
    ):  # `make bench` goes on: the conversations are not ours to ship
        _say("no --data: only the sanity pairs are asked")
    try:
        statements = read_statements(options.facts) if options.facts else {}
        plain = [
            EvaluationSet(
                name=name or path.stem, conversations=read_conversations(path), statements=statements
            )
            for name, path in options.data
        ]
        private = [
            EvaluationSet(
                name=name or f"{path.stem}, private chats",
                conversations=[each.as_private_chat() for each in read_conversations(path)],
            )
            for name, path in options.private
        ]
    except NotLoCoMo as error:
        sys.exit(str(error))
    return plain + private


def _named_path(text: str) -> tuple[str, Path]:
    """Return the name of a set ("" without one) and its file, from NAME=FILE or FILE."""
    name, _, path = text.rpartition("=")
    return name, Path(path)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=_named_path,
        metavar="[NAME=]FILE",
        action="append",
        default=[],
        help="conversations of two people in LoCoMo's format, asked by an outsider; may be repeated. Without any "
        "set only the sanity pairs are asked",
    )
    parser.add_argument(
        "--private",
        type=_named_path,
        metavar="[NAME=]FILE",
        action="append",
        default=[],
        help="conversations in which speaker_a asks and speaker_b is the bot; may be repeated",
    )
    parser.add_argument(
        "--embedder",
        default=EMBEDDED,
        help="`embedded`, or an embedding model of OPENAI_BASE_URL (key: OPENAI_API_KEY)",
    )
    parser.add_argument(
        "--facts", type=Path, help="statements about conversations of --data, which are facts in a second run"
    )
    parser.add_argument("--plot", type=Path, help="also draw the tables as an SVG into this file")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
