"""Long polling with getUpdates, by one client at a time, from the queue that the webhook uses too."""

import time

from simulator.api.errors import Conflict
from simulator.api.updates import Update, UpdateQueue
from simulator.api.wakeup import Wakeup
from simulator.api.webhook import Webhook

MAX_UPDATES = 100
MAX_TIMEOUT_S = 50
_RECENT_S = 60.0


class Polling:
    """A newer getUpdates ends an older one that still waits; a new webhook does so too."""

    def __init__(self, queue: UpdateQueue, webhook: Webhook, bell: Wakeup) -> None:
        self._queue = queue
        self._webhook = webhook
        self._bell = bell
        self._turn = 0
        self._last_at: float | None = None

    @property
    def is_active(self) -> bool:
        """True if a client polled within the last minute."""
        return self._last_at is not None and time.monotonic() - self._last_at < _RECENT_S

    async def fetch(self, *, offset: int, limit: int, timeout_s: float) -> list[Update]:
        """Return pending updates from `offset` on; none after `timeout_s` seconds, or if the bell is closed.

        Raises Conflict if a webhook is set, and if another getUpdates or setWebhook comes while it waits.
        """
        self._refuse_webhook()
        self._last_at = time.monotonic()
        self._turn += 1
        turn = self._turn
        self._bell.ring()
        if offset:
            self._queue.confirm(offset)
        end = time.monotonic() + timeout_s
        while not (updates := self._queue.first(limit)):
            left = end - time.monotonic()
            if left <= 0 or self._bell.is_closed:
                break
            await self._bell.wait(left)
            self._refuse_other(turn)
        self._last_at = time.monotonic()
        return updates

    def _refuse_webhook(self) -> None:
        if self._webhook.settings is not None:
            raise Conflict(
                "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
            )

    def _refuse_other(self, turn: int) -> None:
        if self._webhook.settings is not None:
            raise Conflict("terminated by setWebhook request")
        if turn != self._turn:
            raise Conflict(
                "terminated by other getUpdates request; make sure that only one bot instance is running"
            )
