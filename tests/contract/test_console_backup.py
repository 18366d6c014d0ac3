"""`mnemogram backup` and `restore`, on real embedded stores, and with processes that are killed."""

import asyncio
import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.app.stores import open_stores
from bot.cli import backup
from bot.features.parts import Stores
from bot.features.settings import load_settings
from bot.transport.forms import context_keys
from bot.transport.ingest import telegram_ref
from memory.codec import dump_json
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey
from memory.facts.redis_facts import RedisFacts
from memory.history import contexts
from memory.history.fact import Fact
from memory.history.message import Message, Sender, message_id
from memory.history.talk import TalkLine
from memory.keys import ContextRef, context_key, global_key
from memory.recall.recall import RecallQuestion
from memory.redis.durability import STORE_FORMAT
from memory.stores import build_indexers
from tests.contract.console_rig import BOT_ID, NOW, ConsoleRig, edit, empty_stores, on_stores, settings_in
from tests.known_reminders import make_reminder, set_reminders
from tests.planted_facts import plant_facts
from tests.stores import hold_open

TOKEN = f"{BOT_ID}:a-token-of-no-bot"
TEXTS = ["Where is the spare key?", "Under the green mat.", "Thanks «ß»"]
CHATS = (7, 8, -100)
QUESTION = "where is the spare key, under which mat?"
ROOT = Path(__file__).parents[2]
ANNA = Sender(id=1, name="Anna Berg")

KILLED = """
import os, signal, sys
from bot.cli import backup, main
from memory.transfer import restore
restore.LINES_AT_ONCE = 3
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
backup.Progress.show = die
main(sys.argv[1:])
"""
"""A console that is killed after the first progress."""


