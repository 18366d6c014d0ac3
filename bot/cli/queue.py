"""`queue`, `queue retry`, `queue drop`: waiting updates and dead letters."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.cli.chats import open_chats
from bot.cli.failures import FAILED, print_error
from bot.cli.output import UNKNOWN, age, count, one_line, print_json, print_line, print_table
from bot.cli.session import AsJson, finish, load_quietly, open_stores

if TYPE_CHECKING:
    from bot.features.parts import Stores
    from bot.page.documents import Document
    from bot.page.inbox import InboxDocuments
    from bot.settings import Settings
    from memory.recall.spaces import Goal

_BUILDS: "Mapping[Goal, str]" = {
    "build": "The workers index every message for another embedding model",
    "fill": "The search index had lost messages, and the workers fill it again",
    "copy": "The workers copy the search index, so that its files keep nothing that was erased",
}
DeadLetters = Annotated[
    list[int] | None, typer.Argument(metavar="UPDATE_ID", help="The numbers that `mnemogram queue` prints.")
]
Every = Annotated[bool, typer.Option("--all", help="All dead letters.")]


def queue(context: typer.Context, as_json: AsJson = False) -> None:
    """Print the chats with waiting updates, and the dead letters."""
    if context.invoked_subcommand is None:
        settings = load_quietly()
        finish(settings, _print_queue(settings, as_json=as_json))


def retry(update_ids: DeadLetters = None, every: Every = False) -> None:
    """Try dead letters again. Each becomes the first of its chat."""
    _settle(update_ids, every=every, verb="retry")


def drop(update_ids: DeadLetters = None, every: Every = False) -> None:
    """Give up dead letters for good."""
    _settle(update_ids, every=every, verb="drop")


def open_inbox(settings: "Settings", stores: "Stores") -> "InboxDocuments":
    """Return the operator's view of the inbox."""
    from bot.inbox.inspection import InboxInspection
    from bot.page.inbox import InboxDocuments

    inspection = InboxInspection(stores.redis, partitions=stores.partitions, clock=time.time)
    return InboxDocuments(inspection=inspection, chats=open_chats(settings, stores))


def chat_cells(document: "Document") -> tuple[str, str]:
    """Return a chat's name and title for a table.

    A chat is registered from its first answer to its reset. Before and after, only its context id is available.
    """
    if document["chat"] is None:
        return UNKNOWN, f"context {document['context'][:8]}"
    return document["chat"], one_line(document["title"], longest=40)


def no_record(update_id: int) -> str:
    """Return the sentence about an update without a record."""
    return (
        f"No record of update {update_id}: it never arrived, or it was finished more than 48 hours ago. "
        "Telegram numbers the updates of each bot."
    )


async def _print_queue(settings: "Settings", *, as_json: bool) -> None:
    async with open_stores(settings) as stores:
        inbox = open_inbox(settings, stores)
        queue, dead = await inbox.waiting(), await inbox.dead_letters()
        index_work = await inbox.inspection.index_work()
        progress = await stores.reindexer.progress()
    if as_json:
        build = {"goal": progress.goal, "messages": progress.total, "done": progress.done}
        index_build = build if progress.target else None
        print_json({**queue, "index_work": index_work, "index_build": index_build, "dead": dead})
        return
    if not queue["waiting"]:
        print_line("Nothing waits: every update is finished.")
    else:
        in_chats = f"{count(queue['updates'], 'update')} in {count(queue['chats'], 'chat')}"
        print_line(f"{in_chats}; the oldest has waited {age(queue['oldest_s'])}.")
        _print_waiting(queue["waiting"])
    if index_work:
        print_line(f"{count(index_work, 'change')} wait for the search index. The workers write them.")
    if progress.target:
        work = _BUILDS[progress.goal]
        print_line(f"{work}: {progress.done:,} of {count(progress.total, 'message')}.")
    _print_dead(dead)


def _print_waiting(waiting: "Sequence[Document]") -> None:
    rows = [
        (
            *(*chat_cells(each), each["updates"], each["delivering"], age(each["oldest_s"])),
            "yes" if each["worker"] else "no",
        )
        for each in waiting
    ]
    print_table([">chat", "title", ">waiting", ">sending", ">oldest", "in work"], rows, wide=("title",))


def _print_dead(dead: "Sequence[Document]") -> None:
    if not dead:
        print_line("No dead letters.")
        return
    print_line(f"{count(len(dead), 'dead letter')}:", style="bold red")
    rows = [(str(each["update_id"]), *chat_cells(each), age(each["age_s"]), each["reason"]) for each in dead]
    print_table([">update", ">chat", "title", ">since", "reason"], rows, wide=("title", "reason"))
    print_line(
        "`mnemogram queue retry UPDATE_ID` tries one again (`--all`: all), `queue drop UPDATE_ID` gives it up."
    )


def _settle(update_ids: list[int] | None, *, every: bool, verb: Literal["retry", "drop"]) -> None:
    if bool(update_ids) is every:
        raise typer.BadParameter("Name dead letters by their numbers, or use --all")
    settings = load_quietly()
    finish(settings, _settle_each(settings, update_ids or None, verb=verb))


async def _settle_each(
    settings: "Settings", update_ids: Sequence[int] | None, *, verb: Literal["retry", "drop"]
) -> int:
    """Retry or drop these dead letters (None: all) and return the exit status.

    An update that is not a dead letter is reported, and the others go on.
    """
    status = 0
    async with open_stores(settings) as stores:
        inspection = open_inbox(settings, stores).inspection
        if update_ids is None:
            update_ids = [letter.update_id for letter in await inspection.dead_letters()]
            if not update_ids:
                print_line("No dead letters.")
        for update_id in update_ids:
            is_done = await (inspection.retry(update_id) if verb == "retry" else inspection.drop(update_id))
            if is_done:
                result = "waits again, first in its chat" if verb == "retry" else "is dropped for good"
                print_line(f"Update {update_id} {result}.")
                continue
            status = FAILED
            record = await inspection.find(update_id)
            if record is None:
                print_error(no_record(update_id))
            else:
                print_error(f"Update {update_id} is not a dead letter: its state is {record.state}.")
    return status
