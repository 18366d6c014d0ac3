"""`forget-person` and `verify`: erases what a person said in all chats, with a signed receipt, and checks one."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.failures import FAILED, print_error
from bot.cli.output import count, print_json, print_line, print_table
from bot.cli.session import (
    AsJson,
    Progress,
    complete,
    finish,
    load_quietly,
    open_redis_alone,
    open_stores,
    parse_new_file,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.features.parts import Stores
    from bot.settings import Settings
    from bot.turn.forget_person import ForgetJobs, PersonCounts
    from bot.turn.forget_requests import ForgetJob

_POLL_S = 0.5
_LONGEST_RECEIPT = 1_000_000
_NOUNS = {"messages": "message", "facts": "fact", "reminders": "reminder", "talk": "overheard message"}


def forget_person(
    person: Annotated[int, typer.Argument(metavar="ID", help="A person's Telegram id.")],
    receipt: Annotated[
        Path | None,
        typer.Option(
            parser=parse_new_file,
            metavar="FILE",
            help="The file for the signed receipt; by default forgotten-….json in this folder.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase what a person said in all chats and what was concluded about them, and write a signed receipt.

    Asks first at a terminal, with the counts by chat. Others' own words stay; answers to the person go. After a stop or
    a crash a worker goes on, and so does the same command. The exit status is 1 if nothing of the person is kept.
    """
    if person <= 0:
        raise typer.BadParameter(
            f"{person} is a chat, not a person. `mnemogram reset {person}` erases a chat"
        )
    settings = load_quietly()
    if sys.stdin.isatty() and not yes:
        counts = complete(settings, _count(settings, person))
        _print_counts(counts)
        typer.confirm(f"Forget everything that person {person} said, for good?", abort=True, err=True)
    finish(settings, _forget(settings, person, receipt=receipt, as_json=as_json))


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A receipt of an erasure.", exists=True, readable=True, dir_okay=False
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Check whether this installation has written the receipt of an erasure: true or false, and what was changed.

    The exit status is 1 for false.
    """
    settings = load_quietly()
    with file.open("rb") as stream:
        text = stream.read(_LONGEST_RECEIPT).decode("utf-8", "replace")
    finish(settings, _verify(settings, text, as_json=as_json))


async def _count(settings: "Settings", person: int) -> "list[PersonCounts]":
    async with open_stores(settings) as stores:
        return await _jobs(settings, stores).finder.count(person)


def _jobs(settings: "Settings", stores: "Stores") -> "ForgetJobs":
    from bot.app.erasures import build_forget_jobs

    return build_forget_jobs(settings, stores.redis, clock=time.time, recall=stores.recall)


def _print_counts(counts: "Sequence[PersonCounts]") -> None:
    if not counts:
        return
    rows = [[each.chat, *(f"{each.counts.by_name()[name]:,}" for name in _NOUNS)] for each in counts]
    print_table(["chat", *(f">{name}" for name in _NOUNS)], rows, wide=("chat",))
    print_line(
        "Forwarded and quoted words, waiting updates, dead letters and the bot's answers to them are erased too."
    )


async def _forget(settings: "Settings", person: int, *, receipt: Path | None, as_json: bool) -> int:
    from bot.turn.person import Person

    async with open_stores(settings) as stores:
        jobs = _jobs(settings, stores)
        before = await jobs.finder.count(person)
        job = await jobs.requests.begin(Person(id=person, until=time.time()))
        if not as_json:
            print_error("It goes on by itself if this command is stopped.")
        text = await _finished(jobs, job)
    document = json.loads(text)
    file = _write(text, receipt or Path(f"forgotten-{document['id'][:8]}.json"))
    erased = sum(document["erased"].values()) + document["updates_forgotten"]
    left = document["left"]["found_by_the_last_pass"] or document["left"]["search_entries"]
    if as_json:
        from bot.turn.forget_person import describe_counts

        print_json({**document, "before": describe_counts(before), "file": str(file) if file else None})
    else:
        _print_done(person, document, file)
    return FAILED if left or not erased or file is None else 0


async def _finished(jobs: "ForgetJobs", job: "ForgetJob") -> str:
    """Do the steps, or wait for a worker that does them. Return the receipt."""
    progress = Progress("chats and topics looked at")

    def show(now: "ForgetJob") -> None:
        if now.at >= 0:
            progress.show(now.at, len(now.refs))

    while True:
        done = await jobs.run(job.id, show)
        if done is not None and done.tells is None:
            await jobs.requests.end(done)
        text = done.receipt if done else None
        if text is None and await jobs.requests.find(job.id) is None:
            text = await jobs.requests.find_receipt(job.id)
        if text is not None:
            return text
        await asyncio.sleep(_POLL_S)


def _write(text: str, file: Path) -> Path | None:
    """Write the receipt, readable by us alone. If that fails it is printed, and None is returned."""
    try:
        file.touch(0o600, exist_ok=False)
        file.write_text(text, "utf-8")
    except OSError as error:
        print_error(
            f"{file} cannot be written: {error.strerror or error}. The erasure is done; this is its receipt:"
        )
        print_line(text)
        return None
    return file


def _print_done(person: int, document: dict[str, Any], file: Path | None) -> None:
    erased = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in document["erased"].items())
    chats = count(document["chats"], "chat or topic", "chats and topics")
    if not sum(document["erased"].values()) + document["updates_forgotten"]:
        print_error(f"Nothing of person {person} is kept. Both stores were read back.")
    else:
        print_line(f"Person {person} is forgotten in {chats}: {erased}.")
    if document["left"]["search_entries"] is None:
        print_error("QDRANT_URL: the index does not answer. A worker erases the search entries when it does.")
    elif not document["left"]["found_by_the_last_pass"]:
        print_line("The last pass over all chats found nothing.")
    if document["tombstone_beside_the_store"] != "yes":
        print_error(f"The tombstone is in the store only: {document['tombstone_beside_the_store']}.")
    if file is not None:
        print_line(f"The receipt is {file}; `mnemogram verify {file}` checks it.")


async def _verify(settings: "Settings", text: str, *, as_json: bool) -> int:
    from bot.app.stores import erasures_folder
    from bot.turn.forget_person import verify
    from memory.tombstones import load_secret, open_beside

    async with open_redis_alone(settings) as redis:
        await open_beside(redis, erasures_folder(settings))
        verdict = verify(await load_secret(redis), text)
    if as_json:
        changed = list(verdict.changed)
        print_json({"is_true": verdict.is_true, "changed": changed, "reason": verdict.reason})
    elif verdict.is_true:
        print_line("true: this installation has written it, and nothing was changed.")
    else:
        because = f"changed: {', '.join(verdict.changed)}" if verdict.changed else verdict.reason
        print_line(f"false: {because}.")
    return 0 if verdict.is_true else FAILED
