"""One turn: from a claimed context to a delivered reply."""
