"""Fakes for a delivery: rate budgets and migrations."""

from dataclasses import dataclass, field

from bot.transport.rates import Importance


@dataclass(slots=True)
class OpenRates:
    """Rate budgets that let everything pass.

    Holds are recorded, and `waits` come first. Without room nothing passes.
    """

    holds: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    waits: list[float] = field(default_factory=list[float])
    asked: list[Importance] = field(default_factory=list[Importance])
    has_room: bool = True

    async def reserve(self, chat_id: int, importance: Importance) -> float | None:
        self.asked.append(importance)
        if not self.has_room:
            return None
        return self.waits.pop(0) if self.waits else 0.0

    def reservation(self, chat_id: int, importance: Importance) -> None:
        """Nothing to run: `reserve` is asked right before the send."""

    def wait_in(self, reply: int | None, chat_id: int) -> float:
        return 0.0

    def seems_free(self, chat_id: int) -> bool:
        return True

    async def held(self, chat_id: int) -> float:
        return self.waits.pop(0) if self.waits else 0.0

    async def hold(self, chat_id: int, retry_after: float) -> None:
        self.holds.append((chat_id, retry_after))


@dataclass(slots=True)
class Moved:
    """Recorded migrations."""

    learned: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    async def learn(self, old_chat_id: int, new_chat_id: int) -> None:
        self.learned.append((old_chat_id, new_chat_id))
