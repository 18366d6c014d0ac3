"""The tool `add`."""


def add(a: int | float, b: int | float) -> int | float:
    """Add two numbers."""
    return a + b
