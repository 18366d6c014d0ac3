"""The circuit breaker of a model: it stops requests to an endpoint that refuses all of them."""

import time
from collections.abc import Callable

import structlog

from bot.errors import ModelBarred, ModelMissing, ModelQuotaExhausted, ModelUnavailable
from bot.observe.metrics import MODEL_BREAKER, MODEL_BREAKERS_OPEN
from memory.breaker import Breaker, BreakerEvent

log = structlog.get_logger()


def model_breaker(
    *,
    first_s: float = 5.0,
    longest_s: float = 60.0,
    clock: Callable[[], float] = time.monotonic,
    may_be_missing: bool = False,
) -> Breaker:
    """Return the breaker of one model at one endpoint.

    It opens on a failure that the next request cannot cure: an account without quota, a wrong key, a missing model.
    With `may_be_missing` a missing model opens nothing, because another answers instead. Silence and a 5xx say nothing
    about the account. A failure of one prompt never opens it, and neither does an unreachable endpoint, which may be
    back at the next request.
    """
    always = (ModelBarred, ModelQuotaExhausted)
    return Breaker(
        opens_on=always if may_be_missing else (*always, ModelMissing),
        keeps_open=(ModelUnavailable,),
        first_s=first_s,
        longest_s=longest_s,
        clock=clock,
        notify=_report,
    )


def _report(event: BreakerEvent, breaker: Breaker) -> None:
    MODEL_BREAKER.labels("opened" if event == "reopened" else event).inc()
    if event in ("opened", "reopened") and breaker.failure is not None:
        MODEL_BREAKERS_OPEN.inc(event == "opened")
        log.error("model_breaker_opened", failure=breaker.failure.__name__, probe_in_s=breaker.pause_s)
    elif event == "closed":
        MODEL_BREAKERS_OPEN.dec()
        log.warning("model_breaker_closed")
