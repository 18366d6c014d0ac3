"""Imports a context's file: staged next to the memory first, then put in place by one script, whole or not at all."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memory.artifacts.store import Artifact
from memory.codec import dump_json
from memory.errors import Forgotten, MemoryFailure
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, is_indexed
from memory.history.summary import Summary
from memory.history.talk import HeardLine
from memory.keys import HEARD_TTL_S, IMPORT_TTL_S, ContextRef, Key, context_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.transfer.file import FileFacts, read_body
from memory.transfer.lines import (
    ArtifactLine,
    BodyLine,
    ContextLine,
    HeardFileLine,
    LedgerLine,
    MessageLine,
    PersonLine,
    PieceLine,
    SessionLine,
    SummaryLine,
)

COMMANDS_AT_ONCE = 500
BYTES_AT_ONCE = 1_000_000
"""Limits of one round trip; a single line may be larger."""

_STAGED = (
    *("messages", "order", "telegram", "meta", "people", "senders", "sessions", "summaries", "lineage"),
    *("ledger", "artifacts", "heard", "indexed", "placed"),
)
"""Names of the staged keys. `place_import` moves them, and sets `placed` for a repetition after a lost reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedCommand:
    """A command on a staged key."""

    name: str
    key: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Facts that `place_import` checks and writes."""

    context_id: str
    expected_epoch: str
    registered: str
    is_other: bool
    artifact_prefix: str
    heard_ends_at: int
    """Unix seconds at which the heard lines expire."""
    messages: int
    """Number of messages that must be staged."""
    placed_ttl_s: int


class ContextOccupied(Exception):
    """The context has a memory already."""


class ImportLost(Exception):
    """A staged part of the file is gone: the import took too long, or the store was emptied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Result of an import: messages queued for the index, and artifacts that had expired before."""

    queued: int
    aged_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Destination of a file."""

    ref: ContextRef
    registered: str
    """Its entry in the registry (`contexts.dump_entry`)."""
    is_other: bool
    """True for another context than the file's: Telegram message ids and heard lines are left out."""


