"""The queue of updates that polling and the webhook share: ids, lanes, expiry and traces."""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from simulator.api.config import Clock
from simulator.api.wakeup import Wakeup

UpdateKind = Literal[
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
    "chat_member",
    "message_reaction",
    "inline_query",
    "chosen_inline_result",
]

_KIND_NAMES = (
    "message edited_message channel_post edited_channel_post business_connection business_message"
    " edited_business_message deleted_business_messages message_reaction message_reaction_count inline_query"
    " chosen_inline_result callback_query shipping_query pre_checkout_query purchased_paid_media poll"
    " poll_answer my_chat_member chat_member chat_join_request chat_boost removed_chat_boost"
)
UPDATE_KINDS: frozenset[str] = frozenset(_KIND_NAMES.split())
# Bot API documentation, allowed_updates: an empty list means all except these.
DEFAULT_KINDS: frozenset[str] = UPDATE_KINDS - {"chat_member", "message_reaction", "message_reaction_count"}

MESSAGE_LIFE_S = 24 * 3600
CALLBACK_LIFE_S = 150
MAX_PENDING = 100_000
MAX_TRACES = 5_000
MAX_DELIVERIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """An update. Updates of one `lane` are delivered in order, one at a time."""

    id: int
    kind: UpdateKind
    payload: dict[str, Any]
    lane: str
    expires_at: float

    def as_json(self) -> dict[str, Any]:
        return {"update_id": self.id, self.kind: self.payload}


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One attempt to deliver an update: its HTTP status (200 for getUpdates), or the error."""

    at: float
    status: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """An update and its newest delivery attempts."""

    update: Update
    deliveries: deque[Delivery] = field(default_factory=lambda: deque(maxlen=MAX_DELIVERIES))


class UpdateQueue:
    """Updates until they are confirmed, delivered or expired. `bell` rings at each change.

    Kinds that the bot does not allow are not added. `on_delivery`, if set, is called at each attempt, because traces
    keep only the newest ones.
    """

    def __init__(self, clock: Clock, bell: Wakeup, *, first_id: int) -> None:
        self._clock = clock
        self._bell = bell
        self._next_id = first_id
        self._pending: OrderedDict[int, Update] = OrderedDict()
        self._lanes: dict[str, deque[int]] = {}
        self._traces: OrderedDict[int, Trace] = OrderedDict()
        self.allowed: frozenset[str] = DEFAULT_KINDS
        self.on_delivery: Callable[[Update, Delivery], None] | None = None

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, kind: UpdateKind, payload: dict[str, Any], *, lane: str, life_s: float) -> int | None:
        """Add an update and return its id. Return None if its kind is not allowed or the queue is full."""
        if kind not in self.allowed or len(self._pending) >= MAX_PENDING:
            return None
        update = Update(
            id=self._next_id, kind=kind, payload=payload, lane=lane, expires_at=self._clock() + life_s
        )
        self._next_id += 1
        self._pending[update.id] = update
        self._lanes.setdefault(lane, deque()).append(update.id)
        self._traces[update.id] = Trace(update)
        if len(self._traces) > MAX_TRACES:
            self._traces.popitem(last=False)
        self._bell.ring()
        return update.id

    def first(self, limit: int) -> list[Update]:
        """Return the oldest pending updates in the order of their ids."""
        self._drop_expired()
        return list(islice(self._pending.values(), limit))

    def heads(self) -> Iterator[Update]:
        """Yield the oldest update of each lane."""
        self._drop_expired()
        return (self._pending[lane[0]] for lane in list(self._lanes.values()))

    def confirm(self, offset: int) -> None:
        """Drop all updates below a positive offset. A negative one keeps so many of the newest."""
        if offset < 0:
            last = next(islice(reversed(self._pending), min(-offset - 1, len(self._pending)), None), None)
            offset = last if last is not None else 0
        for update_id in [one for one in self._pending if one < offset]:
            self._forget(update_id)
        self._bell.ring()

    def drop(self, update_id: int) -> None:
        """Remove an update that is delivered or given up; ignore unknown ids."""
        if update_id in self._pending:
            self._forget(update_id)
            self._bell.ring()

    def clear(self) -> None:
        self._pending.clear()
        self._lanes.clear()
        self._bell.ring()

    def record(self, update_id: int, delivery: Delivery) -> None:
        update = self._pending.get(update_id)
        if self.on_delivery is not None and update is not None:
            self.on_delivery(update, delivery)
        trace = self._traces.get(update_id)
        if trace is not None:
            trace.deliveries.append(delivery)

    def trace(self, update_id: int) -> Trace | None:
        """Return the trace of an update, or None if its id is unknown or too old."""
        return self._traces.get(update_id)

    def _drop_expired(self) -> None:
        now = self._clock()
        for lane in list(self._lanes.values()):
            while lane and self._pending[lane[0]].expires_at <= now:
                self._forget(lane[0])

    def _forget(self, update_id: int) -> None:
        update = self._pending.pop(update_id)
        lane = self._lanes[update.lane]
        lane.remove(update_id)
        if not lane:
            del self._lanes[update.lane]
