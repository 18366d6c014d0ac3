"""`backup` and `restore`: the memory of all chats as one file, and back into empty stores."""

import fcntl
import os
import shutil
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.failures import CommandFailed, print_error
from bot.cli.output import count, print_json, print_line
from bot.cli.session import AsJson, NewFile, finish, load_quietly, open_stores
from bot.times import iso
from memory.errors import MemoryFailure
from memory.folders import denial_advice

if TYPE_CHECKING:
    from bot.settings import Settings
    from memory.history.contexts import Context
    from memory.transfer.backup import BackupResult
    from memory.transfer.restore import Restore

_LINE_S = 2.0
"""Time between two lines of progress."""


def backup(
    file: NewFile,
    as_json: AsJson = False,
) -> None:
    """Write the memory of all chats to one file, while the bot runs.

    Until it is complete, the work is in FILE.partial. After a stop or a crash, the same command continues there.
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
    After a stop or a crash, the same command continues.
    """
    settings = load_quietly()
    finish(settings, _restore(settings, file, as_json=as_json))


async def _backup(settings: "Settings", file: Path, *, as_json: bool) -> None:
    """Write FILE. Raises CommandFailed and the stores' errors; then what is read stays in FILE.partial."""
    import asyncio
    from importlib.metadata import version

    from memory.transfer.backup import Backup, BackupFailed

    with partial_folder(file) as folder:
        async with open_stores(settings) as stores:
            made = Backup(
                stores.redis,
                folder,
                partitions=stores.partitions,
                version=version("mnemogram"),
                name_of=_Names(await stores.migrations.present_ids()).name_of,
                iso=lambda seconds: iso(seconds) or "",
                clock=time.time,
                notify=Progress("read").show,
            )
            try:
                whole, result = await made.write()
            except BackupFailed as error:
                raise CommandFailed(f"{error} {_goes_on(made.read)}") from None
            except MemoryFailure as error:
                raise type(error)(f"{error}. {_goes_on(made.read)}") from error
            except asyncio.CancelledError:
                print_error(f"Stopped. {_goes_on(made.read)}")
                raise
        whole.replace(file)
        _flush_folder(file.parent)
    _print_backup(file, result, as_json=as_json)


def _print_backup(file: Path, result: "BackupResult", *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "file": str(file),
                "chats": result.chats,
                "read": result.read,
                "counts": dict(result.counts),
                "erased_before": result.complete.erased_before,
                "sha256": result.complete.sha256,
            }
        )
        return
    messages, facts = count(result.counts["message"], "message"), count(result.counts["fact"], "fact")
    chats = count(result.chats, "chat or topic", "chats and topics")
    print_line(f"{file} has {chats}: {messages}, {facts}, {count(result.counts['reminder'], 'reminder')}.")
    print_line(f"Nothing that was erased before {result.complete.erased_before} is in it.")


async def _restore(settings: "Settings", file: Path, *, as_json: bool) -> None:
    """Check the whole file, then restore it. Raises CommandFailed and the stores' errors."""
    import asyncio

    from memory.transfer.backup_file import check_backup
    from memory.transfer.importer import ImportLost
    from memory.transfer.restore import Restore, StoresInUse

    with _open_backup(file) as lines:
        facts = check_backup(lines)
    if facts.head.partitions != settings.partitions:
        raise CommandFailed(
            f"PARTITIONS: the backup is of a store with {facts.head.partitions}. Nothing was restored."
        )
    async with open_stores(settings) as stores:
        progress = Progress("restored")
        run = Restore(
            stores.redis,
            partitions=stores.partitions,
            clock=time.time,
            notify=lambda done: progress.show(done, facts.complete.chats),
        )
        try:
            await run.begin(facts)
            await stores.reindexer.claim()  # while there is no message, the space needs no building
            with _open_backup(file) as lines:
                await run.run(lines)
        except StoresInUse as error:
            nothing = "Nothing was restored. " if not run.restored + run.kept else ""
            raise CommandFailed(
                f"{error}. {nothing}A restore needs empty stores and no running bot."
            ) from None
        except ImportLost:
            raise CommandFailed(f"The store lost a staged chat. {_RESTORE_GOES_ON}") from None
        except MemoryFailure as error:
            raise type(error)(f"{error}. {_RESTORE_GOES_ON}") from error
        except asyncio.CancelledError:
            print_error(f"Stopped. {_RESTORE_GOES_ON}")
            raise
    _print_restore(file, run, as_json=as_json)


