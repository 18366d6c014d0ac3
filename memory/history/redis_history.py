"""The histories in Redis: one atomic script and one round trip for each read or write."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from memory.errors import Forgotten
from memory.history.heard import HeardLine, parse_heard
from memory.history.ledger import LedgerTurn
from memory.history.ledger_codec import parse_ledger_turn
from memory.history.message import Message, dump_message, is_indexed, parse_message, told_text
from memory.history.sessions import SESSION_GAP_S, SESSION_MESSAGES
from memory.history.store import PEOPLE_LIMIT, CurrentMessages, Deleted, Erased, HistorySnapshot, Kept
from memory.history.summary_codec import parse_summary
from memory.keys import (
    ContextRef,
    artifact_key,
    artifacts_key,
    compress_key,
    contexts_key,
    epoch_key,
    erasures_key,
    heard_key,
    ledger_key,
    lineage_key,
    messages_key,
    meta_key,
    order_key,
    people_key,
    prompts_key,
    senders_key,
    sessions_key,
    summaries_key,
    telegram_key,
    work_key,
)
from memory.redis.client import RedisClient, ScriptCall, load_script

_SCRIPTS = "memory.redis.scripts"

_INDEXES = ((_SCRIPTS, "telegram_index"), (_SCRIPTS, "people"))
APPEND_PRELUDES = (*_INDEXES, (_SCRIPTS, "append_messages"))
"""For a script that appends: `read_messages`, `append_messages`, and those of telegram_index.lua."""
CONVERSATION_PRELUDES = ((_SCRIPTS, "start_conversation"),)
"""For a script that begins a conversation: `start_conversation`."""
ERASE_PRELUDES = ((_SCRIPTS, "erase_memory"),)
"""For a script that resets a context: `erase_memory`."""
_ROWS = (_SCRIPTS, "read_rows")
_TRACES = (_SCRIPTS, "drop_traces")
DELETE_PRELUDES = (_TRACES, (_SCRIPTS, "delete_messages"))
"""For a script that deletes: `delete_messages`; after those of APPEND_PRELUDES, or at least telegram_index and people."""


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
        rows = await self._redis.run(
            load_script(_SCRIPTS, "page", _ROWS),
            [messages_key(ref), order_key(ref), meta_key(ref)],
            [direction, "" if bound is None else bound, max(limit, 0), int(whole)],
        )
        return _parse_messages(rows)

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Message]:
        """See HistoryStore."""
        return dict((await self.get_current({ref: ids}))[ref].messages) if ids else {}

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> dict[ContextRef, CurrentMessages]:
        """Messages of several contexts of one partition, with what is known of them, in one round trip."""
        replies = (
            await self._redis.run_all([_get_call(ref, ids) for ref, ids in wanted.items()]) if wanted else []
        )
        return {ref: _parse_current(reply) for ref, reply in zip(wanted, replies, strict=True)}

    async def around(
        self, ref: ContextRef, sequences: Collection[int], *, reach: int
    ) -> dict[int, list[Message]]:
        """See HistoryStore."""
        if not sequences:
            return {}
        script = load_script(_SCRIPTS, "around", _ROWS)
        keys = [messages_key(ref), order_key(ref), sessions_key(ref)]
        replies = await self._redis.run(script, keys, [max(reach, 0), *sequences])
        return {sequence: _parse_messages(rows) for sequence, rows in zip(sequences, replies, strict=True)}

    async def replace(
        self,
        ref: ContextRef,
        message_id: str,
        *,
        text: str,
        tokens: int,
        edited_at: float,
        epoch: int,
        note: str | None = None,
    ) -> bool:
        """See HistoryStore."""
        while True:
            ((kept_epoch, rows, *_),) = await self._redis.run_all([_get_call(ref, [message_id])])
            if int(kept_epoch) != epoch:
                raise Forgotten
            if not rows:
                return False
            ((found, line),) = zip(_parse_messages(rows), rows[2::3], strict=True)
            note_now = found.note if note is None else note
            edited = replace(found, text=text, note=note_now, tokens=tokens, edited_at=edited_at)
            if edited == found or (found.edited_at is not None and edited_at < found.edited_at):
                return True
            outcome = await self._redis.run(
                load_script(_SCRIPTS, "replace", _INDEXES[0], _TRACES),
                [
                    *(messages_key(ref), order_key(ref), meta_key(ref), work_key(ref.partition)),
                    *(epoch_key(ref), summaries_key(ref), lineage_key(ref), compress_key(ref.partition)),
                    *(ledger_key(ref), artifacts_key(ref), telegram_key(ref), erasures_key(ref.partition)),
                ],
                [
                    *(ref.context_id, epoch, message_id, line, dump_message(edited)),
                    *(int(told_text(edited) != told_text(found)), artifact_key(ref, "")),
                ],
            )
            if outcome is None:
                raise Forgotten
            if outcome == "replaced":
                return True

    async def delete(
        self, ref: ContextRef, ids: Collection[str], *, epoch: int, quoted: Collection[int] = ()
    ) -> Deleted:
        """See HistoryStore."""
        if not ids and not quoted:
            return Deleted()
        reply = await self._redis.run(
            load_script(_SCRIPTS, "delete", *_INDEXES, *DELETE_PRELUDES),
            [*delete_keys(ref), erasures_key(ref.partition)],
            [ref.context_id, epoch, artifact_key(ref, ""), len(ids), *ids, *quoted],
        )
        if reply is None:
            raise Forgotten
        return parse_deleted(reply, ids)

    async def count_kept(self, ref: ContextRef, *, telling: Deleted | None = None) -> Kept:
        """See HistoryStore. Artifacts that have ended are not counted."""
        prefix = artifact_key(ref, "")
        if telling is None:
            script = load_script(_SCRIPTS, "count_kept")
            keys = [
                *(summaries_key(ref), lineage_key(ref), ledger_key(ref), artifacts_key(ref)),
                *(people_key(ref), senders_key(ref), sessions_key(ref), heard_key(ref)),
            ]
            reply = await self._redis.run(script, keys, [prefix])
            summaries, turns, artifacts, people, sessions, heard = reply
            return Kept(
                summaries=summaries,
                ledger_turns=turns,
                artifacts=artifacts,
                people=people,
                sessions=sessions,
                heard=heard,
            )
        script = load_script(_SCRIPTS, "count_telling", _TRACES)
        lists = (telling.sequences, telling.artifact_ids, telling.sender_ids, telling.known_by)
        counted = [part for each in lists for part in (len(each), *each)]
        keys = [
            *(meta_key(ref), lineage_key(ref), ledger_key(ref), people_key(ref), senders_key(ref)),
            *(messages_key(ref), telegram_key(ref)),
        ]
        reply = await self._redis.run(script, keys, [prefix, *counted, *telling.message_ids])
        summaries, turns, artifacts, people, quotes = reply
        return Kept(
            summaries=summaries, ledger_turns=turns, artifacts=artifacts, people=people, quotes=quotes
        )

    async def erase(self, ref: ContextRef) -> Erased:
        """See HistoryStore."""
        script = load_script(_SCRIPTS, "clear", *ERASE_PRELUDES)
        reply = await self._redis.run(script, erase_keys(ref), [ref.context_id, artifact_key(ref, "")])
        epoch, messages, summaries, turns, artifacts, heard = reply
        return Erased(
            epoch=epoch,
            messages=messages,
            summaries=summaries,
            ledger_turns=turns,
            artifacts=artifacts,
            heard=heard,
        )

    async def start_conversation(self, ref: ContextRef, *, epoch: int) -> int:
        """Reads begin after the present messages from now on; returns the sequence at which they begin.

        The summaries of the conversation before, and whom it was transferred to, are dropped.
        """
        script = load_script(_SCRIPTS, "new_conversation", *CONVERSATION_PRELUDES)
        start = await self._redis.run(script, [*conversation_keys(ref), epoch_key(ref)], [epoch])
        if start is None:
            raise Forgotten
        return int(start)

    async def load_ledger(
        self, ref: ContextRef, *, after_sequence: int, upto_sequence: int
    ) -> list[LedgerTurn]:
        """The turns whose last message is after the one sequence and not after the other, oldest first."""
        script = load_script(_SCRIPTS, "load_ledger")
        rows = await self._redis.run(script, [ledger_key(ref)], [after_sequence, upto_sequence])
        return _parse_ledger(rows)

    async def receipts(self, ref: ContextRef) -> list[str]:
        """The receipts of the last turns' prompts as the commits gave them, newest first."""
        return list(await self._redis.call("LRANGE", prompts_key(ref), 0, -1))

    async def find_by_telegram(self, ref: ContextRef, telegram_message_id: int) -> str | None:
        """The id of the message that is shown under this Telegram id, if it is kept."""
        found = await self._redis.call("HGET", telegram_key(ref), telegram_message_id)
        return None if found is None else str(found)


