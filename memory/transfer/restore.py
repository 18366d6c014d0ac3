"""Puts a checked backup into empty stores, context by context. A run after a crash continues."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import chain, islice
from typing import Final
from uuid import uuid4

from memory.history.contexts import dump_entry
from memory.keys import ContextRef, Key, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.transfer import file
from memory.transfer.backup import scan_choices
from memory.transfer.backup_file import BackupFacts, RecordLine, Section, read_parts, section_header
from memory.transfer.importer import ContextImport, ContextOccupied

_RECORDS: Final = ("migrations", "zones", "{access}:guests", "{access}:open")


class StoresInUse(Exception):
    """The stores have a memory already, or another restore has begun there. The message says which."""


@dataclass(slots=True)
class Restore:
    """One run, with its counts."""

    redis: RedisClient
    _: KW_ONLY
    partitions: int
    clock: Callable[[], float]
    notify: Callable[[int], None]
    """Called with the number of chats that are done."""
    restored: int = 0
    kept: int = 0
    """Contexts that an earlier run has restored."""
    queued: int = 0
    """Messages that wait for the index."""
    expired_artifacts: int = 0
    passed_reminders: int = 0

    async def begin(self, facts: BackupFacts) -> None:
        """Note that this backup is being restored. Raises StoresInUse, and has written nothing then."""
        sha256 = facts.complete.sha256
        begun = await self.redis.call("HKEYS", global_key("restoring"))
        if begun and list(begun) != [sha256]:
            raise StoresInUse("The restore of another backup has begun there and is not complete")
        if not begun:
            if await self._has_memory():
                raise StoresInUse("The stores are not empty")
            fields = [sha256, str(self.clock())]
            await self.redis.run_durably(restore_fields(record=global_key("restoring"), rest=fields))

    async def run(self, lines: Iterator[str]) -> None:
        """Restore the lines of a backup that `begin` has noted.

        Raises StoresInUse for a chat that has another memory, ImportLost and the store's errors: then a later run
        continues.
        """
        for part in read_parts(lines):
            match part:
                case RecordLine():
                    await self._put_record(part)
                case Iterator():
                    await self._put_context(part)
                    self.notify(self.restored + self.kept)
                case _:
                    pass
        await self.redis.call("DEL", global_key("restoring"))

    async def _has_memory(self) -> bool:
        names = [global_key(name) for name in _RECORDS]
        names += [partition_key(partition, "contexts") for partition in range(self.partitions)]
        for name in names:
            if int(await self.redis.call("EXISTS", name)):
                return True
        async for _ in scan_choices(self.redis, self.partitions):
            return True
        return False

    async def _put_record(self, line: RecordLine) -> None:
        if line.name == "{access}:open":
            await self._put_invitations(line)
            return
        ref = ContextRef(context_id=line.context, partition=line.partition)
        record = context_key(ref, "choices") if line.name == "choices" else global_key(line.name)
        fields = list(chain.from_iterable(line.fields.items()))
        await self.redis.run_durably(restore_fields(record=record, rest=fields))

    async def _put_invitations(self, line: RecordLine) -> None:
        """Put the invitations that are not too old, each until its own end."""
        unused = global_key("{access}:open")
        for digest, ends_at in line.fields.items():
            left = int(float(ends_at) - self.clock())
            if left > 0:
                await self.redis.calls(
                    [
                        ("SET", global_key("{access}:invitation", digest), "", "EX", left),
                        ("ZADD", unused, ends_at, digest),
                        ("EXPIRE", unused, left, "NX"),
                        ("EXPIRE", unused, left, "GT"),
                    ]
                )

    async def _put_context(self, section: Section) -> None:
        """Put a context in its place, unless an earlier run has done so. Its first message tells."""
        first = list(islice(section, 3))
        header = section_header(first[0])
        ref = ContextRef(context_id=header.context, partition=header.partition)
        if await self._has_first_message(ref, first[2]):
            self.kept += 1
            return
        staged = self._importing(header, ref)
        last = deque[str](first, maxlen=1)
        try:
            await staged.stage(_remember_last(chain(first, section), last))
            end = file.EndLine.model_validate_json(last[0])
            context = file.ContextLine.model_validate_json(first[1])
            facts = file.FileFacts(header=header, context=context, counts=end.counts)
            self.queued += await staged.place(facts, epoch=await self._epoch(ref))
        except ContextOccupied:
            name = header.chat or header.context
            raise StoresInUse(f"Chat {name} has a memory there that is not of this backup") from None
        finally:
            await staged.clear_up()
        self.restored += 1
        self.expired_artifacts += staged.expired_artifacts
        self.passed_reminders += staged.passed_reminders

    def _importing(self, header: file.Header, ref: ContextRef) -> ContextImport:
        chat, _, thread = header.chat.partition("/")
        now = self.clock()
        entry = dump_entry(header.keys, title=header.title, created_at=header.registered_at or now)
        return ContextImport(
            redis=self.redis,
            ref=ref,
            registered=entry,
            is_other=False,
            chat_id=int(chat or 0),
            thread_id=int(thread) if thread else None,
            token=uuid4().hex,
            now=now,
        )

    async def _has_first_message(self, ref: ContextRef, line: str) -> bool:
        if not line.startswith('{"kind":"message"'):
            return False
        message = file.MessageLine.model_validate_json(line).message
        return bool(int(await self.redis.call("HEXISTS", context_key(ref, "messages"), message.id)))

    async def _epoch(self, ref: ContextRef) -> int:
        return int(await self.redis.call("GET", context_key(ref, "epoch")) or 0)


def _remember_last(lines: Iterator[str], last: deque[str]) -> Iterator[str]:
    for line in lines:
        last.append(line)
        yield line


@lua_script("memory.redis.scripts")
def restore_fields(*, record: Key, rest: list[str]) -> ScriptCall: ...
