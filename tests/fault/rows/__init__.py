"""The rows of the scorecard, a file each. `tests.fault.rows.every` lists them."""
