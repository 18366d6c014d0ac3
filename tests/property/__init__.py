"""The property tests."""
