"""The results of rows: kept in a file between runs, and rendered as the card."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chaos.card import Check, Result, Row, Score

Kept = dict[str, Result]
"""The last result of each row in each form, by `key_of`."""


def key_of(name: str, size: str) -> str:
    """Return the key of a row's results in this form."""
    return f"{name} {size}"


def read_results(path: Path) -> Kept:
    """Return the results of a file; none if it is missing."""
    if not path.exists():
        return {}
    saved: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return {key: _result(each) for key, each in saved.items()}


def keep_result(path: Path, result: Result) -> None:
    """Save a result in place of the last one of its row and form."""
    kept = read_results(path) | {key_of(result.name, result.size): result}
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f"{path.name}.new")
    text = json.dumps({key: asdict(each) for key, each in sorted(kept.items())}, indent=1, ensure_ascii=False)
    written.write_text(f"{text}\n", "utf-8")
    written.replace(path)


def in_order(rows: Sequence[Row], results: Iterable[Result]) -> list[tuple[Row, Result]]:
    """Return the results with their rows, in the order of the rows, the long form of each first."""
    by_key = {key_of(each.name, each.size): each for each in results}
    keys = [(row, key_of(row.name, size)) for row in rows for size in ("long", "short")]
    return [(row, by_key[key]) for row, key in keys if key in by_key]


def render(found: Sequence[tuple[Row, Result]]) -> str:
    """Return the card as Markdown: a line for each result, and below it the numbers of each."""
    lines = [
        "| row | form | load | fault | holds | time | date | machine |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row, each in found:
        holds = "yes" if each.holds else "**no**"
        what = f"{row.name} {row.title} | {each.size} | {each.load} | {each.fault}"
        lines += [f"| {what} | {holds} | {each.seconds:,.0f} s | {each.date} | {each.machine} |"]
    for row, each in found:
        lines += ["", f"**{row.name} {row.title}, {each.size} form** ({row.hold}).", ""]
        lines += [f"Seed {each.seed}.", ""]
        lines += [_line(each, check) for check in each.score.checks]
        lines += [f"- {label}: {figure}" for label, figure in each.score.notes.items()]
        lines += [f"- **the rig failed:** {each.failure}"] if each.failure else []
    return "\n".join(lines)


def _line(result: Result, check: Check) -> str:
    figure = f"{check.label}: {_figure(check.measured)}"
    if result.judges(check):
        return f"- {'' if check.holds else '**does not hold:** '}{figure} (limit {check.limit})"
    return f"- {figure} ({'' if check.holds else 'not '}{check.limit}; the short form only prints it)"


def _figure(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() or number >= 1_000 else f"{number:,.4g}"


def _result(saved: Mapping[str, Any]) -> Result:
    score = saved["score"]
    checks = [Check(**check) for check in score["checks"]]
    changes: dict[str, Any] = {"score": Score(checks=checks, notes=score["notes"], load=score["load"])}
    return Result(**{**saved, **changes})
