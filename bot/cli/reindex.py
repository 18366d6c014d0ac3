"""`reindex`: brings every message into the space of the present embedding model, and shows the progress."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import FAILED, CommandFailed, print_error
from bot.cli.output import age, count, print_json, print_line
from bot.cli.session import AsJson, Progress, finish, load_quietly, open_stores

if TYPE_CHECKING:
    import asyncio

    from bot.features.parts import Stores
    from bot.settings import Settings
    from memory.recall.reindex import ReindexProgress
    from memory.recall.spaces import SpaceDescription

_POLL_S = 0.2


def reindex(
    force: Annotated[
        bool, typer.Option("--force", help="Index every message again, also those that the index has.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring every message into the space of the present embedding model, and show the progress.

    Workers do this themselves after a change of the model; this command helps them.
    It compares the index with the messages, and fills one that has lost some.
    Until the new space is complete, searches may miss messages.
    After a stop or a crash, the next run continues.
    """
    settings = load_quietly()
    finish(settings, _reindex(settings, is_forced=force, as_json=as_json))


async def _reindex(settings: "Settings", *, is_forced: bool, as_json: bool) -> int:
    """Build the space of these settings until searches use it, and return the exit status.

    Raises CommandFailed and the stores' errors.
    """
    from bot.app.lifecycle import signals
    from memory.recall.audit import Comparison

    async with open_stores(settings) as stores:
        before = await stores.reindexer.follow()
        await stores.reindexer.learn()  # no space is built for an endpoint that does not answer
        record = await stores.reindexer.claim(is_forced=is_forced)
        compared = Comparison()
        if record.target is None:
            compared = await stores.reindexer.fill()
            record = await stores.reindexer.follow() or record
        former, target = before.destination if before else None, record.target
        if target is None:
            message = (
                f"Nothing to do: every message is in the space of {_describe(record.serving)}, and searches use it "
                f"({compared.found:,} of {count(compared.expected, 'message')})."
            )
            if as_json:
                _print_json(record.serving, record.serving, messages=0, seconds=0.0, is_whole=True)
            else:
                print_line(message)
            return 0
        if not as_json:
            if not compared.is_same:
                print_line(f"The index has {compared.found:,} of {count(compared.expected, 'message')}.")
            print_line(f"Every message goes into the space of {_describe(target)}.")
        began = time.monotonic()
        with signals(None) as stopping:
            last = await _build(settings, stores, stopping, target=target)
    seconds, is_whole = time.monotonic() - began, last.target is None
    if as_json:
        _print_json(former, target, messages=last.done, seconds=round(seconds, 3), is_whole=is_whole)
    elif is_whole:
        done = f"{count(last.done, 'message')} in {age(seconds)}"
        print_line(f"Complete: {done}. Searches use {_describe(target)}.", style="bold")
    if not is_whole:
        print_error("Stopped. Finished messages stay indexed: run this again, or leave the rest to a worker.")
    return 0 if is_whole else FAILED


async def _build(
    settings: "Settings", stores: "Stores", stopping: "asyncio.Event", *, target: "SpaceDescription"
) -> "ReindexProgress":
    """Work next to other processes until the space is complete or `stopping` is set. Return the last progress."""
    from bot.app.lifecycle import background, consumer_name, spawn
    from bot.app.upkeep import index_forever, leave, reindex_forever
    from memory.stores import build_indexers

    indexers = build_indexers(stores, consumer=consumer_name(), lease_s=settings.lease_s)
    async with background() as tasks:
        tasks.append(spawn(reindex_forever(stores.reindexer, is_claimed=True), "reindexer"))
        tasks += [spawn(index_forever(each), f"indexer-{at}") for at, each in enumerate(indexers)]
        last = await _watch(stores, stopping, tasks, target=target)
    await leave(indexers)
    return last


async def _watch(
    stores: "Stores",
    stopping: "asyncio.Event",
    tasks: "list[asyncio.Task[None]]",
    *,
    target: "SpaceDescription",
) -> "ReindexProgress":
    """Poll the progress, and show it.

    Raises CommandFailed if another process chose another space, and the errors of the tasks.
    """
    import asyncio

    from memory.recall.spaces import is_same

    lines = Progress("messages")
    while True:
        for task in tasks:
            if task.done():
                task.result()
        progress = await stores.reindexer.progress()
        is_whole = progress.target is None
        if not is_same(progress.serving if is_whole else progress.target, target):
            raise CommandFailed(
                "OPENAI_EMBEDDING_MODEL: another process has started with "
                f"{_describe(progress.target or progress.serving)}, and the last one to start decides"
            )
        if is_whole or stopping.is_set():
            return progress
        if progress.done < progress.total:
            lines.show(progress.done, progress.total)
        await asyncio.sleep(_POLL_S)


def _describe(space: "SpaceDescription | None") -> str:
    if space is None:
        return "an index that this version cannot search"
    return f"{space.model}, {space.dimension} dimensions, terms {space.recipe}"


def _print_json(
    former: "SpaceDescription | None", target: "SpaceDescription | None", **facts: float | bool
) -> None:
    print_json({"from": _document(former), "to": _document(target), **facts})


def _document(space: "SpaceDescription | None") -> dict[str, object] | None:
    return space and {"model": space.model, "dimension": space.dimension, "collection": space.collection}
