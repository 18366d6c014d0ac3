"""The whole table of odd endpoints."""

from tests.odd import calls, ends, events, lengths, passing, refusals, returns, thoughts

ROWS = (
    *thoughts.ROWS,
    *ends.ROWS,
    *events.ROWS,
    *refusals.ROWS,
    *lengths.ROWS,
    *passing.ROWS,
    *returns.ROWS,
    *calls.ROWS,
)
