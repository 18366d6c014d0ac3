"""The journal of a running turn: what has finished is not run again after a crash."""

import json
from collections.abc import Sequence
from contextlib import suppress

from bot.errors import TurnStopped
from bot.inbox.records import Claim
from bot.turn.turn_store import TurnStore
from memory.codec import dump_json, parse_json
from memory.history.buffered import BufferedHistory
from memory.history.message import Message

_JOINED, _APPENDED = "joined", "appended"


class TurnJournal:
    """Answers from what was there when the turn began, and writes through. One turn, one object.

    It writes in the history's epoch: a turn whose tool erases its own memory goes on in the next one. `update_ids` are
    those that end with the turn, a stop after `newest_update` means it, and `own_messages` of the history's pending ones
    are what it answers.
    """

    def __init__(
        self,
        store: TurnStore,
        claim: Claim,
        history: BufferedHistory,
        *,
        update_ids: Sequence[int],
        newest_update: int,
        own_messages: int,
        found: dict[str, str],
    ) -> None:
        self._store = store
        self._claim = claim
        self._history = history
        self._update_ids = tuple(update_ids)
        self._newest_update = newest_update
        self._own_messages = own_messages
        self._found = found

    async def finished(self, step: str) -> str | None:
        """What `record` was given for this step before a crash, or None."""
        return self._found.get(step)

    async def record(self, step: str, value: str) -> None:
        """Keep what a finished step gave, with the messages that tools have appended to the history by then.

        Raises Fenced, Forgotten or TurnStopped: the turn ends there.
        """
        fields = {step: value}
        if _JOINED not in self._found:
            fields[_JOINED] = json.dumps(self._update_ids)
        pending = [dump_json(Message, message) for message in self._history.pending]
        if len(pending) > self._own_messages:
            fields[_APPENDED] = json.dumps(pending)
        self._found |= fields
        await self._store.record(
            self._claim, epoch=self._history.epoch, newest_update=self._newest_update, fields=fields
        )

    async def record_for_good(self, step: str, value: str) -> None:
        """`record` for a turn that a /stop does not end: what it has begun to erase is erased."""
        with suppress(TurnStopped):  # raised when it is written
            await self.record(step, value)

    async def restore_appended(self) -> None:
        """After a crash: append what the finished steps had appended. Those that are there already stay as they are."""
        lines = json.loads(self._found.get(_APPENDED, "[]"))
        await self._history.restore([parse_json(Message, line) for line in lines])


def joined_updates(journal: dict[str, str]) -> tuple[int, ...]:
    """The updates that an interrupted turn had joined: a resumed one answers exactly these. Empty for a new turn."""
    return tuple(json.loads(journal[_JOINED])) if _JOINED in journal else ()
