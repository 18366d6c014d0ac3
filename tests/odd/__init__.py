"""A library of odd model endpoints: one row for each oddity, taken from public reports and told in our own words."""
