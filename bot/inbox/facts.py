"""What the inbox tells and is told: admissions, claims, what a claimed context has to do."""

from dataclasses import dataclass
from typing import Literal

from memory.keys import ContextRef

Accepted = Literal["accepted", "duplicate", "full", "control", "ignored"]
"""What became of an update at the door. `full`: its chat has too many waiting; it is not stored."""

TerminalState = Literal["answered", "ignored", "refused", "forgotten", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An update at the door. `mode`: a turn waits in its chat's line, a stop overtakes it, the rest is noted.

    A stop without a payload (a button) is ignored when there is nothing to stop; one with a payload waits.
    """

    update_id: int
    ref: ContextRef
    mode: Literal["turn", "stop", "ignored"]
    payload: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A context that is ours to work on. Entry, consumer and delivery count are the fence of each write."""

    ref: ContextRef
    entry: str
    consumer: str
    delivery: str

    @property
    def fence(self) -> tuple[str, str, str, str]:
        """The first four arguments of every script that writes under this claim."""
        return (GROUP, self.consumer, self.entry, self.delivery)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingUpdate:
    """An update that waits in its context's box; `payload` is what `Arrival` brought."""

    update_id: int
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """What a claimed context has to do, oldest first. Parts of the outbox come before new updates.

    `stopped_before`: what came before this update id was stopped by its reader.
    """

    updates: tuple[PendingUpdate, ...]
    journal: dict[str, str]
    parts: tuple[str, ...]
    sends_begun: int
    stopped_before: int | None
    buried: tuple[PendingUpdate, ...]


GROUP = "workers"
"""The consumer group of `ready`."""
