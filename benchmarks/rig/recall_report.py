"""Prints what benchmarks/recall.py found: tables for each set, or one JSON document."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import fmean, median

from rig.prompt_share import BUDGETS, average
from rig.retrieval import DEPTHS, MEASURES, Figure, Judged, judge, mean_of, message_recall
from rig.retrievers import COMPARED, OURS, WITH_FLOOR, Results
from rig.sanity import SanityResult
from rig.table import print_table

FLOOR_DEPTH = 8
"""Messages among which the cost of the floor is counted."""
_DEPTHS = " / ".join(f"@{depth}" for depth in DEPTHS)


def print_results(results: Results) -> None:
    """Print the tables of one set."""
    print_table(
        f"{results.name}: {len(results.ours):,} questions with evidence, all retrievers over the same index",
        [
            "retriever",
            f"recall {_DEPTHS}",
            "standard error",
            *(f"{name} {_DEPTHS}" for name in [*MEASURES][1:]),
        ],
        [_row(name, judged) for name, judged in results.answers.items()],
    )
    kinds = list(dict.fromkeys(each.question.kind for each in results.ours))
    by_kind = {kind: [each for each in results.ours if each.question.kind == kind] for kind in kinds}
    print_table(
        f"{results.name}: {OURS} by kind of question",
        ["kind", "questions", f"recall {_DEPTHS}", "standard error"],
        [[kind, f"{len(judged):,}", *_cells(judge(judged))] for kind, judged in by_kind.items()],
    )
    print_table(
        f"{results.name}: share of the evidence in the best lines that fit so many tokens, in percent",
        ["retriever", *(f"{budget:,} tokens" for budget in BUDGETS)],
        [[name, *map(_cell, figures)] for name, figures in _curves(results).items()],
    )
    print_table(
        f"{results.name}: what reaches the prompt by default, above the floor",
        ["facts", "evidence %", "lines", "words", "tokens"],
        [[name, *average(shares)] for name, shares in results.prompts.items()],
    )
    print_table(
        f"{results.name}: the floor, in percent of the questions",
        ["questions", "", "%"],
        [[name, value, f"{share:.1f}"] for name, value, share in _floor(results)],
    )
    seconds = sorted(results.search_s)
    points = ", ".join(f"{count:,} {name}" for name, count in results.points.items())
    print(
        f"A search takes {1000 * median(seconds):.1f} ms in the median (p95 {1000 * seconds[int(0.95 * len(seconds))]:.1f}), "
        f"indexing {1000 * results.index_s / results.messages:.1f} ms a message. Points: {points}.\n"
    )


def print_sanity(sanity: Sequence[SanityResult]) -> None:
    """Print how many of our own questions found their statement."""
    print_table(
        "20 questions of our own in each language, among 20 statements",
        ["language", "first", "among the first 3"],
        [
            [each.language, f"{each.first} of {each.pairs}", f"{each.third} of {each.pairs}"]
            for each in sanity
        ],
    )


def plot_rows(results: Sequence[Results]) -> list[tuple[str, Mapping[int, float]]]:
    """Return a label and recall by depth for each set and retriever."""
    return [
        (f"{each.name}: {name}", {depth: figure.mean for depth, figure in judge(each.answers[name]).items()})
        for each in results
        for name in COMPARED
    ]


def as_document(results: Sequence[Results], sanity: Sequence[SanityResult]) -> dict[str, object]:
    """Return everything as values that JSON has."""
    return {
        "sets": {each.name: _set_as_document(each) for each in results},
        "sanity": {each.language: {"first": each.first, "third": each.third} for each in sanity},
    }


def _set_as_document(results: Results) -> dict[str, object]:
    kinds = dict.fromkeys(each.question.kind for each in results.ours)
    return {
        "questions": len(results.ours),
        "retrievers": {
            name: {title: _as_dicts(judge(judged, measure)) for title, measure in MEASURES.items()}
            for name, judged in results.answers.items()
        },
        "kinds": {
            kind: _as_dicts(judge([each for each in results.ours if each.question.kind == kind]))
            for kind in kinds
        },
        "budgets": {
            name: dict(zip(BUDGETS, map(asdict, figures), strict=True))
            for name, figures in _curves(results).items()
        },
        "prompts": {name: average(shares) for name, shares in results.prompts.items()},
        "floor": {f"{name}: {value}": share for name, value, share in _floor(results)},
        "points": results.points,
    }


def _as_dicts(figures: Mapping[int, Figure]) -> dict[int, dict[str, float]]:
    return {depth: asdict(figure) for depth, figure in figures.items()}


def _row(name: str, judged: Sequence[Judged]) -> list[str]:
    others = [_means(judge(judged, measure)) for title, measure in MEASURES.items() if title != "recall"]
    return [name, *_cells(judge(judged)), *others]


def _cells(figures: Mapping[int, Figure]) -> list[str]:
    return [_means(figures), " / ".join(f"{each.error:.1f}" for each in figures.values())]


def _means(figures: Mapping[int, Figure]) -> str:
    return " / ".join(f"{each.mean:.1f}" for each in figures.values())


def _cell(figure: Figure) -> str:
    return f"{figure.mean:.1f} ± {figure.error:.1f}"


def _curves(results: Results) -> dict[str, list[Figure]]:
    return {
        name: [mean_of([share[budget] for share in shares]) for budget in BUDGETS]
        for name, shares in results.budgets.items()
    }


def _floor(results: Results) -> list[tuple[str, str, float]]:
    """Return what the floor does: (questions, what happens, percent of them)."""
    above = results.answers[WITH_FLOOR]
    without, with_floor = (_recall_at(FLOOR_DEPTH, judged) for judged in (results.ours, above))
    silenced = 100 * fmean([not each.found for each in above])
    recalled = [
        (f"{len(is_recalled)} {kind}", "recalled", 100 * fmean(is_recalled))
        for kind, is_recalled in results.recalled.items()
    ]
    return [
        (f"{len(above)} with an answer", "silenced", silenced),
        ("", f"recall@{FLOOR_DEPTH} lost", without - with_floor),
        *recalled,
    ]


def _recall_at(depth: int, judged: Sequence[Judged]) -> float:
    return 100 * fmean(message_recall(each.question.evidence, each.found[:depth]) for each in judged)
