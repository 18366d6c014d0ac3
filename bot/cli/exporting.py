"""What `mnemogram export` does: writes a chat's memory into a file, whole or not at all."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TextIO, cast

from bot.app.stores import Stores, open_stores
from bot.cli.failures import CommandFailed, print_error
from bot.cli.known_chats import KnownChat, find_known, list_known, topics_of
from bot.cli.options import ChatName
from bot.cli.output import count, iso, print_json, print_line
from bot.settings import Settings
from memory.artifacts.store import ContextArtifacts
from memory.errors import Forgotten
from memory.history.contexts import list_contexts
from memory.transfer.exporter import ChangedMeanwhile, export_context
from memory.transfer.file import Seal
from memory.transfer.lines import Header, dump_body, dump_header

TRIES = 5
"""How often an export begins again that somebody's edit or /forget has overtaken."""

COUNTED = (
    *(("message", "message"), ("summary", "summary"), ("ledger", "tool record"), ("artifact", "artifact")),
    *(("heard", "heard line"), ("person", "person")),
)
"""What is told of a file, and how it is called."""


async def export_chat(settings: Settings, name: ChatName, *, file: Path | None, as_json: bool) -> None:
    """Write the chat's file. Raises CommandFailed where nothing is kept of it, and where it is reset meanwhile."""
    async with open_stores(settings) as stores:
        chat, _ = await find_known(settings, stores, name)
        registered = {each.ref: each for each in await list_contexts(stores.redis, [chat.ref.partition])}
        known = registered.get(chat.ref)
        header = Header(
            version=version("mnemogram"),
            exported_at=iso(time.time()) or "",
            chat=str(chat.name),
            title=chat.title,
            context=chat.ref.context_id,
            registered_at=known.created_at if known else None,
        )
        with whole_file(file) as stream:
            seal = await _write(stores, chat, header, stream)
        topics = (
            topics_of(await list_known(settings, stores), chat.name) if chat.name.thread_id is None else []
        )
    if as_json:
        print_json({"chat": str(chat.name), "file": str(file), "counts": dict(seal.counts)})
    elif file is not None:
        print_line(f"Chat {chat.name} is in {file}: {told(seal.counts)}.")
    if topics:
        print_error(
            f"Chat {chat.name} also has {count(len(topics), 'topic')} with memory of their own, which are not in the "
            f"file ({', '.join(str(topic.name) for topic in topics)})."
        )


def told(counts: Mapping[str, int]) -> str:
    """What a file holds, in words."""
    plural = {"summary": "summaries", "person": "people"}
    return ", ".join(count(counts.get(kind, 0), one, plural.get(one, "")) for kind, one in COUNTED)


async def _write(stores: Stores, chat: KnownChat, header: Header, stream: TextIO) -> Seal:
    artifacts = ContextArtifacts(
        stores.redis, chat.ref, epoch=lambda: 0, clock=time.time, ttl_s=0, keep_beyond=0
    )
    for _ in range(TRIES):
        stream.seek(0)
        stream.truncate()
        stream.write(dump_header(header) + "\n")
        seal = Seal()
        try:
            async for line in export_context(stores.redis, chat.ref, artifacts=artifacts):
                text = dump_body(line)
                seal.take(line.kind, text)
                stream.write(text + "\n")
        except ChangedMeanwhile:
            continue
        except Forgotten:
            raise CommandFailed(
                f"Chat {chat.name} was reset while it was read: nothing is written."
            ) from None
        stream.write(seal.end() + "\n")
        return seal
    raise CommandFailed(
        f"Chat {chat.name} was edited each of the {TRIES} times that it was read: nothing is written. Try again later."
    )


@contextmanager
def whole_file(file: Path | None) -> Generator[TextIO]:
    """What is written becomes the file, or goes to stdout, once it is whole. Only its owner may read the file.

    Raises CommandFailed where it exists already, or cannot be written.
    """
    if file is None:
        with tempfile.TemporaryFile("w+", encoding="ascii") as stream:
            with _naming(f"TMPDIR ({tempfile.gettempdir()})"):
                yield stream
                stream.flush()
            stream.seek(0)
            shutil.copyfileobj(stream, sys.stdout)
        return
    if file.exists():
        raise CommandFailed(f"{file} exists already: name another file.")
    with _naming(file):
        part = tempfile.NamedTemporaryFile(  # noqa: SIM115 - it becomes the file
            "w+", encoding="ascii", dir=file.parent, prefix=f".{file.name}.", delete=False
        )
        try:
            with part:
                yield cast("TextIO", part)
                part.flush()
                os.fsync(part.fileno())
            Path(part.name).replace(file)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise


@contextmanager
def _naming(what: object) -> Generator[None]:
    """A disk that is full, or a folder that is not ours, becomes a sentence that names what was written."""
    try:
        yield
    except OSError as error:
        raise CommandFailed(f"{what} cannot be written: {error.strerror or error}.") from None
