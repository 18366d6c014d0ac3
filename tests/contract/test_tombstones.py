"""What was erased does not come back: not by a restore of an older backup, nor by an import of an older file."""

import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.app.erasures import build_forget_jobs
from bot.app.stores import open_stores
from bot.features.parts import Stores
from bot.features.settings import load_settings
from bot.transport.forms import context_keys
from bot.turn.forget_requests import ForgetRequests
from bot.turn.person import Person
from memory.codec import dump_json
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey
from memory.facts.redis_facts import RedisFacts
from memory.history import contexts
from memory.history.fact import Fact
from memory.history.message import Message, Quote, Sender, message_id
from memory.history.redis_history import RedisHistory, RedisTalk
from memory.history.talk import TalkLine
from memory.keys import ContextRef, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.tombstone_files import TombstoneFolder
from memory.reminders.redis_reminders import RedisReminders
from memory.tombstones import TombstoneCopier, load_secret
from tests.contract.console_rig import BOT_ID, NOW, ConsoleRig, empty_stores, on_stores, settings_in
from tests.contract.test_console_backup import TOKEN, ref_of
from tests.known_reminders import make_reminder, set_reminders
from tests.planted_facts import plant_facts
from tests.redis_values import keys_with
from tests.stores import hold_open

ANNA, BEN = Sender(id=1, name="Anna Berg"), Sender(id=2, name="Ben Hart")
GROUP = -100


