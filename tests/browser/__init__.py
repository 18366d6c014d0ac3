"""The browser tests."""