def load_call(ref: ContextRef, limit: int) -> ScriptCall:
    """The call whose reply `parse_snapshot` reads, for a round trip that carries more than this."""
    return ScriptCall(
        script=load_script(_SCRIPTS, "load", _ROWS),
        keys=[
            *(messages_key(ref), order_key(ref), meta_key(ref), epoch_key(ref)),
            *(summaries_key(ref), lineage_key(ref), ledger_key(ref), people_key(ref)),
            heard_key(ref),
        ],
        arguments=[max(limit, 0)],
    )


def parse_snapshot(reply: Sequence[Any]) -> HistorySnapshot:
    """The snapshot in the reply to `load_call`."""
    epoch, count, conversation_count, start, next_sequence, created_at, rows = reply[:7]
    summary, covered_count, turns, active_agent, revision, failed_at, people, heard = reply[7:]
    return HistorySnapshot(
        epoch=int(epoch),
        count=int(count),
        conversation_count=int(conversation_count),
        conversation_start=int(start),
        next_sequence=int(next_sequence),
        created_at=float(created_at) if created_at else None,
        newest=tuple(reversed(_parse_messages(rows))),
        summary=parse_summary(summary) if summary else None,
        covered_count=int(covered_count),
        ledger=tuple(_parse_ledger(turns)),
        active_agent=active_agent,
        revision=int(revision),
        summary_failed_at=int(failed_at) if failed_at else None,
        people=_parse_people(people),
        heard=tuple(_parse_heard(heard)),
    )


