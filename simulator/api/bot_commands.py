"""The command lists that a bot has set, per scope and language, and which one a chat sees."""

from dataclasses import dataclass

from simulator.api.world import Chat

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
        self._lists: dict[tuple[Scope, str], list[Command]] = {}

    def put(self, scope: Scope, language: str, commands: list[Command]) -> None:
        """An empty list is the same as none. Beyond `MAX_LISTS` the oldest list is forgotten."""
        self._lists.pop((scope, language), None)
        if commands:
            self._lists[scope, language] = commands
        if len(self._lists) > MAX_LISTS:
            del self._lists[next(iter(self._lists))]

    def get(self, scope: Scope, language: str) -> list[Command]:
        """Exactly this list, without falling back."""
        return self._lists.get((scope, language), [])

    def shown_in(self, chat: Chat, *, user_id: int | None = None, language: str = "en") -> list[Command]:
        """What a user sees in a chat: the narrowest scope that has a list, the user's language first.

        Bot API documentation, "Determining list of commands".
        """
        is_admin = user_id is not None and user_id in chat.admins
        for scope in _scopes(chat, user_id, is_admin=is_admin):
            for code in (language, ""):
                if commands := self._lists.get((scope, code)):
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
