"""Short-lived or replaceable state of the bot: drafts, button presses, inline queries and command lists."""

import asyncio
from dataclasses import dataclass
from typing import Any

from simulator.api.config import Clock
from simulator.api.updates import CALLBACK_LIFE_S
from simulator.api.world import Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    user_id: int
    ends_at: float


class Callbacks:
    """Open callback queries. Each is answered at most once, within 150 s."""

    def __init__(self, clock: Clock, *, first_id: int) -> None:
        self._clock = clock
        self._next_id = first_id
        self._open: dict[str, Press] = {}
        self.inline = InlineQueries(first_id=first_id)

    def open(self, user_id: int) -> str:
        """Open a callback query; return its id."""
        now = self._clock()
        self._open = {key: press for key, press in self._open.items() if press.ends_at > now}
        self._next_id += 1
        query_id = f"{user_id}{self._next_id}"
        self._open[query_id] = Press(user_id=user_id, ends_at=now + CALLBACK_LIFE_S)
        return query_id

    def take(self, query_id: str) -> Press | None:
        """Close a callback query. Return None if its id is unknown, answered or too old."""
        press = self._open.pop(query_id, None)
        return press if press is not None and press.ends_at > self._clock() else None


Results = list[dict[str, Any]]
INLINE_QUERY_LIFE_S = 10.0
MAX_INLINE_QUERIES = 1_000


class InlineQueries:
    """Inline queries by id, each with the results that the bot answers within INLINE_QUERY_LIFE_S."""

    def __init__(self, *, first_id: int) -> None:
        self._next_id = first_id
        self._asked: dict[str, tuple[str, asyncio.Future[Results]]] = {}

    def open(self, query: str) -> tuple[str, asyncio.Future[Results]]:
        """Open a query; return its id and its coming results. The oldest of too many is dropped."""
        self._next_id += 1
        coming: asyncio.Future[Results] = asyncio.get_running_loop().create_future()
        self._asked[str(self._next_id)] = query, coming
        if len(self._asked) > MAX_INLINE_QUERIES:
            del self._asked[next(iter(self._asked))]
        return str(self._next_id), coming

    def answer(self, query_id: str, results: Results) -> bool:
        """Set the results. Return False if the id is unknown, or its query is too old or answered."""
        _, coming = self._asked.get(query_id, ("", None))
        if coming is None or coming.done():
            return False
        coming.set_result(results)
        return True

    def find(self, query_id: str, result_id: str) -> tuple[str, dict[str, Any]] | None:
        """Return the text of a query and one of its results."""
        query, coming = self._asked.get(query_id, ("", None))
        if coming is None or not coming.done() or coming.cancelled():
            return None
        return next(((query, each) for each in coming.result() if each["id"] == result_id), None)


DRAFT_LIFE_S = 30.0


class Drafts:
    """Message drafts by chat. Each lives for 30 s; a new draft replaces the one with the same id."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends: dict[tuple[int, int], float] = {}

    def put(self, chat_id: int, draft_id: int) -> None:
        self._drop_ended()
        self._ends[chat_id, draft_id] = self._clock() + DRAFT_LIFE_S

    def take(self, chat_id: int) -> list[int]:
        """End the live drafts of a chat; return their ids."""
        self._drop_ended()
        ended = [draft_id for chat, draft_id in self._ends if chat == chat_id]
        for draft_id in ended:
            del self._ends[chat_id, draft_id]
        return ended

    def _drop_ended(self) -> None:
        now = self._clock()
        self._ends = {key: end for key, end in self._ends.items() if end > now}


Command = dict[str, str]

MAX_LISTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A BotCommandScope."""

    type: str = "default"
    chat_id: int | None = None
    user_id: int | None = None


class CommandLists:
    def __init__(self) -> None:
        self.lists: dict[tuple[Scope, str], list[Command]] = {}

    def put(self, scope: Scope, language: str, commands: list[Command]) -> None:
        """Store a list; an empty one deletes it. Beyond `MAX_LISTS` the oldest list is dropped."""
        self.lists.pop((scope, language), None)
        if commands:
            self.lists[scope, language] = commands
        if len(self.lists) > MAX_LISTS:
            del self.lists[next(iter(self.lists))]

    def get(self, scope: Scope, language: str) -> list[Command]:
        """Return the list of exactly this scope and language."""
        return self.lists.get((scope, language), [])

    def shown_in(self, chat: Chat, *, user_id: int | None = None, language: str = "en") -> list[Command]:
        """Return the list that a user sees: of the narrowest scope with a list, in the user's language first.

        Source: Bot API documentation, "Determining list of commands".
        """
        is_admin = user_id is not None and user_id in chat.admins
        for scope in _scopes(chat, user_id, is_admin=is_admin):
            for code in (language, ""):
                if commands := self.lists.get((scope, code)):
                    return commands
        return []


def _scopes(chat: Chat, user_id: int | None, *, is_admin: bool) -> list[Scope]:
    if chat.type == "private":
        return [Scope(type="chat", chat_id=chat.id), Scope(type="all_private_chats"), Scope()]
    admins = [Scope(type="chat_administrators", chat_id=chat.id)] if is_admin else []
    all_admins = [Scope(type="all_chat_administrators")] if is_admin else []
    return [
        Scope(type="chat_member", chat_id=chat.id, user_id=user_id),
        *admins,
        Scope(type="chat", chat_id=chat.id),
        *all_admins,
        Scope(type="all_group_chats"),
        Scope(),
    ]
