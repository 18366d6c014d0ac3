"""Records of the inbox: arrivals, claims, signals, and the work of a claimed context."""

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from memory.keys import ContextRef

Accepted = Literal["accepted", "duplicate", "full", "control", "ignored"]
"""Outcome of accepting an update. `full`: too many updates of its context wait, so it is not stored."""

TerminalState = Literal["answered", "ignored", "refused", "forgotten", "dead"]

GROUP = "workers"
"""The consumer group of `ready`."""
ATTEMPTS_AT_MOST = 3
"""An update becomes a dead letter if it was begun this often and its last worker died while it ran alone."""
UNCOUNTED_AT_MOST = 9
"""Attempts of an update that do not count because their worker lost the context alive: it stood still for a while."""
ISOLATED_FROM = 2
"""Deaths of workers after which an update runs alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """News for the running turn of a context, ahead of the context's waiting updates.

    `press` is a pressed button. After a `reset` the context's epoch is `epoch`.
    """

    kind: Literal["edit", "message", "forward", "press", "stop", "reset"]
    update_id: int
    telegram_message_id: int = 0
    sender_id: int = 0
    epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An update that the transport accepts."""

    update_id: int
    ref: ContextRef
    mode: Literal["turn", "stop", "ignored"]
    """`turn`: wait in the box. `stop`: end the running turn, or wait if none runs. `ignored`: keep a record."""
    payload: str = ""
    reason: str = ""
    """Reason of the mode `ignored`."""
    talk: str = ""
    """Group talk to keep as context (a TalkLine as JSON).

    An edit only replaces its line, and ends if nobody may quote it.
    """
    talk_score: int = 0
    """Score of that line (`memory.history.talk.score_of`)."""
    registered: str = ""
    """The context's entry in the registry of contexts."""
    said_at: int = 0
    """Time of the message or of its edit (Unix seconds); 0 for what nobody says, such as a press."""
    pinned_id: int = 0
    pinned_at: int = 0
    """Telegram id and time of a pinned message, whose text the talk copies."""
    signal: Signal | None = None
    """News for a running turn of the same context. The update waits in the box all the same."""
    chat_id: int = 0
    """The Telegram chat that sent it, which can be reached again; 0 for none."""
    gate: str = ""
    """Decision of the gate, for operators: words separated by spaces, none of them the sender's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """One delivery of one entry of `ready` to one consumer. `is_held` in fence.lua compares it with the group's."""

    group: str
    consumer: str
    entry: str
    delivery: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A context that this worker holds."""

    ref: ContextRef
    fence: Fence
    """The proof of this claim, which every script that writes under it checks first."""
    deaths: int = 0
    """Attempts at the next update in which a worker died. 0 if an answer is delivered or a dead letter buried first."""
    is_taken_over: bool = False
    """True if another worker held it before and gave no sign of life."""
    settled: asyncio.Event = field(default_factory=asyncio.Event, compare=False, repr=False)
    """Set when the context was settled together with the last part of an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncognitoChange:
    """The beginning or the end of incognito."""

    is_on: bool
    at: int
    """Unix seconds."""
    registered: str
    """The entry of the context in the registry, for the first record of a chat."""
