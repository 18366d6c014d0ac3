"""The command menus: one for each scope and language, registered after a change."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from bot.errors import SendUnknown, TelegramFailure, TelegramRefused, TelegramUnavailable
from bot.features import CONTROLS
from bot.transport import command_menus
from bot.transport.command_menus import AGAIN_AFTER_S, REFUSED_AGAIN_S, CommandMenus, Menu, plan_menus
from bot.transport.telegram_api import CommandScope, TelegramApi
from bot.transport.words import LANGUAGES
from memory.redis.client import RedisClient

OPERATOR = 1001


class Registered:
    """A Bot API that accepts menus and fails where the test says so."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int | None, str]] = []
        self.menus: dict[tuple[str, int | None, str], list[str]] = {}
        self.fails: Callable[[str, str], TelegramFailure | None] = lambda _scope, _language: None

    async def set_commands(
        self,
        commands: tuple[tuple[str, str], ...],
        *,
        scope: CommandScope = "default",
        chat_id: int | None = None,
        language: str = "",
    ) -> None:
        failure = self.fails(scope, language)
        if failure:
            raise failure
        self.calls.append((scope, chat_id, language))
        self.menus[scope, chat_id, language] = [name for name, _ in commands]


def menus_of(api: Registered, redis: RedisClient, **changes: Any) -> CommandMenus:
    telegram = cast(TelegramApi, api)
    return CommandMenus(
        telegram,
        redis,
        commands=CONTROLS.commands,
        bot_id=7,
        **({"operator_ids": frozenset({OPERATOR})} | changes),
    )


async def test_there_is_a_menu_for_every_scope_and_language_and_for_each_operator(redis: RedisClient) -> None:
    api = Registered()
    assert await menus_of(api, redis).register() is None

    scopes = ["default", "all_private_chats", "all_group_chats", "all_chat_administrators", "chat"]
    languages = ["", *sorted(set(LANGUAGES) - {"en"})]
    assert sorted(api.calls) == sorted(
        (scope, OPERATOR if scope == "chat" else None, language) for scope in scopes for language in languages
    )
    assert "reset" not in api.menus["all_group_chats", None, "ru"]
    assert "reset" in api.menus["all_chat_administrators", None, "ru"]
    assert "stats" not in api.menus["all_private_chats", None, ""]
    assert "stats" in api.menus["chat", OPERATOR, ""]


async def test_a_second_start_registers_only_the_menu_of_a_new_operator(redis: RedisClient) -> None:
    await menus_of(Registered(), redis).register()
    api = Registered()
    await menus_of(api, redis).register()
    assert api.calls == []
    await menus_of(api, redis, operator_ids=frozenset({OPERATOR, 5})).register()
    assert {(scope, chat) for scope, chat, _ in api.calls} == {("chat", 5)}


async def test_an_operator_unknown_to_telegram_does_not_block_the_other_menus(redis: RedisClient) -> None:
    api = Registered()
    api.fails = lambda scope, _: TelegramRefused("chat not found") if scope == "chat" else None
    assert await menus_of(api, redis).register() == REFUSED_AGAIN_S
    assert len(api.calls) == 4 * len(LANGUAGES)


@pytest.mark.parametrize(
    ("failure", "pause"),
    [
        (TelegramUnavailable("429", retry_after=7), 7),
        (TelegramUnavailable("down"), AGAIN_AFTER_S),
        (SendUnknown("cut"), AGAIN_AFTER_S),
    ],
)
async def test_a_refusal_ends_the_round_and_the_next_one_continues_there(
    redis: RedisClient, failure: TelegramFailure, pause: float
) -> None:
    api = Registered()
    api.fails = lambda scope, language: failure if (scope, language) == ("all_group_chats", "de") else None
    assert await menus_of(api, redis).register() == pause
    done = len(api.calls)
    assert done < 4 * len(LANGUAGES)

    api.fails = lambda _scope, _language: None
    assert await menus_of(api, redis).register() is None
    assert len(api.calls) == len(set(api.calls)) == 5 * len(LANGUAGES)


async def test_changed_texts_are_registered_again(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await menus_of(Registered(), redis).register()
    plan = [*plan_menus(CONTROLS.commands, frozenset({OPERATOR}))]
    (changed,) = [menu for menu in plan if menu.name == "default:0:ru"]
    new = Menu(scope="default", chat_id=0, language="ru", commands=(("help", "Помощь"),))
    now = [new if menu == changed else menu for menu in plan]

    def plan_now(*_: object) -> list[Menu]:
        return now

    monkeypatch.setattr(command_menus, "plan_menus", plan_now)
    api = Registered()
    await menus_of(api, redis).register()
    assert api.menus == {("default", None, "ru"): ["help"]}
