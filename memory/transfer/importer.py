"""Imports a context's file: staged next to the memory first, then put in place by one script, whole or not at all."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memory.artifacts.store import Artifact
from memory.codec import dump_json
from memory.errors import Forgotten, MemoryFailure
from memory.history.fact import Fact
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, is_indexed
from memory.history.summary import Summary
from memory.history.talk import TalkLine
from memory.keys import IMPORT_TTL_S, TALK_TTL_S, ContextRef, Key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.reminders.reminder import Reminder, next_date
from memory.transfer import file
from memory.transfer.unearthed import FileGraves

COMMANDS_AT_ONCE = 500
BYTES_AT_ONCE = 1_000_000
"""Limits of one round trip; a single line may be larger."""

_STAGED = (
    *("messages", "order", "telegram", "meta", "people", "senders", "sessions", "summaries", "lineage"),
    *("ledger", "artifacts", "talk", "facts", "choices", "reminders", "unread", "indexed", "placed"),
)
"""Names of the staged keys. `place_import` moves them, and sets `placed` for a repetition after a lost reply."""


Command = tuple[str, ...]
"""Name, staged key and arguments of a Redis command."""


class ContextOccupied(Exception):
    """The context has a memory already."""


class ImportLost(Exception):
    """A staged part of the file is gone: the import took too long, or the store was emptied."""


@dataclass(slots=True, kw_only=True)
class ContextImport:
    """One import into the context `ref`."""

    redis: RedisClient
    ref: ContextRef
    registered: str
    """The context's entry in the registry (`contexts.dump_entry`)."""
    is_other: bool
    """True for another context than the file's: Telegram message ids, talk and reminders are left out."""
    chat_id: int
    """The chat to which reminders are sent."""
    thread_id: int | None
    token: str
    """Separates this import from others that run at the same time."""
    now: float
    """Unix seconds."""
    graves: FileGraves = field(default_factory=FileGraves)
    """What the file would bring back."""
    expired_artifacts: int = 0
    passed_reminders: int = 0
    """Reminders without another date. They are left out: where the file comes from, they may have been sent."""
    _artifacts: list[str] = field(default_factory=list[str])
    _quotes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _talk_ends_at: int = 0
    _is_checked: bool = False

    async def stage(self, lines: Iterable[str]) -> None:
        """Stage the lines of a checked file (`check_file`). Raises StoreUnavailable and StoreFull."""
        staged = self._staged("")
        self._is_checked = self.graves.graves.has_any()
        for batch in _batches(self._all_commands(lines)):
            await self.redis.run(stage_import(self.ref, staged=staged, ttl_s=IMPORT_TTL_S, commands=batch))

    async def place(self, facts: file.FileFacts, *, epoch: int) -> int:
        """Put all staged lines in place, durably, and return the number of messages that are queued for the index.

        Raises Forgotten after a reset, ContextOccupied and ImportLost. After StoreUnavailable the outcome is unknown:
        check it and import again.
        """
        place: dict[str, object] = {
            "context_id": self.ref.context_id,
            "expected_epoch": str(epoch),
            "registered": self.registered,
            "is_other": self.is_other,
            "talk_ends_at": self._talk_ends_at,
            "messages": facts.counts["message"],
            "placed_ttl_s": IMPORT_TTL_S,
            "forgotten": self.graves.messages,
            "unquoted": self.graves.unquoted,
            "forgotten_facts": sorted(self.graves.facts),
        }
        reply = await self.redis.run_durably(place_import(self.ref, staged=self._staged(""), place=place))
        if reply[0] != "placed":
            raise {"forgotten": Forgotten, "occupied": ContextOccupied}.get(reply[0], ImportLost)
        return int(reply[1])

    async def clear_up(self) -> None:
        """Delete what a failed import has staged; the rest ends with its TTL.

        One UNLINK deletes all: a `place_import` whose reply was lost may still run, and would place what is complete.
        """
        names = [*_STAGED, *(f"artifact:{each}" for each in self._artifacts)]
        with suppress(MemoryFailure):
            await self.redis.call("UNLINK", *map(self._staged, names))
            await self.redis.call("INCR", partition_key(self.ref.partition, "erasures"))

    def _all_commands(self, lines: Iterable[str]) -> Iterator[Command]:
        for line in file.read_file(lines):
            yield from self._commands(line)
        for name, ids in sorted(self._quotes.items()):
            yield "HSET", "telegram", f"q:{name}", " ".join(ids)

    def _commands(self, line: file.FileLine) -> Iterator[Command]:
        if self._is_checked and not self.graves.keeps(line):
            return
        match line:
            case file.MessageLine():
                yield from self._message(line)
            case file.ArtifactLine():
                yield from self._artifact(line)
            case file.PieceLine() if line.artifact in self._artifacts:
                yield "HSET", f"artifact:{line.artifact}", str(line.number), line.text
            case file.TalkFileLine():
                yield from self._talk(line)
            case file.ReminderLine():
                yield from self._reminder(line)
            case file.ChoiceLine() if self.is_other and line.value == "on":
                pass  # another chat turns facts on for itself
            case _:
                yield from _commands_of(line)

    def _message(self, line: file.MessageLine) -> Iterator[Command]:
        message = _of_another(line.message) if self.is_other else line.message
        yield "HSET", "messages", message.id, dump_json(Message, message)
        yield "ZADD", "order", str(line.sequence), message.id
        if line.telegram_ids:
            ids = [str(each) for each in line.telegram_ids]
            links = [word for each in ids for word in (each, message.id)]
            yield "HSET", "telegram", *links, message.id, " ".join(ids)
        if line.photos:
            yield "HSET", "telegram", f"photos:{message.id}", " ".join(line.photos)
        if line.quotes is not None:
            self._quotes.setdefault(str(line.quotes), []).append(message.id)
        if line.quoted_by:
            self._quotes.setdefault(message.id, []).extend(line.quoted_by)
        if line.is_unread:
            yield "ZADD", "unread", str(line.sequence), message.id
        if is_indexed(message):
            yield "ZADD", "indexed", str(line.sequence), message.id

    def _artifact(self, line: file.ArtifactLine) -> Iterator[Command]:
        """Yield the commands of an artifact, unless it has expired."""
        if line.ends_at <= self.now:
            self.expired_artifacts += 1
            return
        self._artifacts.append(line.id)
        yield "HSET", f"artifact:{line.id}", "about", dump_json(Artifact, line)
        yield "ZADD", "artifacts", repr(line.ends_at), line.id

    def _talk(self, line: file.TalkFileLine) -> Iterator[Command]:
        """Yield the command of a line of talk, unless it is too old or of another chat."""
        ends_at = int(min(line.line.sent_at, self.now)) + TALK_TTL_S
        if self.is_other or ends_at <= self.now:
            return
        self._talk_ends_at = max(self._talk_ends_at, ends_at)
        yield "ZADD", "talk", str(line.score), dump_json(TalkLine, line.line)

    def _reminder(self, line: file.ReminderLine) -> Iterator[Command]:
        """Yield the command of a reminder with its next date, unless it has none or is of another chat."""
        if self.is_other:
            return
        reminder = replace(line.reminder, chat_id=self.chat_id, thread_id=self.thread_id)
        due_at = next_date(reminder, self.now) if reminder.due_at <= self.now else reminder.due_at
        if due_at is None:
            self.passed_reminders += 1
            return
        yield "HSET", "reminders", reminder.id, dump_json(Reminder, replace(reminder, due_at=due_at))

    def _staged(self, name: str) -> Key:
        return partition_key(self.ref.partition, "import", self.token, name)


