"""Artifacts: large tool results, kept in pieces beside the history, readable in parts, and aged out."""

import asyncio
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any, cast
from uuid import uuid4

from memory.characters import well_formed
from memory.errors import Forgotten, MemoryFailure, StoreFull, StoreUnavailable
from memory.history.message import message_id
from memory.keys import ContextRef, artifact_key, artifacts_key, epoch_key, ledger_key
from memory.redis.client import RedisClient, load_script

LARGEST_TEXT = 32 * 1024 * 1024
"""Bytes of UTF-8 that one artifact may have."""
PIECE = 50_000
"""Characters of one stored piece."""
PIECES_AT_ONCE = 10
"""Pieces of one round trip: half a megabyte of ASCII, 2 MB at most."""
AROUND = 100
"""Characters of an excerpt on either side of what was searched."""

_ID = re.compile(r"a[0-9a-f]{11}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What is known of an artifact. `length` is in characters; `ends_at` in Unix seconds."""

    id: str
    tool: str
    length: int
    ends_at: float

    @property
    def pieces(self) -> int:
        """In how many pieces its text is kept."""
        return -(-self.length // PIECE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactMatch:
    """A place where a searched text stands: its offset in characters, and the text around it."""

    start: int
    excerpt: str


class ArtifactTooLarge(ValueError):
    """The text is larger than LARGEST_TEXT."""


class ArtifactGone(LookupError):
    """There is no such artifact, or none any more."""


class ContextArtifacts:
    """The artifacts of one context."""

    def __init__(
        self,
        redis: RedisClient,
        ref: ContextRef,
        *,
        epoch: Callable[[], int],
        clock: Callable[[], float],
        ttl_s: int,
        keep_beyond: int,
    ) -> None:
        """`keep_beyond`: a result of more characters becomes an artifact. `epoch`: the turn's, when it is asked."""
        self._redis = redis
        self._ref = ref
        self._epoch = epoch
        self._clock = clock
        self._ttl_s = ttl_s
        self.keep_beyond = keep_beyond

    async def keep(self, text: str, *, tool: str, key: str) -> Artifact:
        """Keep a text under an id that `key` gives: the same key again replaces it. Lone surrogates become U+FFFD.

        It can be found once it is whole. Raises Forgotten after a reset, StoreUnavailable when another writer of
        the same key comes in between, ArtifactTooLarge.
        """
        check_size(text)
        text = well_formed(text)
        epoch, now = self._epoch(), self._clock()
        artifact = Artifact(
            id="a" + message_id(self._ref.context_id, epoch, key).replace("-", "")[:11],
            tool=tool,
            length=len(text),
            ends_at=now + self._ttl_s,
        )
        # Not durably: the journal's record of the call comes after it in the same log, and is.
        writing = uuid4().hex
        arguments = [epoch, artifact.id, artifact.ends_at, now, self._ttl_s * 1000, self._key(""), writing]
        try:
            for number, fields in enumerate(_batches(text, about=dump_artifact(artifact))):
                await self._write(artifact.id, [*arguments, int(number == 0), *fields])
        except (asyncio.CancelledError, StoreFull):
            # A turn that is stopped commits without it: no ledger would name it to whoever forgets that turn.
            await self._drop(artifact.id, writing)
            raise
        return artifact

    async def find(self, artifact_id: str) -> Artifact | None:
        """None if it was never kept in this context, was erased, or has aged out."""
        if not _ID.fullmatch(artifact_id):
            return None
        about = await self._redis.call("HGET", self._key(artifact_id), "about")
        return None if about is None else _parse(artifact_id, str(about))

    async def read(self, artifact_id: str, *, start: int, length: int) -> str:
        """That range of its text (characters), reading only the pieces that it touches; "" beyond its end.

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
        """The first places at or after `start` where the text stands, whatever its case; they do not overlap.

        Raises ArtifactGone.
        """
        sought = well_formed(text).casefold()
        found: list[tuple[int, int]] = []
        number, skipped = divmod(max(start, 0), PIECE)
        kept = ""  # where a match may begin that ends in the next pieces
        while sought and len(found) < at_most:
            pieces = await self.pieces(artifact_id, range(number, number + PIECES_AT_ONCE))
            if not pieces:
                break
            window, offset = kept + "".join(pieces)[skipped:], number * PIECE + skipped - len(kept)
            matches = islice(_matches(window, sought), at_most - len(found))
            found += [(offset + first, offset + end) for first, end in matches]
            told = found[-1][1] - offset if found else 0
            kept = window[max(len(window) - len(sought) + 1, told, 0) :]
            number, skipped = number + len(pieces), 0
        return [
            ArtifactMatch(start=first, excerpt=await self._excerpt(artifact_id, first, end))
            for first, end in found
        ]

    async def _write(self, artifact_id: str, arguments: Sequence[str | int | float]) -> None:
        keys = [self._key(artifact_id), artifacts_key(self._ref), epoch_key(self._ref)]
        written = await self._redis.run(load_script("memory.redis.scripts", "keep_artifact"), keys, arguments)
        if written is None:
            raise Forgotten
        if not int(written):
            raise StoreUnavailable(
                "another writer keeps this artifact now, or what was written of it is gone"
            )

    async def _drop(self, artifact_id: str, writing: str) -> None:
        """Erase what this writing left, as far as the store answers; what it does not, ends with its TTL."""
        keys = [self._key(artifact_id), artifacts_key(self._ref)]
        with suppress(MemoryFailure):
            await self._redis.run(
                load_script("memory.redis.scripts", "drop_artifact"), keys, [artifact_id, writing]
            )

    async def pieces(self, artifact_id: str, numbers: Iterable[int]) -> list[str]:
        """Those pieces of a whole artifact, up to its last one. Raises ArtifactGone."""
        about, *pieces = (
            await self._redis.call("HMGET", self._key(artifact_id), "about", *numbers)
            if _ID.fullmatch(artifact_id)
            else [None]
        )
        if about is None:
            raise ArtifactGone(artifact_id)
        return [str(piece) for piece in pieces if piece is not None]

    async def _excerpt(self, artifact_id: str, first: int, end: int) -> str:
        start = max(first - AROUND, 0)
        return await self.read(artifact_id, start=start, length=end + AROUND - start)

    def _key(self, artifact_id: str) -> str:
        return artifact_key(self._ref, artifact_id)


async def drop_unnamed(redis: RedisClient, ref: ContextRef, *, epoch: int) -> int:
    """Erase the artifacts that no turn of the ledger names, and return how many there were.

    They are left by turns that never ended, and by those that began anew: nobody who forgets a message would find them.
    Not while a turn runs that keeps some. Raises Forgotten after a reset.
    """
    script = load_script(
        "memory.redis.scripts", "drop_unnamed_artifacts", ("memory.redis.scripts", "drop_traces")
    )
    keys = [artifacts_key(ref), ledger_key(ref), epoch_key(ref)]
    dropped = await redis.run(script, keys, [epoch, artifact_key(ref, "")])
    if dropped is None:
        raise Forgotten
    return int(dropped)


def check_size(text: str) -> None:
    """Raises ArtifactTooLarge, naming the size and the limit, for a text that no artifact can hold."""
    if 4 * len(text) <= LARGEST_TEXT:
        return
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > LARGEST_TEXT:
        raise ArtifactTooLarge(f"{size} bytes; at most {LARGEST_TEXT} bytes are kept")


def _batches(text: str, *, about: str) -> Iterator[list[str]]:
    """Fields and values for the script, a batch at a time: the pieces, and `about` with the last."""
    step = PIECE * PIECES_AT_ONCE
    for begin in range(0, max(len(text), 1), step):
        fields: list[str] = []
        for start in range(begin, min(begin + step, len(text)), PIECE):
            fields += [str(start // PIECE), text[start : start + PIECE]]
        yield fields if begin + step < len(text) else [*fields, "about", about]


def _matches(window: str, sought: str) -> Iterator[tuple[int, int]]:
    """Where the casefolded text stands: the offsets of its first character and after its last one."""
    folded = window.casefold()
    # Folding makes each character one or more ("ß" becomes "ss"); the offsets are those of the unfolded ones.
    ends = None if len(folded) == len(window) else list(accumulate(len(each.casefold()) for each in window))
    told, at = 0, folded.find(sought)
    while at >= 0:
        after = at + len(sought)
        first, end = (
            (at, after) if ends is None else (bisect_right(ends, at), bisect_right(ends, after - 1) + 1)
        )
        if first >= told:
            told = end
            yield first, end
        at = folded.find(sought, after)


def dump_artifact(artifact: Artifact) -> str:
    """What is known of it beside its text, as it is kept."""
    return json.dumps({"tool": artifact.tool, "length": artifact.length, "ends_at": artifact.ends_at})


def _parse(artifact_id: str, about: str) -> Artifact:
    return Artifact(id=artifact_id, **cast("dict[str, Any]", json.loads(about)))
