"""What the inbox tells and is told: admissions, claims, what a claimed context has to do."""

from dataclasses import dataclass
from typing import Literal

from memory.keys import ContextRef

Accepted = Literal["accepted", "duplicate", "full", "control", "ignored"]
"""What became of an update at the door. `full`: its chat has too many waiting; it is not stored."""

TerminalState = Literal["answered", "ignored", "refused", "forgotten", "dead"]


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
    for all we know (0: none did). `heard` (`dump_heard`) is talk to keep as context where the mode is "ignored"; in another
    mode (an edit) it only replaces the line of its score, and ends the update where there is one that nobody may quote.
    `heard_score` is from `memory.heard.score_of`, and `registered` the entry of the context in the registry of contexts.
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
