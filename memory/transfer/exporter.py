"""Exports a context as the lines of its file: one epoch at one moment, read in pages."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from memory.artifacts.store import PIECES_AT_ONCE, ArtifactGone, ContextArtifacts
from memory.codec import parse_json
from memory.errors import Forgotten
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.history.summary import Summary
from memory.history.talk import HeardLine
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.transfer.lines import (
    META_FIELDS,
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

PAGE = 500
"""Messages of one round trip."""


class ChangedMeanwhile(Exception):
    """The context changed while it was read: the lines do not belong to one moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """Records of the first round trip: the moment of the file."""

    epoch: str
    revision: str
    meta: dict[str, str]
    people: dict[str, str]
    senders: dict[str, str]
    sessions: Sequence[str]
    summaries: Sequence[str]
    artifacts: Sequence[str]
    heard: Sequence[str]

    @property
    def next_sequence(self) -> int:
        """Return the sequence that all sequences of the file are below."""
        return int(self.meta.get("next_sequence", "0"))


async def export_context(
    redis: RedisClient, ref: ContextRef, *, artifacts: ContextArtifacts
) -> AsyncGenerator[BodyLine]:
    """Yield the body of the context's file, without messages that are appended meanwhile.

    Raises Forgotten after a reset, and ChangedMeanwhile if somebody edits or forgets a message, or an artifact expires:
    begin again then. An empty context has only its own line. Raises StoreUnavailable.
    """
    facts = await _load_facts(redis, ref)
    yield ContextLine(meta={name: facts.meta[name] for name in sorted(facts.meta) if name in META_FIELDS})
    history, after = RedisHistory(redis), -1
    while after < facts.next_sequence - 1:
        page, last = await _page(redis, ref, facts, after=after)
        upto = facts.next_sequence - 1 if last is None else last
        for line in page:
            yield line
        for turn in await history.load_ledger(ref, after_sequence=after, upto_sequence=upto):
            yield LedgerLine(
                first_sequence=turn.first_sequence, last_sequence=turn.last_sequence, entries=turn.entries
            )
        after = upto
    for line in _small_lines(facts):
        yield line
    for artifact_id in sorted(facts.artifacts):
        async for line in _artifact(artifacts, artifact_id):
            yield line
    await _page(redis, ref, facts, after=facts.next_sequence)  # empty: check that the context has not changed


async def _load_facts(redis: RedisClient, ref: ContextRef) -> _Facts:
    reply = await redis.run(export_records(ref))
    epoch, meta, people, senders, sessions, summaries, artifacts, heard = reply
    fields = _pairs(meta)
    return _Facts(
        epoch=str(epoch),
        revision=fields.get("revision", "0"),
        meta=fields,
        people=_pairs(people),
        senders=_pairs(senders),
        sessions=sessions,
        summaries=summaries,
        artifacts=artifacts,
        heard=heard,
    )


async def _page(
    redis: RedisClient, ref: ContextRef, facts: _Facts, *, after: int
) -> tuple[list[MessageLine], int | None]:
    """Read the page after that sequence; return it with its last sequence, which is None if there is no page."""
    call = export_messages(ref, after=after, below=facts.next_sequence, limit=PAGE)
    epoch, revision, rows = await redis.run(call)
    if str(epoch) != facts.epoch:
        raise Forgotten
    if str(revision) != facts.revision:
        raise ChangedMeanwhile
    lines = [
        _message_line(cast("Sequence[str]", rows[at : at + 6]))
        for at in range(0, len(rows), 6)
        if rows[at + 2]
    ]
    return lines, int(float(rows[-5])) if rows else None


def _message_line(row: Sequence[str]) -> MessageLine:
    _, sequence, json, telegram_ids, quotes, quoted_by = row
    number = int(float(sequence))
    return MessageLine(
        sequence=number,
        message=parse_json(Message, json),
        telegram_ids=tuple(int(each) for each in telegram_ids.split()),
        quotes=int(quotes) if quotes else None,
        quoted_by=tuple(quoted_by.split()),
    )


def _small_lines(facts: _Facts) -> list[BodyLine]:
    people = sorted({int(number) for number in (*facts.people, *facts.senders)})
    return [
        *(
            PersonLine(
                id=number,
                name=facts.people.get(str(number)),
                messages=int(facts.senders[str(number)]) if str(number) in facts.senders else None,
            )
            for number in people
        ),
        *(SessionLine(sequence=int(each)) for each in facts.sessions),
        *(
            SummaryLine(
                upto=parse_json(Summary, told).upto_sequence,
                summary=parse_json(Summary, told),
                covers=parse_json(tuple[str, ...], covers),
            )
            for told, covers in zip(facts.summaries[::2], facts.summaries[1::2], strict=True)
            if told
        ),
        *(
            HeardFileLine(score=int(float(score)), line=parse_json(HeardLine, line))
            for line, score in zip(facts.heard[::2], facts.heard[1::2], strict=True)
        ),
    ]


async def _artifact(artifacts: ContextArtifacts, artifact_id: str) -> AsyncGenerator[BodyLine]:
    """Yield the lines of an artifact, or none if it has expired or is incomplete."""
    known = await artifacts.find(artifact_id)
    if known is None:
        return
    count, number = known.pieces, 0
    yield ArtifactLine(id=known.id, tool=known.tool, length=known.length, ends_at=known.ends_at, pieces=count)
    try:
        while number < count:
            for text in await artifacts.pieces(artifact_id, range(number, number + PIECES_AT_ONCE)):
                yield PieceLine(artifact=artifact_id, number=number, text=text)
                number += 1
    except ArtifactGone:
        raise ChangedMeanwhile from None


def _pairs(flat: Sequence[Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in zip(flat[::2], flat[1::2], strict=True)}


@lua_script("memory.redis.scripts")
def export_records(ref: ContextRef) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def export_messages(ref: ContextRef, *, after: int, below: int, limit: int) -> ScriptCall: ...
