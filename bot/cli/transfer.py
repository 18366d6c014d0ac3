"""`export` and `import`: the memory of a chat as a file, and back. Both do everything or nothing."""

import os
import shutil
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO
from uuid import uuid4

import typer

from bot.cli.chats import chat_ref, chat_refs, describe_topics, find_chat, list_chats, present_name, topics_of
from bot.cli.failures import CommandFailed, print_error
from bot.cli.output import count, print_json, print_line
from bot.cli.reset import erase, print_receipt
from bot.cli.session import AsJson, Chat, ChatName, MaybeFile, finish, load_quietly, open_stores, parse_chat
from bot.times import iso
from memory.errors import Forgotten, StoreFull, StoreUnavailable
from memory.folders import denial_advice

if TYPE_CHECKING:
    from bot.features.parts import Stores
    from bot.page.chats import ListedChat
    from bot.settings import Settings
    from memory.transfer.file import FileFacts, Header, Seal
    from memory.transfer.importer import ContextImport
    from memory.transfer.unearthed import FileGraves

NOTHING = "Nothing was imported."


def export(chat: Chat, file: MaybeFile = None, as_json: AsJson = False) -> None:
    """Write the memory of a chat as lines of JSON: messages, summaries, tool records, artifacts,
    reminders and people.

    The file is a snapshot with a checksum at its end. Without FILE it goes to stdout. With FILE, --json prints the
    counts.
    """
    if as_json and file is None:
        raise typer.BadParameter("--json needs FILE; without one the output is JSON already")
    settings = load_quietly()
    finish(settings, _export(settings, chat, file=file, as_json=as_json))


