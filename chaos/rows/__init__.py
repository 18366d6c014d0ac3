"""The rows of the scorecard, one file each. `chaos.rows.every` lists them."""
