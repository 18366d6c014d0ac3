"""The measurement of memory growth in the soak test."""

import time
from pathlib import Path

import pytest

from chaos.rig.heap import in_use_mb, noting, read_notes
from chaos.rig.measures import slope_per_hour
from chaos.rig.program import until


def test_freed_memory_is_not_counted_as_used() -> None:
    before = in_use_mb()
    kept = [bytes(2**20) for _ in range(20)]
    with_it = in_use_mb()
    del kept
    after = in_use_mb()

    assert with_it - before == pytest.approx(20, abs=1)
    assert after - before == pytest.approx(0, abs=1)


async def test_the_heap_is_measured_repeatedly(tmp_path: Path) -> None:
    file, begun = tmp_path / "heap", time.monotonic()
    with noting(file, every_s=0.01):
        await until(lambda: file.exists() and len(read_notes(file)) >= 2, within_s=10, what="two notes")

    first, second, *_ = read_notes(file)
    assert begun <= first[0] < second[0]
    assert first[1] > 1


def test_a_slope_below_twice_its_error_is_noise() -> None:
    rising = [(60.0 * minute, minute / 60) for minute in range(25)]
    scattered = [(at, value + (5 if at % 120 else 0)) for at, value in rising]

    slope, error = slope_per_hour(scattered)

    assert slope_per_hour(rising) == (pytest.approx(1), pytest.approx(0, abs=1e-6))
    assert abs(slope - 1) < 2 * error
