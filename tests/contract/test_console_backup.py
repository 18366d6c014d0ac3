"""`mnemogram backup` and `restore`, on real embedded stores, and with processes that are killed."""

import errno
import json
import os
import signal
import subprocess
import sys
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
from memory.embedded.index_server import open_index_server
from memory.embedded.valkey import open_valkey
from memory.facts.redis_facts import RedisFacts
from memory.history import contexts
from memory.history.fact import Fact
from memory.history.message import Message, Sender, message_id
from memory.history.talk import TalkLine
from memory.keys import ContextRef, context_key, global_key
from memory.recall.recall import RecallQuestion
from memory.stores import build_indexers
from memory.transfer import exporter
from tests.contract.console_rig import (
    BOT_ID,
    NOW,
    ConsoleRig,
    edit,
    empty_stores,
    on_stores,
    settings_in,
)
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
from memory.transfer.importer import ContextImport
deaths = {"progress": (backup.Progress, "show"), "placing": (ContextImport, "place")}
kind, name = deaths[sys.argv[1]]
lives, real = [int(sys.argv[2])], getattr(kind, name)
def die_in_time(*words, **more):
    if not lives[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    lives[0] -= 1
    return real(*words, **more)
setattr(kind, name, die_in_time)
main(sys.argv[3:])
"""
"""A console that is killed at the call of a function after so many others."""


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
        await stores.reindexer.follow()
        assert (await stores.reindexer.step()) == "idle", "the space needs no building"
        (indexer,) = build_indexers(stores, consumer="a-worker", lease_s=60, block_ms=10)
        while (await indexer.step()).indexed:
            pass


async def recalled(chat_id: int) -> list[tuple[str, float]]:
    async with open_stores(load_settings()) as stores:
        hits = await stores.recall.search(
            ref_of(chat_id), 0, RecallQuestion(text=QUESTION, now=NOW + 60), k=3
        )
        return [(hit.message_id, round(hit.score, 6)) for hit in hits]


def move_to(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    monkeypatch.setenv("DATA_DIR", str(data_dir))


def killed(at: str, after: int, *command: str) -> None:
    """Run a command in a process that is killed in the middle."""
    words = [sys.executable, "-c", KILLED, at, str(after), *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(words, env=environment, check=False, capture_output=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def sections_of(file: Path) -> list[str]:
    """Return the lines of all chats without their headers, which have the time of the reading."""
    lines = file.read_text().splitlines()
    return [
        line for line in lines if not line.startswith(('{"kind":"backup', '{"kind":"header', '{"kind":"comp'))
    ]


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
    assert made.document["counts"]["message"] == restored.document["queued_for_index"] == 11
    assert first.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.glob("*.partial")) == []
    assert "5 of 5 chats and topics read" in made.err
    after = on_stores(contents())
    assert after == before
    on_stores(index_all())
    assert recall
    assert on_stores(recalled(7)) == recall
    assert console("backup", str(second)).status == 0
    assert sections_of(second) == sections_of(first)


@pytest.mark.slow
def test_a_backup_that_is_killed_goes_on_where_it_stopped(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(fill_stores())
    file, whole = tmp_path / "f.backup", tmp_path / "whole.backup"
    assert console("backup", str(whole)).status == 0

    killed("progress", 2, "backup", str(file))
    assert not file.exists()
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "f.backup.partial").iterdir()} == {0}
    again = console("backup", str(file), "--json")

    assert again.status == 0, again.err
    assert again.document["read"] == 5 - 3, "those that were complete are not read again"
    assert sections_of(file) == sections_of(whole)
    assert not (tmp_path / "f.backup.partial").exists()


@pytest.mark.slow
def test_a_chat_that_changed_or_was_damaged_since_the_crash_is_read_again(
    console: ConsoleRig, tmp_path: Path
) -> None:
    on_stores(fill_stores())
    file, partial = tmp_path / "f.backup", tmp_path / "f.backup.partial"
    killed("progress", 4, "backup", str(file))
    on_stores(edit(7, 0, "Where is my edited key?"))
    damaged = partial / f"{ref_of(8).context_id}.chat"
    damaged.write_text(damaged.read_text().replace("green", "black"))
    assert console("reset", "-100", "--yes").status == 0

    again = console("backup", str(file), "--json")

    assert (again.document["read"], again.document["chats"]) == (2, 4)
    text = file.read_text()
    assert "Where is my edited key?" in text
    assert "black" not in text
    assert str(ref_of(-100).context_id) not in text, "a reset chat is gone from the half-done work too"


@pytest.mark.slow
@pytest.mark.parametrize(("at", "after"), [("progress", 0), ("placing", 3)])
def test_a_restore_that_is_killed_goes_on_where_it_stopped(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch, at: str, after: int
) -> None:
    on_stores(fill_stores())
    before, file = on_stores(contents()), tmp_path / "f.backup"
    assert console("backup", str(file)).status == 0
    move_to(monkeypatch, other_dir)

    killed(at, after, "restore", str(file))
    again = console("restore", str(file), "--json")

    assert again.status == 0, again.err
    assert again.document["chats"] == 5
    assert again.document["restored"] == 5 - after - (at == "progress")
    assert on_stores(contents()) == before
    once_more = console("restore", str(file))
    assert (once_more.status, "The stores are not empty. Nothing was restored" in once_more.err) == (1, True)


def test_what_is_erased_while_the_backup_runs_is_not_in_it(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chat talks, one is reset, and one loses a message, each after it was read."""
    on_stores(fill_stores())
    real, file = exporter.export_context, tmp_path / "f.backup"
    seen: list[str] = []

    async def live_on(redis: Any, ref: ContextRef, **more: Any) -> Any:
        async for line in real(redis, ref, **more):
            yield line
        seen.append(ref.context_id)
        if len(seen) == 5:  # every chat has been read once
            async with open_stores(load_settings()) as stores:
                await _live(stores)

    async def _live(stores: Stores) -> None:
        await stores.history.erase(ref_of(7))
        await stores.history.delete(ref_of(8), [message_id("8/None", 1)], epoch=0)
        await say(stores, -200, ["said during the backup"])

    monkeypatch.setattr(exporter, "export_context", live_on)
    made = console("backup", str(file), "--json")
    monkeypatch.undo()

    assert made.status == 0, made.err
    assert (made.document["chats"], len(seen)) == (4, 7), "those that changed were read twice"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    texts = [line["message"]["text"] for line in lines if line["kind"] == "message"]
    assert sorted(texts) == sorted(
        [
            TEXTS[0],
            TEXTS[2],
            *TEXTS,
            "a topic of its own",
            "from the former group",
            "said during the backup",
        ]
    )


@pytest.mark.slow
def test_a_restore_refuses_stores_that_are_in_use_or_half_restored(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    file, other = tmp_path / "f.backup", tmp_path / "other.backup"
    assert console("backup", str(file)).status == 0
    on_stores(edit(7, 0, "another text"))
    assert console("backup", str(other)).status == 0
    in_use = console("restore", str(file))
    move_to(monkeypatch, other_dir)
    killed("placing", 1, "restore", str(file))
    half_done = console("restore", str(other))
    last = max(CHATS, key=lambda chat: ref_of(chat).context_id)  # chats of the same age are in this order
    on_stores(talk(last, "a running bot answered", first=50))
    talked = console("restore", str(file))

    assert (in_use.status, half_done.status, talked.status) == (1, 1, 1)
    assert in_use.err.endswith(
        "The stores are not empty. Nothing was restored. A restore needs empty stores and no running bot.\n"
    )
    assert "The restore of another backup has begun there and is not complete" in half_done.err
    assert f"Chat {last} has a memory there that is not of this backup" in talked.err


def test_a_wrong_file_is_refused_in_one_line_before_anything_is_written(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(talk(7, *TEXTS))
    file = tmp_path / "f.backup"
    assert console("backup", str(file)).status == 0
    text = file.read_text()
    changed = {
        text[: text.index('{"kind":"complete"')]: "the backup breaks off: its end is missing",
        text[: text.index('{"kind":"end"')]: "the file breaks off after line",
        text[:-20]: "the backup breaks off: its end is missing",
        "": "the backup breaks off: its end is missing",
        "PK\x03\x04 a zip\n": "this is not a backup of Mnemogram",
        '{"kind":"header","format":2}\n{"kind":"context"}\n': "this is not a backup of Mnemogram",
        text.replace('"format":1', '"format":9', 1): "another format, and this build reads format 1",
        text.replace("green mat", "black mat", 1): "SHA-256 are not those of the lines",
        text.replace("Europe/Lisbon", "Europe/Berlin"): "the backup was changed or damaged",
        text + "\n": "none of ours",
        text + text.splitlines()[0] + "\n": "something follows the end",
        text.replace('"name":"zones"', '"name":"\x1b]0;x"'): "none of ours",
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
    assert on_stores(restoring()) == []


async def talk(chat_id: int, *texts: str, first: int = 0) -> None:
    async with open_stores(load_settings()) as stores:
        await say(stores, chat_id, texts, first=first)
        await stores.redis.call("HSET", global_key("zones"), "1", "Europe/Lisbon")


def test_a_full_disk_is_one_line_and_the_next_run_continues(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    file, calls = tmp_path / "f.backup", list[int]()

    def full(handle: int) -> None:
        calls.append(handle)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("memory.transfer.backup.os.fsync", full)
        failed = console("backup", str(file))
    again = console("backup", str(file), "--json")

    assert (failed.status, len(calls)) == (1, 1)
    assert failed.err.endswith(f"{file} cannot be written: No space left on device.\n")
    assert (again.status, again.document["read"]) == (0, 0)
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


def test_two_backups_into_one_file_do_not_meet(console: ConsoleRig, tmp_path: Path) -> None:
    file = tmp_path / "f.backup"
    with backup.partial_folder(file):
        second = console("backup", str(file))

    assert second.status == 1
    assert second.err == f"Another backup is writing to {file}.partial.\n"


def test_an_empty_store_has_a_backup_too(
    console: ConsoleRig, tmp_path: Path, other_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f.backup"
    made = console("backup", str(file))
    move_to(monkeypatch, other_dir)

    restored = console("restore", str(file))

    assert (made.status, restored.status) == (0, 0), made.err + restored.err
    assert on_stores(restoring()) == []


async def restoring() -> list[str]:
    async with open_stores(load_settings()) as stores:
        return list(await stores.redis.call("HKEYS", global_key("restoring")))


def test_ctrl_c_says_how_to_go_on(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(fill_stores())
    real = backup.Progress.show

    def interrupt(*words: Any) -> None:
        real(*words)
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(backup.Progress, "show", interrupt)
        stopped = console("backup", str(tmp_path / "f.backup"))

    assert stopped.status != 0
    assert "Stopped. No backup was written. Run the same command again" in stopped.err
    assert console("backup", str(tmp_path / "f.backup")).status == 0
