"""A context's file on the real store: an export of one moment, and an import of all or nothing."""

import io
import json
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from memory.artifacts.store import ContextArtifacts
from memory.characters import well_formed
from memory.codec import dump_json, parse_json
from memory.errors import Forgotten, StoreUnavailable
from memory.facts.context_facts import switch_off
from memory.history.contexts import dump_entry
from memory.history.fact import Fact
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, Quote, Sender, message_id
from memory.history.redis_history import RedisHistory
from memory.history.summary import Summary, SummaryFact, SummaryText
from memory.history.talk import TalkLine
from memory.keys import TALK_TTL_S, ContextRef, context_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder
from memory.summary.compressor import RedisSummaries
from memory.transfer.exporter import ChangedMeanwhile, export_context
from memory.transfer.file import (
    BadFile,
    BodyLine,
    FactLine,
    FileFact,
    Header,
    Seal,
    check_file,
    dump_line,
    split_lines,
)
from memory.transfer.importer import ContextImport, ContextOccupied, ImportLost
from tests.contract.facts_kit import BEN, REF, open_facts, said, told
from tests.contract.inbox_kit import open_inbox
from tests.messages import make_ref
from tests.redis_values import all_values
from tests.stores import all_keys

NOW = 1_900_000_000.0
PLANTS = Reminder(
    id="0a1b2c3d",
    text="Water the plants",
    due_at=NOW + 1_000,
    zone="Europe/Lisbon",
    starts_at="2030-03-17T18:03:20",
    person_id=1,
    person_name="Ann 1",
    chat_id=1,
    chat_type="private",
    created_at=NOW,
)
ODD = 'tab\tline\n \ud800 «ß» {"kind":"end"} <|endoftext|>'


def artifacts_of(redis: RedisClient, ref: ContextRef, *, ttl_s: int = 10**8) -> ContextArtifacts:
    return ContextArtifacts(redis, ref, epoch=lambda: 0, clock=lambda: NOW, ttl_s=ttl_s, keep_beyond=10)


PHOTOS = f"photos:{message_id('file', 0)}"


def make_message(number: int, text: str = "") -> Message:
    who = Sender(id=number % 3 + 1, name=f"Ann {number % 3}")
    return Message(
        id=message_id("file", number),
        role="assistant" if number % 2 else "user",
        text=text or f"text {number}",
        sent_at=NOW - 5_000 + 60 * number,
        tokens=2,
        sender=None if number % 2 else who,
        telegram_message_id=None if number % 2 else 100 + number,
        quote=Quote(telegram_message_id=100, sender_name="Ann 0", text="text 0") if number == 4 else None,
    )


async def fill(redis: RedisClient, ref: ContextRef, messages: int = 12) -> str:
    """Fill a context with every kind of record. Return the id of its artifact."""
    history = RedisHistory(redis)
    await history.append(
        ref, [make_message(number, ODD if number == 6 else "") for number in range(messages)], epoch=0
    )
    artifact = await artifacts_of(redis, ref).keep("x" * 120_000, tool="lookup", key="k")
    entry = LedgerEntry(
        id="7:tool:1:0",
        kind="tool",
        agent="main",
        name="lookup",
        input="{}",
        output="large",
        artifact_id=artifact.id,
    )
    await redis.call(
        "ZADD",
        context_key(ref, "ledger"),
        3,
        dump_json(LedgerTurn, LedgerTurn(first_sequence=2, last_sequence=3, entries=(entry,))),
    )
    await summarise(redis, ref)
    await redis.call("HSET", context_key(ref, "meta"), "model", "small")
    await redis.call("HSET", context_key(ref, "telegram"), PHOTOS, "AgAC-_1 AgAC-_2")
    line = TalkLine(telegram_message_id=300, sender=Sender(id=9, name="Bo"), text="psst", sent_at=NOW - 60)
    await redis.call("ZADD", context_key(ref, "talk"), 300, dump_json(TalkLine, line))
    await redis.call("EXPIRE", context_key(ref, "talk"), 1000)
    assert await RedisReminders(redis, clock=lambda: NOW).add(ref, PLANTS, epoch=0) == "added"
    return artifact.id


