"""`mnemogram export` and `import`, on real embedded stores."""

import asyncio
import errno
import json
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bot.app.stores import open_stores
from bot.cli.failures import CommandFailed
from bot.cli.transfer import whole_file
from bot.features.settings import load_settings
from bot.transport.ingest import telegram_ref
from memory import keys
from memory.embedded.data_dir import socket_path
from memory.embedded.valkey import open_valkey
from memory.history.message import Sender
from memory.redis.client import open_redis
from tests import known_reminders
from tests.contract.console_rig import BOT_ID, ConsoleRig, empty_stores, on_stores, remember, settings_in
from tests.known_reminders import make_reminder

TOKEN = f"{BOT_ID}:a-token-of-no-bot"
TEXTS = ["Where is the key?", "Under the mat.", "Thanks «ß»"]


@pytest.fixture
def console(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_dir: Path
) -> ConsoleRig:
    settings_in(monkeypatch, tmp_path, data_dir, TELEGRAM_BOT_TOKEN=TOKEN)
    on_stores(empty_stores())
    return ConsoleRig(capsys)


async def staged_keys() -> list[str]:
    async with open_stores(load_settings()) as stores:
        return list(await stores.redis.call("KEYS", f"{keys.PREFIX}*import:*"))


def body_of(file: Path) -> list[str]:
    """Return the lines after the header."""
    return file.read_text().splitlines()[1:]


def test_an_exported_chat_can_be_imported_again(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(-100, TEXTS))
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"

    exported = console("export", "-100", str(first), "--json")

    assert exported.status == 0, exported.err
    assert exported.document["counts"]["message"] == 3
    assert first.stat().st_mode & 0o777 == 0o600
    on_stores(empty_stores())
    done = console("import", str(first), "--json")
    assert done.status == 0, done.err
    assert done.document["queued_for_index"] == 3
    assert console("export", "-100", str(second)).status == 0
    assert body_of(second) == body_of(first)
    assert [each["title"] for each in console("chats", "--json").document] == ["Anna"]
    waiting = console("queue", "--json").document
    assert waiting["index_work"] == 3
    assert on_stores(staged_keys()) == []


async def set_reminders() -> None:
    async with open_stores(load_settings()) as stores:
        ref = telegram_ref(BOT_ID, 7, None, partitions=stores.partitions)
        anna = Sender(id=7, name="Anna")
        passed = make_reminder("00000001", anna, "too late", chat=7, due_at=time.time() - 1)
        await known_reminders.set_reminders(
            stores.redis, ref, [passed, make_reminder("00000002", anna, "in time", chat=7)]
        )


def test_an_import_tells_how_many_reminders_had_passed(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(7, TEXTS))
    on_stores(set_reminders())
    file = tmp_path / "f.jsonl"

    assert "2 reminders" in " ".join(console("export", "7", str(file)).out.split())
    done = console("import", str(file), "--replace")
    again = console("import", str(file), "--replace", "--json")

    assert "1 reminder had passed and will not be sent from here" in " ".join(done.out.split())
    assert again.document["reminders_passed"] == 1
    left = [json.loads(line) for line in console("export", "7").out.splitlines()]
    assert [each["reminder"]["text"] for each in left if each["kind"] == "reminder"] == ["in time"]


def test_export_without_a_file_writes_to_stdout(console: ConsoleRig) -> None:
    on_stores(remember(7, TEXTS))

    lines = [json.loads(line) for line in console("export", "7").out.splitlines()]

    assert [line["kind"] for line in lines] == [
        "header",
        "context",
        *["message"] * 3,
        "person",
        "session",
        "end",
    ]
    assert lines[0]["chat"] == "7"


