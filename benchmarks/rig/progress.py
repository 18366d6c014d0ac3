"""The progress of a long benchmark, on standard error."""

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

_EVERY_S = 10.0


def show_progress(jobs: Sequence[Future[T]]) -> Iterator[T]:
    """Yield the result of each job in turn. Say every ten seconds which share of them is done."""
    begun = said_at = time.monotonic()
    for done, job in enumerate(jobs, 1):
        yield job.result()
        now = time.monotonic()
        if now - said_at >= _EVERY_S:
            said_at = now
            left_s = (now - begun) * (len(jobs) - done) / done
            print(
                f"{done / len(jobs):.0%} after {now - begun:,.0f} s, about {left_s:,.0f} s left",
                file=sys.stderr,
            )
