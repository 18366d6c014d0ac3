"""The card of the fault lab: its words for both forms, its judgement of times, and the results that it keeps."""

from dataclasses import replace
from pathlib import Path

import pytest

from chaos.card import Bench, Result, Row, Score, Size, at_size, broken, run_row
from chaos.results import in_order, keep_result, read_results, render
from chaos.rows.every import ROWS

pytestmark = pytest.mark.slow


async def _run(bench: Bench) -> Score:
    score = Score()
    score.exactly("lines lost", 0, 0)
    score.at_most("longest wait, s", 9.5, 5, is_timed=True)
    score.note("lines", bench.pick(10, 1_000))
    return score


async def _run_with_a_fault(_: Bench) -> Score:
    score = Score()
    score.exactly("lines lost", 1, 0)
    return score


ROW = Row(
    name="R1", title="crash", load="{10|1,000} lines", fault="{1 kill|300 kills}", hold="0 lost", run=_run
)


async def _result(size: Size, tmp_path: Path, row: Row = ROW) -> Result:
    return await run_row(row, Bench(directory=tmp_path, size=size, seed=3, say=print))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_form_of_a_row_has_its_own_words(row: Row) -> None:
    short, long = (f"{at_size(row.load, size)}; {at_size(row.fault, size)}" for size in ("short", "long"))

    assert short != long
    assert not set("{|}") & set(short + long)


async def test_the_short_form_prints_a_slow_time_and_the_long_one_judges_it(tmp_path: Path) -> None:
    short, long = await _result("short", tmp_path), await _result("long", tmp_path)

    assert (short.holds, broken(short)) == (True, [])
    assert (long.holds, broken(long)) == (False, ["R1 longest wait, s: 9.5, limit ≤ 5"])


async def test_both_forms_judge_correctness(tmp_path: Path) -> None:
    faulty = replace(ROW, run=_run_with_a_fault)

    assert not (await _result("short", tmp_path, faulty)).holds
    assert not (await _result("long", tmp_path, faulty)).holds


async def test_the_last_result_of_each_form_is_kept(tmp_path: Path) -> None:
    kept, short, long = (
        tmp_path / "results.json",
        await _result("short", tmp_path),
        await _result("long", tmp_path),
    )
    for each in (replace(short, seed=2), long, short):
        keep_result(kept, each)

    assert in_order([ROW], read_results(kept).values()) == [(ROW, long), (ROW, short)]


async def test_the_card_says_what_was_run(tmp_path: Path) -> None:
    ran = replace(await _result("short", tmp_path), seconds=12, date="2026-11-26", machine="2 cores")

    assert (
        render([(ROW, ran)])
        == """\
| row | form | load | fault | holds | time | date | machine |
|---|---|---|---|---|---|---|---|
| R1 crash | short | 10 lines | 1 kill | yes | 12 s | 2026-11-26 | 2 cores |

**R1 crash, short form** (0 lost).

Seed 3.

- lines lost: 0 (limit = 0)
- longest wait, s: 9.5 (not ≤ 5; the short form only prints it)
- lines: 10"""
    )
