"""The checker of requests: it finds the faults that OpenAI reports."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFault:
    """The reason of a 400, in the fields of OpenAI's error object."""

    message: str
    param: str | None = None
    code: str | None = None


def wrong_type(at: str, expected: str, got: object) -> RequestFault:
    """Return the fault of a value that is not of the type `expected`."""
    kinds = {
        "NoneType": "null",
        "dict": "an object",
        "list": "an array",
        "str": "a string",
        "bool": "a boolean",
    }
    kind = kinds.get(type(got).__name__, "a number")
    return RequestFault(
        message=f"Invalid type for '{at}': expected {expected}, but got {kind} instead.",
        param=at,
        code="invalid_type",
    )
