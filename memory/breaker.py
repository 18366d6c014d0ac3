"""The circuit breaker: it stops requests to a server that fails all of them, and lets single probes through."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

BreakerEvent = Literal["opened", "reopened", "refused", "probed", "closed"]


@dataclass(slots=True, kw_only=True)
class Breaker:
    """The circuit breaker of one server. Each process has its own.

    It opens after `failures_to_open` failures of `opens_on` without a success between them. While it is open, requests
    fail at once with the error that opened it. After each pause one request goes through as a probe. It closes if the
    probe succeeds or fails in another way. A failure of `keeps_open`, and a cancelled probe, say nothing: the breaker
    stays open for the same pause.
    """

    opens_on: tuple[type[Exception], ...]
    keeps_open: tuple[type[Exception], ...] = ()
    failures_to_open: int = 1
    # The first pause in seconds. Each failed probe doubles it, up to `longest_s`.
    first_s: float
    longest_s: float
    # False if a probe is easier than a request: then only a request that succeeds makes the next pause short again.
    trusts_probes: bool = True
    clock: Callable[[], float] = time.monotonic
    # Called after each event, for logs and metrics.
    notify: Callable[[BreakerEvent, "Breaker"], None] = field(default=lambda _, __: None)
    failure: type[Exception] | None = None
    """The type of the error that opened it; None while it is closed."""
    pause_s: float = 0.0
    """The present pause between two probes."""
    _failures: int = 0
    _open_until: float = 0.0
    _is_probing: bool = False

    @property
    def is_open(self) -> bool:
        """True while requests fail at once."""
        return self.failure is not None

    @property
    def wait_s(self) -> float:
        """Return the seconds until the next probe may go through."""
        return max(0.0, self._open_until - self.clock())

    @contextmanager
    def guard(self, *, may_probe: bool = True) -> Generator[None]:
        """Wrap one request. While the breaker is open, raise its failure instead of running the block.

        `may_probe`: this request may be the probe. Without it only others probe, so that this one never waits.
        """
        if self.failure is not None:
            if not may_probe or self._is_probing or self.clock() < self._open_until:
                self.notify("refused", self)
                raise self.failure
            yield from self._probe()
            return
        try:
            yield
        except self.opens_on as failure:
            self._failures += 1
            # Requests at the same time open it once.
            if self._failures >= self.failures_to_open and not self.is_open:
                self._open(failure)
            raise
        if not self.is_open:
            self._failures, self.pause_s = 0, 0.0

    def _probe(self) -> Generator[None]:
        self._is_probing = True
        self.notify("probed", self)
        try:
            yield
        except self.opens_on as failure:
            self._open(failure)
            raise
        except self.keeps_open:
            raise
        except Exception:
            self._close()
            raise
        else:
            self._close()
        finally:
            self._is_probing = False
            self._open_until = self.clock() + self.pause_s

    def _open(self, failure: Exception) -> None:
        event: BreakerEvent = "reopened" if self.is_open else "opened"
        self.failure = type(failure)
        self.pause_s = min(max(self.first_s, 2 * self.pause_s), self.longest_s)
        self._open_until = self.clock() + self.pause_s
        self.notify(event, self)

    def _close(self) -> None:
        """Close. Unless probes are trusted, one more failure opens it again, for a longer pause."""
        self.failure = None
        if self.trusts_probes:
            self._failures, self.pause_s = 0, 0.0
        else:
            self._failures = self.failures_to_open - 1
        self.notify("closed", self)