def _batches(commands: Iterable[Command]) -> Iterator[list[Command]]:
    batch: list[Command] = []
    size = 0
    for command in commands:
        batch.append(command)
        size += sum(map(len, command))
        if len(batch) >= COMMANDS_AT_ONCE or size >= BYTES_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _commands_of(line: file.FileLine) -> Iterator[Command]:
    match line:
        case file.ContextLine():
            fields = line.model_dump(exclude={"kind"}, exclude_none=True)
            yield "HSET", "meta", *(str(word) for pair in fields.items() for word in pair)
        case file.LedgerLine():
            yield "ZADD", "ledger", str(line.last_sequence), dump_json(LedgerTurn, line)
        case file.PersonLine():
            if line.name is not None:
                yield "HSET", "people", str(line.id), line.name
            if line.messages is not None:
                yield "HSET", "senders", str(line.id), str(line.messages)
        case file.SessionLine():
            yield "ZADD", "sessions", str(line.sequence), str(line.sequence)
        case file.SummaryLine():
            summary, covers = line.summary, dump_json(tuple[str, ...], line.covers)
            yield "HSET", "summaries", summary.id, dump_json(Summary, summary), f"covers:{summary.id}", covers
            yield "ZADD", "lineage", str(summary.upto_sequence), summary.id
        case file.FactLine():
            yield "HSET", "facts", line.fact.id, dump_json(Fact, line.fact)
        case file.ChoiceLine():
            yield "HSET", "choices", line.name, line.value
        case _:  # the header, the end, and pieces of an expired artifact
            return


def _of_another(message: Message) -> Message:
    """Return the message without Telegram ids: in another chat they belong to other messages."""
    quote = None if message.quote is None else replace(message.quote, telegram_message_id=0)
    return replace(message, telegram_message_id=None, quote=quote)


@lua_script("memory.redis.scripts")
def stage_import(ref: ContextRef, *, staged: Key, ttl_s: int, commands: list[Command]) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def place_import(ref: ContextRef, *, staged: Key, place: dict[str, object]) -> ScriptCall: ...
