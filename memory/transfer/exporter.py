"""Exports a context as the lines of its file: one epoch at one moment, read in pages."""

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TextIO

from memory.artifacts.store import PIECES_AT_ONCE, ArtifactGone, ContextArtifacts
from memory.codec import parse_json
from memory.errors import Forgotten
from memory.history.redis_history import RedisHistory
from memory.history.store import BEFORE_ALL
from memory.keys import ContextName, ContextRef, context_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script, named
from memory.transfer import file
from memory.transfer.backup import read_keys

TRIES = 5
"""Attempts to read a context that is edited during the export."""
_SINCE = "facts_since:"
"""Fields of the context's meta, each with the sender's id after it."""
PAGE = 500
"""Messages of one round trip."""
_RECORDS: tuple[ContextName, ...] = (
    *("epoch", "meta", "people", "senders", "sessions", "lineage", "summaries", "artifacts", "talk"),
    *("facts", "choices", "reminders"),
)
"""Keys of a context that are read at one moment, before its messages."""


class ChangedMeanwhile(Exception):
    """The context changed while it was read: the lines do not belong to one moment."""


class ExportTooLarge(Exception):
    """The file would be larger than its reader takes."""


async def write_export(
    redis: RedisClient,
    ref: ContextRef,
    stream: TextIO,
    *,
    header: file.Header,
    clock: Callable[[], float],
    largest: int | None = None,
) -> file.Seal:
    """Write the whole file of a context, and return its seal, which has the counts.

    A context that is edited meanwhile is read again, at most TRIES times. Raises ChangedMeanwhile, Forgotten after a
    reset, ExportTooLarge beyond `largest` bytes, and StoreUnavailable.
    """
    artifacts = ContextArtifacts(redis, ref, epoch=lambda: 0, clock=clock, ttl_s=0, keep_beyond=0)
    for _ in range(TRIES):
        stream.seek(0)
        stream.truncate()
        size = stream.write(file.dump_line(header) + "\n")
        seal = file.Seal()
        try:
            async for line in export_context(redis, ref, artifacts=artifacts):
                text = file.dump_line(line)
                seal.take(line.kind, text)
                size += stream.write(text + "\n")
                if largest is not None and size > largest:
                    raise ExportTooLarge
        except ChangedMeanwhile:
            continue
        stream.write(file.dump_line(seal.end()) + "\n")
        return seal
    raise ChangedMeanwhile


async def export_context(
    redis: RedisClient, ref: ContextRef, *, artifacts: ContextArtifacts
) -> AsyncGenerator[file.BodyLine]:
    """Yield the body of the context's file, without messages that are appended meanwhile.

    Raises Forgotten after a reset, and ChangedMeanwhile if somebody edits or forgets a message, or an artifact expires:
    begin again then. An empty context has only its own line. Raises StoreUnavailable.
    """
    first, *others = [context_key(ref, name) for name in _RECORDS]
    replies = await redis.run(read_keys(first=first, others=others))
    records: dict[str, list[str]] = {name: reply[2] for name, reply in zip(_RECORDS, replies, strict=True)}
    meta = named(records["meta"])
    moment = ("".join(records["epoch"]) or "0", meta.get("revision", "0"), meta.get("facts_version", "0"))
    since = {name: int(value) for name, value in meta.items() if name.startswith(_SINCE)}
    if since:  # the file does not tell whose messages stay unread, so older ones are not read
        meta["facts_from"] = meta.get("first_sequence", "0")
    context = parse_json(file.ContextLine, json.dumps(meta))
    yield context
    history, after, below = RedisHistory(redis), BEFORE_ALL, context.next_sequence
    while after < below - 1:
        rows = await _load_rows(redis, ref, moment, after=after, below=below)
        upto = int(float(rows[-1]["score"])) if rows else below - 1
        for row in rows:
            if "json" in row:
                yield _message_line(row, since)
        for turn in await history.load_ledger(ref, after_sequence=after, upto_sequence=upto):
            yield file.LedgerLine(
                first_sequence=turn.first_sequence, last_sequence=turn.last_sequence, entries=turn.entries
            )
        after = upto
    for line in _small_lines(records):
        yield line
    for artifact_id in sorted(records["artifacts"][::2]):
        async for line in _artifact_lines(artifacts, artifact_id):
            yield line
    for text, score in named(records["talk"]).items():
        yield file.TalkFileLine(score=int(float(score)), line=parse_json(file.FileTalk, text))
    await _load_rows(
        redis, ref, moment, after=below, below=below
    )  # empty: check that the context has not changed


