"""The contract tests."""