@pytest.fixture(scope="module")
def other_dir(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    folder = tmp_path_factory.mktemp("other")
    with hold_open(open_valkey(folder)), hold_open(open_index_server(folder)):
        yield folder


@pytest.fixture
def console(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    data_dir: Path,
    other_dir: Path,
) -> ConsoleRig:
    """The console on empty stores; the copies of tombstones are on a disk that both machines have."""
    for folder in (other_dir, data_dir):
        settings_in(
            monkeypatch, tmp_path, folder, TELEGRAM_BOT_TOKEN=TOKEN, ERASURES_DIR=str(tmp_path / "erasures")
        )
        on_stores(empty_stores())
    return ConsoleRig(capsys)


def said(chat: int, number: int, text: str, sender: Sender | None, **more: object) -> Message:
    message = Message(
        id=message_id(chat, number),
        role="user" if sender else "assistant",
        text=text,
        sent_at=NOW + number,
        tokens=3,
        sender=sender,
        telegram_message_id=100 + number,
    )
    return replace(message, **more)


CANARY = "canary"
"""Everything that Ben said, or that rests on it, has this word."""


async def fill_stores() -> None:
    """Make two private chats and a group in which Ben writes, is quoted, forwarded, remembered and overheard."""
    async with open_stores(load_settings()) as stores:
        for chat, sender in ((1, ANNA), (2, BEN)):
            await _chat(stores, chat, [said(chat, 0, f"private {sender.name}", sender)])
        quote = Quote(telegram_message_id=101, sender_name=BEN.name, sender_id=BEN.id, text=f"a {CANARY}")
        unkept = replace(quote, telegram_message_id=77)
        elsewhere = replace(quote, telegram_message_id=0)
        await _chat(
            stores,
            GROUP,
            [
                said(GROUP, 0, "hello all", ANNA),
                said(GROUP, 1, f"my {CANARY}", BEN),
                said(GROUP, 2, f"so your {CANARY}", None),
                said(GROUP, 3, "nice", ANNA, quote=quote),
                said(GROUP, 4, f"forwarded {CANARY}", ANNA, forwarded_from=BEN.name, forwarded_id=BEN.id),
                said(GROUP, 5, f"older {CANARY}", ANNA, forwarded_from=BEN.name),
                said(GROUP, 6, "of talk", ANNA, quote=unkept),
                said(GROUP, 7, "of another chat", ANNA, quote=elsewhere),
                said(GROUP, 8, "the end", ANNA),
            ],
        )
        ref, redis = ref_of(GROUP), stores.redis
        facts = [_fact("by", BEN, 1), _fact("about", ANNA, 0, subject_id=BEN.id), _fact("other", ANNA, 8)]
        await plant_facts(redis, ref, [*facts[:2], replace(facts[2], statement="Anna says hello.")])
        reminders = [
            make_reminder("00000001", BEN, f"the {CANARY}", chat=GROUP),
            make_reminder("00000002", ANNA, "Water", chat=GROUP),
        ]
        await set_reminders(redis, ref, reminders)
        for number, sender in ((50, BEN), (51, ANNA)):
            line = TalkLine(
                telegram_message_id=number,
                sender=sender,
                text=f"talk {CANARY}" if sender is BEN else "talk",
                sent_at=time.time(),
            )
            await redis.call("ZADD", context_key(ref, "talk"), number, dump_json(TalkLine, line))
        await redis.call("EXPIRE", context_key(ref, "talk"), 900)
        await redis.call("HSET", context_key(ref, "choices"), f"off:{BEN.id}", 1)
        await redis.call("HSET", global_key("zones"), BEN.id, "Europe/Lisbon")


async def _chat(stores: Stores, chat: int, messages: list[Message]) -> None:
    keys = context_keys(BOT_ID, chat, None)
    await contexts.get_or_create(stores.redis, ref_of(chat), context_keys=keys, title=str(chat), now=NOW)
    await stores.history.append(ref_of(chat), messages, epoch=0)


def _fact(name: str, sender: Sender, number: int, **more: object) -> Fact:
    fact = Fact(
        id=message_id("fact", name),
        subject="somebody",
        statement=f"The {CANARY} is {name}.",
        said_by=sender.id,
        message_ids=(message_id(GROUP, number),),
        valid_from=NOW + number,
        confidence=0.9,
    )
    return replace(fact, **more)


async def texts_in(chat: int) -> list[str]:
    async with open_stores(load_settings()) as stores:
        return [each.text for each in (await stores.history.load(ref_of(chat), limit=99)).newest]


async def quotes_in(chat: int) -> list[str]:
    async with open_stores(load_settings()) as stores:
        newest = (await stores.history.load(ref_of(chat), limit=99)).newest
        return [each.quote.text for each in newest if each.quote]


async def found_with(word: str) -> list[str]:
    async with open_stores(load_settings()) as stores:
        return await keys_with(stores.redis, word)


async def erase_single_things(ref: ContextRef) -> None:
    """Forget one message with its answer, one fact, one line of talk and a quotation of an unkept message."""
    async with open_stores(load_settings()) as stores:
        ids = [message_id(GROUP, 1), message_id(GROUP, 2)]
        await stores.history.delete(ref, ids, epoch=0)
        await stores.history.delete(ref, [], epoch=0, quoted=[77])
        facts = RedisFacts(stores.redis, clock=time.time)
        await facts.erase(ref, [message_id("fact", "other")], epoch=0)
        await RedisTalk(stores.redis).forget(ref, 51)


def restored(
    console: ConsoleRig, file: Path, monkeypatch: pytest.MonkeyPatch, other_dir: Path
) -> dict[str, int]:
    """Restore on the other machine."""
    monkeypatch.setenv("DATA_DIR", str(other_dir))
    done = console("restore", str(file), "--json")
    assert done.status == 0, done.err
    return done.document


def test_a_restore_brings_back_nothing_that_was_forgotten_since(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    file = tmp_path / "f.backup"
    assert console("backup", str(file)).status == 0
    on_stores(erase_single_things(ref_of(GROUP)))
    assert console("reset", "1", "--yes").status == 0

    done = restored(console, file, monkeypatch, other_dir)

    assert (done["chats_reset"], done["messages_forgotten"]) == (1, 2)
    assert on_stores(texts_in(1)) == []
    texts = on_stores(texts_in(GROUP))
    assert texts[:2] == ["hello all", "nice"]
    assert on_stores(quotes_in(GROUP)) == [f"a {CANARY}"], "that of another chat"

    async def read() -> tuple[list[str], list[int]]:
        async with open_stores(load_settings()) as stores:
            facts = await RedisFacts(stores.redis, clock=time.time).list(ref_of(GROUP))
            talk = await RedisTalk(stores.redis).newest(ref_of(GROUP), limit=9)
            return [each.statement for each in facts.facts], [score for score, _ in talk]

    assert on_stores(read()) == ([f"The {CANARY} is about."], [50])


def test_a_restore_keeps_nothing_that_is_too_old(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def write() -> None:
        async with open_stores(load_settings()) as stores:
            new = replace(said(GROUP, 999, "new", ANNA), sent_at=time.time())
            old = [said(GROUP, number, CANARY, ANNA) for number in range(700)]
            await _chat(stores, GROUP, [*old, new])

    on_stores(write())
    file = tmp_path / "f.backup"
    assert console("backup", str(file)).status == 0
    monkeypatch.setenv("RETENTION_DAYS", "30")

    done = restored(console, file, monkeypatch, other_dir)

    assert done["messages_expired"] == 700
    assert on_stores(texts_in(GROUP)) == ["new"]
    assert on_stores(found_with(CANARY)) == []


def test_a_backup_after_an_erasure_is_restored_whole(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    assert console("reset", "1", "--yes").status == 0

    async def write_again() -> None:
        async with open_stores(load_settings()) as stores:
            epoch = (await stores.history.load(ref_of(1), limit=0)).epoch
            await stores.history.append(ref_of(1), [said(1, 9, "after the reset", ANNA)], epoch=epoch)

    on_stores(write_again())
    file = tmp_path / "f.backup"
    assert console("backup", str(file)).status == 0

    done = restored(console, file, monkeypatch, other_dir)

    assert (done["chats_reset"], done["messages_forgotten"]) == (0, 0)
    assert on_stores(texts_in(1)) == ["after the reset"]


def test_a_machine_that_has_only_the_backup_obeys_the_tombstones_in_it(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its secret comes with the backup, so it also obeys an older file afterwards."""
    on_stores(fill_stores())
    older, newer = tmp_path / "older.jsonl", tmp_path / "newer.backup"
    assert console("export", "1", str(older)).status == 0
    assert console("reset", "1", "--yes").status == 0
    assert console("backup", str(newer)).status == 0
    monkeypatch.setenv("ERASURES_DIR", str(tmp_path / "of-the-other"))

    restored(console, newer, monkeypatch, other_dir)
    imported = console("import", str(older))

    assert imported.status == 1
    assert "was reset at" in imported.err
    assert on_stores(texts_in(1)) == []


def test_a_forgotten_person_does_not_come_back_with_a_restore(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    file = tmp_path / "f.backup"
    assert console("backup", str(file)).status == 0
    assert console("forget-person", str(BEN.id), "--yes").status == 0
    assert on_stores(found_with(CANARY)) == []

    restored(console, file, monkeypatch, other_dir)

    assert on_stores(found_with(CANARY)) == []
    assert on_stores(found_with(BEN.name)) == []
    assert on_stores(texts_in(GROUP)) == ["hello all", "nice", "of talk", "of another chat", "the end"]
    assert on_stores(texts_in(1)) == ["private Anna Berg"]


def test_an_import_brings_back_nothing_that_was_forgotten_since(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(fill_stores())
    file = tmp_path / "f.jsonl"
    assert console("export", str(GROUP), str(file)).status == 0
    on_stores(erase_single_things(ref_of(GROUP)))

    done = console("import", str(file), "--replace", "--json")
    again = console("import", str(file), "--replace", "--json")

    assert (done.status, done.document["forgotten"], again.status) == (0, 2, 0), done.err + again.err
    texts = on_stores(texts_in(GROUP))
    assert texts[:2] == ["hello all", "nice"]
    assert on_stores(quotes_in(GROUP)) == [f"a {CANARY}"]
    assert on_stores(found_with("Anna says hello")) == []


def test_a_forgotten_person_does_not_come_back_with_an_import(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(fill_stores())
    file = tmp_path / "f.jsonl"
    assert console("export", str(GROUP), str(file)).status == 0
    assert console("forget-person", str(BEN.id), "--yes").status == 0

    for target in ((), ("--into", "-55")):
        done = console("import", str(file), "--replace", *target)
        assert done.status == 0, done.err

    assert on_stores(found_with(CANARY)) == []
    assert on_stores(texts_in(-55)) == ["hello all", "nice", "of talk", "of another chat", "the end"]


def test_an_older_file_of_a_reset_chat_is_refused_and_a_newer_one_is_not(
    console: ConsoleRig, tmp_path: Path
) -> None:
    on_stores(fill_stores())
    older, newer = tmp_path / "older.jsonl", tmp_path / "newer.jsonl"
    assert console("export", "1", str(older)).status == 0
    assert console("reset", "1", "--yes").status == 0

    async def write_again() -> None:
        async with open_stores(load_settings()) as stores:
            await _chat(stores, 1, [])
            await stores.history.append(ref_of(1), [said(1, 9, "after the reset", ANNA)], epoch=1)

    on_stores(write_again())
    assert console("export", "1", str(newer)).status == 0

    refused = console("import", str(older), "--into", "77")
    taken = console("import", str(newer), "--into", "77")

    assert (refused.status, taken.status) == (1, 0), taken.err
    assert "what was forgotten does not come back. Nothing was imported." in refused.err
    assert on_stores(texts_in(77)) == ["after the reset"]


async def test_tombstones_are_copied_beside_the_store_with_each_erasure_and_from_other_machines(
    redis: RedisClient, tmp_path: Path
) -> None:
    ours, theirs = TombstoneFolder(tmp_path / "ours"), TombstoneFolder(tmp_path / "theirs")
    redis.beside = ours
    history = RedisHistory(redis)
    await history.append(ref_of(1), [said(1, each, "text", ANNA) for each in range(3)], epoch=0)

    deletion = await history.delete(ref_of(1), [message_id(1, 0), message_id(1, 1)], epoch=0)
    reset = await history.erase(ref_of(1))
    redis.beside = theirs
    copier = TombstoneCopier(redis=redis, partitions=1)
    copied = [await copier.step(), await copier.step()]

    assert (deletion.not_copied, reset.not_copied) == ("", "")
    assert copied == [7, 0], "a message has one for each of its two ids, and one for its writer and second"
    secret = await load_secret(redis)
    assert ours.load() == theirs.load()
    assert len(ours.load()[secret]) == await redis.call("ZCARD", partition_key(0, "tombstones")) == 7
    assert "text" not in "".join(each.read_text() for each in (tmp_path / "ours").iterdir())
    assert {each.stat().st_mode & 0o777 for each in (tmp_path / "ours").iterdir()} == {0o600}


async def test_an_erasure_happens_and_says_so_if_the_tombstone_cannot_be_copied(
    redis: RedisClient, tmp_path: Path
) -> None:
    redis.beside = TombstoneFolder(tmp_path / "erasures")
    history = RedisHistory(redis)
    await history.append(ref_of(1), [said(1, 0, "text", ANNA)], epoch=0)
    redis.beside.save_secret(await load_secret(redis))
    full = (
        tmp_path / "erasures" / next((tmp_path / "erasures").iterdir()).name.replace("secret", "tombstones")
    )
    full.symlink_to("/dev/full")

    deletion = await history.delete(ref_of(1), [message_id(1, 0)], epoch=0)

    assert (deletion.messages, deletion.not_copied) == (1, "No space left on device")
    assert await redis.call("ZCARD", partition_key(0, "tombstones")) == 3


def test_the_counts_before_and_the_receipt_name_every_kind(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(fill_stores())

    done = console("forget-person", str(BEN.id), "--yes", "--json", "--receipt", str(tmp_path / "r.json"))

    assert done.status == 0, done.err
    found = {each["chat"]: each for each in done.document["before"]}
    assert found[str(GROUP)] == {"chat": str(GROUP), "messages": 1, "talk": 1, "facts": 2, "reminders": 1}
    erased = done.document["erased"]
    assert (erased["talk"], erased["facts"], erased["reminders"], erased["quotes"]) == (1, 2, 1, 3)
    assert done.document["left"] == {"found_by_the_last_pass": 0, "search_entries": 0}

    async def left() -> tuple[list[str], str | None, dict[str, str]]:
        async with open_stores(load_settings()) as stores:
            reminders = await RedisReminders(stores.redis, clock=time.time).list(ref_of(GROUP))
            zone = await stores.redis.call("HGET", global_key("zones"), BEN.id)
            choices = await stores.redis.call("HGETALL", context_key(ref_of(GROUP), "choices"))
            return [each.text for each in reminders], zone, choices

    assert on_stores(left()) == (["Water"], None, {})
    true = console("verify", str(tmp_path / "r.json"))
    (tmp_path / "changed.json").write_text(
        (tmp_path / "r.json").read_text().replace('"talk": 1', '"talk": 9')
    )
    false = console("verify", str(tmp_path / "changed.json"), "--json")
    assert (true.status, false.status) == (0, 1)
    assert true.out.startswith("true")
    assert false.document == {"is_true": False, "changed": ["erased"], "reason": ""}


def test_nothing_of_an_unknown_person_and_no_chat_is_forgotten(console: ConsoleRig) -> None:
    on_stores(fill_stores())

    unknown, chat = console("forget-person", "999", "--yes"), console("forget-person", str(GROUP), "--yes")

    assert (unknown.status, chat.status) == (1, 2)
    assert "Nothing of person 999 is kept" in unknown.err
    assert "is a chat, not a person" in chat.err
    assert len(on_stores(texts_in(GROUP))) == 9


def test_a_request_goes_on_after_a_kill_at_every_step(console: ConsoleRig) -> None:
    """Each step is done by a runner that does no other, and half of them die before they can record it."""
    on_stores(fill_stores())

    async def forget() -> str:
        async with open_stores(load_settings()) as stores:
            first = build_forget_jobs(load_settings(), stores.redis, clock=time.time)
            job = await first.requests.begin(Person(id=BEN.id, until=time.time()))
            assert (await first.requests.begin(Person(id=BEN.id, until=time.time()))).asked_at == job.asked_at
            while not job.receipt:
                before = await stores.redis.call("HGET", global_key("forgetting"), job.id)
                runner = build_forget_jobs(load_settings(), stores.redis, clock=time.time)
                assert await runner.step(job.id)
                await stores.redis.call("HSET", global_key("forgetting"), job.id, before)  # it dies
                job = (
                    await build_forget_jobs(load_settings(), stores.redis, clock=time.time).step(job.id)
                    or job
                )
            await first.requests.end(job)
            return job.receipt

    receipt = on_stores(forget())

    assert '"may_be_more": true' in receipt
    assert on_stores(found_with(CANARY)) == []
    assert on_stores(texts_in(GROUP)) == ["hello all", "nice", "of talk", "of another chat", "the end"]


async def test_one_runner_at_a_time_has_a_request(redis: RedisClient) -> None:
    first, second = (ForgetRequests(redis=redis, clock=time.time) for _ in range(2))

    assert [await each.hold("a") for each in (first, second, first)] == [True, False, True]
