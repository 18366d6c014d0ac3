"""A library of odd model endpoints: one row for each oddity. The oddities are from public reports."""
