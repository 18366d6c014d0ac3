"""Checks a backup, and puts its keys into empty stores."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import groupby, islice
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from memory.codec import dump_json, parse_json
from memory.keys import Key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.redis.store_format import STORE_FORMAT
from memory.reminders.recurrence import next_date
from memory.reminders.reminder import Reminder
from memory.transfer.backup import (
    OF_PARTITIONS,
    OF_THE_BOT,
    Complete,
    Head,
    KeyLine,
    count_entries,
    scan_contexts,
)
from memory.transfer.file import BadFile

LINES_AT_ONCE = 64

_LINE: TypeAdapter[Head | KeyLine | Complete] = TypeAdapter(
    Annotated[Head | KeyLine | Complete, Field(discriminator="kind")]
)
_END = '{"kind":"complete"'


class StoresInUse(Exception):
    """The stores have a memory already, or another restore has begun there. The message says which."""


def check_backup(lines: Iterable[str]) -> tuple[Head, Complete]:
    """Return the ends of a whole backup. Raises BadFile with the mistake."""
    digest, counts = hashlib.sha256(), Counter[str]()
    head: Head | None = None
    end: Complete | None = None
    for text in lines:
        line = _parse(text, is_first=head is None)
        if end is not None:
            raise BadFile("something follows the end of the backup")
        match line:
            case Head() if head is None:
                head = line
            case KeyLine() if head is not None and line.partition < head.partitions:
                counts[line.name] += count_entries(line)
            case Complete():
                end = line
                continue
            case _:
                raise BadFile("the lines are not in their order")
        digest.update(text.encode())
    if head is None or end is None:
        raise BadFile("the backup breaks off: its end is missing")
    if (end.sha256, end.counts) != (digest.hexdigest(), counts):
        raise BadFile("the backup was changed or damaged: its SHA-256 is another one")
    return head, end


def _parse(text: str, *, is_first: bool) -> Head | KeyLine | Complete:
    """Raise BadFile without the value, which must not end up in a terminal."""
    try:
        line = _LINE.validate_json(text)
        if isinstance(line, KeyLine):
            _ = line.key
    except (ValidationError, ValueError):
        line = None
    match line:
        case Head(store=store) if store != STORE_FORMAT:
            raise BadFile(f"the backup is of a store of format {store}, and this build needs {STORE_FORMAT}")
        case Head() if is_first:
            return line
        case _ if is_first:
            raise BadFile("this is not a backup of Mnemogram")
        case None if not text.endswith("\n"):
            raise BadFile("the backup breaks off: its end is missing")
        case None:
            raise BadFile("a line is none of ours")
        case _:
            return line


@dataclass(slots=True)
class Restore:
    """One run. It can be repeated after a crash; until it is complete, nothing else opens the store."""

    redis: RedisClient
    _: KW_ONLY
    partitions: int
    clock: Callable[[], float]
    notify: Callable[[int], None]
    """Called with the number of entries that are done."""
    expired_artifacts: set[str] = field(default_factory=set[str])
    passed_reminders: int = 0
    """Reminders without another date. They are left out: they may have been sent."""

    async def begin(self, end: Complete) -> None:
        """Note that this backup is being restored. Raises StoresInUse, and has written nothing then."""
        key = global_key("restoring")
        begun = await self.redis.call("GET", key)
        if begun is None and await self._has_memory():
            raise StoresInUse("The stores are not empty")
        if begun not in (None, end.sha256):
            raise StoresInUse("The restore of another backup has begun there and is not complete")
        await self.redis.run_durably(
            restore_key(record=key, kind="string", ends_at=None, values=[end.sha256])
        )

    async def run(self, lines: Iterable[str]) -> None:
        """Restore the lines of a checked backup that `begin` has noted. Raises the store's errors."""
        done, of_keys = 0, (_LINE.validate_json(text) for text in lines)
        for _, same in groupby((line for line in of_keys if isinstance(line, KeyLine)), key=_slot_of):
            while batch := list(islice(same, LINES_AT_ONCE)):
                calls = [call for line in batch for call in self._calls(line)]
                for reply in await self.redis.run_all_durably(calls) if calls else ():
                    if isinstance(reply, Exception):
                        raise reply
                done += sum(map(count_entries, batch))
                self.notify(done)
        await self.redis.call("DEL", global_key("restoring"))

    async def _has_memory(self) -> bool:
        names = [global_key(name) for name in OF_THE_BOT]
        names += [partition_key(each, name) for name in OF_PARTITIONS for each in range(self.partitions)]
        for name in names:
            if int(await self.redis.call("EXISTS", name)):
                return True
        async for _ in scan_contexts(self.redis, self.partitions):
            return True
        return False

    def _calls(self, line: KeyLine) -> Iterator[ScriptCall]:
        """Yield the writes of a line, with those of the keys that are made from it."""
        if line.ends_at is not None and line.ends_at <= self.clock() * 1000:
            if line.name == "artifact":
                self.expired_artifacts.add(line.part)
            return
        values = line.values
        match line.name:
            case "unread":
                waiting = partition_key(line.partition, "extract")
                yield restore_key(record=waiting, kind="zset", ends_at=None, values=[line.context, "0"])
            case "reminders":
                values, dates = self._coming(line)
                due = partition_key(line.partition, "due")
                yield restore_key(record=due, kind="zset", ends_at=None, values=dates)
            case _:
                pass
        yield restore_key(record=line.key, kind=line.type, ends_at=line.ends_at, values=values)

    def _coming(self, line: KeyLine) -> tuple[list[str], list[str]]:
        """Return the reminders with their next dates, and their entries in `due`."""
        now, kept, dates = self.clock(), list[str](), list[str]()
        for text in line.values[1::2]:
            reminder = parse_json(Reminder, text)
            due_at = next_date(reminder, now) if reminder.due_at <= now else reminder.due_at
            if due_at is None:
                self.passed_reminders += 1
                continue
            kept += [reminder.id, dump_json(Reminder, replace(reminder, due_at=due_at))]
            dates += [f"{line.context} {reminder.id}", repr(due_at)]
        return kept, dates


def _slot_of(line: KeyLine) -> str:
    return str(line.partition) if line.context or line.name in OF_PARTITIONS else line.key


@lua_script("memory.redis.scripts")
def restore_key(*, record: Key, kind: str, ends_at: int | None, values: list[str]) -> ScriptCall: ...
