"""Prints the CPU time of every reader of texts for hostile texts of 4,000, 16,000 and 100,000 characters.

One line for each function: the text that grows fastest of all marks of Markdown and categories of Unicode, alone and,
with `--pairs`, in pairs. See benchmarks/README.md.
"""

import argparse
import logging
from itertools import combinations

import structlog
from rig.table import print_table

from tests.text_work import FUNCTIONS, UNITS, Hostile, alone, cpu_s, in_pairs

_SIZES = (4_000, 16_000, 100_000)
_LIMIT_S = 10.0


def main() -> int:
    """Measure and print. Return 1 if a text took longer than the limit."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    options = _options()
    texts = alone()
    if options.pairs:
        texts += [text for pair in combinations(UNITS, 2) for text in in_pairs(*pair)]
    rows = [_slowest(name, texts) for name in options.functions or FUNCTIONS]
    heads = ("function", "slowest text", *(f"{size:,} characters: ms" for size in _SIZES))
    print_table(f"CPU of {len(texts):,} hostile texts", heads, rows)
    return 1 if any("inf" in row for row in rows) else 0


def _slowest(name: str, texts: list[Hostile]) -> tuple[str, ...]:
    """Return the row of the text that takes most time at the largest size."""
    work = FUNCTIONS[name]
    work("a **word**")
    taken = {text.name: cpu_s(work, text.build(_SIZES[-1]), limit_s=_LIMIT_S) for text in texts}
    slowest = max(texts, key=lambda text: taken[text.name])
    figures = [cpu_s(work, slowest.build(size), limit_s=_LIMIT_S) for size in _SIZES[:-1]]
    return name, slowest.name, *(f"{1_000 * each:.1f}" for each in (*figures, taken[slowest.name]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("functions", nargs="*", help="all by default")
    parser.add_argument("--pairs", action="store_true", help="every pair too, which takes an hour")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
