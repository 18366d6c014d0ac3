"""The scorecard: runs its rows, which break the product on purpose, and prints the results.

    python -m chaos                       # every row, more than three hours on two cores
    python -m chaos --rows R1 R7 --seed 3
    python -m chaos --results FILE        # saves each row's result; a second call continues after them

See chaos/README.md.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chaos.card import Bench, Check, Result, Row, Score, broken, run_row
from chaos.rows.every import ROWS

SEED = 20_261_121
_BY = "Written by `python -m chaos --card chaos/CARD.md`; [README.md](README.md) describes the rows."


async def main() -> int:
    """Run the selected rows, print the card, and return status 0 if everything holds."""
    options = _options()
    rows = [row for row in ROWS if not options.rows or row.name in options.rows]
    done = _read(options.results)
    for row in rows:
        known = done.get(row.name)
        if known is None or (known.size, known.seed) != (options.size, options.seed):
            done[row.name] = await _run(row, options)
            _write(options.results, done)
    results = [done[row.name] for row in rows]
    card = render(rows, results)
    print(card)
    if options.card is not None:
        options.card.write_text(f"# The card\n\n{_BY}\n\n{card}\n", "utf-8")
    return 0 if all(result.holds for result in results) else 1


async def _run(row: Row, options: argparse.Namespace) -> Result:
    def say(progress: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {row.name} {progress}", file=sys.stderr, flush=True)

    say(f"{row.title}: {row.load if options.size == 'long' else 'short form'}")
    with tempfile.TemporaryDirectory(
        prefix=f"mnemogram-{row.name}-", ignore_cleanup_errors=True
    ) as directory:
        bench = Bench(directory=Path(directory), size=options.size, seed=options.seed, say=say)
        result = await run_row(row, bench)
    say(f"{'holds' if result.holds else 'DOES NOT HOLD'} after {result.seconds:,.0f} s")
    for line in broken(result):
        say(line)
    return result


def render(rows: Sequence[Row], results: Sequence[Result]) -> str:
    """Return the card as Markdown: a line for each row, and below it the numbers of each row."""
    lines = [
        "| row | load | fault | holds | time |",
        "|---|---|---|---|---|",
        *(
            f"| {row.name} {row.title} | {row.load} | {row.fault} | {'yes' if each.holds else '**no**'} "
            f"| {each.seconds:,.0f} s |"
            for row, each in zip(rows, results, strict=True)
        ),
    ]
    for row, each in zip(rows, results, strict=True):
        lines += ["", f"**{row.name} {row.title}** ({row.hold}). {each.size} form, seed {each.seed}."]
        lines += [
            f"- {'' if check.holds else '**does not hold:** '}{check.label}: {_figure(check.measured)} "
            f"(limit {check.limit})"
            for check in each.score.checks
        ]
        lines += [f"- {label}: {figure}" for label, figure in each.score.notes.items()]
        lines += [f"- **the rig failed:** {each.failure}"] if each.failure else []
    return "\n".join(lines)


def _figure(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.4g}"


def _read(path: Path | None) -> dict[str, Result]:
    if path is None or not path.exists():
        return {}
    saved: Mapping[str, Any] = json.loads(path.read_text())
    return {name: _result(each) for name, each in saved.items()}


def _result(saved: Mapping[str, Any]) -> Result:
    return Result(
        name=saved["name"],
        size=saved["size"],
        seed=saved["seed"],
        seconds=saved["seconds"],
        score=Score(
            checks=[Check(**check) for check in saved["score"]["checks"]], notes=saved["score"]["notes"]
        ),
        failure=saved["failure"],
    )


def _write(path: Path | None, done: Mapping[str, Result]) -> None:
    if path is not None:
        path.write_text(json.dumps({name: asdict(each) for name, each in done.items()}, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", nargs="*", metavar="R1", choices=[row.name for row in ROWS], default=[])
    parser.add_argument("--size", choices=["short", "long"], default="long")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--card", type=Path, help="write the card to this file as well")
    parser.add_argument("--results", type=Path, help="where results are kept, and read again")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