@pytest.fixture(scope="module")
def other_dir(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """Other embedded stores, to restore into."""
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
    for folder in (other_dir, data_dir):
        settings_in(monkeypatch, tmp_path, folder, TELEGRAM_BOT_TOKEN=TOKEN)
        on_stores(empty_stores())
    return ConsoleRig(capsys)


def ref_of(chat_id: int) -> ContextRef:
    return telegram_ref(BOT_ID, chat_id, None, partitions=1)


async def say(
    stores: Stores, chat_id: int, texts: Sequence[str], *, thread_id: int | None = None, first: int = 0
) -> None:
    """Create a chat with these messages of Anna, which wait for the index."""
    ref = telegram_ref(BOT_ID, chat_id, thread_id, partitions=1)
    keys = context_keys(BOT_ID, chat_id, thread_id)
    await contexts.get_or_create(stores.redis, ref, context_keys=keys, title="Anna", now=NOW)
    count = (await stores.history.load(ref, limit=0)).count
    messages = [
        Message(
            id=message_id(f"{chat_id}/{thread_id}", first + count + number),
            role="user",
            text=text,
            sent_at=NOW + number,
            tokens=9,
            sender=ANNA,
            telegram_message_id=100 + number,
        )
        for number, text in enumerate(texts)
    ]
    await stores.history.append(ref, messages, epoch=0)


async def fill_stores() -> None:
    """Make five chats, one with facts and a reminder, and every record of the whole bot."""
    async with open_stores(load_settings()) as stores:
        for chat_id in CHATS:
            await say(stores, chat_id, TEXTS)
        await say(stores, -100, ["a topic of its own"], thread_id=5)
        await stores.migrations.learn(-200, -100200)
        await say(stores, -200, ["from the former group"])
        line = TalkLine(telegram_message_id=3, sender=ANNA, text="psst", sent_at=time.time())
        await stores.redis.call("ZADD", context_key(ref_of(-100), "talk"), 3, dump_json(TalkLine, line))
        await stores.redis.call("EXPIRE", context_key(ref_of(-100), "talk"), 900)
        fact = Fact(
            id=message_id("fact"),
            subject="Anna Berg",
            subject_id=1,
            statement="Anna's spare key is under the green mat.",
            said_by=1,
            message_ids=(message_id("7/None", 0),),
            valid_from=NOW,
            confidence=0.9,
        )
        await plant_facts(stores.redis, ref_of(7), [fact])
        await set_reminders(stores.redis, ref_of(7), [make_reminder("00000001", ANNA, "Water", chat=7)])
        await stores.redis.call("HSET", context_key(ref_of(8), "meta"), "model", "small")
        await stores.redis.call("HSET", global_key("zones"), "1", "Europe/Lisbon")
        for digest in ("a" * 64, "b" * 64):
            await stores.redis.call("SET", global_key("{access}:invitation", digest), "", "EX", 900)
            await stores.redis.call("ZADD", global_key("{access}:open"), time.time() + 900, digest)
        await stores.redis.call("EXPIRE", global_key("{access}:open"), 900)
        await stores.guests.redeem(12, "a" * 64)
        await RedisFacts(stores.redis, clock=time.time).switch_off(
            ref_of(99), person=1, epoch=0
        )  # a chat without a memory


async def contents() -> dict[str, Any]:
    """Return what a person could miss, read as the bot reads it."""
    found: dict[str, Any] = {}
    async with open_stores(load_settings()) as stores:
        for chat_id in (*CHATS, -200):
            ref = ref_of(chat_id)
            snapshot = await stores.history.load(ref, limit=99)
            found[str(chat_id)] = snapshot.newest, snapshot.choices.model, snapshot.talk.lines, snapshot.count
            for name in ("facts", "fact_order", "cited", "reminders", "people", "telegram", "choices"):
                kind = await stores.redis.call("TYPE", context_key(ref, name))
                read = ("HGETALL",) if kind == "hash" else ("ZRANGE", "WITHSCORES")
                found[f"{chat_id} {name}"] = await stores.redis.call(
                    read[0], context_key(ref, name), *(("0", "-1", read[1]) if len(read) > 1 else ())
                )
        found["off"] = await stores.redis.call("HGETALL", context_key(ref_of(99), "choices"))
        found["zones"] = await stores.redis.call("HGETALL", global_key("zones"))
        found["guests"] = await stores.guests.list()
        found["open invitations"] = await stores.guests.count_open()
        found["present"] = await stores.migrations.present_ids()
    return found


async def claim_space() -> None:
    async with open_stores(load_settings()) as stores:
        await stores.reindexer.claim()


async def index_all() -> None:
    async with open_stores(load_settings()) as stores:
        record = await stores.reindexer.claim()
        (indexer,) = build_indexers(stores, consumer="a-worker", lease_s=60, block_ms=10)
        while True:
            await stores.reindexer.step()
            is_busy = (await indexer.step()).indexed > 0
            record = await stores.reindexer.follow() or record
            if record.target is None and not is_busy:
                break


async def recalled(chat_id: int) -> list[tuple[str, float]]:
    async with open_stores(load_settings()) as stores:
        hits = await stores.recall.search(
            ref_of(chat_id), 0, RecallQuestion(text=QUESTION, now=NOW + 60), k=3
        )
        return [(hit.message_id, round(hit.score, 6)) for hit in hits]


def move_to(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    monkeypatch.setenv("DATA_DIR", str(data_dir))


def killed(*command: str) -> None:
    """Run a command in a process that is killed in the middle."""
    words = [sys.executable, "-c", KILLED, *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(words, env=environment, check=False, capture_output=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def keys_of(file: Path) -> list[tuple[str, ...]]:
    """Return the lines of all keys, without their order and the ends of their lives, which are measured."""
    lines = map(json.loads, file.read_text().splitlines())
    return sorted(
        (each["name"], each.get("context", ""), each.get("part", ""), *sorted(each["values"]))
        for each in lines
        if each["kind"] == "key"
    )


def test_a_restored_backup_equals_what_was_there(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(claim_space())
    on_stores(fill_stores())
    on_stores(index_all())
    before, recall = on_stores(contents()), on_stores(recalled(7))
    first, second = tmp_path / "first.backup", tmp_path / "second.backup"

    made = console("backup", str(first), "--json")
    move_to(monkeypatch, other_dir)
    restored = console("restore", str(first), "--json")

    assert (made.status, restored.status) == (0, 0), made.err + restored.err
    assert made.document["chats"] == restored.document["chats"] == 5
    assert made.document["counts"]["messages"] == restored.document["messages"] == 11
    assert first.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["first.backup"]
    assert "6 of 6 chats and topics read" in made.err, "one has choices only"
    after = on_stores(contents())
    assert after == before
    on_stores(index_all())
    assert recall
    assert on_stores(recalled(7)) == recall
    assert console("backup", str(second)).status == 0
    assert keys_of(second) == keys_of(first)


@pytest.mark.slow
def test_a_backup_that_is_killed_leaves_no_file(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(fill_stores())
    file = tmp_path / "f.backup"

    killed("backup", str(file))

    assert not file.exists()
    assert {path.stat().st_mode & 0o077 for path in tmp_path.rglob("*")} <= {0}
    assert console("backup", str(file)).status == 0


@pytest.mark.slow
def test_a_restore_that_is_killed_closes_the_stores_until_it_is_complete(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    before, file, other = on_stores(contents()), tmp_path / "f.backup", tmp_path / "other.backup"
    assert console("backup", str(file)).status == 0
    on_stores(edit(7, 0, "another text"))
    assert console("backup", str(other)).status == 0
    in_use = console("restore", str(file))
    move_to(monkeypatch, other_dir)

    killed("restore", str(file))
    opened, half_done = console("chats"), console("restore", str(other))
    again = console("restore", str(file), "--json")

    assert "The stores are not empty. Nothing was restored. A restore needs empty" in in_use.err
    assert (opened.status, "a backup into this store is incomplete: run" in opened.err) == (2, True)
    assert "The restore of another backup has begun there and is not complete" in half_done.err
    assert (in_use.status, half_done.status, again.status) == (1, 1, 0), again.err
    assert again.document["chats"] == 5
    assert on_stores(contents()) == before


def test_what_is_erased_while_the_backup_runs_is_not_in_it(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chat talks, one is reset, and one loses a message, each after it was read."""
    on_stores(fill_stores())
    real, file = backup.Progress.show, tmp_path / "f.backup"
    seen: list[int] = []

    def live_on(progress: backup.Progress, done: int, total: int) -> None:
        real(progress, done, total)
        seen.append(total)
        if len(seen) == total:  # every chat has been read once
            thread = threading.Thread(target=asyncio.run, args=(_live(),))
            thread.start()
            thread.join()

    async def _live() -> None:
        async with open_stores(load_settings()) as stores:
            await stores.history.erase(ref_of(7))
            await stores.history.delete(ref_of(8), [message_id("8/None", 1)], epoch=0)
            await say(stores, -200, ["said during the backup"])

    monkeypatch.setattr(backup.Progress, "show", live_on)
    made = console("backup", str(file), "--json")
    monkeypatch.undo()

    assert made.status == 0, made.err
    assert (made.document["chats"], seen) == (4, [6] * 12), "it was written twice"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    records = [line["values"][1::2] for line in lines if line.get("name") == "messages"]
    texts = [json.loads(text)["text"] for values in records for text in values]
    assert sorted(texts) == sorted(
        [TEXTS[0], TEXTS[2], *TEXTS, "a topic of its own", "from the former group", "said during the backup"]
    )


def test_a_wrong_file_is_refused_in_one_line_before_anything_is_written(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(talk(7, *TEXTS))
    file = tmp_path / "f.backup"
    assert console("backup", str(file)).status == 0
    text = file.read_text()
    changed = {
        text[: text.index('{"kind":"complete"')]: "the backup breaks off: its end is missing",
        text[:-20]: "the backup breaks off: its end is missing",
        "": "the backup breaks off: its end is missing",
        "PK\x03\x04 a zip\n": "it is no zip that can be read",
        '{"kind":"header","format":2}\n{"kind":"context"}\n': "this is not a backup of Mnemogram",
        text.replace(f'"store":{STORE_FORMAT}', '"store":9', 1): "a store of format 9, and this build needs",
        text.replace("green mat", "black mat", 1): "the backup was changed or damaged",
        text.replace("Europe/Lisbon", "Europe/Berlin"): "the backup was changed or damaged",
        text + "\n": "none of ours",
        text + text.splitlines()[1] + "\n": "something follows the end",
        text.replace('"name":"zones"', '"name":"\x1b]0;x"'): "none of ours",
        text.replace('"name":"zones"', '"name":"commands"'): "none of ours",
        text.replace('"name":"zones"', '"partition":1,"name":"zones"'): "not in their order",
    }
    move_to(monkeypatch, other_dir)

    for content, problem in changed.items():
        file.write_text(content)
        refused = console("restore", str(file))
        assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1), refused.err
        assert problem in refused.err
        assert refused.err.endswith("Nothing was restored.\n")
        assert "\x1b" not in refused.err
    file.write_bytes(b"\x80")
    assert "this is not a text file. Nothing was restored." in console("restore", str(file)).err
    assert console("chats", "--json").document == []
    assert on_stores(restoring()) == 0


async def talk(chat_id: int, *texts: str, first: int = 0) -> None:
    async with open_stores(load_settings()) as stores:
        await say(stores, chat_id, texts, first=first)
        await stores.redis.call("HSET", global_key("zones"), "1", "Europe/Lisbon")


def test_a_full_disk_is_one_line_and_leaves_nothing(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    file, calls = tmp_path / "f.backup", list[int]()

    def full(handle: int) -> None:
        calls.append(handle)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("bot.cli.transfer.os.fsync", full)
        failed = console("backup", str(file))
    left = list(tmp_path.iterdir())

    assert (failed.status, len(calls), left) == (1, 1, [])
    assert failed.err.endswith(f"{file} cannot be written: No space left on device.\n")
    assert console("backup", str(file)).status == 0
    assert console("backup", str(file)).err == f"{file} exists already. Choose another name.\n"


def test_a_store_that_is_away_is_one_line_and_leaves_nothing(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    file = tmp_path / "f.backup"
    assert console("backup", str(file)).status == 0
    monkeypatch.setenv("REDIS_URL", f"unix://{tmp_path}/none.sock")

    made, restored = console("backup", str(tmp_path / "g.backup")), console("restore", str(file))

    assert (made.status, restored.status) == (1, 1)
    assert made.err.startswith("REDIS_URL: ")
    assert restored.err.startswith("REDIS_URL: ")
    assert [path.name for path in tmp_path.iterdir()] == ["f.backup"]


def test_an_empty_store_has_a_backup_too(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f.backup"
    made = console("backup", str(file))
    move_to(monkeypatch, other_dir)

    restored = console("restore", str(file))

    assert (made.status, restored.status) == (0, 0), made.err + restored.err
    assert on_stores(restoring()) == 0


async def restoring() -> int:
    async with open_stores(load_settings()) as stores:
        return int(await stores.redis.call("EXISTS", global_key("restoring")))
