"""A piece of work: a claimed context, and what waits in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.inbox.records import Claim, Todo
from bot.inbox.signals import Incoming
from bot.transport.ingest import WaitingUpdate
from bot.turn.journal import joined_updates
from memory.history.store import HistorySnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A claimed context with what waits in it, and the signals since before that was taken."""

    claim: Claim
    todo: Todo
    snapshot: HistorySnapshot
    waiting: Sequence[WaitingUpdate]
    incoming: Incoming

    @property
    def joined(self) -> tuple[int, ...]:
        """What waits of the updates that an interrupted turn had joined, which is to be resumed; empty for a new turn."""
        present = {update.update_id for update in self.waiting}
        return tuple(each for each in joined_updates(self.todo.journal) if each in present)
