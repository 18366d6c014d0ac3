"""The fault tests."""