async def summarise(redis: RedisClient, ref: ContextRef) -> None:
    summary = Summary(
        id=message_id("s"),
        builds_on="",
        conversation_start=0,
        from_sequence=0,
        upto_sequence=1,
        text=SummaryText(overview="They met.", facts=(SummaryFact(about="Ann", fact="likes tea"),)),
        tokens=9,
        model="m",
        created_at=NOW,
    )
    summaries = RedisSummaries(redis, clock=lambda: NOW)
    await summaries.queue(ref)
    claim = await summaries.claim(ref.partition, lease_s=60)
    assert claim is not None
    covered = [message_id("file", number) for number in range(2)]
    assert await summaries.save(claim, summary, covered, epoch=0, revision=0) == "saved"
    await summaries.finish(claim)


async def body(redis: RedisClient, ref: ContextRef) -> list[BodyLine]:
    return [line async for line in export_context(redis, ref, artifacts=artifacts_of(redis, ref))]


def as_file(lines: Sequence[BodyLine], ref: ContextRef | None = None) -> list[str]:
    """Return the file's lines as they are read."""
    seal, texts = Seal(), [dump_line(Header(format=2, context=(ref or make_ref()).context_id, chat="1"))]
    for line in lines:
        texts.append(dump_line(line))
        seal.take(line.kind, texts[-1])
    return [f"{text}\n" for text in (*texts, dump_line(seal.end()))]


def make_import(
    redis: RedisClient, ref: ContextRef | None = None, *, is_other: bool = False, now: float = NOW
) -> ContextImport:
    registered = dump_entry({"chat_id": 1}, title="Ann", created_at=NOW)
    return ContextImport(
        redis=redis,
        ref=ref or make_ref(),
        registered=registered,
        is_other=is_other,
        chat_id=1,
        thread_id=None,
        token="t",
        now=now,
    )


async def import_file(
    redis: RedisClient, file: Sequence[str], ref: ContextRef, *, is_other: bool = False, epoch: int = 0
) -> int:
    importing = make_import(redis, ref, is_other=is_other)
    facts = check_file(file)
    try:
        await importing.stage(file)
        return await importing.place(facts, epoch=epoch)
    finally:
        await importing.clear_up()


async def test_an_imported_context_equals_the_exported_one(redis: RedisClient) -> None:
    kept = await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    await RedisHistory(redis).erase(make_ref())
    await redis.call("UNLINK", partition_key(0, "work"))

    queued = await import_file(redis, file, make_ref(), epoch=1)

    assert as_file(await body(redis, make_ref())) == file
    assert queued == 12
    work = await redis.call("XRANGE", partition_key(0, "work"), "-", "+")
    queued = [dict(fields) for _, fields in work]
    assert [(each["op"], each["epoch"], each["id"]) for each in queued] == [
        ("index", "1", message_id("file", number)) for number in range(12)
    ]
    assert make_ref().context_id in await redis.call("HKEYS", partition_key(0, "contexts"))
    lasting = [key for key in await all_keys(redis) if not key.endswith((":talk", ":artifacts", kept))]
    assert {await redis.call("TTL", key) for key in lasting} == {-1}, (
        "nothing of it ends as what was staged does"
    )
    snapshot = await RedisHistory(redis).load(make_ref(), limit=99)
    assert snapshot.summary is not None
    assert snapshot.summary.text.overview == "They met."
    assert snapshot.choices.model == "small"
    assert await redis.call("HGET", context_key(make_ref(), "telegram"), PHOTOS) == "AgAC-_1 AgAC-_2"
    assert [message.text for message in snapshot.newest if message.sequence == 6] == [well_formed(ODD)]