def test_a_mistyped_option_is_no_file(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    on_stores(remember(7, TEXTS))
    exported = console("export", "7", "chat.jsonl")
    mistyped = console("export", "7", "--jsno")
    backup = console("backup", "--", "-all")

    assert (exported.status, mistyped.status, backup.status) == (0, 2, 2), mistyped.out
    assert "'--jsno' is no option" in mistyped.err
    names = {each.name for each in tmp_path.iterdir()}
    assert names & {"chat.jsonl", "--jsno", "-all"} == {"chat.jsonl"}


def test_a_second_import_works_only_into_another_chat(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(7, TEXTS))
    file = tmp_path / "f.jsonl"
    console("export", "7", str(file))

    refused = console("import", str(file))
    into = console("import", str(file), "--into", "-55/3")

    assert refused.status == 1
    assert "Chat 7 has a memory already. Nothing was imported" in refused.err
    assert into.status == 0, into.err
    assert "Telegram's message numbers" in into.out
    lines = [json.loads(line) for line in console("export", "-55/3").out.splitlines()]
    assert [line["message"]["text"] for line in lines if line["kind"] == "message"] == TEXTS


def test_import_replace_erases_first_with_a_receipt(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(7, TEXTS))
    on_stores(remember(8, ["an older memory"]))
    file = tmp_path / "f.jsonl"
    console("export", "7", str(file))

    done = console("import", str(file), "--into", "8", "--replace", "--json")

    assert done.status == 0, done.err
    assert done.document["erased"] == {"messages": 1, "is_proven": True}
    assert "older" not in console("export", "8").out


def test_import_refuses_a_pipe_because_it_reads_twice(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(7, TEXTS))
    reading, writing = os.pipe()
    os.write(writing, console("export", "7").out.encode())
    os.close(writing)

    refused = console("import", f"/dev/fd/{reading}", "--into", "9")

    os.close(reading)
    assert refused.status == 1
    assert "not a regular file, and this command reads it twice. Nothing was imported" in refused.err


def test_an_import_that_fails_after_the_erasure_reports_the_erasure(
    console: ConsoleRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(remember(7, TEXTS))
    file = tmp_path / "f.jsonl"
    console("export", "7", str(file))
    monkeypatch.setattr("memory.transfer.importer.IMPORT_TTL_S", 0)

    lost = console("import", str(file), "--replace")

    assert lost.status == 1
    assert lost.err.endswith("Nothing was imported. Try again. The former memory of chat 7 is erased.\n")
    assert console("export", "7").status == 1


def test_a_full_store_after_the_erasure_is_reported_with_the_erasure(
    console: ConsoleRig, tmp_path: Path, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_stores(remember(7, TEXTS))
    file = tmp_path / "f.jsonl"
    console("export", "7", str(file))
    try:
        with _an_index_that_fills_the_store(data_dir) as url:
            monkeypatch.setenv("QDRANT_URL", url)
            lost = console("import", str(file), "--replace")
            monkeypatch.delenv("QDRANT_URL")
    finally:
        on_stores(_make_room(data_dir))

    assert lost.status == 1
    assert lost.err == (
        "REDIS_URL: Redis refuses writes: OOM (its memory is full: raise its maxmemory, or free memory). "
        "Nothing was imported. The former memory of chat 7 is erased.\n"
    )
    assert console("export", "7").status == 1


@contextmanager
def _an_index_that_fills_the_store(data_dir: Path) -> Generator[str]:
    """Serve an index that answers with errors. After the erasure of chat 7, its first request fills the store."""
    erased = keys.context_key(telegram_ref(BOT_ID, 7, None, partitions=1), "epoch")
    url = f"unix://{socket_path(data_dir / 'valkey', 'valkey.sock')}"

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asyncio.run(_limit_memory(url, 1, once=erased))
            self.send_error(500)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the test reads stderr."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


async def _limit_memory(url: str, most: int, *, once: str) -> None:
    """Limit the store to `most` bytes (0: no limit) if this key exists."""
    async with open_redis(url) as redis:
        if await redis.call("EXISTS", once):
            await redis.call("CONFIG", "SET", "maxmemory", most)


async def _make_room(data_dir: Path) -> None:
    async with open_valkey(data_dir) as url:
        await _limit_memory(
            url, 0, once=keys.context_key(telegram_ref(BOT_ID, 7, None, partitions=1), "epoch")
        )


def test_a_file_cannot_control_the_terminal(console: ConsoleRig, tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    header = {"kind": "header", "format": 2, "chat": "7"}
    line = {"kind": "\x1b]0;title\x07"}
    file.write_text(json.dumps(header) + "\n" + json.dumps(line) + "\n")

    refused = console("import", str(file))

    assert refused.status == 1
    assert "line 2: the line's kind is none of ours" in refused.err
    assert "title" not in refused.err


@pytest.mark.parametrize(("name", "problem"), [("f.jsonl", "/f.jsonl cannot be written"), (None, "TMPDIR (")])
def test_a_full_disk_is_reported_and_leaves_no_file(tmp_path: Path, name: str | None, problem: str) -> None:
    with pytest.raises(CommandFailed) as failed, whole_file(tmp_path / name if name else None):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert problem in str(failed.value)
    assert str(failed.value).endswith("cannot be written: No space left on device.")
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_file_is_reported_and_changes_nothing(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(7, TEXTS))
    file = tmp_path / "f.jsonl"
    console("export", "7", str(file))
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")

    broken = console("import", str(file), "--into", "9")
    missing = console("import", str(tmp_path / "none"), "--into", "9")
    unknown = console("export", "9")
    again = console("export", "7", str(file))

    assert (broken.status, missing.status, unknown.status, again.status) == (1, 2, 1, 1)
    assert "breaks off after line 7" in broken.err
    assert "Chat 9 has no memory" in unknown.err
    assert "exists already" in again.err
