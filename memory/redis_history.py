"""The histories in Redis: one atomic script and one round trip for each read or write."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory.errors import Forgotten
from memory.history_store import Erased, HistorySnapshot
from memory.keys import (
    ContextRef,
    contexts_key,
    epoch_key,
    messages_key,
    meta_key,
    order_key,
    telegram_key,
    work_key,
)
from memory.message import CONVERSATION_ROLES, Message, dump_message, parse_message
from memory.redis_client import RedisClient, ScriptCall, load_script

_SCRIPTS = "memory.scripts"

APPEND_PRELUDES = ((_SCRIPTS, "telegram_index"), (_SCRIPTS, "append_messages"))
"""For a script that appends: `read_messages`, `append_messages`, `link_telegram`, `unlink_telegram`."""
CONVERSATION_PRELUDES = ((_SCRIPTS, "start_conversation"),)
"""For a script that begins a conversation: `start_conversation`."""
ERASE_PRELUDES = ((_SCRIPTS, "erase_memory"),)
"""For a script that resets a context: `erase_memory`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentMessages:
    """The epoch of a context now, and those of the wanted messages that are there now."""

    epoch: int
    messages: Mapping[str, Message]


class RedisHistory:
    """HistoryStore on Redis or Valkey."""

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis

    async def load(self, ref: ContextRef, *, limit: int) -> HistorySnapshot:
        """See HistoryStore."""
        (reply,) = await self._redis.run_all([load_call(ref, limit)])
        return parse_snapshot(reply)

    async def append(self, ref: ContextRef, messages: Sequence[Message], *, epoch: int) -> list[Message]:
        """See HistoryStore. The context's created_at is the first message's time."""
        if not messages:
            return []
        now = messages[0].sent_at
        sequences = await self._redis.run(
            load_script(_SCRIPTS, "append", *APPEND_PRELUDES),
            [*append_keys(ref), epoch_key(ref)],
            [ref.context_id, epoch, now, *message_arguments(messages)],
        )
        if sequences is None:
            raise Forgotten
        return [
            replace(message, sequence=int(sequence))
            for message, sequence in zip(messages, sequences, strict=True)
        ]

    async def page(
        self,
        ref: ContextRef,
        *,
        before_sequence: int | None = None,
        after_sequence: int | None = None,
        limit: int,
        whole: bool = False,
    ) -> list[Message]:
        """See HistoryStore."""
        if after_sequence is None:
            direction, bound = "newest", before_sequence
        else:
            direction, bound = "oldest", after_sequence
        (reply,) = await self._redis.run_all([_slice_call(ref, direction, bound, limit=limit, whole=whole)])
        return _parse_messages(reply[6])

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Message]:
        """See HistoryStore."""
        return dict((await self.get_current({ref: ids}))[ref].messages) if ids else {}

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> dict[ContextRef, CurrentMessages]:
        """Messages of several contexts of one partition, with each context's epoch, in one round trip."""
        script = load_script(_SCRIPTS, "get")
        calls = [
            ScriptCall(
                script=script, keys=[messages_key(ref), order_key(ref), epoch_key(ref)], arguments=list(ids)
            )
            for ref, ids in wanted.items()
        ]
        replies = await self._redis.run_all(calls) if calls else []
        return {
            ref: CurrentMessages(
                epoch=int(epoch), messages={message.id: message for message in _parse_messages(rows)}
            )
            for ref, (epoch, rows) in zip(wanted, replies, strict=True)
        }

    async def delete(self, ref: ContextRef, ids: Collection[str], *, epoch: int) -> int:
        """See HistoryStore."""
        if not ids:
            return 0
        deleted = await self._redis.run(
            load_script(_SCRIPTS, "delete", APPEND_PRELUDES[0]),
            [messages_key(ref), order_key(ref), telegram_key(ref), work_key(ref.partition), epoch_key(ref)],
            [ref.context_id, epoch, *ids],
        )
        if deleted is None:
            raise Forgotten
        return int(deleted)

    async def erase(self, ref: ContextRef) -> Erased:
        """See HistoryStore."""
        script = load_script(_SCRIPTS, "clear", *ERASE_PRELUDES)
        epoch, messages = await self._redis.run(script, erase_keys(ref), [ref.context_id])
        return Erased(epoch=int(epoch), messages=int(messages))

    async def start_conversation(self, ref: ContextRef, *, epoch: int) -> int:
        """Reads begin after the present messages from now on; returns the sequence at which they begin."""
        script = load_script(_SCRIPTS, "new_conversation", *CONVERSATION_PRELUDES)
        start = await self._redis.run(script, [meta_key(ref), epoch_key(ref)], [epoch])
        if start is None:
            raise Forgotten
        return int(start)

    async def find_by_telegram(self, ref: ContextRef, telegram_message_id: int) -> str | None:
        """The id of the message that is shown under this Telegram id, if it is kept."""
        found = await self._redis.call("HGET", telegram_key(ref), telegram_message_id)
        return None if found is None else str(found)


def load_call(ref: ContextRef, limit: int) -> ScriptCall:
    """The call whose reply `parse_snapshot` reads, for a round trip that carries more than this."""
    return _slice_call(ref, "newest", None, limit=limit, whole=False)


def parse_snapshot(reply: Sequence[Any]) -> HistorySnapshot:
    """The snapshot in the reply to `load_call`."""
    epoch, count, conversation_count, start, next_sequence, created_at, rows = reply
    return HistorySnapshot(
        epoch=int(epoch),
        count=int(count),
        conversation_count=int(conversation_count),
        conversation_start=int(start),
        next_sequence=int(next_sequence),
        created_at=float(created_at) if created_at else None,
        newest=tuple(reversed(_parse_messages(rows))),
    )


def message_arguments(messages: Sequence[Message]) -> list[str]:
    """Messages as the prelude's `read_messages` reads them from ARGV: their number, then four strings each."""
    arguments = [str(len(messages))]
    for message in messages:
        telegram_id = "" if message.telegram_message_id is None else str(message.telegram_message_id)
        arguments += [message.id, dump_message(message), telegram_id, "1" if is_indexed(message) else "0"]
    return arguments


def is_indexed(message: Message) -> bool:
    """Whether recall can find the message: a user's or an assistant's, with text."""
    return message.role in CONVERSATION_ROLES and bool(message.text.strip())


def append_keys(ref: ContextRef) -> list[str]:
    """The first five arguments of the prelude's `append_messages`."""
    return [messages_key(ref), order_key(ref), telegram_key(ref), meta_key(ref), work_key(ref.partition)]


def erase_keys(ref: ContextRef) -> list[str]:
    """The first seven arguments of the prelude's `erase_memory`."""
    kept = [messages_key(ref), order_key(ref), telegram_key(ref), meta_key(ref), epoch_key(ref)]
    return [*kept, contexts_key(ref.partition), work_key(ref.partition)]


def _slice_call(ref: ContextRef, direction: str, bound: int | None, *, limit: int, whole: bool) -> ScriptCall:
    return ScriptCall(
        script=load_script(_SCRIPTS, "load"),
        keys=[messages_key(ref), order_key(ref), meta_key(ref), epoch_key(ref)],
        arguments=[direction, "" if bound is None else bound, max(limit, 0), "1" if whole else "0"],
    )


def _parse_messages(rows: Sequence[str]) -> list[Message]:
    return [
        parse_message(line, sequence=int(float(sequence)))
        for _, sequence, line in zip(rows[::3], rows[1::3], rows[2::3], strict=True)
    ]
