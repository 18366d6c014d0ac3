"""What a failed request to a model endpoint means, by its status, code and text, over the servers we know."""

from email.utils import parsedate_to_datetime

from bot.errors import (
    ModelBarred,
    ModelQuotaExhausted,
    ModelRefused,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)

_PASSING_STATUSES = frozenset({408, 409, 425, 429})
_QUOTA_CODES = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")
_MISSING_CODES = ("model_not_found",)
_MISSING_PHRASES = (
    "not found",  # Ollama: model "x" not found
    "does not exist",  # vLLM
)
_LENGTH_CODES = ("context_length_exceeded", "exceed_context_size_error", "ContextWindowExceededError")
_LENGTH_PHRASES = (
    "maximum context length",  # OpenAI, vLLM, OpenRouter
    "exceeds the available context size",  # llama.cpp
    "prompt is too long",  # Anthropic's compatible endpoint
    "exceeds the maximum number of tokens",  # Gemini's
    "context window",  # LiteLLM
)


def failure_of(status: int | None, *, code: str, text: str) -> TellUser:
    """The error for a request that the endpoint answered with `status`, or None for one in the stream itself.

    `code` is the endpoint's error code and type, `text` what it said: both only decide, and are not repeated.
    """
    if status is None:
        status = next((int(word) for word in code.split() if word.isdecimal() and len(word) == 3), None)
    if status == 402 or any(known in code for known in _QUOTA_CODES):
        return ModelQuotaExhausted()
    if status == 401 or _is_about_missing_model(status, code, text):
        return ModelBarred(f"The model endpoint refuses the key or the model (HTTP {status or 'none'})")
    if status == 413 or _is_about_length(status, code, text):
        return PromptTooLong()
    if status is None:
        return ModelUnavailable("The model endpoint cannot be reached, or broke off")
    if status in _PASSING_STATUSES or status >= 500:
        return ModelUnavailable(f"The model endpoint does not answer now (HTTP {status})")
    return ModelRefused(f"The model endpoint refused the request (HTTP {status})")


def retry_after_s(header: str | None, *, now: float) -> float | None:
    """The seconds to wait by a Retry-After header, a number or a date; never negative, None without a sense."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _is_about_missing_model(status: int | None, code: str, text: str) -> bool:
    """A 404 alone may be about one prompt: OpenRouter gives it where no route of a model takes pictures or tools."""
    if any(known in code for known in _MISSING_CODES):
        return True
    said = text.lower()
    return status == 404 and "model" in said and any(phrase in said for phrase in _MISSING_PHRASES)


def _is_about_length(status: int | None, code: str, text: str) -> bool:
    if any(known in code for known in _LENGTH_CODES):
        return True
    return status in (400, 422, None) and any(phrase in text.lower() for phrase in _LENGTH_PHRASES)
