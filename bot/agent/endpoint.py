"""The failures of a model endpoint: the error for a failed request, and a breaker that stops hopeless requests."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

import structlog

from bot.errors import (
    ModelBarred,
    ModelQuotaExhausted,
    ModelRefused,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)
from bot.observe.metrics import MODEL_BREAKER, MODEL_BREAKERS_OPEN

_TEMPORARY_STATUSES = frozenset({408, 409, 425, 429})
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

log = structlog.get_logger()


def failure_of(status: int | None, *, code: str, text: str) -> TellUser:
    """Return the error of a request that failed with an HTTP `status`, or None for a failure within the stream.

    `code` is the endpoint's error code and type, `text` its message. Neither gets into the error.
    """
    if status is None:
        status = next((int(word) for word in code.split() if word.isdecimal() and len(word) == 3), None)
    if status == 402 or any(known in code for known in _QUOTA_CODES):
        return ModelQuotaExhausted()
    if status == 401 or _is_model_missing(status, code, text):
        return ModelBarred(f"The model endpoint refuses the key or the model (HTTP {status or 'none'})")
    if status == 413 or _is_prompt_too_long(status, code, text):
        return PromptTooLong()
    if status is None:
        return ModelUnavailable("The model endpoint cannot be reached, or broke off")
    if status in _TEMPORARY_STATUSES or status >= 500:
        return ModelUnavailable(f"The model endpoint does not answer now (HTTP {status})")
    return ModelRefused(f"The model endpoint refused the request (HTTP {status})")


def retry_after_s(header: str | None, *, now: float) -> float | None:
    """Return the seconds of a Retry-After header (a number or a date), never negative; None if it is invalid."""
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


class Breaker:
    """The circuit breaker of one model at one endpoint. Each process has its own.

    It opens on a failure that the next request cannot cure: an account without quota, a wrong key, a missing
    model. While it is open, requests fail at once with the error that opened it. After each pause one request
    goes through as a probe. Any answer without such a failure closes the breaker. An outcome that says nothing
    about the account (silence, a 5xx, a cancelled probe) keeps it open for the same pause. A failure of one
    prompt never opens it, and neither does an unreachable endpoint, which may be back at the next request.
    """

    def __init__(
        self, *, first_s: float = 5.0, longest_s: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """The first pause is `first_s` seconds. Each failed probe doubles it, up to `longest_s`."""
        self._first_s, self._longest_s = first_s, longest_s
        self._clock = clock
        self._failure: type[TellUser] | None = None
        self._pause_s = 0.0
        self._open_until = 0.0
        self._is_probing = False

    @property
    def is_open(self) -> bool:
        """True while requests fail at once."""
        return self._failure is not None

    @contextmanager
    def guard(self) -> Generator[None]:
        """Wrap one request. While the breaker is open, raise its failure instead of running the block."""
        if self._failure is None:
            yield from self._watch()
        elif self._is_probing or self._clock() < self._open_until:
            MODEL_BREAKER.labels("refused").inc()
            raise self._failure
        else:
            yield from self._probe()

    def _watch(self) -> Generator[None]:
        try:
            yield
        except (ModelBarred, ModelQuotaExhausted) as failure:
            if not self.is_open:  # requests at the same time open it once
                self._open(failure)
            raise

    def _probe(self) -> Generator[None]:
        self._is_probing = True
        MODEL_BREAKER.labels("probed").inc()
        try:
            yield
        except (ModelBarred, ModelQuotaExhausted) as failure:
            self._open(failure)
            raise
        except ModelUnavailable:
            raise
        except TellUser:
            self._close()
            raise
        else:
            self._close()
        finally:
            self._is_probing = False
            self._open_until = self._clock() + self._pause_s

    def _open(self, failure: TellUser) -> None:
        if self._failure is None:
            MODEL_BREAKERS_OPEN.inc()
        self._failure = type(failure)
        self._pause_s = min(max(self._first_s, 2 * self._pause_s), self._longest_s)
        self._open_until = self._clock() + self._pause_s
        MODEL_BREAKER.labels("opened").inc()
        log.error("model_breaker_opened", failure=self._failure.__name__, probe_in_s=self._pause_s)

    def _close(self) -> None:
        self._failure, self._pause_s = None, 0.0
        MODEL_BREAKERS_OPEN.dec()
        MODEL_BREAKER.labels("closed").inc()
        log.warning("model_breaker_closed")


def _is_model_missing(status: int | None, code: str, text: str) -> bool:
    """Return True if the endpoint does not have the model.

    A 404 alone may be about one prompt: OpenRouter sends it if no route of a model takes pictures or tools.
    """
    if any(known in code for known in _MISSING_CODES):
        return True
    lower = text.lower()
    return status == 404 and "model" in lower and any(phrase in lower for phrase in _MISSING_PHRASES)


def _is_prompt_too_long(status: int | None, code: str, text: str) -> bool:
    if any(known in code for known in _LENGTH_CODES):
        return True
    return status in (400, 422, None) and any(phrase in text.lower() for phrase in _LENGTH_PHRASES)
