"""Takes a context's file in: read beside the memory first, then put in its place by one script, whole or not at all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from memory.artifacts.store import Artifact
from memory.codec import dump_json
from memory.errors import Forgotten, MemoryFailure
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, is_indexed
from memory.history.summary import Summary
from memory.history.talk import HeardLine
from memory.keys import (
    HEARD_TTL_S,
    IMPORT_TTL_S,
    ContextRef,
    artifact_key,
    artifacts_key,
    contexts_key,
    epoch_key,
    heard_key,
    import_key,
    ledger_key,
    lineage_key,
    messages_key,
    meta_key,
    order_key,
    people_key,
    senders_key,
    sessions_key,
    summaries_key,
    telegram_key,
    work_key,
)
from memory.redis.client import RedisClient, load_script
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
"""What one round trip carries at most, but for a single line."""

_TAKEN_OVER: Mapping[str, Callable[[ContextRef], str]] = {
    "messages": messages_key,
    "order": order_key,
    "telegram": telegram_key,
    "meta": meta_key,
    "people": people_key,
    "senders": senders_key,
    "sessions": sessions_key,
    "summaries": summaries_key,
    "lineage": lineage_key,
    "ledger": ledger_key,
    "artifacts": artifacts_key,
}
"""What is staged under which name, and the key whose place it takes; in the order of `place_import`."""
_ONLY_STAGED = ("heard", "indexed", "placed")
"""Staged beside them; `placed` is what that script notes of itself."""

_Command = tuple[str, str, list[str]]
"""A command, the name of the staged key, and its other arguments."""


class ContextOccupied(Exception):
    """Something is kept of the context already."""


class ImportLost(Exception):
    """What was read of the file is not there any more: it took too long, or the store was emptied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What an import has put in: the messages queued for the index, the artifacts that had aged out before."""

    queued: int
    aged_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a file goes: the context, and its entry in the registry (`contexts.dump_entry`).

    `is_other`: the file is another context's, so the Telegram message ids and what was heard stay behind.
    """

    ref: ContextRef
    registered: str
    is_other: bool


