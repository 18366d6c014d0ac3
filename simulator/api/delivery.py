"""Delivery of updates to the webhook as in Telegram: in order, one at a time per lane, with retries."""

import asyncio
import secrets
import time
from dataclasses import dataclass, field, replace

import httpx

from simulator.api.config import Clock
from simulator.api.updates import Delivery, Update, UpdateQueue
from simulator.api.wakeup import Wakeup
from simulator.api.webhook import MAX_CONNECTIONS, Webhook, WebhookFailure, WebhookSettings

MAX_RETRY_AFTER_S = 3600
LONG_DELAY_S = (60, 120)
_SECONDS_PER_CONNECTION = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """The failed attempts of one update; `delay_s` is the newest delay."""

    failed: int = 0
    delay_s: float = 1


def plan_retry(attempts: Attempts, *, retry_after_s: int, longest_s: float) -> tuple[float, Attempts]:
    """Return the seconds to the next attempt: 0, then 2, 4, 8, 16, 32, then `longest_s`. Retry-After has priority.

    Source: tdlib/telegram-bot-api, WebhookActor::on_update_error.
    """
    failed = attempts.failed + 1
    capped = min(max(retry_after_s, 0), MAX_RETRY_AFTER_S)
    if capped:
        return capped, replace(attempts, failed=failed)
    if attempts.failed == 0:
        return 0, replace(attempts, failed=failed)
    delay = min(longest_s, attempts.delay_s * 2)
    return delay, Attempts(failed=failed, delay_s=delay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """Number of parallel deliveries: one after a failure, then one more for each 2 s of success."""

    allowed: int
    since_s: float

    def after_failure(self, now_s: float) -> "Connections":
        return Connections(allowed=1, since_s=now_s)

    def after_success(self, now_s: float, *, most: int, scale: float) -> "Connections":
        if self.allowed >= most or now_s - self.since_s < _SECONDS_PER_CONNECTION * scale:
            return self
        return Connections(allowed=self.allowed + 1, since_s=now_s)


def retry_after_of(header: str | None) -> int:
    """Return the whole seconds of a Retry-After header; 0 for a date or any other value."""
    text = (header or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


_LONGEST_SLEEP_S = 60.0
_GONE = 410
_GONE_LIMIT_S = 23 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of one POST. Without a response there is no status."""

    status: int | None = None
    reason: str = ""
    retry_after_s: int = 0
    error: str | None = None

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status <= 299

    @property
    def failure(self) -> str:
        """The failure in Telegram's wording."""
        return self.error or f"Wrong response from the webhook: {self.status} {self.reason}".rstrip()


@dataclass(slots=True)
class _Lane:
    """The oldest update of a lane: `is_busy` while it is being sent, `due_at` for its next attempt."""

    update_id: int
    is_busy: bool = False
    due_at: float = 0.0
    attempts: Attempts = field(default_factory=Attempts)


class WebhookDelivery:
    """The task that delivers: `run` works until it is cancelled. `scale` multiplies all delays."""

    def __init__(
        self,
        queue: UpdateQueue,
        webhook: Webhook,
        bell: Wakeup,
        *,
        clock: Clock,
        scale: float,
        timeout_s: float,
    ) -> None:
        self._queue = queue
        self._webhook = webhook
        self._bell = bell
        self._clock = clock
        self._scale = scale
        self._timeout_s = timeout_s
        self._lanes: dict[str, _Lane] = {}
        self._adopted: WebhookSettings | None = None
        self._connections = Connections(allowed=MAX_CONNECTIONS, since_s=0.0)
        self._busy = 0
        self._gone_since: float | None = None

    async def run(self) -> None:
        # Environment proxies are ignored: the bot named the address. `_busy` limits the pool.
        client = httpx.AsyncClient(
            timeout=self._timeout_s, trust_env=False, limits=httpx.Limits(max_connections=None)
        )
        async with client, asyncio.TaskGroup() as tasks:
            while not self._bell.is_closed:
                if (settings := self._adopt()) is not None:
                    for update in self._due():
                        self._begin(update)
                        work = self._deliver(client, settings, update)
                        tasks.create_task(work, name=f"simulator-webhook-{update.id}")
                await self._bell.wait(self._sleep_s())

    def _adopt(self) -> WebhookSettings | None:
        """Return the current webhook; a new one starts without the delays of the old one."""
        settings = self._webhook.settings
        if settings is not self._adopted:
            self._adopted = settings
            self._gone_since = None
            self._connections = Connections(allowed=MAX_CONNECTIONS, since_s=0.0)
            self._lanes = {lane: state for lane, state in self._lanes.items() if state.is_busy}
        return settings

    def _due(self) -> list[Update]:
        now = time.monotonic()
        heads = {update.lane: update for update in self._queue.heads()}
        for lane, state in list(self._lanes.items()):
            if not state.is_busy and (lane not in heads or heads[lane].id != state.update_id):
                del self._lanes[lane]
        ready = [update for lane, update in heads.items() if self._is_ready(lane, now)]
        ready.sort(key=lambda update: update.id)
        return ready[: max(self._limit() - self._busy, 0)]

    def _is_ready(self, lane: str, now: float) -> bool:
        state = self._lanes.get(lane)
        return state is None or (not state.is_busy and state.due_at <= now)

    def _limit(self) -> int:
        settings = self._webhook.settings
        return min(self._connections.allowed, settings.max_connections) if settings else 0

    def _sleep_s(self) -> float:
        """Return the seconds until the next retry. Other changes ring the bell."""
        if self._webhook.settings is None or self._busy >= self._limit():
            return _LONGEST_SLEEP_S
        waiting = [state.due_at for state in self._lanes.values() if not state.is_busy]
        return min(max(min(waiting, default=float("inf")) - time.monotonic(), 0.0), _LONGEST_SLEEP_S)

    def _begin(self, update: Update) -> None:
        state = self._lanes.setdefault(update.lane, _Lane(update.id))
        state.is_busy = True
        self._busy += 1

    async def _deliver(self, client: httpx.AsyncClient, settings: WebhookSettings, update: Update) -> None:
        try:
            answer = await _post(client, settings, update, timeout_s=self._timeout_s)
            self._queue.record(
                update.id, Delivery(at=self._clock(), status=answer.status, error=answer.error)
            )
            if answer.is_success:
                self._succeed(settings, update)
            else:
                self._fail(settings, update, answer)
        finally:
            self._busy -= 1
            self._bell.ring()

    def _succeed(self, settings: WebhookSettings, update: Update) -> None:
        self._gone_since = None
        self._lanes.pop(update.lane, None)
        self._connections = self._connections.after_success(
            time.monotonic(), most=settings.max_connections, scale=self._scale
        )
        self._queue.drop(update.id)

    def _fail(self, settings: WebhookSettings, update: Update, answer: Answer) -> None:
        now = time.monotonic()
        self._connections = self._connections.after_failure(now)
        longest = LONG_DELAY_S[0] + secrets.randbelow(LONG_DELAY_S[1] - LONG_DELAY_S[0])
        state = self._lanes[update.lane]
        delay, state.attempts = plan_retry(
            state.attempts, retry_after_s=answer.retry_after_s, longest_s=longest
        )
        is_current = self._webhook.settings is settings
        # A new webhook does not wait because of failures of the old one.
        state.due_at, state.is_busy = now + (delay * self._scale if is_current else 0.0), False
        if self._clock() + delay > update.expires_at:
            self._lanes.pop(update.lane)
            self._queue.drop(update.id)
        if is_current:
            self._webhook.failure = WebhookFailure(self._clock(), answer.failure)
            self._remove_if_gone(answer)

    def _remove_if_gone(self, answer: Answer) -> None:
        if answer.status != _GONE:
            self._gone_since = None
        elif self._gone_since is None:
            self._gone_since = self._clock()
        elif self._clock() - self._gone_since > _GONE_LIMIT_S:
            self._webhook.put(None)


async def _post(
    client: httpx.AsyncClient, settings: WebhookSettings, update: Update, *, timeout_s: float
) -> Answer:
    headers = {"X-Telegram-Bot-Api-Secret-Token": settings.secret_token} if settings.secret_token else {}
    try:
        async with asyncio.timeout(timeout_s):
            response = await client.post(settings.url, json=update.as_json(), headers=headers)
    except (TimeoutError, httpx.ReadTimeout):
        return Answer(error="Read timeout expired")
    except httpx.ConnectTimeout:
        return Answer(error="Connection timed out")
    except httpx.ConnectError:
        return Answer(error="Connection refused")
    except (httpx.HTTPError, httpx.InvalidURL):
        return Answer(error="Webhook connection closed")
    retry_after = retry_after_of(response.headers.get("Retry-After"))
    return Answer(status=response.status_code, reason=response.reason_phrase, retry_after_s=retry_after)
