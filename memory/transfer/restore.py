"""Checks a backup, and puts its keys into empty stores."""

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import groupby, islice
from typing import Annotated, cast

from pydantic import Field, TypeAdapter, ValidationError

from memory.codec import dump_json, parse_json
from memory.facts.redis_facts import RedisFacts
from memory.history.redis_history import RedisHistory
from memory.keys import CONTEXT_KEYS, ContextName, ContextRef, Key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.durability import STORE_FORMAT
from memory.redis.lua import ScriptCall, lua_script
from memory.reminders.reminder import Reminder, next_date
from memory.tombstones import Graveyard, load_graveyard, load_secret
from memory.transfer.backup import (
    IN_PARTITIONS,
    OF_PARTITIONS,
    OF_THE_BOT,
    Complete,
    Head,
    KeyLine,
    count_entries,
    scan_contexts,
)
from memory.transfer.file import BadFile
from memory.transfer.unearthed import Gravedigger

LINES_AT_ONCE = 64
ERASED_AT_ONCE = 200

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
    forget_person: Callable[[ContextRef, int, float], Awaitable[int]]
    """Forgets in a context what a person had said until that time; returns the number of messages."""
    expire: Callable[[ContextRef], Awaitable[int]]
    """Drops what is too old to be kept from a context; returns the number of messages."""
    expired_artifacts: set[str] = field(default_factory=set[str])
    passed_reminders: int = 0
    """Reminders without another date. They are left out: they may have been sent."""
    reset_contexts: set[str] = field(default_factory=set[str])
    """Contexts that were reset since. Only what outlives a reset is restored of them."""
    forgotten: int = 0
    """Messages that were forgotten since."""
    expired: int = 0
    """Messages that were too old to be kept."""
    _graves: Graveyard = field(default_factory=Graveyard)
    _digger: Gravedigger | None = None
    """None if nothing was erased since."""
    _secret: bytes = b""

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
        """Restore the lines of a checked backup that `begin` has noted. Raises the store's errors.

        What was erased since the backup is left out, or erased again before anybody can read it. So is what is too old.
        """
        self._graves = await load_graveyard(self.redis, range(self.partitions))
        done, of_keys = 0, (_LINE.validate_json(text) for text in lines)
        for _, same in groupby((line for line in of_keys if isinstance(line, KeyLine)), key=_slot_of):
            while batch := list(islice(same, LINES_AT_ONCE)):
                calls = [call for line in batch for call in self._calls(line)]
                for reply in await self.redis.run_all_durably(calls) if calls else ():
                    if isinstance(reply, Exception):
                        raise reply
                done += sum(map(count_entries, batch))
                self.notify(done)
        await self._bury_again()
        for ref in {each async for each in scan_contexts(self.redis, self.partitions)}:
            self.expired += await self.expire(ref)
        await self.redis.call("DEL", global_key("restoring"))

    async def _bury_again(self) -> None:
        """Put the later tombstones of this installation into the store, and erase what they name."""
        secret = await load_secret(self.redis)
        for each in self._graves.plots.get(secret, {}).values():
            key = partition_key(each.partition, "tombstones")
            await self.redis.call("ZADD", key, "GT", f"{each.at:.6f}", each.name)
        history, facts = RedisHistory(self.redis), RedisFacts(self.redis, clock=self.clock)
        for ref, found in (self._digger.found if self._digger else {}).items():
            epoch = (await history.load(ref, limit=0)).epoch
            for start in range(0, len(found.messages), ERASED_AT_ONCE):
                ids = found.messages[start : start + ERASED_AT_ONCE]
                self.forgotten += (await history.delete(ref, ids, epoch=epoch)).messages
            if found.quoted:
                await history.delete(ref, (), epoch=epoch, quoted=found.quoted)
            if found.facts:
                await facts.erase(ref, found.facts, epoch=epoch)
            for person, until in found.people.items():
                self.forgotten += await self.forget_person(ref, person, until)

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
        values = self._without_erased(line)
        if not values:
            return
        match line.name:
            case "unread":
                waiting = partition_key(line.partition, "extract")
                yield restore_key(record=waiting, kind="zset", ends_at=None, values=[line.context, "0"])
            case "reminders":
                values, dates = self._coming(line)
                if not values:
                    return
                due = partition_key(line.partition, "due")
                yield restore_key(record=due, kind="zset", ends_at=None, values=dates)
            case _:
                pass
        yield restore_key(record=line.key, kind=line.type, ends_at=line.ends_at, values=values)

    def _without_erased(self, line: KeyLine) -> list[str]:
        """Return the values of a line without what was erased since; notes what is erased again later."""
        values = line.values
        if line.name == "tombstones":
            pairs = zip(values[::2], values[1::2], strict=True)
            self._graves.carried |= {name: float(at) for name, at in pairs}
            return values
        if line.name == "secret":
            return values
        if self._digger is None and self._graves.has_any():
            self._digger = Gravedigger(graves=self._graves)
        if self._digger is None:
            return values
        if line.context and self._was_reset(line.context):
            return _outliving(line)
        if line.context:
            return self._digger.look(line.ref, line.name, values)
        pairs = zip(values[::2], values[1::2], strict=True) if line.type != "string" else ()
        if line.name == "contexts":
            return [each for pair in pairs if not self._was_reset(pair[0]) for each in pair]
        if line.name == "zones":
            return [each for pair in pairs if not self._digger.is_forgotten(pair[0]) for each in pair]
        return values

    def _was_reset(self, context: str) -> bool:
        if context not in self.reset_contexts and self._graves.has_later("reset", "replaced", of=context):
            self.reset_contexts.add(context)
        return context in self.reset_contexts

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
    return str(line.partition) if line.context or line.name in IN_PARTITIONS else line.key


def _outliving(line: KeyLine) -> list[str]:
    """Return the values of a key of a context that was reset since: of few keys, with another epoch."""
    if line.name == "epoch":
        return [str(int(line.values[0]) + 1)]
    return line.values if CONTEXT_KEYS[cast("ContextName", line.name)].outlives_resets else []


@lua_script("memory.redis.scripts")
def restore_key(*, record: Key, kind: str, ends_at: int | None, values: list[str]) -> ScriptCall: ...
