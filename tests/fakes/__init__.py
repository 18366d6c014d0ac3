"""Small real implementations for tests, proven by the contract suites."""