@dataclass(slots=True, kw_only=True)
class ContextImport:
    """One import. `token` separates it from others that run at the same time; `now` is Unix seconds."""

    redis: RedisClient
    target: Target
    token: str
    now: float
    aged_out: int = 0
    _artifacts: list[str] = field(default_factory=list[str])
    _quotes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _heard_ends_at: int = 0

    async def stage(self, lines: Iterable[str]) -> None:
        """Stage the lines of a checked file (`check_file`). Raises StoreUnavailable and StoreFull."""
        batch: list[StagedCommand] = []
        size = 0
        for _, line in read_body(lines):
            for command in self._commands(line):
                batch.append(command)
                size += sum(map(len, command.arguments))
            if len(batch) >= COMMANDS_AT_ONCE or size >= BYTES_AT_ONCE:
                await self._send(batch)
                batch, size = [], 0
        batch += [
            _command("HSET", "telegram", f"q:{name}", " ".join(ids))
            for name, ids in sorted(self._quotes.items())
        ]
        for start in range(0, len(batch), COMMANDS_AT_ONCE):
            await self._send(batch[start : start + COMMANDS_AT_ONCE])

    async def place(self, facts: FileFacts, *, epoch: int) -> Placed:
        """Put all staged lines in place, durably.

        Raises Forgotten after a reset, ContextOccupied and ImportLost. After StoreUnavailable the outcome is unknown:
        check it and import again.
        """
        ref, target = self.target.ref, self.target
        place = Placement(
            context_id=ref.context_id,
            expected_epoch=str(epoch),
            registered=target.registered,
            is_other=target.is_other,
            artifact_prefix=context_key(ref, "artifact", ""),
            heard_ends_at=self._heard_ends_at,
            messages=facts.counts["message"],
            placed_ttl_s=IMPORT_TTL_S,
        )
        reply = await self.redis.run_durably(place_import(ref, staged=self._staged(""), place=place))
        if reply[0] != "placed":
            raise {"forgotten": Forgotten, "occupied": ContextOccupied}.get(reply[0], ImportLost)
        return Placed(queued=int(reply[1]), aged_out=self.aged_out)

    async def clear_up(self) -> None:
        """Delete what a failed import has staged; the rest ends with its TTL.

        One command deletes all: a `place_import` whose reply was lost may still run, and would place what is complete.
        """
        names = [*_STAGED, *(f"artifact:{each}" for each in self._artifacts)]
        with suppress(MemoryFailure):
            await self.redis.call("UNLINK", *map(self._staged, names))

    def _commands(self, line: BodyLine) -> Iterator[StagedCommand]:
        match line:
            case ContextLine():
                words = [word for pair in line.meta.items() for word in pair]
                yield _command("HSET", "meta", "next_sequence", "0", *words)
            case MessageLine():
                yield from self._message(line)
            case ArtifactLine():
                yield from self._artifact(line)
            case PieceLine():
                if line.artifact in self._artifacts:
                    yield _command("HSET", f"artifact:{line.artifact}", str(line.number), line.text)
            case HeardFileLine():
                yield from self._heard(line)
            case _:
                yield from _commands_of(line)

    def _message(self, line: MessageLine) -> Iterator[StagedCommand]:
        message = _of_another(line.message) if self.target.is_other else line.message
        yield _command("HSET", "messages", message.id, dump_json(Message, message))
        yield _command("ZADD", "order", str(line.sequence), message.id)
        if line.telegram_ids:
            ids = [str(each) for each in line.telegram_ids]
            links = [word for each in ids for word in (each, message.id)]
            yield _command("HSET", "telegram", *links, message.id, " ".join(ids))
        if line.quotes is not None:
            self._quotes.setdefault(str(line.quotes), []).append(message.id)
        if line.quoted_by:
            self._quotes.setdefault(message.id, []).extend(line.quoted_by)
        if is_indexed(message):
            yield _command("ZADD", "indexed", str(line.sequence), message.id)

    def _artifact(self, line: ArtifactLine) -> Iterator[StagedCommand]:
        """Yield the commands of an artifact, unless it has expired."""
        if line.ends_at <= self.now:
            self.aged_out += 1
            return
        self._artifacts.append(line.id)
        known = Artifact(id=line.id, tool=line.tool, length=line.length, ends_at=line.ends_at)
        yield _command("HSET", f"artifact:{line.id}", "about", dump_json(Artifact, known))
        yield _command("ZADD", "artifacts", repr(line.ends_at), line.id)

    def _heard(self, line: HeardFileLine) -> Iterator[StagedCommand]:
        """Yield the command of a heard line, unless it is too old or of another chat."""
        ends_at = int(min(line.line.sent_at, self.now)) + HEARD_TTL_S
        if self.target.is_other or ends_at <= self.now:
            return
        self._heard_ends_at = max(self._heard_ends_at, ends_at)
        yield _command("ZADD", "heard", str(line.score), dump_json(HeardLine, line.line))

    async def _send(self, batch: Sequence[StagedCommand]) -> None:
        if batch:
            call = stage_import(
                self.target.ref, staged=self._staged(""), ttl_s=IMPORT_TTL_S, commands=tuple(batch)
            )
            await self.redis.run(call)

    def _staged(self, name: str) -> Key:
        return partition_key(self.target.ref.partition, "import", self.token, name)


def _commands_of(line: LedgerLine | PersonLine | SessionLine | SummaryLine) -> Iterator[StagedCommand]:
    match line:
        case LedgerLine():
            turn = LedgerTurn(
                first_sequence=line.first_sequence, last_sequence=line.last_sequence, entries=line.entries
            )
            yield _command("ZADD", "ledger", str(line.last_sequence), dump_json(LedgerTurn, turn))
        case PersonLine():
            if line.name is not None:
                yield _command("HSET", "people", str(line.id), line.name)
            if line.messages is not None:
                yield _command("HSET", "senders", str(line.id), str(line.messages))
        case SessionLine():
            yield _command("ZADD", "sessions", str(line.sequence), str(line.sequence))
        case SummaryLine():
            summary = line.summary
            covers = dump_json(tuple[str, ...], line.covers)
            text = dump_json(Summary, summary)
            yield _command("HSET", "summaries", summary.id, text, f"covers:{summary.id}", covers)
            yield _command("ZADD", "lineage", str(line.upto), summary.id)


def _of_another(message: Message) -> Message:
    """Return the message without Telegram ids: in another chat they belong to other messages."""
    quote = None if message.quote is None else replace(message.quote, telegram_message_id=0)
    return replace(message, telegram_message_id=None, quote=quote)


def _command(name: str, key: str, *arguments: str) -> StagedCommand:
    return StagedCommand(name=name, key=key, arguments=arguments)


@lua_script("memory.redis.scripts")
def stage_import(
    ref: ContextRef, *, staged: Key, ttl_s: int, commands: tuple[StagedCommand, ...]
) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def place_import(ref: ContextRef, *, staged: Key, place: Placement) -> ScriptCall: ...
