"""`backup` and `restore`: the memory of all chats as one file, and back into empty stores."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, print_error
from bot.cli.output import count, print_json, print_line
from bot.cli.session import AsJson, NewFile, Progress, finish, load_quietly, open_stores
from bot.cli.transfer import open_lines, whole_file
from bot.times import iso
from memory.errors import MemoryFailure

if TYPE_CHECKING:
    from bot.settings import Settings
    from memory.transfer.backup import Complete
    from memory.transfer.restore import Restore

_NOTHING = "Nothing was restored."
_GOES_ON = "The restore is incomplete. Run the same command again: it completes it."


def backup(file: NewFile, as_json: AsJson = False) -> None:
    """Write the memory of all chats to one file, while the bot runs.

    The file appears when it is complete.
    """
    settings = load_quietly()
    finish(settings, _backup(settings, file, as_json=as_json))


def restore(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A file of `mnemogram backup`.", exists=True, dir_okay=False),
    ],
    as_json: AsJson = False,
) -> None:
    """Restore a backup into empty stores. The whole file is checked first.

    Start the bot afterwards; its workers make the search entries again.
    After a stop or a crash, run the same command again. Until it is complete, no bot starts on the stores.
    """
    settings = load_quietly()
    finish(settings, _restore(settings, file, as_json=as_json))


async def _backup(settings: "Settings", file: Path, *, as_json: bool) -> None:
    """Write FILE. Raises CommandFailed and the stores' errors, and has written nothing then."""
    from importlib.metadata import version

    from memory.transfer.backup import Backup

    with whole_file(file) as stream:
        async with open_stores(settings) as stores:
            made = Backup(
                stores.redis,
                partitions=stores.partitions,
                version=version("mnemogram"),
                iso=lambda seconds: iso(seconds) or "",
                clock=time.time,
                notify=Progress("chats and topics read").show,
            )
            end = await made.write(stream)
    if as_json:
        print_json({"file": str(file), "chats": end.chats, **end.model_dump(exclude={"kind"})})
        return
    messages, facts, reminders = (
        count(end.counts.get(f"{noun}s", 0), noun) for noun in ("message", "fact", "reminder")
    )
    chats = count(end.chats, "chat or topic", "chats and topics")
    print_line(f"{file} has {chats}: {messages}, {facts}, {reminders}.")
    print_line(f"Nothing that was erased before {end.erased_before} is in it.")


async def _restore(settings: "Settings", file: Path, *, as_json: bool) -> None:
    """Check the whole file, then restore it. Raises CommandFailed and the stores' errors."""
    import asyncio

    from bot.app.erasures import build_forget_jobs
    from memory.retention import RetentionQueue, expire_undisturbed
    from memory.transfer.restore import Restore, StoresInUse, check_backup

    with open_lines(file, nothing=_NOTHING) as lines:
        head, end = check_backup(lines)
    if head.partitions != settings.partitions:
        raise CommandFailed(f"PARTITIONS: the backup is of a store with {head.partitions}. {_NOTHING}")
    async with open_stores(settings, restores=True) as stores:
        progress, total = Progress("records restored"), sum(end.counts.values())
        run = Restore(
            stores.redis,
            partitions=stores.partitions,
            clock=time.time,
            notify=lambda done: progress.show(done, total),
            forget_person=build_forget_jobs(settings, stores.redis, clock=time.time).forget_again,
            expire=partial(
                expire_undisturbed,
                RetentionQueue(stores.redis, clock=time.time),
                most_days=settings.retention_days,
                clock=time.time,
            ),
        )
        try:
            await run.begin(end)
            with open_lines(file, nothing=_GOES_ON) as lines:
                await run.run(lines)
        except StoresInUse as error:
            raise CommandFailed(
                f"{error}. {_NOTHING} A restore needs empty stores and no running bot."
            ) from None
        except MemoryFailure as error:
            raise type(error)(f"{error}. {_GOES_ON}") from error
        except asyncio.CancelledError:
            print_error(f"Stopped. {_GOES_ON}")
            raise
    _print_restored(run, end, file, as_json=as_json)


def _print_restored(run: "Restore", end: "Complete", file: Path, *, as_json: bool) -> None:
    artifacts, messages = len(run.expired_artifacts), end.counts.get("messages", 0)
    if as_json:
        print_json(
            {
                "file": str(file),
                "chats": end.chats,
                "messages": messages,
                "artifacts_aged_out": artifacts,
                "reminders_passed": run.passed_reminders,
                "chats_reset": len(run.reset_contexts),
                "messages_forgotten": run.forgotten,
                "messages_expired": run.expired,
            }
        )
        return
    print_line(f"The stores have {count(end.chats, 'chat or topic', 'chats and topics')} of {file}.")
    if run.reset_contexts or run.forgotten:
        print_line(
            f"What was erased since did not come back: {count(run.forgotten, 'message')}, and"
            f" {count(len(run.reset_contexts), 'chat or topic', 'chats and topics')} that had been reset."
        )
    if run.expired:
        print_line(
            f"{count(run.expired, 'message')} were older than chats keep theirs, and went with what rests on them."
        )
    if artifacts:
        print_line(f"{count(artifacts, 'artifact')} had expired and were not restored.")
    if run.passed_reminders:
        print_line(f"{count(run.passed_reminders, 'reminder')} had passed and will not be sent from here.")
    print_line(
        f"The workers make the search entries of {count(messages, 'message')}; "
        "`mnemogram reindex` shows the progress."
    )
