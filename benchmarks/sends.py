"""Cost of one chat's 429s and broken connections for the others: two workers, 100 chats, a Bot API that fails.

The same people write the same lines at the same moments, once to a Bot API without faults and once to one that answers
a tenth of the sends with 429 and cuts the connection after a twentieth of them. See benchmarks/README.md; row R11 of
the scorecard (tests/fault) holds the same figures to their bounds.
"""

import argparse
import asyncio
import json
import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

from rig.sends import Round, Size, measure, slower
from rig.table import print_table


async def main() -> None:
    """Measure and print."""
    options = _options()
    size = Size(chats=options.chats, lines=options.lines, seconds=options.seconds)
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        without, with_faults = await measure(Path(directory), size, rounds=options.rounds)
    if options.json:
        told = {"without": _told(without), "with": _told(with_faults)}
        print(json.dumps(told | {"slower": slower(without, with_faults)}))
    else:
        _print(without, with_faults)


def _told(measured: Round) -> dict[str, Any]:
    figures = {
        each.name: getattr(measured, each.name) for each in fields(measured) if each.name != "delays_s"
    }
    return figures | {f"p{percent}_s": measured.percentile_s(percent) for percent in (50, 95)}


def _print(without: Round, with_faults: Round) -> None:
    heads = ["Bot API", "answers whole", "sends", "429", "cut", "sent early", "repeated", "p50 ms", "p95 ms"]
    rows = [
        [
            name,
            f"{each.whole:,} of {each.lines:,}",
            *(
                f"{number:,}"
                for number in (each.sends, each.refused, each.cut, each.too_early, each.repeated)
            ),
            *(f"{each.percentile_s(percent) * 1000:,.0f}" for percent in (50, 95)),
        ]
        for name, each in (("without faults", without), ("with faults", with_faults))
    ]
    print_table("Delays of answers in chats that meet no fault meanwhile", heads, rows)
    print(f"The faults of other chats make them {slower(without, with_faults):+.1%} slower at p95.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--lines", type=int, default=2, help="of each chat, in a round")
    parser.add_argument("--seconds", type=float, default=40, help="of a round")
    parser.add_argument("--rounds", type=int, default=2, help="without faults and with them, in turns")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
