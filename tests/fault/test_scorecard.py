"""The scorecard in its short form:

each row holds. Numbers that depend on the machine's speed are only logged; the long form judges them.
"""

import logging
from pathlib import Path

import pytest

from chaos.card import Bench, Row, broken, run_row
from chaos.rows.every import ROWS

SEED = 20_261_121

log = logging.getLogger(__name__)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_the_row_holds(row: Row, tmp_path: Path) -> None:
    bench = Bench(directory=tmp_path, size="short", seed=SEED, say=log.info)
    result = await run_row(row, bench)
    log.info("%s in %.1f s: %s", row.name, result.seconds, result.score)
    assert result.score.checks or result.failure
    assert not (faults := broken(result)), "\n".join(faults)
