"""The console in this process, on real embedded stores, and functions that prepare chats."""

import asyncio
import json
import logging
import os
import shutil
from collections.abc import Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
import structlog

from bot.app.stores import open_stores
from bot.cli import main
from bot.features.parts import Stores
from bot.features.settings import load_settings
from bot.inbox.records import Arrival
from bot.inbox.redis_inbox import RedisInbox
from bot.transport.forms import context_keys
from bot.transport.ingest import telegram_ref
from bot.turn.store import ATTEMPTS_AT_MOST, TurnStore
from memory.codec import dump_json
from memory.history import contexts
from memory.history.fact import Fact
from memory.history.message import Message, Role, Sender, message_id
from memory.history.talk import TalkLine
from memory.recall.recall import IndexItem
from memory.redis.tombstone_files import FOLDER
from tests.planted_facts import plant_facts

T = TypeVar("T")

BOT_ID = 4242
NOW = 1_767_323_045.0  # 2026-01-02 03:04:05 UTC
OUR_VARIABLES = ("TELEGRAM", "WEBHOOK", "HTTP", "REDIS", "QDRANT", "OPENAI", "AGENTS", "LOG", "PARTITIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class ConsoleRig:
    """Runs commands as `mnemogram` does, without a process of their own.

    With `simulator_port`, doctor and webhook look for the simulator there, unless a command names its own port.
    """

    capture: pytest.CaptureFixture[str]
    simulator_port: int | None = None

    def __call__(self, *arguments: str) -> Ran:
        looks_for_one = arguments[0] in {"doctor", "webhook"} and "--simulator-port" not in arguments
        if self.simulator_port is not None and looks_for_one:
            arguments = (*arguments, "--simulator-port", str(self.simulator_port))
        self.capture.readouterr()
        with pytest.raises(SystemExit) as ended, logs_restored():
            main(arguments)
        printed = self.capture.readouterr()
        return Ran(status=int(ended.value.code or 0), out=printed.out, err=printed.err)


@contextmanager
def logs_restored() -> Generator[None]:
    """Restore the logs: commands configure them on a stderr that exists only during a test."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        structlog.reset_defaults()
        root.handlers[:] = handlers
        root.setLevel(level)


def on_stores(work: Coroutine[Any, Any, T]) -> T:
    """Run work that prepares or reads a test's stores."""
    with logs_restored():
        return asyncio.run(work)


async def empty_stores() -> None:
    """Erase everything that earlier tests left, and the tombstones beside the store."""
    settings = load_settings()
    async with open_stores(settings) as stores:
        await stores.redis.call("FLUSHALL")
    shutil.rmtree(settings.data_dir / FOLDER, ignore_errors=True)


async def remember(
    chat_id: int, texts: Sequence[str], *, thread_id: int | None = None, title: str = "Anna"
) -> None:
    """Create a chat with these indexed messages, alternately from a person and the bot."""
    async with open_stores(load_settings()) as stores:
        ref = telegram_ref(BOT_ID, chat_id, thread_id, partitions=stores.partitions)
        keys = context_keys(BOT_ID, chat_id, thread_id)
        await contexts.get_or_create(stores.redis, ref, context_keys=keys, title=title, now=NOW)
        epoch = (await stores.history.load(ref, limit=0)).epoch
        messages = [_message(f"{chat_id}/{thread_id}", number, text) for number, text in enumerate(texts)]
        appended = await stores.history.append(ref, messages, epoch=epoch)
        await stores.recall.index([IndexItem(ref=ref, epoch=epoch, message=one) for one in appended])


async def edit(chat_id: int, number: int, now: str) -> None:
    """Edit the message with this number a minute after NOW."""
    async with open_stores(load_settings()) as stores:
        ref = telegram_ref(BOT_ID, chat_id, None, partitions=stores.partitions)
        edited = message_id(f"{chat_id}/None", number)
        assert await stores.history.replace(
            ref, edited, text=now, tokens=len(now.split()), edited_at=NOW + 60, epoch=0
        )


async def learn(chat_id: int, *statements: str, until: Sequence[str] = ()) -> None:
    """Save facts about Anna that the chat's messages told, each newer than the one before. `until` no longer hold."""
    async with open_stores(load_settings()) as stores:
        ref = telegram_ref(BOT_ID, chat_id, None, partitions=stores.partitions)
        facts = [
            Fact(
                id=f"fact{number}",
                subject="Anna Berg",
                subject_id=1,
                statement=statement,
                said_by=1,
                message_ids=(message_id(f"{chat_id}/None", 0),),
                valid_from=NOW + number,
                valid_to=NOW + 86_400 if statement in until else None,
                confidence=0.9,
            )
            for number, statement in enumerate(statements)
        ]
        await plant_facts(stores.redis, ref, facts)


async def start_conversation(chat_id: int) -> None:
    """Start a conversation, as /new does."""
    async with open_stores(load_settings()) as stores:
        ref = telegram_ref(BOT_ID, chat_id, None, partitions=stores.partitions)
        await stores.history.start_conversation(ref, epoch=0)


async def migrate(chat_id: int, new_chat_id: int) -> None:
    """Turn the group into a supergroup."""
    async with open_stores(load_settings()) as stores:
        await stores.migrations.learn(chat_id, new_chat_id)


async def overhear(chat_id: int, *texts: str, title: str = "Team") -> None:
    """Add overheard messages of a group, as the ingest does."""
    async with open_stores(load_settings()) as stores:
        ref = telegram_ref(BOT_ID, chat_id, None, partitions=stores.partitions)
        entry = contexts.dump_entry(context_keys(BOT_ID, chat_id, None), title=title, created_at=NOW)
        inbox = RedisInbox(stores.redis, partitions=stores.partitions, box_limit=5, clock=lambda: NOW)
        for number, text in enumerate(texts, start=1):
            line = TalkLine(
                telegram_message_id=number, sender=Sender(id=1, name="Anna Berg"), text=text, sent_at=NOW
            )
            talk = Arrival(update_id=9000 + number, ref=ref, mode="ignored", reason="talk")
            talk = replace(talk, talk=dump_json(TalkLine, line), talk_score=number, registered=entry)
            await inbox.accept(talk)


async def vectors_of(chat_id: int) -> int:
    """Return the number of search entries of a chat."""
    async with open_stores(load_settings()) as stores:
        return await stores.recall.count(telegram_ref(BOT_ID, chat_id, None, partitions=stores.partitions))


async def wait_in_line(chat_id: int, *update_ids: int) -> None:
    """Accept updates of a chat without claiming them."""
    async with open_stores(load_settings()) as stores:
        await _accept(stores, chat_id, update_ids)


async def bury(chat_id: int, update_id: int) -> None:
    """Make a dead letter: an update that was begun too often."""
    async with open_stores(load_settings()) as stores:
        inbox = await _accept(stores, chat_id, [update_id])
        await inbox.open()
        (claim,) = await inbox.claim(0, consumer="a-worker", count=1, wait_ms=100)
        turns = TurnStore(stores.redis, clock=lambda: NOW)
        for _ in range(ATTEMPTS_AT_MOST):
            await turns.take(claim, window=0)
            (claim,) = await inbox.sweep(0, consumer="a-worker", count=1, idle_ms=0)
        await turns.take(claim, window=0)
        await inbox.settle(claim)


async def _accept(stores: Stores, chat_id: int, update_ids: Sequence[int]) -> RedisInbox:
    ref = telegram_ref(BOT_ID, chat_id, None, partitions=stores.partitions)
    inbox = RedisInbox(stores.redis, partitions=stores.partitions, box_limit=100, clock=lambda: NOW)
    for update_id in update_ids:
        payload = '{"text": "what nobody may see"}'
        await inbox.accept(Arrival(update_id=update_id, ref=ref, mode="turn", payload=payload))
    return inbox


def _message(chat: str, number: int, text: str) -> Message:
    roles: tuple[Role, Role] = ("user", "assistant")
    return Message(
        id=message_id(chat, number),
        role=roles[number % 2],
        text=text,
        sent_at=NOW + number,
        tokens=len(text.split()),
        sender=Sender(id=1, name="Anna Berg") if number % 2 == 0 else None,
    )


def settings_in(monkeypatch: pytest.MonkeyPatch, folder: Path, data_dir: Path, **changes: str) -> None:
    """Set the environment to these settings and no others."""
    for name in list(os.environ):
        if name.upper().startswith(OUR_VARIABLES):
            monkeypatch.delenv(name)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("DATA_DIR", str(data_dir))
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
