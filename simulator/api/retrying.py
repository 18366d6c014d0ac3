"""When an update is tried again, and over how many connections, after a webhook failed (pure)."""

from dataclasses import dataclass, replace

MAX_RETRY_AFTER_S = 3600
LONG_DELAY_S = (60, 120)
_SECONDS_PER_CONNECTION = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """The failed tries of one update so far; `delay_s` is the last one's own delay."""

    failed: int = 0
    delay_s: float = 1


def plan_retry(attempts: Attempts, *, retry_after_s: int, longest_s: float) -> tuple[float, Attempts]:
    """Seconds to the next try: at once, then 2, 4, 8, 16, 32, then `longest_s`; Retry-After goes first.

    tdlib/telegram-bot-api, WebhookActor::on_update_error.
    """
    failed = attempts.failed + 1
    asked = min(max(retry_after_s, 0), MAX_RETRY_AFTER_S)
    if asked:
        return asked, replace(attempts, failed=failed)
    if attempts.failed == 0:
        return 0, replace(attempts, failed=failed)
    delay = min(longest_s, attempts.delay_s * 2)
    return delay, Attempts(failed=failed, delay_s=delay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """How many deliveries may be under way: one after a failure, then one more per 2 s of success."""

    allowed: int
    since_s: float

    def after_failure(self, now_s: float) -> "Connections":
        return Connections(allowed=1, since_s=now_s)

    def after_success(self, now_s: float, *, most: int, scale: float) -> "Connections":
        if self.allowed >= most or now_s - self.since_s < _SECONDS_PER_CONNECTION * scale:
            return self
        return Connections(allowed=self.allowed + 1, since_s=now_s)


def retry_after_of(header: str | None) -> int:
    """Whole seconds of a Retry-After header; 0 for none, for a date and for anything else."""
    text = (header or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
