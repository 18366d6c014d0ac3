"""setMyCommands, getMyCommands and deleteMyCommands."""

import re
from typing import Any, cast

from simulator.api.errors import BadRequest
from simulator.api.interactions import Command, Scope
from simulator.api.methods.access import find_chat
from simulator.api.payloads import CommandScope, ScopeFields, SetMyCommands
from simulator.api.simulation import Simulation

_NAME = re.compile(r"[a-z0-9_]{1,32}")
_LANGUAGE = re.compile(r"(?:[a-z]{2})?")
_MAX_COMMANDS = 100
_MAX_DESCRIPTION = 256
_PLAIN_SCOPES = frozenset({"default", "all_private_chats", "all_group_chats", "all_chat_administrators"})
_CHAT_SCOPES = frozenset({"chat", "chat_administrators", "chat_member"})


async def set_my_commands(sim: Simulation, payload: SetMyCommands) -> bool:
    commands = [_read_command(item) for item in cast("list[object]", payload.commands or [])]
    if len(commands) > _MAX_COMMANDS:
        raise BadRequest("BOT_COMMANDS_TOO_MUCH")
    _put(sim, payload.scope, payload.language_code, commands)
    return True


async def delete_my_commands(sim: Simulation, payload: CommandScope) -> bool:
    _put(sim, payload.scope, payload.language_code, [])
    return True


async def get_my_commands(sim: Simulation, payload: CommandScope) -> list[Command]:
    return sim.commands.get(_read_scope(sim, payload.scope), _read_language(payload.language_code))


def _put(sim: Simulation, scope: dict[str, Any] | None, code: str, commands: list[Command]) -> None:
    """Change one list, and publish the commands of each chat for which they changed."""
    chats = list(sim.world.chats.values())
    before = [sim.commands_of(chat) for chat in chats]
    sim.commands.put(_read_scope(sim, scope), _read_language(code), commands)
    for chat, old in zip(chats, before, strict=True):
        if (now := sim.commands_of(chat)) != old:
            sim.feed.publish("commands", chat_id=chat.id, commands=now)


def _read_command(item: object) -> Command:
    if not isinstance(item, dict):
        raise BadRequest("can't parse BotCommand: expected an Object")
    fields = cast("dict[str, Any]", item)
    name = str(fields.get("command") or "").removeprefix("/")
    description = str(fields.get("description") or "").strip()
    if not _NAME.fullmatch(name):
        raise BadRequest("BOT_COMMAND_INVALID")
    if not 1 <= len(description) <= _MAX_DESCRIPTION:
        raise BadRequest("BOT_COMMAND_DESCRIPTION_INVALID")
    return {"command": name, "description": description}


def _read_scope(sim: Simulation, payload: dict[str, Any] | None) -> Scope:
    scope = ScopeFields.read({"type": "default"} if payload is None else payload)
    if scope.type in _PLAIN_SCOPES:
        return Scope(type=scope.type)
    if scope.type not in _CHAT_SCOPES:
        raise BadRequest("can't parse BotCommandScope: Unsupported type specified")
    chat = find_chat(sim, scope.chat_id)
    if scope.type != "chat" and chat.type == "private":
        raise BadRequest("can't use the specified scope in the private chat")
    if scope.type != "chat_member":
        return Scope(type=scope.type, chat_id=chat.id)
    if sim.world.user(scope.user_id) is None:
        raise BadRequest("user not found")
    return Scope(type=scope.type, chat_id=chat.id, user_id=scope.user_id)


def _read_language(code: str) -> str:
    if not _LANGUAGE.fullmatch(code):
        raise BadRequest("invalid language code specified")
    return code
