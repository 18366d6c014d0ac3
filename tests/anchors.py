"""A fake of Migrations in a dict."""

from dataclasses import dataclass, field
from typing import cast

from bot.transport.migrations import Migrations


@dataclass(slots=True)
class InMemoryAnchors:
    """Migrations by `moved`: the supergroup's id → the former group's id."""

    moved: dict[int, int] = field(default_factory=dict[int, int])

    async def resolve(self, chat_id: int, *, is_first_seen: bool = False) -> int:
        return self.moved.get(chat_id, chat_id)

    async def learn(self, old_chat_id: int, new_chat_id: int) -> None:
        self.moved.setdefault(new_chat_id, await self.resolve(old_chat_id))


def no_migrations() -> Migrations:
    """Every chat is its own anchor."""
    return cast(Migrations, InMemoryAnchors())