async def _load_rows(
    redis: RedisClient, ref: ContextRef, moment: tuple[str, str, str], *, after: int, below: int
) -> list[dict[str, str]]:
    """Read the page of messages after that sequence. Raises Forgotten and ChangedMeanwhile if its moment is another."""
    *now, rows = await redis.run(export_messages(ref, after=after, below=below, limit=PAGE))
    if str(now[0]) != moment[0]:
        raise Forgotten
    if tuple(map(str, now)) != moment:
        raise ChangedMeanwhile
    return list(map(named, rows))


def _message_line(row: Mapping[str, str], since: Mapping[str, int]) -> file.MessageLine:
    """Return the line of a message. `since` has the first sequence that may be read of some senders."""
    sequence, message = int(float(row["score"])), parse_json(file.FileMessage, row["json"])
    first = since.get(f"{_SINCE}{message.sender.id}", 0) if message.sender else 0
    return file.MessageLine(
        sequence=sequence,
        message=message,
        is_unread="is_unread" in row and sequence >= first,
        telegram_ids=tuple(map(int, row.get("telegram_ids", "").split())),
        quotes=int(row["quotes"]) if "quotes" in row else None,
        quoted_by=tuple(row.get("quoted_by", "").split()),
        photos=tuple(row.get("photos", "").split()),
    )


def _small_lines(records: Mapping[str, Sequence[str]]) -> Iterator[file.BodyLine]:
    names, counts = named(records["people"]), named(records["senders"])
    for number in sorted({*names, *counts}, key=int):
        messages = int(counts[number]) if number in counts else None
        yield file.PersonLine(id=int(number), name=names.get(number), messages=messages)
    for sequence in records["sessions"][::2]:
        yield file.SessionLine(sequence=int(sequence))
    summaries = named(records["summaries"])
    for each in records["lineage"][::2]:
        if each in summaries:
            summary = parse_json(file.FileSummary, summaries[each])
            covers = parse_json(tuple[str, ...], summaries.get(f"covers:{each}", "[]"))
            yield file.SummaryLine(summary=summary, covers=covers)
    for _, text in sorted(named(records["facts"]).items()):
        yield file.FactLine(fact=parse_json(file.FileFact, text))
    for name, value in sorted(named(records["choices"]).items()):
        yield parse_json(file.ChoiceLine, json.dumps({"name": name, "value": value}))
    for _, text in sorted(named(records["reminders"]).items()):
        yield file.ReminderLine(reminder=parse_json(file.FileReminder, text))


async def _artifact_lines(artifacts: ContextArtifacts, artifact_id: str) -> AsyncGenerator[file.BodyLine]:
    """Yield the lines of an artifact, or none if it has expired or is incomplete."""
    artifact = await artifacts.find(artifact_id)
    if artifact is None:
        return
    yield file.ArtifactLine(**asdict(artifact))
    try:
        for start in range(0, artifact.pieces, PIECES_AT_ONCE):
            pieces = await artifacts.pieces(artifact_id, range(start, start + PIECES_AT_ONCE))
            for number, text in enumerate(pieces, start):
                yield file.PieceLine(artifact=artifact_id, number=number, text=text)
    except ArtifactGone:
        raise ChangedMeanwhile from None


@lua_script("memory.redis.scripts")
def export_messages(ref: ContextRef, *, after: int, below: int, limit: int) -> ScriptCall: ...
