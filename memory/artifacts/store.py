"""Artifacts: large tool results, stored in pieces next to the history, readable in parts, with a time to live.

Files for the chat wait there too, until the outbox of their context has sent them.
"""

import asyncio
import re
from base64 import b64decode, b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from itertools import accumulate, islice
from uuid import uuid4

from memory.characters import well_formed
from memory.codec import dump_json, parse_json
from memory.errors import MemoryFailure, StoreFull, StoreUnavailable
from memory.history.message import message_id
from memory.keys import FILES_TTL_S, ContextRef, Key, context_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

LARGEST_TEXT = 32 * 1024 * 1024
"""Limit of one artifact, in bytes of UTF-8."""
LARGEST_FILE = 5 * 1024 * 1024
"""Bytes of one file for the chat."""
PIECE = 50_000
"""Characters of one stored piece."""
PIECES_AT_ONCE = 10
"""Pieces of one round trip: half a megabyte of ASCII, 2 MB at most."""
AROUND = 100
"""Characters of an excerpt on either side of a match."""

_SCRIPTS = "memory.redis.scripts"
_ID = re.compile(r"a[0-9a-f]{11}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """An artifact without its text: the record that is stored next to it."""

    id: str
    tool: str
    length: int
    """Characters of the text."""
    ends_at: float
    """Unix seconds at which it expires."""

    @property
    def pieces(self) -> int:
        """Return the number of pieces of its text."""
        return -(-self.length // PIECE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactMatch:
    """A match of a search: its offset in characters, and the text around it."""

    start: int
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactWrite:
    """Facts that the script checks and writes with some pieces."""

    id: str
    writing: str
    """Token of this writing."""
    ends_at: float
    now: float
    ttl_ms: int
    prefix: str
    """Beginning of the keys of this context's artifacts."""
    is_first: bool
    """True for the first pieces, which replace what was stored before."""


class ArtifactTooLarge(ValueError):
    """The text is larger than LARGEST_TEXT."""


class ArtifactGone(LookupError):
    """There is no such artifact, or it has expired."""


@dataclass(slots=True)
class ContextArtifacts:
    """The artifacts of one context."""

    redis: RedisClient
    ref: ContextRef
    _: KW_ONLY
    epoch: Callable[[], int]
    clock: Callable[[], float]
    ttl_s: int
    keep_beyond: int
    """A result of more characters becomes an artifact."""
    has_any: bool = False
    """True if the context had artifacts when this was built, or got one through it."""
    is_read_only: bool = False
    """True in a turn of which nothing is kept: large results are cut instead."""

    async def keep(self, text: str, *, tool: str, key: str) -> Artifact:
        """Store a text under an id made of `key`; the same key replaces it. Lone surrogates become U+FFFD.

        The artifact can be found once it is complete. Raises Forgotten after a reset, StoreUnavailable if another
        writer of the same key comes in between, and ArtifactTooLarge.
        """
        check_size(text)
        text = well_formed(text)
        epoch, now = self.epoch(), self.clock()
        artifact = Artifact(
            id="a" + message_id(self.ref.context_id, epoch, key).replace("-", "")[:11],
            tool=tool,
            length=len(text),
            ends_at=now + self.ttl_s,
        )
        # Not durably: the journal's durable record of the call comes after it in the same log.
        writing = uuid4().hex
        try:
            for number, fields in enumerate(_batches(text, about=dump_json(Artifact, artifact))):
                await self._write(artifact, fields, writing, epoch=epoch, now=now, is_first=number == 0)
        except (asyncio.CancelledError, StoreFull):
            # A turn that is stopped commits without it, and no ledger would name it when that turn is forgotten.
            await self._drop(artifact.id, writing)
            raise
        self.has_any = True
        return artifact

    async def find(self, artifact_id: str) -> Artifact | None:
        """Return the artifact, or None if this context does not have it (any more)."""
        if not _ID.fullmatch(artifact_id):
            return None
        about = await self.redis.call("HGET", self._key(artifact_id), "about")
        return None if about is None else parse_json(Artifact, str(about))

    async def newest(self, limit: int) -> list[Artifact]:
        """Return up to `limit` artifacts that have not expired, those that live longest first."""
        ids = await self.redis.call("ZRANGE", context_key(self.ref, "artifacts"), 0, limit - 1, "REV")
        rows = await self.redis.calls([("HGET", self._key(each), "about") for each in ids])
        return [parse_json(Artifact, str(about)) for about in rows if about is not None]

    async def read(self, artifact_id: str, *, start: int, length: int) -> str:
        """Return a range of its text in characters, reading only the pieces of that range; "" beyond its end.

        Raises ArtifactGone.
        """
        start, end = max(start, 0), min(start + length, LARGEST_TEXT)
        numbers = range(start // PIECE, (end - 1) // PIECE + 1) if start < end else range(0)
        pieces = await self.pieces(artifact_id, numbers)
        offset = numbers.start * PIECE
        return "".join(pieces)[start - offset : end - offset] if pieces else ""

    async def search(
        self, artifact_id: str, text: str, *, at_most: int, start: int = 0
    ) -> list[ArtifactMatch]:
        """Return the first matches at or after `start`, in any case of letters, without overlaps.

        Raises ArtifactGone.
        """
        sought = well_formed(text).casefold()
        found: list[tuple[int, int]] = []
        number, skipped = divmod(max(start, 0), PIECE)
        tail = ""  # text in which a match may begin that ends in the next pieces
        while sought and len(found) < at_most:
            pieces = await self.pieces(artifact_id, range(number, number + PIECES_AT_ONCE))
            if not pieces:
                break
            window, offset = tail + "".join(pieces)[skipped:], number * PIECE + skipped - len(tail)
            matches = islice(_matches(window, sought), at_most - len(found))
            found += [(offset + first, offset + end) for first, end in matches]
            matched = found[-1][1] - offset if found else 0
            tail = window[max(len(window) - len(sought) + 1, matched, 0) :]
            number, skipped = number + len(pieces), 0
        return [
            ArtifactMatch(start=first, excerpt=await self._excerpt(artifact_id, first, end))
            for first, end in found
        ]

    async def _write(
        self, artifact: Artifact, fields: list[str], writing: str, *, epoch: int, now: float, is_first: bool
    ) -> None:
        call = write_artifact(
            self.ref,
            artifact=self._key(artifact.id),
            expected_epoch=epoch,
            write=ArtifactWrite(
                id=artifact.id,
                writing=writing,
                ends_at=artifact.ends_at,
                now=now,
                ttl_ms=self.ttl_s * 1000,
                prefix=self._key(""),
                is_first=is_first,
            ),
            fields=fields,
        )
        if not int(await self.redis.run(call)):
            raise StoreUnavailable("another writer stores this artifact now, or its first pieces are gone")

    async def _drop(self, artifact_id: str, writing: str) -> None:
        """Erase what this writing left, if the store answers; otherwise it ends with its TTL."""
        call = drop_artifact(
            self.ref, artifact=self._key(artifact_id), artifact_id=artifact_id, writing=writing
        )
        with suppress(MemoryFailure):
            await self.redis.run(call)

    async def pieces(self, artifact_id: str, numbers: Iterable[int]) -> list[str]:
        """Return these pieces of a complete artifact, up to its last one. Raises ArtifactGone."""
        about, *pieces = (
            await self.redis.call("HMGET", self._key(artifact_id), "about", *numbers)
            if _ID.fullmatch(artifact_id)
            else [None]
        )
        if about is None:
            raise ArtifactGone(artifact_id)
        return [str(piece) for piece in pieces if piece is not None]

    async def _excerpt(self, artifact_id: str, first: int, end: int) -> str:
        start = max(first - AROUND, 0)
        return await self.read(artifact_id, start=start, length=end + AROUND - start)

    def _key(self, artifact_id: str) -> Key:
        return context_key(self.ref, "artifact", artifact_id)


async def drop_unnamed(
    redis: RedisClient, ref: ContextRef, *, epoch: int, spares_running: bool = False
) -> int:
    """Erase the artifacts that no turn of the ledger names, and return how many there were.

    Turns that never ended, or that began again, leave them; nobody who forgets a message would find them. A running
    turn may be storing some: `spares_running` erases none while the context has work. Raises Forgotten after a reset.
    """
    call = drop_unnamed_artifacts(ref, expected_epoch=epoch, spares_running=spares_running)
    return int(await redis.run(call))


@lua_script(_SCRIPTS)
def write_artifact(
    ref: ContextRef, *, artifact: Key, expected_epoch: int, write: ArtifactWrite, fields: Sequence[str]
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def drop_artifact(ref: ContextRef, *, artifact: Key, artifact_id: str, writing: str) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def drop_unnamed_artifacts(ref: ContextRef, *, expected_epoch: int, spares_running: bool) -> ScriptCall: ...


def check_size(text: str) -> None:
    """Raise ArtifactTooLarge, with size and limit, for a text that no artifact can hold."""
    if 4 * len(text) <= LARGEST_TEXT:
        return
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > LARGEST_TEXT:
        raise ArtifactTooLarge(f"{size} bytes; at most {LARGEST_TEXT} bytes are stored")


def _batches(text: str, *, about: str) -> Iterator[list[str]]:
    """Yield the fields and values for the script in batches: the pieces, and `about` with the last batch."""
    step = PIECE * PIECES_AT_ONCE
    for begin in range(0, max(len(text), 1), step):
        fields: list[str] = []
        for start in range(begin, min(begin + step, len(text)), PIECE):
            fields += [str(start // PIECE), text[start : start + PIECE]]
        yield fields if begin + step < len(text) else [*fields, "about", about]


def _matches(window: str, sought: str) -> Iterator[tuple[int, int]]:
    """Yield the matches of a casefolded text: the offsets of its first character and after its last one."""
    folded = window.casefold()
    # Folding can lengthen a text ("ß" becomes "ss"); the offsets are those of the unfolded characters.
    ends = None if len(folded) == len(window) else list(accumulate(len(each.casefold()) for each in window))
    matched, at = 0, folded.find(sought)
    while at >= 0:
        after = at + len(sought)
        first, end = (
            (at, after) if ends is None else (bisect_right(ends, at), bisect_right(ends, after - 1) + 1)
        )
        if first >= matched:
            matched = end
            yield first, end
        at = folded.find(sought, after)


@dataclass(frozen=True, slots=True)
class OutgoingFiles:
    """Keeps the files of one context. A part of the outbox names each by its id (bot/turn/outbox.py).

    They are erased when the outbox is empty, by a reset, and FILES_TTL_S after the newest.
    """

    redis: RedisClient
    ref: ContextRef
    _: KW_ONLY
    epoch: Callable[[], int]

    async def keep(self, content: bytes, *, file_id: str) -> None:
        """Store a file of at most LARGEST_FILE. The same id replaces it. Raises Forgotten after a reset, StoreFull."""
        call = keep_file(
            self.ref,
            expected_epoch=self.epoch(),
            file_id=file_id,
            content=b64encode(content).decode(),  # the client decodes every reply as UTF-8
            ttl=FILES_TTL_S,
        )
        await self.redis.run(call)


async def read_file(redis: RedisClient, ref: ContextRef, file_id: str) -> bytes | None:
    """Return the bytes of a kept file; None if they have expired or were erased."""
    content = await redis.call("HGET", context_key(ref, "files"), file_id)
    return None if content is None else b64decode(str(content))


@lua_script(_SCRIPTS)
def keep_file(
    ref: ContextRef, *, expected_epoch: int, file_id: str, content: str, ttl: int
) -> ScriptCall: ...
