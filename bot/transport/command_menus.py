"""Command menus of Telegram's clients, by scope and language. A menu is registered again when it changes."""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast, get_args

import structlog

from bot.errors import TelegramFailure, TelegramRefused, TelegramUnavailable
from bot.transport.controls import Audience
from bot.transport.telegram_api import CommandScope, TelegramApi
from bot.transport.words import LANGUAGES, menu_descriptions
from memory import keys
from memory.errors import MemoryFailure
from memory.redis.client import RedisClient

log = structlog.get_logger()

FIRST_AFTER_S = 1.0
"""Delay after the start, because serving people comes first."""
AGAIN_AFTER_S = 60.0
"""Pause after a failure, unless Telegram says how long to wait."""
REFUSED_AGAIN_S = 3600.0
"""Pause after a refusal: an operator gets a menu only after the first message to the bot."""

_EVERYWHERE: tuple[tuple[CommandScope, Audience], ...] = (
    ("default", "everybody"),
    ("all_private_chats", "owners"),
    ("all_group_chats", "everybody"),
    ("all_chat_administrators", "owners"),
)
_OF_GROUPS: tuple[CommandScope, ...] = ("all_group_chats", "all_chat_administrators")


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """One list of (name, description) pairs; `chat_id` is 0 except for the scope "chat", "" is any other language."""

    scope: CommandScope
    chat_id: int
    language: str
    commands: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """Return the field of this menu in Redis."""
        return f"{self.scope}:{self.chat_id}:{self.language}"

    @property
    def digest(self) -> str:
        """Return a digest of the names and descriptions, which is stored after the registration."""
        return hashlib.sha256(json.dumps(self.commands).encode()).hexdigest()[:16]


def plan_menus(commands: Mapping[str, Audience], operator_ids: frozenset[int]) -> Iterator[Menu]:
    """Yield every menu. English is for all languages without a catalogue."""
    places: list[tuple[CommandScope, int, Audience]] = [
        *((scope, 0, audience) for scope, audience in _EVERYWHERE),
        *(("chat", operator, "operators") for operator in sorted(operator_ids)),
    ]
    ranks = get_args(Audience)[2:]
    for scope, chat_id, audience in places:
        shown = {*ranks[: ranks.index(audience) + 1], *(("members",) if scope in _OF_GROUPS else ())}
        names = [name for name, least in commands.items() if least in shown]
        for language in LANGUAGES:
            descriptions = menu_descriptions(language)
            yield Menu(
                scope=scope,
                chat_id=chat_id,
                language="" if language == "en" else language,
                commands=tuple((name, descriptions[f"menu-{name}"]) for name in names),
            )


class CommandMenus:
    """Registration of the menus. Commands work without them, so failures are only logged."""

    def __init__(
        self,
        telegram: TelegramApi,
        redis: RedisClient,
        *,
        commands: Mapping[str, Audience],
        bot_id: int,
        operator_ids: frozenset[int],
    ) -> None:
        self._telegram = telegram
        self._redis = redis
        self._key = keys.global_key("commands", bot_id)
        self._menus = tuple(plan_menus(commands, operator_ids))

    async def keep_registered(self) -> None:
        """Register changed menus and retry failed ones; never returns."""
        pause: float | None = FIRST_AFTER_S
        while pause is not None:
            await asyncio.sleep(pause)
            try:
                pause = await self.register()
            except MemoryFailure as error:
                log.warning("commands_not_registered", error=str(error))
                pause = AGAIN_AFTER_S
        await asyncio.Event().wait()

    async def register(self) -> float | None:
        """Register each changed menu. Return the seconds until the next attempt, None if all are registered.

        Raises the store's errors.
        """
        digests = cast("dict[str, str]", await self._redis.call("HGETALL", self._key))
        changed = [menu for menu in self._menus if digests.get(menu.name) != menu.digest]
        again: float | None = None
        for menu in changed:
            try:
                await self._register(menu)
            except TelegramRefused as error:
                log.info("command_menu_refused", menu=menu.scope, reason=str(error))
                again = again or REFUSED_AGAIN_S
            except TelegramFailure as error:
                log.warning("commands_not_registered", error=str(error))
                wait = error.retry_after if isinstance(error, TelegramUnavailable) else None
                return wait or AGAIN_AFTER_S
        return again

    async def _register(self, menu: Menu) -> None:
        await self._telegram.set_commands(
            menu.commands, scope=menu.scope, chat_id=menu.chat_id or None, language=menu.language
        )
        await self._redis.calls(
            [("HSET", self._key, menu.name, menu.digest), ("EXPIRE", self._key, keys.COMMANDS_TTL_S)]
        )
