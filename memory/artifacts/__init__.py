"""Artifacts: large tool results, kept in pieces."""
