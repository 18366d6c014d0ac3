"""Message drafts that a bot streams: previews of 30 seconds, gone when a message is sent."""

from simulator.api.config import Clock

DRAFT_LIFE_S = 30.0


class Drafts:
    """Live drafts by chat; the newest of an id replaces the one before."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends: dict[tuple[int, int], float] = {}

    def put(self, chat_id: int, draft_id: int) -> None:
        self._drop_ended()
        self._ends[chat_id, draft_id] = self._clock() + DRAFT_LIFE_S

    def take(self, chat_id: int) -> list[int]:
        """The ids of the chat's live drafts, which end with this."""
        self._drop_ended()
        taken = [draft_id for chat, draft_id in self._ends if chat == chat_id]
        for draft_id in taken:
            del self._ends[chat_id, draft_id]
        return taken

    def _drop_ended(self) -> None:
        now = self._clock()
        self._ends = {key: end for key, end in self._ends.items() if end > now}