def message_arguments(messages: Sequence[Message]) -> list[str]:
    """Messages as the prelude's `read_messages` reads them from ARGV: their number, the limits, seven strings each."""
    arguments = [str(number) for number in (len(messages), PEOPLE_LIMIT, SESSION_GAP_S, SESSION_MESSAGES)]
    for message in messages:
        telegram_id = "" if message.telegram_message_id is None else str(message.telegram_message_id)
        sender_id, name = (str(message.sender.id), message.sender.name) if message.sender else ("", "")
        arguments += [message.id, dump_message(message), telegram_id, "1" if is_indexed(message) else "0"]
        arguments += [str(message.sent_at), sender_id, name]
    return arguments


def append_keys(ref: ContextRef) -> list[str]:
    """The eight keys of the prelude's `append_messages`."""
    return [
        *(messages_key(ref), order_key(ref), telegram_key(ref), meta_key(ref), work_key(ref.partition)),
        *(people_key(ref), senders_key(ref), sessions_key(ref)),
    ]


def delete_keys(ref: ContextRef) -> list[str]:
    """The keys of the prelude's `delete_messages`."""
    return [
        *append_keys(ref),
        *(epoch_key(ref), summaries_key(ref), lineage_key(ref)),
        *(ledger_key(ref), artifacts_key(ref), compress_key(ref.partition)),
    ]


def parse_deleted(reply: Sequence[Any], ids: Collection[str]) -> Deleted:
    """What the prelude's `delete_messages` returned for these ids."""
    messages, summaries, turns, artifacts, sequences, named, senders, quotes, known_by = reply
    return Deleted(
        messages=messages,
        summaries=summaries,
        ledger_turns=turns,
        artifacts=artifacts,
        quotes=quotes,
        sequences=tuple(int(sequence) for sequence in sequences),
        artifact_ids=tuple(named),
        message_ids=tuple(ids) if sequences else (),
        sender_ids=tuple(dict.fromkeys(map(int, senders))),
        known_by=tuple(dict.fromkeys(known_by)) if messages or quotes else (),
    )


def conversation_keys(ref: ContextRef) -> list[str]:
    """The arguments of the prelude's `start_conversation`."""
    return [meta_key(ref), summaries_key(ref), lineage_key(ref)]


def erase_keys(ref: ContextRef) -> list[str]:
    """The keys of the prelude's `erase_memory`, which come first in its script's."""
    return [
        *(messages_key(ref), order_key(ref), telegram_key(ref), meta_key(ref), epoch_key(ref)),
        *(contexts_key(ref.partition), work_key(ref.partition), summaries_key(ref), lineage_key(ref)),
        *(ledger_key(ref), artifacts_key(ref), prompts_key(ref), compress_key(ref.partition)),
        *(people_key(ref), senders_key(ref), sessions_key(ref), heard_key(ref)),
        erasures_key(ref.partition),
    ]


def _get_call(ref: ContextRef, ids: Collection[str]) -> ScriptCall:
    return ScriptCall(
        script=load_script(_SCRIPTS, "get"),
        keys=[messages_key(ref), order_key(ref), epoch_key(ref), people_key(ref), sessions_key(ref)],
        arguments=list(ids),
    )


def _parse_messages(rows: Sequence[str]) -> list[Message]:
    return [
        parse_message(line, sequence=int(float(sequence)))
        for _, sequence, line in zip(rows[::3], rows[1::3], rows[2::3], strict=True)
    ]


def _parse_current(reply: Sequence[Any]) -> CurrentMessages:
    epoch, rows, began, people = reply
    messages = _parse_messages(rows)
    return CurrentMessages(
        epoch=int(epoch),
        messages={message.id: message for message in messages},
        people=_parse_people(people),
        sessions={message.id: int(start) for message, start in zip(messages, began, strict=True)},
    )


def _parse_people(pairs: Sequence[str]) -> dict[int, str]:
    return {int(number): name for number, name in zip(pairs[::2], pairs[1::2], strict=True)}


def _parse_heard(lines: Sequence[str]) -> list[HeardLine]:
    """A line that cannot be read is not told: it is talk, not memory."""
    found: list[HeardLine] = []
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            found.append(parse_heard(line))
    return found


def _parse_ledger(rows: Sequence[str]) -> list[LedgerTurn]:
    return [
        parse_ledger_turn(line, last_sequence=int(float(last)))
        for line, last in zip(rows[::2], rows[1::2], strict=True)
    ]
