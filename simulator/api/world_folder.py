"""A folder that keeps people, chats, messages, files and command menus until the next run of the simulator.

Ids of the next run are higher than all of this one: they grow with the clock (`default_world`, `build_simulation`).
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from simulator.api.files import StoredFile
from simulator.api.interactions import Command, Scope
from simulator.api.simulation import Simulation
from simulator.api.world import Chat, Message, Person

KEPT_MESSAGES = 300
"""Messages of one chat, the newest."""
KEPT_CHATS = 200
KEPT_FILE_BYTES = 32 * 1024 * 1024
"""Bytes of all files together, the newest."""
_PAUSE_S = 0.5
"""Changes of this time are written together."""
_PASSING = frozenset(["draft", "action", "callback_answer", "deliveries"])
"""Events that change nothing that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file without its bytes, which are in a file of the folder that is named by the number."""

    number: int
    name: str
    mime_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Menu:
    scope: Scope
    language: str
    commands: list[Command]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saved:
    """The contents of the file `world.json`."""

    bot_id: int
    people: list[Person]
    chats: list[Chat]
    messages: list[Message]
    reactions: list[dict[str, Any]]
    files: list[_File]
    menus: list[_Menu]


@cache
def _adapter() -> TypeAdapter[_Saved]:
    return TypeAdapter(_Saved)


@dataclass(slots=True)
class WorldFolder:
    """The folder of one simulation, which exists."""

    folder: Path
    sim: Simulation
    _saved_upto: int = field(init=False)

    def __post_init__(self) -> None:
        self._saved_upto = self.sim.feed.last_id

    def load(self) -> None:
        """Put the people, chats and messages of the last run into the world.

        A file that cannot be read is renamed, and one of another bot is left alone until the first change.
        """
        path = self.folder / "world.json"
        try:
            saved = _adapter().validate_json(path.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, ValidationError):
            with suppress(OSError):
                path.replace(self.folder / "world.unreadable.json")
            return
        if saved.bot_id == self.sim.world.bot.id:
            self._restore(saved)

    async def keep(self) -> None:
        """Save the world after each change, until the feed of events is closed."""
        async for event in self.sim.feed.read(self._saved_upto):
            if event and event.id > self._saved_upto and event.body["type"] not in _PASSING:
                await self.sim.bell.sleep(_PAUSE_S)
                self.save()

    def save(self) -> None:
        """Write the new files and the world. Each takes the place of the last one when it is complete.

        If the disk is full or the folder has gone, the chat goes on; the next change tries again.
        """
        self._saved_upto = self.sim.feed.last_id
        with suppress(OSError):
            files = self._save_files()
            self._write("world.json", _adapter().dump_json(self._snapshot(files)))

    def _snapshot(self, files: list[_File]) -> _Saved:
        world = self.sim.world
        chats = list(world.chats.values())[-KEPT_CHATS:]
        return _Saved(
            bot_id=world.bot.id,
            people=list(world.people.values()),
            chats=chats,
            messages=[each for chat in chats for each in world.newest(chat.id, KEPT_MESSAGES)],
            reactions=world.reactions.as_json(),
            files=files,
            menus=[
                _Menu(scope=scope, language=language, commands=commands)
                for (scope, language), commands in self.sim.commands.lists.items()
            ],
        )

    def _save_files(self) -> list[_File]:
        """Write the newest files that the folder does not have yet, and remove all others."""
        newest = {str(file.number): file for file in self.sim.files.newest(KEPT_FILE_BYTES)}
        there = {path.name: path for path in self.folder.iterdir() if path.name.isdecimal()}
        for name in there.keys() - newest.keys():
            there[name].unlink()
        for name in newest.keys() - there.keys():
            self._write(name, newest[name].data)
        return [
            _File(number=file.number, name=file.name, mime_type=file.mime_type) for file in newest.values()
        ]

    def _write(self, name: str, data: bytes) -> None:
        """Write a file as a whole: a full disk leaves no part of it under its name."""
        written = self.folder / f"{name}.new"
        written.write_bytes(data)
        written.replace(self.folder / name)

    def _restore(self, saved: _Saved) -> None:
        world, sim = self.sim.world, self.sim
        for person in saved.people:
            first = world.people.get(person.id)  # its role is that of the present settings
            world.people[person.id] = replace(person, is_operator=first.is_operator) if first else person
        for chat in saved.chats:
            world.put_chat(chat)
        for message in saved.messages:
            world.put_message(message)
        for each in saved.reactions:
            world.reactions.put(each["chat_id"], each["message_id"], each["user_id"], each["reactions"])
        for menu in saved.menus:
            sim.commands.put(menu.scope, menu.language, menu.commands)
        for file in saved.files:
            with suppress(OSError):
                data = (self.folder / str(file.number)).read_bytes()
                sim.files.restore(
                    StoredFile(number=file.number, name=file.name, mime_type=file.mime_type, data=data)
                )
