"""What the inbox tells and is told: admissions, claims, what a claimed context has to do."""

from dataclasses import dataclass
from typing import Literal

from memory.keys import ContextRef

Accepted = Literal["accepted", "duplicate", "full", "control", "ignored"]
"""What became of an update at the door. `full`: its chat has too many waiting; it is not stored."""

TerminalState = Literal["answered", "ignored", "refused", "forgotten", "dead"]


ATTEMPTS_AT_MOST = 3
"""An update that was begun this often and never finished is dead-lettered: it may be what kills the worker."""
ALONE_FROM = 2
"""Begun this often by workers that died, it is begun alone: only such a death can make a dead letter."""

NudgeKind = Literal["edit", "message", "forward", "press"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nudge:
    """What a running turn of the same context should know at once; the update waits in the box all the same.

    `kind`: an "edit" of the message with this Telegram id, a new "message" or a "forward" of this sender, or a "press"
    of a button under that message.
    """

    kind: NudgeKind
    telegram_message_id: int
    sender_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What came for a context that is worked on, ahead of its line: a /stop, the nudge of this update, or a "reset", after
    which the context's `epoch` is this.
    """

    kind: NudgeKind | Literal["stop", "reset"]
    update_id: int
    telegram_message_id: int = 0
    sender_id: int = 0
    epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """An update at the door. `mode`: a turn waits in its chat's line, a stop overtakes it, the rest is noted.

    A stop waits too where nothing runs. `chat_id` is the chat in Telegram that it came from, which can be reached again
    for all we know (0: none did). `heard` (a HeardLine) is talk to keep as context where the mode is "ignored"; in another
    mode (an edit) it only replaces the line of its score, and ends the update where there is one that nobody may quote.
    `heard_score` is from `memory.heard.score_of`, and `registered` the entry of the context in the registry of contexts. `gate` tells
    operators the door, what was decided, and why: words with spaces between, none of the sender's.
    """

    update_id: int
    ref: ContextRef
    mode: Literal["turn", "stop", "ignored"]
    payload: str = ""
    reason: str = ""
    heard: str = ""
    heard_score: int = 0
    registered: str = ""
    nudge: Nudge | None = None
    chat_id: int = 0
    gate: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """One delivery of one entry of `ready` to one consumer. `is_held` in fence.lua compares it with the group's."""

    group: str
    consumer: str
    entry: str
    delivery: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A context that is ours to work on. Entry, consumer and delivery count are the fence of each write.

    `begun`: how often its next update was begun by workers that died, or slept past their lease, before it was taken over;
    `reprieved`: how often it was found to be no proof against that update. `delivers`: it was taken over with an answer to
    deliver; no update is begun before that is done.
    """

    ref: ContextRef
    entry: str
    consumer: str
    delivery: str
    begun: int = 0
    reprieved: int = 0
    delivers: bool = False

    @property
    def is_taken_over(self) -> bool:
        """Whether another worker had it before, and died or slept."""
        return self.delivery != "1"

    @property
    def begins_an_update(self) -> bool:
        """Whether it may kill. Of an update that was begun before, an answer is only sent, and a dead letter buried."""
        return not self.delivers and self.begun < ATTEMPTS_AT_MOST

    @property
    def is_to_be_alone(self) -> bool:
        """Whether nothing else is to be begun beside it."""
        return ALONE_FROM <= self.begun < ATTEMPTS_AT_MOST

    @property
    def fence(self) -> Fence:
        """The proof of this claim, which every script that writes under it checks first."""
        return Fence(group=GROUP, consumer=self.consumer, entry=self.entry, delivery=self.delivery)


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
