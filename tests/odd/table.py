"""The whole table of odd endpoints."""

from tests.odd import ends, events, thoughts

ROWS = (*thoughts.ROWS, *ends.ROWS, *events.ROWS)
