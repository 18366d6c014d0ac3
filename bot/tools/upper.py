"""The tool `upper`."""


def upper(text: str) -> str:
    """Turn a text into upper case."""
    return text.upper()
