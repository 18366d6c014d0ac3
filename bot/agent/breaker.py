"""Stops asking an endpoint that refuses whatever it is asked, and finds out by itself when it takes requests again."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from bot.errors import ModelBarred, ModelQuotaExhausted, ModelUnavailable, TellUser
from bot.observe.metrics import MODEL_BREAKER, MODEL_BREAKERS_OPEN

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """How long nobody asks, in seconds: at first, and after probes that failed, twice as long each time."""

    first_s: float = 5.0
    longest_s: float = 60.0

    def after(self, pause_s: float) -> float:
        """The pause after one of `pause_s` whose probe failed; the first one after 0."""
        return min(max(self.first_s, 2 * pause_s), self.longest_s)


class Breaker:
    """Of one model at one endpoint, in one process; each process has its own, and asks for itself.

    It opens by a failure that no next request cures: an account without quota, a wrong key, a model that there is
    not. While it is open a request fails at once with the error that opened it, and one a pause goes through to see
    whether that is over: any answer that is not such a failure closes it. What says nothing about the account (a
    silence, a 5xx, a probe that is cancelled) leaves it open for the same pause again. A failure that is about one
    prompt never opens it, and neither does an endpoint that is down: it may be back with the next request.
    """

    def __init__(self, *, pauses: Pauses | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._pauses = pauses or Pauses()
        self._clock = clock
        self._failure: type[TellUser] | None = None
        self._pause_s = 0.0
        self._open_until = 0.0
        self._is_probing = False

    @property
    def is_open(self) -> bool:
        """Whether requests fail at once."""
        return self._failure is not None

    @contextmanager
    def guarding(self) -> Generator[None]:
        """Around one request. Raises the failure that opened it instead of letting the block run."""
        if self._failure is None:
            yield from self._watched()
        elif self._is_probing or self._clock() < self._open_until:
            MODEL_BREAKER.labels("refused").inc()
            raise self._failure
        else:
            yield from self._probe()

    def _watched(self) -> Generator[None]:
        try:
            yield
        except (ModelBarred, ModelQuotaExhausted) as failure:
            if not self.is_open:  # those that were under way together open it once
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
        self._pause_s = self._pauses.after(self._pause_s)
        self._open_until = self._clock() + self._pause_s
        MODEL_BREAKER.labels("opened").inc()
        log.error("model_breaker_opened", failure=self._failure.__name__, probe_in_s=self._pause_s)

    def _close(self) -> None:
        self._failure, self._pause_s = None, 0.0
        MODEL_BREAKERS_OPEN.dec()
        MODEL_BREAKER.labels("closed").inc()
        log.warning("model_breaker_closed")
