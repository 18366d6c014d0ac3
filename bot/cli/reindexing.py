"""What `mnemogram reindex` does: the work of a worker's indexers, watched."""

import asyncio
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bot.app.lifecycle import background, signals, spawn
from bot.app.stores import Stores, open_stores
from bot.app.upkeep import index_forever, leave, reindex_forever
from bot.cli.failures import FAILED, CommandFailed, print_error
from bot.cli.output import age, count, open_console, print_json, print_line
from bot.settings import Settings
from memory.recall.reindex import ReindexProgress
from memory.recall.spaces import SpaceDescription, is_same
from memory.stores import build_indexers

_LOOK_S = 0.2
_LINE_S = 5.0
"""Where nobody looks at a terminal: a line so often."""

Show = Callable[[ReindexProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """How it ended: whole, or stopped before; with what was seen last."""

    is_whole: bool
    last: ReindexProgress
    seconds: float


async def reindex_now(settings: Settings, *, is_forced: bool, as_json: bool) -> int:
    """Build the space of these settings until it serves; the exit status. Raises CommandFailed, and the stores' errors."""
    async with open_stores(settings) as stores:
        record = await stores.reindexer.claim(is_forced=is_forced)
        if record.target is None:
            _say_nothing_to_do(record.serving, as_json=as_json)
            return 0
        if not as_json:
            print_line(_words_of_change(record.serving, record.target))
        with signals(None) as stopping, _shown(as_json=as_json) as show:
            watched = await _work(settings, stores, stopping, target=record.target, show=show)
    _say_end(watched, former=record.serving, target=record.target, as_json=as_json)
    return 0 if watched.is_whole else FAILED


async def _work(
    settings: Settings, stores: Stores, stopping: asyncio.Event, *, target: SpaceDescription, show: Show
) -> _Watched:
    """Do it beside whoever else does, until it is whole or `stopping` is set."""
    consumer = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
    indexers = build_indexers(stores, consumer=consumer, lease_s=settings.lease_s)
    async with background() as tasks:
        tasks.append(spawn(reindex_forever(stores.reindexer, is_claimed=True), "reindexer"))
        tasks += [spawn(index_forever(each), f"indexer-{at}") for at, each in enumerate(indexers)]
        watched = await _watch(stores, stopping, tasks, target=target, show=show)
    await leave(indexers)
    return watched


async def _watch(
    stores: Stores,
    stopping: asyncio.Event,
    tasks: list[asyncio.Task[None]],
    *,
    target: SpaceDescription,
    show: Show,
) -> _Watched:
    """Look again and again. Raises CommandFailed where another space is wanted meanwhile, and what a task raises."""
    began = time.monotonic()
    while True:
        for task in tasks:
            if task.done():
                task.result()
        progress = await stores.reindexer.progress()
        is_whole = progress.target is None
        if not is_same(progress.serving if is_whole else progress.target, target):
            raise CommandFailed(
                "OPENAI_EMBEDDING_MODEL: another process was started with "
                f"{_words(progress.target or progress.serving)} meanwhile, and the last one to start decides"
            )
        if is_whole or stopping.is_set():
            return _Watched(is_whole=is_whole, last=progress, seconds=time.monotonic() - began)
        if progress.total:
            show(progress)
        await asyncio.sleep(_LOOK_S)


@contextmanager
def _shown(*, as_json: bool) -> Generator[Show]:
    """A bar on a terminal, lines elsewhere, nothing beside a JSON document."""
    if as_json:
        yield lambda _: None
    elif sys.stdout.isatty():
        with _bar() as show:
            yield show
    else:
        yield ProgressLines(clock=time.monotonic).show


@contextmanager
def _bar() -> Generator[Show]:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("messages,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=open_console()) as progress:
        task = progress.add_task("", total=None)

        def show(seen: ReindexProgress) -> None:
            progress.update(task, total=seen.total or None, completed=seen.done)

        yield show


class ProgressLines:
    """A line now and then: messages done, their rate since the first line, and the time that is left at that rate."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._first: tuple[float, int] | None = None
        self._said_at = 0.0

    def show(self, seen: ReindexProgress) -> None:
        now = self._clock()
        if self._first is None:
            self._first = (now, seen.done)
        elif now - self._said_at < _LINE_S:
            return
        self._said_at = now
        began, before = self._first
        rate = (seen.done - before) / (now - began) if now > began else 0.0
        left = f", {rate:,.0f} a second, {age((seen.total - seen.done) / rate)} left" if rate else ""
        print_line(f"{seen.done:,} of {count(seen.total, 'message')}{left}")


def _say_nothing_to_do(serving: SpaceDescription | None, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "from": _document(serving),
                "to": _document(serving),
                "messages": 0,
                "seconds": 0.0,
                "is_whole": True,
            }
        )
    else:
        print_line(f"Nothing to do: every message belongs to {_words(serving)}, and searches use it.")


def _say_end(
    watched: _Watched, *, former: SpaceDescription | None, target: SpaceDescription, as_json: bool
) -> None:
    if as_json:
        print_json(
            {
                "from": _document(former),
                "to": _document(target),
                "messages": watched.last.done,
                "seconds": round(watched.seconds, 3),
                "is_whole": watched.is_whole,
            }
        )
    elif watched.is_whole:
        done = count(watched.last.done, "message")
        print_line(f"Whole: {done} in {age(watched.seconds)}. Searches use {_words(target)}.", style="bold")
    if not watched.is_whole:
        print_error("Stopped. What is done stays done: run this again, or leave the rest to a worker.")


def _words_of_change(serving: SpaceDescription | None, target: SpaceDescription) -> str:
    if is_same(serving, target):
        return f"From the history, anew: {_words(target)}."
    return f"From {_words(serving)} to {_words(target)}."


def _words(space: SpaceDescription | None) -> str:
    if space is None:
        return "an index that this version cannot search"
    return f"{space.model}, {space.dimension} dimensions, terms {space.recipe}"


def _document(space: SpaceDescription | None) -> dict[str, object] | None:
    if space is None:
        return None
    return {"model": space.model, "dimension": space.dimension, "collection": space.collection}