@dataclass(slots=True, kw_only=True)
class ContextImport:
    """One import. `token` tells it from others that run at the same time; `now` is Unix seconds."""

    redis: RedisClient
    target: Target
    token: str
    now: float
    aged_out: int = 0
    _artifacts: list[str] = field(default_factory=list[str])
    _quotes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _heard_ends_at: int = 0

    async def stage(self, lines: Iterable[str]) -> None:
        """Read the lines of a checked file (`check_file`) beside the memory. Raises StoreUnavailable and StoreFull."""
        batch: list[_Command] = []
        size = 0
        for _, line in read_body(lines):
            for command in self._commands(line):
                batch.append(command)
                size += sum(map(len, command[2]))
            if len(batch) >= COMMANDS_AT_ONCE or size >= BYTES_AT_ONCE:
                await self._send(batch)
                batch, size = [], 0
        batch += [
            ("HSET", "telegram", [f"q:{name}", " ".join(ids)]) for name, ids in sorted(self._quotes.items())
        ]
        for start in range(0, len(batch), COMMANDS_AT_ONCE):
            await self._send(batch[start : start + COMMANDS_AT_ONCE])

    async def place(self, facts: FileFacts, *, epoch: int) -> Placed:
        """Put it all in place, durably. Raises Forgotten where the context's epoch is another by now, ContextOccupied,
        ImportLost; StoreUnavailable where nobody knows whether it is there: look, and do it again.
        """
        ref, target = self.target.ref, self.target
        pairs = [key for name, live in _TAKEN_OVER.items() for key in (self._staged(name), live(ref))]
        reply = await self.redis.run_durably(
            load_script("memory.redis.scripts", "place_import", ("memory.redis.scripts", "telegram_index")),
            [
                *(contexts_key(ref.partition), work_key(ref.partition), epoch_key(ref), heard_key(ref)),
                *pairs,
                *(self._staged(name) for name in _ONLY_STAGED),
            ],
            [
                *(ref.context_id, epoch, target.registered, int(target.is_other)),
                *(self._staged("artifact:"), artifact_key(ref, ""), self._heard_ends_at),
                *(facts.counts["message"], IMPORT_TTL_S),
            ],
        )
        if reply[0] != "placed":
            raise {"forgotten": Forgotten, "occupied": ContextOccupied}.get(reply[0], ImportLost)
        return Placed(queued=int(reply[1]), aged_out=self.aged_out)

    async def clear_up(self) -> None:
        """Take away what is left of an import that came to nothing; what cannot be, ends with its TTL.

        All at once: a placing that was given up may reach the store yet, and puts in whatever it finds whole.
        """
        names = [*_TAKEN_OVER, *_ONLY_STAGED, *(f"artifact:{each}" for each in self._artifacts)]
        with suppress(MemoryFailure):
            await self.redis.call("UNLINK", *map(self._staged, names))

    def _commands(self, line: BodyLine) -> Iterator[_Command]:
        match line:
            case ContextLine():
                yield (
                    "HSET",
                    "meta",
                    ["next_sequence", "0", *(word for pair in line.meta.items() for word in pair)],
                )
            case MessageLine():
                yield from self._message(line)
            case ArtifactLine():
                yield from self._artifact(line)
            case PieceLine():
                if line.artifact in self._artifacts:
                    yield "HSET", f"artifact:{line.artifact}", [str(line.number), line.text]
            case HeardFileLine():
                yield from self._heard(line)
            case _:
                yield from _commands_of(line)

    def _message(self, line: MessageLine) -> Iterator[_Command]:
        message = _of_another(line.message) if self.target.is_other else line.message
        yield "HSET", "messages", [message.id, dump_json(Message, message)]
        yield "ZADD", "order", [str(line.sequence), message.id]
        if line.telegram_ids:
            ids = [str(each) for each in line.telegram_ids]
            links = [word for each in ids for word in (each, message.id)]
            yield "HSET", "telegram", [*links, message.id, " ".join(ids)]
        if line.quotes is not None:
            self._quotes.setdefault(str(line.quotes), []).append(message.id)
        if line.quoted_by:
            self._quotes.setdefault(message.id, []).extend(line.quoted_by)
        if is_indexed(message):
            yield "ZADD", "indexed", [str(line.sequence), message.id]

    def _artifact(self, line: ArtifactLine) -> Iterator[_Command]:
        """None of one that has aged out since."""
        if line.ends_at <= self.now:
            self.aged_out += 1
            return
        self._artifacts.append(line.id)
        known = Artifact(id=line.id, tool=line.tool, length=line.length, ends_at=line.ends_at)
        yield "HSET", f"artifact:{line.id}", ["about", dump_json(Artifact, known)]
        yield "ZADD", "artifacts", [repr(line.ends_at), line.id]

    def _heard(self, line: HeardFileLine) -> Iterator[_Command]:
        """Talk is found by Telegram's ids, and old talk is none."""
        ends_at = int(min(line.line.sent_at, self.now)) + HEARD_TTL_S
        if self.target.is_other or ends_at <= self.now:
            return
        self._heard_ends_at = max(self._heard_ends_at, ends_at)
        yield "ZADD", "heard", [str(line.score), dump_json(HeardLine, line.line)]

    async def _send(self, batch: Sequence[_Command]) -> None:
        if not batch:
            return
        arguments: list[Any] = [IMPORT_TTL_S]
        for command, _, words in batch:
            arguments += [command, len(words), *words]
        keys = [self._staged(name) for _, name, _ in batch]
        await self.redis.run(load_script("memory.redis.scripts", "stage_import"), keys, arguments)

    def _staged(self, name: str) -> str:
        return import_key(self.target.ref, self.token, name)


def _commands_of(line: LedgerLine | PersonLine | SessionLine | SummaryLine) -> Iterator[_Command]:
    match line:
        case LedgerLine():
            turn = LedgerTurn(
                first_sequence=line.first_sequence, last_sequence=line.last_sequence, entries=line.entries
            )
            yield "ZADD", "ledger", [str(line.last_sequence), dump_json(LedgerTurn, turn)]
        case PersonLine():
            if line.name is not None:
                yield "HSET", "people", [str(line.id), line.name]
            if line.messages is not None:
                yield "HSET", "senders", [str(line.id), str(line.messages)]
        case SessionLine():
            yield "ZADD", "sessions", [str(line.sequence), str(line.sequence)]
        case SummaryLine():
            summary = line.summary
            covers = dump_json(tuple[str, ...], line.covers)
            yield (
                "HSET",
                "summaries",
                [summary.id, dump_json(Summary, summary), f"covers:{summary.id}", covers],
            )
            yield "ZADD", "lineage", [str(line.upto), summary.id]


def _of_another(message: Message) -> Message:
    """The message without Telegram's numbers: in another chat they are other messages'."""
    quote = None if message.quote is None else replace(message.quote, telegram_message_id=0)
    return replace(message, telegram_message_id=None, quote=quote)
