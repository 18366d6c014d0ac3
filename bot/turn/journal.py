"""The journal of a running turn: a finished step is not run again after a crash."""

from collections.abc import Mapping
from contextlib import suppress

from bot.errors import TurnStopped
from bot.inbox.records import Claim
from bot.turn.batch import Batch
from bot.turn.store import TurnStore
from memory.codec import dump_json, parse_json
from memory.history.buffered import BufferedHistory
from memory.history.message import Message

_JOINED, _APPENDED = "joined", "appended"
_PREVIEW = "preview"
"""The message of ours that shows this turn, for the next try after a crash. A restart keeps it (restart.lua)."""


class TurnJournal:
    """Reads the steps that were there when the turn began, and writes new ones to the store.

    It writes in the history's epoch: a turn whose tool erases its own memory goes on in the next one.
    """

    def __init__(
        self,
        store: TurnStore,
        claim: Claim,
        history: BufferedHistory,
        batch: Batch,
        *,
        steps: Mapping[str, str],
        own_messages: int | None = None,
    ) -> None:
        """`steps` are those of an interrupted try.

        The first `own_messages` pending messages of the history are the question, one for each update by default.
        """
        self._store = store
        self._claim = claim
        self._history = history
        self._batch = batch
        self._steps = dict(steps)
        self._own_messages = len(batch.updates) if own_messages is None else own_messages

    def again(self, history: BufferedHistory, batch: Batch, *, own_messages: int) -> "TurnJournal":
        """Return the journal for another batch and history of the same turn."""
        return TurnJournal(
            self._store, self._claim, history, batch, steps=self._steps, own_messages=own_messages
        )

    async def finished(self, step: str) -> str | None:
        """Return the value that was recorded for this step, or None."""
        return self._steps.get(step)

    async def record(self, step: str, value: str) -> None:
        """Record a finished step, and the messages that tools have appended to the history so far.

        Raises Fenced, Forgotten or TurnStopped: the turn ends there.
        """
        fields = {step: value}
        if _JOINED not in self._steps:
            fields[_JOINED] = dump_json(tuple[int, ...], self._batch.update_ids)
        pending = self._history.pending
        if len(pending) > self._own_messages:
            fields[_APPENDED] = dump_json(list[Message], list(pending))
        self._steps |= fields
        newest = self._batch.newest.update_id  # a stop after this update ends the turn
        await self._store.record(self._claim, epoch=self._history.epoch, newest_update=newest, fields=fields)

    async def record_for_good(self, step: str, value: str) -> None:
        """Record a step of an erasure, which a /stop does not end."""
        with suppress(TurnStopped):  # raised after the write
            await self.record(step, value)

    async def restore_appended(self) -> None:
        """After a crash, append the messages of the finished steps again. Existing ones stay as they are."""
        line = self._steps.get(_APPENDED)
        if line is not None:
            await self._history.restore(parse_json(list[Message], line))

    async def show_in(self, message_id: int) -> None:
        """Record the message that shows this turn. Raises what `record` does."""
        await self.record(_PREVIEW, str(message_id))

    async def shown_in(self) -> int | None:
        """Return the message that shows this turn, if an earlier try recorded one."""
        return preview_in(self._steps)


def joined_updates(steps: Mapping[str, str]) -> tuple[int, ...]:
    """Return the updates of an interrupted turn, which the next try must answer together; () for a new turn."""
    return parse_json(tuple[int, ...], steps[_JOINED]) if _JOINED in steps else ()


def preview_in(steps: Mapping[str, str]) -> int | None:
    """Return the message that shows an interrupted turn."""
    return int(steps[_PREVIEW]) if _PREVIEW in steps else None
