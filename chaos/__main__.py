"""The scorecard: runs its rows, which break the product on purpose, and prints the results.

    python -m chaos                       # every row in the long form, more than three hours on two cores
    python -m chaos --size short          # every row in the short form, about ten minutes
    python -m chaos --rows R1 R7 --seed 3
    python -m chaos --continue            # leaves out rows whose result is kept already

See chaos/README.md.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from chaos.card import Bench, Result, Row, at_size, broken, run_row
from chaos.results import in_order, keep_result, key_of, read_results, render
from chaos.rows.every import ROWS

SEED = 20_261_121
KEPT = Path("build/fault-lab.json")
_COMMITTED = Path(__file__).with_name("results.json")
_ALIVE_EVERY_S = 30.0
_BY = (
    "Written by `python -m chaos --results chaos/results.json --card chaos/CARD.md`; "
    "[README.md](README.md) describes the rows. Each line is the last run of a row in this form."
)


async def main() -> int:
    """Run the selected rows, print their card, and return status 0 if everything holds."""
    options = _options()
    rows = [row for row in ROWS if not options.rows or row.name in options.rows]
    kept = read_results(options.results)
    results: list[Result] = []
    for row in rows:
        known = kept.get(key_of(row.name, options.size))
        if not options.goes_on or known is None or known.seed != options.seed:
            known = await _run(row, options)
            keep_result(options.results, known)
        results.append(known)
    print(render(in_order(ROWS, results)))
    if options.card is not None:
        card = render(in_order(ROWS, read_results(options.results).values()))
        options.card.write_text(f"# The card\n\n{_BY}\n\n{card}\n", "utf-8")
    return 0 if all(result.holds for result in results) else 1


async def _run(row: Row, options: argparse.Namespace) -> Result:
    def say(progress: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {row.name} {progress}", file=sys.stderr, flush=True)

    usual = (read_results(_COMMITTED) | read_results(options.results)).get(key_of(row.name, options.size))
    lasts = f" (the last run took {usual.seconds:,.0f} s)" if usual else ""
    say(f"{row.title}, {options.size} form: {at_size(row.load, options.size)}{lasts}")
    with tempfile.TemporaryDirectory(
        prefix=f"mnemogram-{row.name}-", ignore_cleanup_errors=True
    ) as directory:
        bench = Bench(directory=Path(directory), size=options.size, seed=options.seed, say=say)
        async with _showing_progress(bench, usual.seconds if usual else 0):
            result = await run_row(row, bench)
    say(f"{'holds' if result.holds else 'DOES NOT HOLD'} after {result.seconds:,.0f} s")
    for line in broken(result):
        say(line)
    return result


@asynccontextmanager
async def _showing_progress(bench: Bench, usual_s: float) -> AsyncGenerator[None]:
    """Say every half a minute for how long the row has been running."""
    begun = time.monotonic()
    of = f" of about {usual_s:,.0f}" if usual_s else ""

    async def show() -> None:
        while True:
            await asyncio.sleep(_ALIVE_EVERY_S)
            bench.say(f"{time.monotonic() - begun:,.0f}{of} s")

    task = asyncio.create_task(show(), name="progress")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m chaos", description=(__doc__ or "").partition("\n")[0])
    names = [row.name for row in ROWS]
    parser.add_argument("--rows", nargs="*", metavar="R1", choices=names, default=[], help="all without it")
    parser.add_argument("--size", choices=["short", "long"], default="long", help="the form; long without it")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--results", type=Path, default=KEPT, help="keeps the results; %(default)s without it"
    )
    parser.add_argument(
        "--continue", dest="goes_on", action="store_true", help="leave out rows whose result is kept already"
    )
    parser.add_argument("--card", type=Path, help="write a card of all kept results to this file")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
