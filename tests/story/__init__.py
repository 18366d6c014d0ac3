"""The story tests."""
