"""The fault lab: it breaks the real product on purpose and reports the results."""
