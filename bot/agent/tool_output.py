"""What a tool returned, as the text that the model reads."""

from pydantic_core import PydanticSerializationError, to_json

LONGEST_OUTPUT = 100_000
"""Characters; what is longer loses its middle, before it is counted, kept and sent."""


def render_output(value: object) -> str:
    """A text stays as it is; bytes are described; everything else becomes JSON, of whatever it is made of.

    `None` is "null", `False` is "false". A value that refers to itself is only named by its type.
    """
    text = _text_of(value)
    if len(text) <= LONGEST_OUTPUT:
        return text
    half = LONGEST_OUTPUT // 2
    return f"{text[:half]} […] ({len(text) - 2 * half} characters left out) […] {text[-half:]}"


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray):
        return f"({len(value)} bytes of binary data, which cannot be shown as text)"
    try:
        return to_json(value, bytes_mode="base64", inf_nan_mode="constants", fallback=str).decode()
    except (PydanticSerializationError, ValueError, RecursionError):
        return f"(a value of type {type(value).__name__}, which cannot be shown as text)"
