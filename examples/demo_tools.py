"""The smallest tools: a function with annotations and a docstring is all that a tool needs."""


def add(a: int | float, b: int | float) -> int | float:
    """Add two numbers."""
    return a + b


def upper(text: str) -> str:
    """Turn a text into upper case."""
    return text.upper()
