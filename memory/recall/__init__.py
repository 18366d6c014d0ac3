"""Recall: search of old messages by words and meaning."""
