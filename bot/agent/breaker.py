"""The circuit breaker of a model: it stops requests to an endpoint that refuses all of them."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from bot.errors import ModelBarred, ModelMissing, ModelQuotaExhausted, ModelUnavailable, TellUser
from bot.observe.metrics import MODEL_BREAKER, MODEL_BREAKERS_OPEN

log = structlog.get_logger()


@dataclass(slots=True, kw_only=True)
class Breaker:
    """The circuit breaker of one model at one endpoint. Each process has its own.

    It opens on a failure that the next request cannot cure: an account without quota, a wrong key, a missing
    model. While it is open, requests fail at once with the error that opened it. After each pause one request
    goes through as a probe. Any answer without such a failure closes the breaker. An outcome that says nothing
    about the account (silence, a 5xx, a cancelled probe) keeps it open for the same pause. A failure of one
    prompt never opens it, and neither does an unreachable endpoint, which may be back at the next request.
    """

    # The first pause in seconds. Each failed probe doubles it, up to `longest_s`.
    first_s: float = 5.0
    longest_s: float = 60.0
    clock: Callable[[], float] = time.monotonic
    # True: a model that the endpoint does not have opens nothing, because another answers instead.
    may_be_missing: bool = False
    _failure: type[TellUser] | None = None
    _pause_s: float = 0.0
    _open_until: float = 0.0
    _is_probing: bool = False

    @property
    def _opening(self) -> tuple[type[TellUser], ...]:
        always = (ModelBarred, ModelQuotaExhausted)
        return always if self.may_be_missing else (*always, ModelMissing)

    @property
    def is_open(self) -> bool:
        """True while requests fail at once."""
        return self._failure is not None

    @contextmanager
    def guard(self) -> Generator[None]:
        """Wrap one request. While the breaker is open, raise its failure instead of running the block."""
        if self._failure is not None:
            if self._is_probing or self.clock() < self._open_until:
                MODEL_BREAKER.labels("refused").inc()
                raise self._failure
            yield from self._probe()
            return
        try:
            yield
        except self._opening as failure:
            if not self.is_open:  # requests at the same time open it once
                self._open(failure)
            raise

    def _probe(self) -> Generator[None]:
        self._is_probing = True
        MODEL_BREAKER.labels("probed").inc()
        try:
            yield
        except self._opening as failure:
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
            self._open_until = self.clock() + self._pause_s

    def _open(self, failure: TellUser) -> None:
        if self._failure is None:
            MODEL_BREAKERS_OPEN.inc()
        self._failure = type(failure)
        self._pause_s = min(max(self.first_s, 2 * self._pause_s), self.longest_s)
        self._open_until = self.clock() + self._pause_s
        MODEL_BREAKER.labels("opened").inc()
        log.error("model_breaker_opened", failure=self._failure.__name__, probe_in_s=self._pause_s)

    def _close(self) -> None:
        self._failure, self._pause_s = None, 0.0
        MODEL_BREAKERS_OPEN.dec()
        MODEL_BREAKER.labels("closed").inc()
        log.warning("model_breaker_closed")
