"""Crash points: a fault at any await of a piece of work, in a process of its own, and what the next worker makes of it."""
