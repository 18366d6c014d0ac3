"""The simulator's own rules, without HTTP."""