async def test_an_import_keeps_the_mark_of_a_refused_message(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    refused = message_id("file", 10)
    await RedisHistory(redis).refuse(make_ref(), refused, epoch=0)
    file = as_file(await body(redis, make_ref()))
    await RedisHistory(redis).erase(make_ref())

    queued = await import_file(redis, file, make_ref(), epoch=1)

    newest = (await RedisHistory(redis).load(make_ref(), limit=99)).newest
    assert (queued, [message.id for message in newest if message.is_refused]) == (11, [refused])


async def test_imported_messages_can_be_forgotten(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    history = RedisHistory(redis)
    await history.erase(make_ref())
    await import_file(redis, file, make_ref(), epoch=1)

    deleted = await history.delete(make_ref(), [message_id("file", 0)], epoch=1)

    assert (deleted.messages, deleted.summaries, deleted.quotes) == (1, 1, 1)
    assert await history.find_by_telegram(make_ref(), 100) is None
    assert await redis.call("HEXISTS", context_key(make_ref(), "telegram"), PHOTOS) == 0
    erased = await history.erase(make_ref())
    assert (erased.messages, erased.artifacts, erased.talk) == (11, 1, 1)


async def test_an_import_into_another_chat_has_no_telegram_ids_and_no_talk(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    other, history = make_ref(2), RedisHistory(redis)

    await import_file(redis, as_file(await body(redis, make_ref())), other, is_other=True)

    messages = (await history.load(other, limit=99)).newest
    assert {message.telegram_message_id for message in messages} == {None}
    assert {message.quote.telegram_message_id for message in messages if message.quote} == {0}
    assert await history.find_by_telegram(other, 102) is None
    assert await redis.call("HEXISTS", context_key(other, "telegram"), PHOTOS) == 0
    assert await redis.call("EXISTS", context_key(other, "talk")) == 0
    assert [name for name, _ in await due_reminders(redis)] == [f"{make_ref().context_id} {PLANTS.id}"]
    deleted = await history.delete(other, [message_id("file", 0)], epoch=0)
    assert deleted.quotes == 1


async def _memory_in(redis: RedisClient) -> dict[str, Any]:
    """Return every value except the number of erasures, which counts what an import has staged in vain."""
    values = await all_values(redis)
    values.pop(partition_key(0, "erasures"), None)
    return values


async def test_a_second_import_is_refused_and_changes_nothing(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    before = await _memory_in(redis)

    with pytest.raises(ContextOccupied):
        await import_file(redis, file, make_ref())

    assert await _memory_in(redis) == before


async def test_an_import_that_a_reset_overtakes_places_nothing(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    await RedisHistory(redis).erase(make_ref())
    before = await _memory_in(redis)

    with pytest.raises(Forgotten):
        await import_file(redis, file, make_ref(), epoch=0)

    assert await _memory_in(redis) == before


async def test_staged_lines_expire(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    await redis.call("FLUSHALL")
    importing = make_import(redis)

    await importing.stage(file)  # and here the process is killed

    keys = await all_keys(redis)
    assert len(keys) == 15
    assert all([await redis.call("TTL", key) > 0 for key in keys])
    await redis.call("UNLINK", partition_key(make_ref().partition, "import", "t", "meta"))
    with pytest.raises(ImportLost):
        await importing.place(check_file(file), epoch=0)
    assert (await RedisHistory(redis).load(make_ref(), limit=0)).count == 0


async def test_an_artifact_keeps_its_expiry_and_an_expired_one_is_left_out(redis: RedisClient) -> None:
    kept = await fill(redis, make_ref())
    gone = await artifacts_of(redis, make_ref(), ttl_s=100).keep("y" * 50, tool="t", key="k2")
    file = as_file(await body(redis, make_ref()))
    await RedisHistory(redis).erase(make_ref())
    importing = make_import(redis, now=NOW + 101)

    await importing.stage(file)
    await importing.place(check_file(file), epoch=1)

    assert importing.expired_artifacts == 1
    assert await artifacts_of(redis, make_ref()).find(gone.id) is None
    assert await redis.call("PEXPIRETIME", context_key(make_ref(), "artifact", kept)) == (NOW + 10**8) * 1000


async def due_reminders(redis: RedisClient) -> list[tuple[str, float]]:
    rows = await redis.call("ZRANGE", partition_key(make_ref().partition, "due"), 0, -1, "WITHSCORES")
    return [(name, float(score)) for name, score in rows]


async def test_imported_reminders_wait_in_their_chat_and_no_passed_date_is_sent_again(
    redis: RedisClient,
) -> None:
    store = RedisReminders(redis, clock=lambda: NOW)
    elsewhere = replace(PLANTS, chat_id=666, thread_id=6)
    passed = replace(PLANTS, id="00000001", due_at=NOW - 1)
    daily = replace(
        PLANTS, id="00000002", due_at=NOW - 5, starts_at="2030-03-10T18:00:00", repeats="FREQ=DAILY"
    )
    ended = replace(daily, id="00000003", repeats="FREQ=DAILY;COUNT=2")
    for each in (elsewhere, passed, daily, ended):
        await store.add(make_ref(), each, epoch=0)
    file = as_file(await body(redis, make_ref()))
    await RedisHistory(redis).erase(make_ref())
    importing = make_import(redis)

    await importing.stage(file)
    await importing.place(check_file(file), epoch=1)

    evening = NOW + 800  # 18:00 in Lisbon
    assert importing.passed_reminders == 2
    assert await store.list(make_ref()) == [replace(daily, due_at=evening), PLANTS]
    assert [score for _, score in await due_reminders(redis)] == [evening, PLANTS.due_at]


async def test_a_reminder_that_is_set_already_stays_as_it_is(redis: RedisClient) -> None:
    store = RedisReminders(redis, clock=lambda: NOW)
    await store.add(make_ref(), PLANTS, epoch=0)
    file = as_file(await body(redis, make_ref()))
    await store.cancel(make_ref(), [PLANTS.id], epoch=0)
    moved = replace(PLANTS, due_at=NOW + 2_000)
    await store.add(make_ref(), moved, epoch=0)

    await import_file(redis, file, make_ref())

    assert await store.list(make_ref()) == [moved]
    assert [score for _, score in await due_reminders(redis)] == [moved.due_at]


@pytest.mark.parametrize(
    "wrong",
    [
        {"zone": "Europe/Nowhere"},
        {"starts_at": "soon"},
        {"starts_at": "0001-01-01T00:00:00"},
        {"repeats": "FREQ=SECONDLY"},
        {"text": ""},
        {"id": "x"},
    ],
)
def test_a_reminder_that_could_never_be_due_is_refused(wrong: dict[str, str]) -> None:
    fields = {"starts_at": "2030-01-01T00:00:00", **wrong}
    line = json.dumps(
        {"kind": "reminder", "reminder": json.loads(dump_json(Reminder, replace(PLANTS, **fields)))}
    )

    with pytest.raises(BadFile, match=r"line 3: reminder\.reminder"):
        check_file([dump_line(Header(format=2)), '{"kind":"context"}', line])


async def test_an_export_that_a_change_overtakes_fails(redis: RedisClient) -> None:
    history = RedisHistory(redis)
    await history.append(make_ref(), [make_message(number) for number in range(1200)], epoch=0)

    for change, failure in (("edit", ChangedMeanwhile), ("reset", Forgotten)):
        lines = export_context(redis, make_ref(), artifacts=artifacts_of(redis, make_ref()))
        for _ in range(10):
            await anext(lines)
        if change == "edit":
            edited = message_id("file", 2)
            assert await history.replace(make_ref(), edited, text="new", tokens=1, edited_at=NOW, epoch=0)
        else:
            await history.erase(make_ref())
        with pytest.raises(failure):
            _ = [line async for line in lines]


async def test_messages_that_arrive_during_an_export_are_not_in_the_file(redis: RedisClient) -> None:
    history = RedisHistory(redis)
    await history.append(make_ref(), [make_message(number) for number in range(600)], epoch=0)
    before = as_file(await body(redis, make_ref()))
    lines = export_context(redis, make_ref(), artifacts=artifacts_of(redis, make_ref()))
    first = await anext(lines)

    await history.append(make_ref(), [replace(make_message(0), id=message_id("late"))], epoch=0)

    assert as_file([first, *[line async for line in lines]]) == before


@pytest.mark.parametrize(
    ("line", "now", "told"),
    [
        (1, '{"kind":"header","format":1}', "line 1: header.format: Input should be 2"),
        (1, "hello", "line 1: this is not JSON"),
        (2, '{"kind":"context","next_sequence":"x"}', "line 2: context.next_sequence: Input should be a valid integer"),
        (4, '{"kind":"message","sequence":1,"message":{"id":7}}', "line 4: message.message.id: Input "
        "should be a valid string"),
        (4, '{"kind":"strange"}', "line 4: "),
        (4, "[1]", "line 4: Input should be"),
        (4, None, "line 4: the sequence of a line of kind message is not after the one before"),
        (-1, '{"kind":"end","counts":{},"sha256":""}', "the end's counts and SHA-256 are not those"),
    ],
)  # fmt: skip
async def test_a_wrong_line_is_reported_with_its_number(
    redis: RedisClient, line: int, now: str | None, told: str
) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    at = line - 1 if line > 0 else line
    file[at] = file[2] if now is None else f"{now}\n"

    with pytest.raises(BadFile) as problem:
        check_file(file)

    assert told in str(problem.value)


async def test_a_truncated_or_changed_file_is_refused(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))

    for cut in range(1, len(file)):
        with pytest.raises(BadFile):
            check_file(file[:cut])
    with pytest.raises(BadFile, match="this is not JSON"):
        check_file([*file[:5], file[5][:-9]])
    with pytest.raises(BadFile, match="nothing follows the end"):
        check_file([*file, file[2]])
    with pytest.raises(BadFile, match="SHA-256"):
        check_file([line.replace("text 2", "text 3") for line in file])
    assert json.loads(file[-1])["counts"]["message"] == 12


def _changed(kind: str, file: Sequence[str], change: dict[str, Any]) -> list[str]:
    """Return the file with a change in the first line of this kind, with a new seal."""
    seal, texts, left = Seal(), [file[0].rstrip()], change
    for line in file[1:-1]:
        fields = json.loads(line)
        if fields["kind"] == kind:
            fields, left = _merged(fields, left), {}
        texts.append(json.dumps(fields))
        seal.take(fields["kind"], texts[-1])
    return [f"{text}\n" for text in (*texts, dump_line(seal.end()))]


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    both = {
        name: _merged(old[name], new[name]) for name in new if isinstance(new[name], dict) and name in old
    }
    return old | new | both


HALF = "\ud800"


@pytest.mark.parametrize(
    ("kind", "change", "told"),
    [
        # Values that the store or a date cannot hold: every prompt, `chats` and /memory would fail.
        ("context", {"next_sequence": "x3"}, "context.next_sequence: Input should be a valid integer"),
        ("context", {"next_sequence": 2**53}, "context.next_sequence: Input should be less than"),
        ("context", {"created_at": "9e20"}, "context.created_at: Input should be less than"),
        ("message", {"message": {"sent_at": 1e15}}, "message.message.sent_at: Input should be less than"),
        ("message", {"message": {"edited_at": -1}}, "message.message.edited_at: Input should be greater than"),
        ("message", {"message": {"sent_at": float("nan")}}, "message.message.sent_at: Input should be"),
        ("talk", {"line": {"sent_at": 1e300}}, "talk.line.sent_at: Input should be less than"),
        ("summary", {"summary": {"created_at": 1e300}}, "summary.summary.created_at: Input should be less than"),
        ("message", {"message": {"tokens": 10**400}}, "message.message.tokens: Input should be less than"),
        ("summary", {"summary": {"tokens": -1}}, "summary.summary.tokens: Input should be greater than"),
        # Values that would break reading the ledger.
        ("ledger", {"entries": []}, "ledger.entries: Tuple should have at least 1 item"),
        ("ledger", {"first_sequence": 9}, "a turn's first sequence is after its last one"),
        ("summary", {"summary": {"upto_sequence": 12}}, "summary.upto_sequence of a line of kind summary is beyond"),
        ("summary", {"summary": {"id": "covers:x"}}, "summary.summary.id: String should match pattern"),
        ("message", {"message": {"id": "x"}}, "message.message.id: String should match pattern"),
        ("message", {"message": {"id": message_id("file", 1)}}, "the id of the message occurs twice"),
        ("artifact", {"length": 150_001}, "a piece is not the next one of its artifact, or has another length"),
        ("artifact", {"length": 10**12}, "artifact.length: Input should be less than"),
        ("piece", {"text": "x" * 49_999}, "a piece is not the next one of its artifact, or has another length"),
        ("message", {"telegram_ids": list(range(5_000))}, "message.telegram_ids: Tuple should have at most"),
        ("message", {"photos": ["two words"]}, "message.photos.0: String should match pattern"),
        # Values that cannot be sent to the store.
        ("person", {"name": HALF}, "this is not JSON, or has half a character"),
        ("piece", {"text": HALF + "x" * 49_999}, "this is not JSON, or has half a character"),
        ("message", {"quoted_by": [HALF]}, "this is not JSON, or has half a character"),
        ("context", {"active_agent": HALF}, "this is not JSON, or has half a character"),
        # Characters that a terminal must not show.
        ("message", {"kind": "secret words"}, "the line's kind is none of ours"),
        ("message", {"message": {"role": "secret words"}}, "message.message.role: Input should be 'user'"),
    ],
)  # fmt: skip
async def test_a_sealed_file_with_harmful_contents_is_refused(
    redis: RedisClient, kind: str, change: dict[str, Any], told: str
) -> None:
    await fill(redis, make_ref())
    file = _changed(kind, as_file(await body(redis, make_ref())), change)

    with pytest.raises(BadFile) as problem:
        check_file(file)

    assert told in str(problem.value)
    assert len(str(problem.value)) < 300
    assert "secret" not in str(problem.value)


async def test_a_call_with_a_foreign_artifact_id_is_refused(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    (entry,) = next(json.loads(line)["entries"] for line in file if '"kind":"ledger"' in line)

    with pytest.raises(BadFile, match="artifact's id is not one of ours"):
        check_file(_changed("ledger", file, {"entries": [entry | {"artifact_id": "a b"}]}))


async def test_a_changed_file_with_a_new_seal_is_accepted(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))

    for kind in ("context", "message", "ledger", "person", "summary", "artifact", "piece", "talk"):
        assert check_file(_changed(kind, file, {})).counts["message"] == 12


def test_an_endless_line_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.transfer.file.LONGEST_LINE", 1_000)
    stream = io.StringIO("x" * 50_000)

    with pytest.raises(BadFile, match="line 1: this line is longer than any of ours"):
        check_file(split_lines(stream))

    assert stream.tell() < 1_010
    assert list(split_lines(io.StringIO("x" * 1_000 + "\n" + "y"))) == ["x" * 1_000 + "\n", "y"]


async def test_talk_from_the_future_expires_like_other_talk(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    await RedisHistory(redis).erase(make_ref())

    await import_file(redis, _changed("talk", file, {"line": {"sent_at": NOW + 10**9}}), make_ref(), epoch=1)

    assert await redis.call("EXPIRETIME", context_key(make_ref(), "talk")) == NOW + TALK_TTL_S


class LosingConnection:
    """A client that loses its connection after one more command."""

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis
        self._left = 1

    async def call(self, *command: str | int | float | bytes) -> Any:
        self._left -= 1
        if self._left < 0:
            raise StoreUnavailable
        return await self._redis.call(*command)


async def test_a_late_placement_after_the_cleanup_places_nothing(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    await redis.call("FLUSHALL")
    importing = make_import(redis)
    await importing.stage(file)

    await replace(importing, redis=cast(RedisClient, LosingConnection(redis))).clear_up()

    with pytest.raises(ImportLost):
        await importing.place(check_file(file), epoch=0)


class Killed(BaseException):
    """The simulated end of a process."""


class KilledAt:
    """A client whose process ends at its n-th script, before the request or before the reply."""

    def __init__(self, redis: RedisClient, number: int, *, is_before: bool) -> None:
        self._redis = redis
        self._left = number
        self._is_before = is_before

    async def run(self, call: ScriptCall) -> Any:
        return await self._ending(self._redis.run(call))

    async def run_durably(self, call: ScriptCall) -> Any:
        return await self._ending(self._redis.run_durably(call))

    async def _ending(self, work: Coroutine[Any, Any, Any]) -> Any:
        if self._left == 0 and self._is_before:
            work.close()
            raise Killed
        reply = await work
        if self._left == 0:
            raise Killed
        self._left -= 1
        return reply


class LosingReplies:
    """A client that loses every first reply, so that the driver sends each script again."""

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis

    async def run(self, call: ScriptCall) -> Any:
        await self._redis.run(call)
        return await self._redis.run(call)

    async def run_durably(self, call: ScriptCall) -> Any:
        await self._redis.run_durably(call)
        return await self._redis.run_durably(call)


async def test_repeating_any_step_after_a_lost_reply_does_no_harm(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    await redis.call("FLUSHALL")
    importing = make_import(cast(RedisClient, LosingReplies(redis)))

    await importing.stage(file)
    queued = await importing.place(check_file(file), epoch=0)

    assert queued == await redis.call("XLEN", partition_key(0, "work")) == 12
    assert as_file(await body(redis, make_ref())) == file
    assert await redis.call("TTL", partition_key(make_ref().partition, "import", "t", "placed")) > 0


@pytest.mark.parametrize("is_before", [True, False])
async def test_a_kill_at_any_point_imports_nothing_or_all(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch, is_before: bool
) -> None:
    monkeypatch.setattr("memory.transfer.importer.COMMANDS_AT_ONCE", 8)
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    left: list[str] = []
    for number in range(100):
        await redis.call("FLUSHALL")
        killed = cast(RedisClient, KilledAt(redis, number, is_before=is_before))
        importing = make_import(killed)
        try:
            await importing.stage(file)
            await importing.place(check_file(file), epoch=0)
        except Killed:
            keys = await all_keys(redis)
            if not [key for key in keys if "import:t:" not in key]:
                assert all([await redis.call("TTL", key) > 0 for key in keys])
                left.append("nothing")
                continue
        assert as_file(await body(redis, make_ref())) == file
        assert {key.rpartition(":")[2] for key in await all_keys(redis) if "import:" in key} <= {"placed"}
        left.append("all")
        if left.count("all") > 1:
            break

    assert left.count("nothing") > 5
    assert left == sorted(left, reverse=True)


async def test_a_turn_during_an_import_is_answered_after_the_imported_messages(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    file = as_file(await body(redis, make_ref()))
    await redis.call("FLUSHALL")
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.take(claim)
    await box.record(claim, "model:1")

    await import_file(redis, file, make_ref())
    asked, answered = (
        replace(make_message(0), id=message_id("now", 0)),
        replace(make_message(1), id=message_id("now", 1)),
    )
    await box.commit(claim, 1, messages=[asked, answered])

    assert await box.state_of(1) == ("answered", "")
    newest = (await RedisHistory(redis).load(make_ref(), limit=3)).newest
    assert [message.sequence for message in newest] == [11, 12, 13]
    assert newest[-1].id == answered.id


async def test_facts_choices_and_unread_messages_are_in_the_file(redis: RedisClient) -> None:
    store = await open_facts(redis)
    first, second = message_id("file", "a"), message_id("file", "b")
    await store.commit(said(first), said(second, by=BEN))
    (lisbon,) = await store.save(told("lives in Lisbon", first, valid_from=1.0))
    third = message_id("file", "c")
    await store.commit(said(third))
    await store.save(told("lives in Porto", third, valid_from=2.0, replaces=(lisbon.id,)))
    await switch_off(REF, person=BEN.id, epoch=0, facts=store.facts, recall=None)
    fourth = message_id("file", "d")
    await store.commit(said(fourth))
    facts, cited = await store.all_facts(), await store.cited()
    file = as_file(await body(redis, REF))
    await store.history.erase(REF)
    await redis.call("DEL", context_key(REF, "choices"))

    await import_file(redis, file, REF, epoch=1)

    assert await store.all_facts() == facts
    assert {key: set(ids.split()) for key, ids in (await store.cited()).items()} == {
        key: set(ids.split()) for key, ids in cited.items()
    }
    assert await store.unread() == [fourth]
    assert (await store.facts.choices(REF)).off == {BEN.id}
    assert [message.id for message in (await store.load())[1].messages] == [fourth]
    assert as_file(await body(redis, REF)) == file


async def test_an_import_brings_back_no_fact_of_somebody_who_is_off(redis: RedisClient) -> None:
    store = await open_facts(redis)
    first, second = message_id("file", "a"), message_id("file", "b")
    await store.commit(said(first), said(second, by=BEN))
    await store.save(told("lives in Lisbon", first), told("has a cat", second, by=BEN))
    file = as_file(await body(redis, REF))
    await switch_off(REF, person=BEN.id, epoch=0, facts=store.facts, recall=None)
    await store.history.erase(REF)

    await import_file(redis, file, REF, epoch=1)
    of_anna = await store.all_facts()
    await switch_off(REF, person=None, epoch=1, facts=store.facts, recall=None)
    await store.history.erase(REF)
    await import_file(redis, file, REF, epoch=2)

    assert [fact.statement for fact in of_anna] == ["lives in Lisbon"]
    assert await store.all_facts() == []
    assert await store.unread() == []


async def test_a_fact_that_cites_no_message_of_the_file_is_refused(redis: RedisClient) -> None:
    store = await open_facts(redis)
    first = message_id("file", "a")
    await store.commit(said(first))
    (fact,) = await store.save(told("lives in Lisbon", first))
    lines = await body(redis, REF)
    strangers = (
        replace(fact, message_ids=(message_id("file", "z"),)),
        replace(fact, closed_by=message_id("z"), valid_to=9.0),
    )

    for wrong in strangers:
        changed = FactLine(fact=parse_json(FileFact, dump_json(Fact, wrong)))
        with pytest.raises(BadFile, match="fact"):
            check_file(as_file([changed if line.kind == "fact" else line for line in lines]))


async def test_a_file_from_before_there_were_facts_is_accepted(redis: RedisClient) -> None:
    await fill(redis, make_ref())
    *lines, end = as_file(await body(redis, make_ref()))
    counts = json.loads(end)
    del counts["counts"]["fact"], counts["counts"]["choice"]

    assert check_file([*lines, json.dumps(counts)]).counts["message"] == 12
