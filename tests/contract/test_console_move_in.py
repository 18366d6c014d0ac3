"""`mnemogram import` of other services' histories, on real embedded stores."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.app.stores import open_stores
from bot.features.settings import load_settings
from bot.transport.ingest import telegram_ref
from memory.history.message import Message
from memory.history.store import BEFORE_ALL, HistorySnapshot
from memory.keys import context_key
from tests.contract.console_rig import BOT_ID, ConsoleRig, empty_stores, on_stores, remember, settings_in
from tests.exports import chatgpt_conversation, telegram_chat, telegram_message

TOKEN = f"{BOT_ID}:a-token-of-no-bot"
GROUP = -1001234567890


@pytest.fixture
def console(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data_dir: Path
) -> ConsoleRig:
    settings_in(monkeypatch, tmp_path, data_dir, TELEGRAM_BOT_TOKEN=TOKEN)
    on_stores(empty_stores())
    return ConsoleRig(capsys)


async def history_of(chat_id: int) -> tuple[HistorySnapshot, list[Message]]:
    """Return the present conversation, and all messages, oldest first."""
    async with open_stores(load_settings()) as stores:
        ref = telegram_ref(BOT_ID, chat_id, None, partitions=stores.partitions)
        whole = await stores.history.page(ref, after_sequence=BEFORE_ALL, limit=500, whole=True)
        return await stores.history.load(ref, limit=50), whole


async def indexed_work() -> int:
    async with open_stores(load_settings()) as stores:
        return sum([await stores.redis.call("XLEN", f"mnemogram:{{m{each}}}:work") for each in range(64)])


def written(tmp_path: Path, document: Any, name: str = "result.json") -> str:
    file = tmp_path / name
    file.write_text(json.dumps(document, indent=1))
    return str(file)


def group_file(tmp_path: Path, texts: Sequence[str], name: str = "result.json") -> str:
    messages = [
        telegram_message(number, text, sender=f"user{number % 2 + 7}", sent_at=1_600_000_000 + number)
        for number, text in enumerate(texts, start=1)
    ]
    return written(tmp_path, telegram_chat(messages, kind="private_supergroup", number=1234567890), name)


def test_imported_messages_are_below_the_present_talk(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(GROUP, ["Where is the key?", "Under the mat."]))

    done = console("import", group_file(tmp_path, ["We meet in Lisbon", "In May"]), "--json")

    assert done.status == 0, done.err
    assert done.document["imports"][0]["added"] == 2
    snapshot, whole = on_stores(history_of(GROUP))
    assert [each.text for each in snapshot.newest] == ["Where is the key?", "Under the mat."]
    assert [each.text for each in whole] == [
        "We meet in Lisbon",
        "In May",
        "Where is the key?",
        "Under the mat.",
    ]
    assert [each.sequence for each in whole] == [-2, -1, 0, 1]
    assert [(each.sender.id, each.sent_at, each.imported_from) for each in whole[:2] if each.sender] == [
        (8, 1_600_000_001, "Telegram"),
        (7, 1_600_000_002, "Telegram"),
    ]


def test_a_file_that_is_imported_again_adds_nothing(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(GROUP, ["Hello"]))
    file = group_file(tmp_path, ["One", "Two"])
    console("import", file)
    before, work = on_stores(history_of(GROUP)), on_stores(indexed_work())

    again = console("import", file, "--json")
    longer = console("import", group_file(tmp_path, ["One", "Two", "Three"], "later.json"), "--json")

    assert again.document["imports"][0]["was_imported_before"]
    assert longer.document["imports"][0]["added"] == 1
    whole = on_stores(history_of(GROUP))[1]
    assert sorted(each.text for each in whole) == ["Hello", "One", "Three", "Two"]
    assert {each.id for each in before[1]} < {each.id for each in whole}
    assert on_stores(indexed_work()) == work + 1


def test_a_message_that_the_bot_has_from_telegram_is_not_imported(
    console: ConsoleRig, tmp_path: Path
) -> None:
    on_stores(remember(GROUP, ["Hello"]))

    async def link() -> None:
        async with open_stores(load_settings()) as stores:
            ref = telegram_ref(BOT_ID, GROUP, None, partitions=stores.partitions)
            await stores.redis.call("HSET", context_key(ref, "telegram"), "2", "some-message")

    on_stores(link())

    done = console("import", group_file(tmp_path, ["One", "Two"]), "--json")

    assert done.document["imports"][0] | {"import": ""} == {
        "chat": str(GROUP),
        "import": "",
        "messages": 2,
        "added": 1,
        "forgotten": 0,
        "was_imported_before": False,
    }


def test_one_import_is_forgotten_with_a_receipt(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(GROUP, ["Hello"]))
    console("import", group_file(tmp_path, ["One", "Two"]))
    other = written(tmp_path, [chatgpt_conversation("c1", ["A question", "An answer"])], "conversations.json")
    assert console("import", other, "--chat", str(GROUP)).status == 0
    listed = console("import", "--chat", str(GROUP), "--list", "--json")
    assert listed.status == 0, listed.err
    (first, second) = listed.document

    done = console("import", "--chat", str(GROUP), "--forget", first["import"])

    assert done.status == 0, done.err
    assert "2 messages" in done.out
    assert "nothing is left" in done.out
    assert [each.text for each in on_stores(history_of(GROUP))[1]] == ["A question", "An answer", "Hello"]
    assert console("import", "--chat", str(GROUP), "--list", "--json").document == [second]
    assert console("import", "--chat", str(GROUP), "--forget", first["import"]).status == 1


def test_a_group_without_the_bot_needs_a_chat(console: ConsoleRig, tmp_path: Path) -> None:
    file = group_file(tmp_path, ["One"])

    refused = console("import", file)

    assert refused.status == 1
    assert (
        "The bot has no memory of its groups: Trip (-1001234567890). Name a chat with --chat" in refused.err
    )
    assert console("import", file, "--chat", "77").status == 0
    assert [each.text for each in on_stores(history_of(77))[1]] == ["One"]


def test_of_a_file_with_all_chats_a_group_gets_its_own(console: ConsoleRig, tmp_path: Path) -> None:
    on_stores(remember(GROUP, ["Hello"]))
    chats = [
        telegram_chat([telegram_message(1, "Ours")], kind="private_supergroup", number=1234567890),
        telegram_chat([telegram_message(1, "Of two friends")], kind="personal_chat", number=55),
        telegram_chat([telegram_message(9, "Elsewhere")], kind="private_group", number=66),
    ]
    file = written(tmp_path, {"about": "", "chats": {"about": "", "list": chats}})

    own, named = console("import", file), console("import", file, "--chat", str(GROUP), "--json")

    assert "2 messages of other chats were left out" in own.out
    assert named.document["imports"][0]["was_imported_before"]
    assert [each.text for each in on_stores(history_of(GROUP))[1]] == ["Ours", "Hello"]
    assert on_stores(history_of(55))[1] == [], "a talk of two people is not for the chat of one of them"


def test_words_of_chatgpt_are_those_of_the_chats_person(console: ConsoleRig, tmp_path: Path) -> None:
    file = tmp_path / "export.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("user.json", '{"id": "u"}')
        archive.writestr(
            "conversations.json", json.dumps([chatgpt_conversation("c1", ["I like tea", "Noted"])])
        )

    done = console("import", str(file), "--chat", "77")

    assert done.status == 0, done.err
    mine, theirs = on_stores(history_of(77))[1]
    assert (mine.role, mine.sender and mine.sender.id) == ("user", 77)
    assert (theirs.role, theirs.sender, theirs.imported_from) == ("assistant", None, "ChatGPT")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"%PDF-1.7 hello", "It is no history that can be imported. Taken are: a file of `mnemogram export`"),
        (b'{"name": "Trip", "type": "private_group", "id": 5, "messages": [{"id": 1, "type": "message", "date":'
         b' "2021-01-01T00:00:00", "text": "Hi", "from_id": "user5"}, {"id": 2', "after 1 complete messages"),
        (b'{"name": "Trip", "type": "private_group", "id": 5, "messages": []}', "has no messages"),
    ],
)  # fmt: skip
def test_a_bad_file_imports_nothing(
    console: ConsoleRig, tmp_path: Path, content: bytes, sentence: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)

    done = console("import", str(file), "--chat", "77")

    assert done.status == 1
    assert sentence in done.err
    assert "Nothing was imported" in done.err
    assert on_stores(history_of(77))[1] == []


def test_our_own_file_is_taken_from_a_zip_too_with_its_imported_messages(
    console: ConsoleRig, tmp_path: Path
) -> None:
    on_stores(remember(GROUP, ["Hello"]))
    console("import", group_file(tmp_path, ["One", "Two"]))
    assert console("export", str(GROUP), str(tmp_path / "own.jsonl")).status == 0
    with zipfile.ZipFile(tmp_path / "own.zip", "w") as archive:
        archive.write(tmp_path / "own.jsonl", "any/name")
    before = on_stores(history_of(GROUP))
    on_stores(empty_stores())

    done = console("import", str(tmp_path / "own.zip"))

    assert done.status == 0, done.err
    assert on_stores(history_of(GROUP))[1] == before[1]


@pytest.mark.slow
def test_a_killed_command_goes_on_when_it_is_repeated(console: ConsoleRig, tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(20_000)]
    file = group_file(tmp_path, texts)
    command = [sys.executable, "-m", "bot", "import", file, "--chat", "77"]
    running = subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}, stderr=subprocess.DEVNULL
    )
    while not on_stores(history_of(77))[1]:
        assert running.poll() is None
    running.kill()
    running.wait()
    (before,) = console("import", "--chat", "77", "--list", "--json").document
    assert 0 < before["done"] < len(texts), "the kill came in the middle"

    done = console("import", file, "--chat", "77", "--json")

    assert done.document["imports"][0]["added"] == len(texts)
    (after,) = console("import", "--chat", "77", "--list", "--json").document
    assert (after["import"], after["done"]) == (before["import"], len(texts))