_RESTORE_GOES_ON = "The restore is incomplete. Run the same command again: it continues."


def _print_restore(file: Path, run: "Restore", *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "file": str(file),
                "chats": run.restored + run.kept,
                "restored": run.restored,
                "queued_for_index": run.queued,
                "artifacts_aged_out": run.expired_artifacts,
                "reminders_passed": run.passed_reminders,
            }
        )
        return
    chats = count(run.restored + run.kept, "chat or topic", "chats and topics")
    before = f", {run.kept:,} of them by an earlier run" if run.kept else ""
    print_line(f"The stores have {chats} of {file}{before}.")
    if run.expired_artifacts:
        print_line(f"{count(run.expired_artifacts, 'artifact')} had expired and were not restored.")
    if run.passed_reminders:
        print_line(f"{count(run.passed_reminders, 'reminder')} had passed and will not be sent from here.")
    print_line(
        f"{count(run.queued, 'message')} wait for the index. The workers make the search entries; "
        "`mnemogram queue` prints how many are left."
    )


class _Names:
    """Names of contexts as operators write them, by the present ids of migrated groups."""

    def __init__(self, present: dict[int, int]) -> None:
        self._present = present

    def name_of(self, context: "Context") -> str:
        """Return the name, or "" for a context that is no chat."""
        from bot.transport.forms import place_of

        place = place_of(context.keys)
        if place is None:
            return ""
        return replace(place, chat_id=self._present.get(place.chat_id, place.chat_id)).name


class Progress:
    """Prints a line on stderr at intervals, and at the end of the chats."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._printed_at = 0.0

    def show(self, done: int, total: int) -> None:
        """Print a line if it is time."""
        now = time.monotonic()
        if done == total or now - self._printed_at >= _LINE_S:
            self._printed_at = now
            print_error(f"{done:,} of {count(total, 'chat or topic', 'chats and topics')} {self._verb}")


def _goes_on(read: int) -> str:
    return (
        f"No backup was written. Run the same command again: what is read ({read:,} now) is not read twice."
    )


@contextmanager
def partial_folder(file: Path) -> Generator[Path]:
    """Open and lock FILE.partial, and delete it at the end if the block ends without an error.

    Raises CommandFailed if FILE exists, if another process has the folder, or if the disk refuses.
    """
    folder = file.with_name(f"{file.name}.partial")
    if file.exists():
        shutil.rmtree(folder, ignore_errors=True)  # a run that was killed after it had completed FILE
        raise CommandFailed(f"{file} exists already. Choose another name.")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                yield folder
                shutil.rmtree(folder)
            finally:
                with suppress(OSError):  # it stays unless nothing was read
                    folder.rmdir()
        except BlockingIOError:
            raise CommandFailed(f"Another backup is writing to {folder}.") from None
        finally:
            os.close(lock)
    except OSError as error:
        advice = denial_advice(error, file)
        raise CommandFailed(f"{file} cannot be written: {error.strerror or error}{advice}.") from None


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _open_backup(file: Path) -> Generator[Iterator[str]]:
    """Open the file's lines. A problem with the file becomes a sentence that names it."""
    from memory.transfer.file import BadFile, split_lines

    if not file.is_file():
        raise CommandFailed(
            f"{file} is not a regular file, and a restore reads it twice. Nothing was restored."
        )
    try:
        with file.open(encoding="utf-8", newline="\n") as stream:
            yield split_lines(stream)
    except BadFile as error:
        raise CommandFailed(f"{file}: {error}. Nothing was restored.") from None
    except UnicodeDecodeError:
        raise CommandFailed(f"{file}: this is not a text file. Nothing was restored.") from None
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}.") from None
