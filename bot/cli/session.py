"""Start and end of a command: its shared arguments, the settings, the stores, its progress and the exit status."""

import re
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from bot.cli.failures import print_error, report
from bot.cli.output import age
from bot.errors import SettingsInvalid
from memory.folders import find_passing_mount

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from bot.features.parts import Stores
    from bot.settings import Settings
    from memory.redis.client import RedisClient

T = TypeVar("T")

NEGATIVE_NUMBERS = {"ignore_unknown_options": True}
"""Context settings of a command with a CHAT argument. Without them `-1001234` would be read as an option."""

_CHAT = re.compile(r"(-?\d{1,19})(?:/(\d{1,19}))?")
_LINE_S = 2.0
"""Time between two lines of progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatName:
    """A chat or one of its topics, as an operator writes it: `-1001234` or `-1001234/7`."""

    chat_id: int
    thread_id: int | None = None

    def __str__(self) -> str:
        return str(self.chat_id) if self.thread_id is None else f"{self.chat_id}/{self.thread_id}"


def parse_chat(text: str) -> ChatName:
    """Parse the name of a chat. Raises typer.BadParameter."""
    match = _CHAT.fullmatch(text.strip())
    if match is None:
        raise typer.BadParameter(
            f"{text!r} is not a chat. Write its id, or chat_id/thread_id for a topic; options come first."
        )
    thread = match[2]
    return ChatName(chat_id=int(match[1]), thread_id=None if thread is None else int(thread))


Chat = Annotated[
    ChatName,
    typer.Argument(parser=parse_chat, metavar="CHAT", help="A chat id, or chat_id/thread_id for a topic."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def parse_new_file(text: str) -> Path:
    """Parse the name of a file to write, with a warning if the file will be gone with this container.

    Raises typer.BadParameter for a name that looks like an option.
    """
    if text.startswith("-"):
        raise typer.BadParameter(f"{text!r} is no option here. For a file of this name, write ./{text}")
    if passing := find_passing_mount(Path(text)):
        print_error(f"{passing}. Mount a folder and write there; docs/operating.md shows how.")
    return Path(text)


_NEW_FILE = typer.Argument(parser=parse_new_file, metavar="FILE", help="A file to write; it must be new.")
NewFile = Annotated[Path, _NEW_FILE]
MaybeFile = Annotated[Path | None, _NEW_FILE]


def load() -> "Settings":
    """Load the settings. If one is wrong, end the command with a line per problem and status 2."""
    from bot.features.settings import load_settings

    try:
        return load_settings()
    except SettingsInvalid as error:
        raise typer.Exit(report(error)) from None


def load_quietly() -> "Settings":
    """Load the settings and log warnings only, or everything with LOG_LEVEL=debug."""
    from bot.observe.logs import configure_logs

    settings = load()
    level = settings.log_level if settings.log_level in ("debug", "error") else "warning"
    configure_logs(
        log_format=settings.log_format, level=level, secrets=settings.secrets, texts=settings.log_text
    )
    return settings


def open_stores(settings: "Settings", *, restores: bool = False) -> "AbstractAsyncContextManager[Stores]":
    """Open the stores, half restored ones too with `restores`. The clients are imported only here."""
    from bot.app import stores

    return stores.open_stores(settings, restores=restores)


@asynccontextmanager
async def open_redis_alone(settings: "Settings") -> "AsyncGenerator[RedisClient]":
    """Open Redis, for commands that need neither the index nor the models."""
    from bot.app.stores import store_config
    from memory.redis.client import open_redis
    from memory.stores import redis_place

    async with AsyncExitStack() as stack:
        url = await redis_place(store_config(settings), stack)
        yield await stack.enter_async_context(open_redis(url, max_connections=4))


def complete(settings: "Settings", work: Coroutine[Any, Any, T]) -> T:
    """Run the work and return its result. A failure ends the command with its lines and status."""
    import asyncio

    try:
        return asyncio.run(work)
    except BrokenPipeError:
        raise  # `mnemogram chats | head` has read enough; this is no failure
    except Exception as error:  # noqa: BLE001 — the boundary where errors become a line and a status
        raise typer.Exit(report(error, settings)) from None


def finish(settings: "Settings", work: Coroutine[Any, Any, int | None]) -> NoReturn:
    """Run the work and end the command with the status that it returns; None means 0."""
    raise typer.Exit(complete(settings, work) or 0)


class Progress:
    """Lines on stderr at intervals and at the end: what is done, the rate since the first call, and the time left."""

    def __init__(self, what: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._clock = clock
        self._first: tuple[float, int] | None = None
        self._printed = clock(), -1

    def show(self, done: int, total: int | None = None) -> None:
        """Print a line if it is time."""
        now = self._clock()
        self._first = self._first or (now, done)
        if now - self._printed[0] < _LINE_S and (done != total or done == self._printed[1]):
            return
        self._printed = now, done
        began, before = self._first
        rate = (done - before) / (now - began) if now > began else 0.0
        of = "" if total is None else f" of {total:,}"
        speed = f", {rate:,.0f} a second" if rate > 0 else ""
        left = f", {age((total - done) / rate)} left" if rate > 0 and total and done < total else ""
        print_error(f"{done:,}{of} {self._what}{speed}{left}")
