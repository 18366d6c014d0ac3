"""The outside tests."""