def import_(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="A file of `mnemogram export`; result.json of Telegram Desktop; conversations.json of ChatGPT or"
            " Claude; or a zip with one of them.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    *,
    into: Annotated[
        ChatName | None,
        typer.Option(
            "--chat",
            "--into",
            parser=parse_chat,
            metavar="CHAT",
            help="Import into this chat, not the file's own.",
        ),
    ] = None,
    lists: Annotated[bool, typer.Option("--list", help="List the histories that CHAT has imported.")] = False,
    forgets: Annotated[
        str | None, typer.Option("--forget", metavar="ID", help="Forget one of them, with a receipt.")
    ] = None,
    replaces: Annotated[
        bool, typer.Option("--replace", help="First erase the memory of that chat, as `reset` does.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Import an exported file into a chat without a memory, or a history of another service into any chat.

    A history of Telegram, ChatGPT or Claude goes below what the chat has. It can be imported again: nothing is there
    twice, and an interrupted import goes on. Without CHAT each group of a Telegram file goes into its own chat.

    Our own file is imported completely or not at all. Another chat does not get Telegram's message numbers,
    overheard messages and reminders.
    A reminder whose date has passed is not set. One that repeats goes on with its next date.
    The workers make the search entries again.
    """
    from bot.cli import move_in
    from memory.transfer.archives import is_own_export

    settings = load_quietly()
    if lists or forgets is not None:
        if into is None or file is not None:
            raise typer.BadParameter("--list and --forget need --chat CHAT and no FILE")
        finish(settings, move_in.manage(settings, into, forgets=forgets, as_json=as_json))
    if file is None:
        raise typer.BadParameter("name a FILE to import")
    check_file(file, nothing=NOTHING)
    if not is_own_export(lambda: file.open("rb")):
        finish(settings, move_in.move_in(settings, file, into=into, as_json=as_json))
    if replaces and sys.stdin.isatty() and not yes:
        chat = "the file's chat" if into is None else f"chat {into}"
        typer.confirm(f"First erase the memory of {chat} for good?", abort=True, err=True)
    finish(settings, _import(settings, file, into=into, replaces=replaces, as_json=as_json))


async def _export(settings: "Settings", name: ChatName, *, file: Path | None, as_json: bool) -> None:
    """Write the chat's file. Raises CommandFailed if the chat has no memory or is reset during the export."""
    from importlib.metadata import version

    from memory.tombstones import load_reset_time
    from memory.transfer.file import Header

    async with open_stores(settings) as stores:
        chat, _ = await find_chat(settings, stores, name)
        header = Header(
            format=2,
            version=version("mnemogram"),
            exported_at=iso(time.time()) or "",
            chat=chat.name,
            title=chat.title,
            context=chat.ref.context_id,
            registered_at=chat.registered_at or None,
            reset_at=await load_reset_time(stores.redis, chat.ref),
        )
        with whole_file(file) as stream:
            seal = await _write(stores, chat, header, stream)
        topics = topics_of(await list_chats(settings, stores), chat.chat_id)
    if as_json:
        print_json({"chat": chat.name, "file": str(file), "counts": dict(seal.counts)})
    elif file is not None:
        print_line(f"Chat {chat.name} is in {file}: {_describe(seal.counts)}.")
    if topics and chat.thread_id is None:
        print_error(f"{describe_topics(chat.name, topics)}. They are not in the file.")


async def _write(stores: "Stores", chat: "ListedChat", header: "Header", stream: TextIO) -> "Seal":
    from memory.transfer.exporter import TRIES, ChangedMeanwhile, write_export

    try:
        return await write_export(stores.redis, chat.ref, stream, header=header, clock=time.time)
    except Forgotten:
        raise CommandFailed(f"Chat {chat.name} was reset during the export. Nothing was written.") from None
    except ChangedMeanwhile:
        raise CommandFailed(
            f"Chat {chat.name} was edited during each of {TRIES} attempts. Nothing was written. Try again later."
        ) from None


@contextmanager
def whole_file(file: Path | None) -> Generator[TextIO]:
    """Open a temporary file that becomes `file`, or goes to stdout, when the block ends without an error.

    Only its owner may read the file. Raises CommandFailed if it exists or cannot be written.
    """
    import tempfile

    if file is not None and file.exists():
        raise CommandFailed(f"{file} exists already. Choose another name.")
    folder = tempfile.gettempdir() if file is None else file.parent
    with ExitStack() as stack:
        try:
            part = Path(
                stack.enter_context(tempfile.TemporaryDirectory(dir=folder, prefix=".export-")), "part"
            )
            part.touch(0o600)
            stream = stack.enter_context(part.open("r+", encoding="ascii"))
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if file is not None:
                part.replace(file)
        except OSError as error:
            target = file or f"TMPDIR ({folder})"
            advice = denial_advice(error, target) if isinstance(target, Path) else ""
            raise CommandFailed(f"{target} cannot be written: {error.strerror or error}{advice}.") from None
        if file is None:
            stream.seek(0)
            shutil.copyfileobj(stream, sys.stdout)


def _describe(counts: Mapping[str, int]) -> str:
    nouns = {"message": "message", "summary": "summary", "ledger": "tool record", "artifact": "artifact"}
    things = [
        count(counts.get(kind, 0), noun)
        for kind, noun in (nouns | {"talk": "overheard message", "reminder": "reminder"}).items()
    ]
    return ", ".join([*things, count(counts.get("person", 0), "person", "people")])


async def _import(
    settings: "Settings", file: Path, *, into: ChatName | None, replaces: bool, as_json: bool
) -> None:
    """Check the file, stage it in Redis, and put it in place. `replaces`: erase the chat's memory first.

    Raises CommandFailed and the store's errors. Then nothing was imported, unless the message says otherwise.
    """
    from memory.transfer.file import check_file

    with open_lines(file, nothing=NOTHING) as lines:
        facts = check_file(lines)
    async with open_stores(settings) as stores:
        name = await present_name(stores, into or _own_chat(facts))
        staged = await _prepare(settings, stores, name, facts)
        await _look_for_erasures(stores, file, facts, staged.graves)
        snapshot = await stores.history.load(staged.ref, limit=0)
        if snapshot.count and not replaces:
            raise _occupied(name)
        receipt = None
        try:
            with open_lines(file, nothing=NOTHING) as lines:
                await staged.stage(lines)
            if replaces:
                receipt = await erase(stores, staged.ref, grave="replaced")
            queued = await _place(staged, facts, name, epoch=snapshot.epoch + replaces)
        except (CommandFailed, StoreUnavailable, StoreFull) as error:
            if receipt is None:
                raise
            problem = str(error) if isinstance(error, CommandFailed) else f"REDIS_URL: {error}. {NOTHING}"
            raise CommandFailed(f"{problem} The former memory of chat {name} is erased.") from None
        finally:
            await staged.clear_up()
    if as_json:
        print_json(
            {
                "chat": str(name),
                "context": staged.ref.context_id,
                "is_other_chat": staged.is_other,
                "counts": facts.counts,
                "queued_for_index": queued,
                "artifacts_aged_out": staged.expired_artifacts,
                "reminders_passed": staged.passed_reminders,
                "forgotten": len(staged.graves.messages),
                "erased": receipt and {"messages": receipt.messages_erased, "is_proven": receipt.is_proven},
            }
        )
        return
    if receipt is not None:
        print_receipt(receipt, f"memory of chat {name}")
    _print_import(name, facts, staged, queued)


def _print_import(name: ChatName, facts: "FileFacts", staged: "ContextImport", queued: int) -> None:
    print_line(f"Chat {name} now has the file's memory: {_describe(facts.counts)}.")
    if staged.is_other:
        print_line(
            "This is not the file's own chat: it did not get Telegram's message numbers, overheard messages and"
            " reminders."
        )
    if forgotten := len(staged.graves.messages):
        print_line(f"{count(forgotten, 'message')} of the file had been forgotten and did not come back.")
    if staged.expired_artifacts:
        print_line(f"{count(staged.expired_artifacts, 'artifact')} had expired and were not imported.")
    if passed := staged.passed_reminders:
        print_line(f"{count(passed, 'reminder')} had passed and will not be sent from here.")
    print_line(
        f"{count(queued, 'message')} wait for the index. The workers make the search entries; "
        "`mnemogram queue` prints how many are left."
    )


def _own_chat(facts: "FileFacts") -> ChatName:
    try:
        return parse_chat(facts.header.chat)
    except typer.BadParameter:
        raise CommandFailed(f"The file names no chat. Name one with --into. {NOTHING}") from None


async def _prepare(
    settings: "Settings", stores: "Stores", name: ChatName, facts: "FileFacts"
) -> "ContextImport":
    from bot.transport.forms import context_keys
    from memory.history.contexts import dump_entry
    from memory.transfer.importer import ContextImport
    from memory.transfer.unearthed import FileGraves

    ref, now = await chat_ref(settings, stores, name), time.time()
    own, direct = await chat_refs(settings, stores, name)
    if direct != own and direct.context_id == facts.header.context:
        ref = direct
    anchor_id = await stores.migrations.resolve(name.chat_id)
    keys = context_keys(settings.bot_id, anchor_id, name.thread_id, is_direct=ref != own)
    is_other = ref.context_id != facts.header.context
    owner = _own_chat(facts).chat_id if facts.header.chat else 0
    title = "" if is_other else facts.header.title
    created_at = facts.header.registered_at or facts.context.created_at or now
    entry = dump_entry(keys, title=title, created_at=created_at)
    return ContextImport(
        redis=stores.redis,
        ref=ref,
        registered=entry,
        is_other=is_other,
        chat_id=name.chat_id,
        thread_id=name.thread_id,
        token=uuid4().hex,
        now=now,
        graves=FileGraves(
            contexts={ref.context_id, facts.header.context}, owner=owner if owner > 0 else None
        ),
    )


async def _look_for_erasures(stores: "Stores", file: Path, facts: "FileFacts", found: "FileGraves") -> None:
    """Load the tombstones. Raises CommandFailed if the file's chat was reset after the file was written."""
    from memory.tombstones import load_graveyard
    from memory.transfer.file import read_file

    found.graves = await load_graveyard(stores.redis, range(stores.partitions))
    reset_at = found.graves.find("reset", facts.header.context)
    if reset_at is not None and reset_at > (facts.header.reset_at or 0.0):
        raise CommandFailed(
            f"Chat {facts.header.chat} was reset at {iso(reset_at)}, after this file was written: what was forgotten"
            f" does not come back. {NOTHING}"
        )
    if found.graves.has_any():
        with open_lines(file, nothing=NOTHING) as lines:
            found.learn_names(read_file(lines))


async def _place(staged: "ContextImport", facts: "FileFacts", name: ChatName, *, epoch: int) -> int:
    from memory.transfer.importer import ContextOccupied, ImportLost

    try:
        return await staged.place(facts, epoch=epoch)
    except ContextOccupied:
        raise _occupied(name) from None
    except Forgotten:
        raise CommandFailed(f"Chat {name} was reset during the import. {NOTHING}") from None
    except ImportLost:
        raise CommandFailed(f"The store lost the staged file. {NOTHING} Try again.") from None
    except StoreUnavailable as error:
        raise CommandFailed(
            f"REDIS_URL: {error}, at the last step. Chat {name} has the whole file or nothing of it: "
            f"`mnemogram history {name}` shows which. You can safely import the file again."
        ) from None


def _occupied(name: ChatName) -> CommandFailed:
    return CommandFailed(
        f"Chat {name} has a memory already. {NOTHING} `--replace` erases it first; `--into CHAT` uses another chat."
    )


def check_file(file: Path, *, nothing: str) -> None:
    """Raise CommandFailed for a pipe or a folder, with a sentence that names it, and then `nothing`."""
    if not file.is_file():
        raise CommandFailed(f"{file} is not a regular file, and this command reads it twice. {nothing}")


@contextmanager
def open_lines(file: Path, *, nothing: str) -> Generator[Iterator[str]]:
    """Open the file's lines. A problem with the file becomes a sentence that names it, and then `nothing`."""
    from memory.transfer.archives import open_parts, text_of
    from memory.transfer.export_survey import MOST_UNPACKED
    from memory.transfer.file import BadFile, split_lines
    from memory.transfer.json_stream import BadJson

    check_file(file, nothing=nothing)
    try:
        with open_parts(lambda: file.open("rb"), most_bytes=MOST_UNPACKED) as parts:
            yield split_lines(text_of(next(parts)))
    except StopIteration:
        raise CommandFailed(f"{file}: this zip has no export. {nothing}") from None
    except (BadFile, BadJson) as error:
        raise CommandFailed(f"{file}: {error}. {nothing}") from None
    except UnicodeDecodeError:
        raise CommandFailed(f"{file}: this is not a text file. {nothing}") from None
    except OSError as error:
        raise CommandFailed(f"{file} cannot be read: {error.strerror}.") from None
