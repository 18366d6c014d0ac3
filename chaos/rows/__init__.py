"""The rows of the scorecard, a file each. `chaos.rows.every` lists them."""
