"""The journal of a running turn: what has finished is not run again after a crash."""

import json
from collections.abc import Sequence

from bot.inbox.facts import Claim
from bot.turn.turn_store import TurnStore

_JOINED = "joined"


class TurnJournal:
    """Answers from what was there when the turn began, and writes through. One turn, one object."""

    def __init__(
        self, store: TurnStore, claim: Claim, *, epoch: int, update_ids: Sequence[int], found: dict[str, str]
    ) -> None:
        self._store = store
        self._claim = claim
        self._epoch = epoch
        self._update_ids = tuple(update_ids)
        self._found = found

    async def finished(self, step: str) -> str | None:
        """What `record` was given for this step before a crash, or None."""
        return self._found.get(step)

    async def record(self, step: str, value: str) -> None:
        """Keep what a finished step gave. Raises Fenced, Forgotten or TurnStopped: the turn ends there."""
        fields = {step: value}
        if _JOINED not in self._found:
            fields[_JOINED] = json.dumps(self._update_ids)
        self._found |= fields
        await self._store.record(
            self._claim, epoch=self._epoch, newest_update=self._update_ids[-1], fields=fields
        )


def joined_updates(journal: dict[str, str]) -> tuple[int, ...]:
    """The updates that an interrupted turn had joined: a resumed one answers exactly these. Empty for a new turn."""
    return tuple(json.loads(journal[_JOINED])) if _JOINED in journal else ()
