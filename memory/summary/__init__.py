"""Summaries: when a conversation is compressed, and the work."""
