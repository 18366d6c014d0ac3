"""A simulator with a folder shows the chats of its last run, and gives no id twice."""

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.api.world import BEN, OLGA, WEEKEND_PLANS, WORKSHOP
from simulator.api.world_folder import KEPT_FILE_BYTES, KEPT_MESSAGES
from tests.contract.simulator_rig import Clock, simulator
from tests.sent_files import make_picture

pytestmark = pytest.mark.slow

OTHER_TOKEN = "4343:another-bot-of-a-test"


async def test_a_restart_keeps_people_chats_messages_reactions_and_menus(tmp_path: Path) -> None:
    async with simulator(folder=tmp_path, private_topics=True) as rig:
        said = await rig.say(BEN, "see https://example.org, *Olga*")
        await rig.page("edits", chat_id=BEN, from_id=BEN, message_id=said["message_id"], text="see it")
        buttons = {"inline_keyboard": [[{"text": "Yes", "callback_data": "yes"}]]}
        answer = await rig.result("sendMessage", chat_id=BEN, text="Really?", reply_markup=buttons)
        await rig.page("reactions", chat_id=BEN, from_id=BEN, message_id=answer["message_id"], emoji="👍")
        gone = await rig.say(WEEKEND_PLANS, "a slip", from_id=BEN)
        await rig.page("deletions", chat_id=WEEKEND_PLANS, from_id=BEN, message_id=gone["message_id"])
        await rig.page("people", first_name="Dana", username="dana")
        await rig.page("topics", chat_id=WORKSHOP, from_id=OLGA, name="Plans")
        await rig.page("languages", from_id=BEN, language_code="fa")
        await rig.page("blocks", chat_id=OLGA, blocked=True)
        await rig.result("setMyCommands", commands=[{"command": "start", "description": "Begin"}])
        before = await rig.world()

    async with simulator(folder=tmp_path, private_topics=True) as rig:
        assert await rig.world() | {"deliveries": before["deliveries"]} == before
        await rig.people.press(BEN, answer, "yes")
        assert (await rig.updates())[-1]["callback_query"]["data"] == "yes"


async def test_new_messages_updates_and_files_have_higher_ids_after_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    async with simulator(folder=tmp_path, clock=clock) as rig:
        messages = [await rig.say(BEN, f"line {number}") for number in range(150)]
        updates = await rig.updates()
        file = await rig.people.upload(b"words", name="a.txt")

    clock.ahead_s = 40  # fewer seconds than messages
    async with simulator(folder=tmp_path, clock=clock) as rig:
        later = await rig.say(BEN, "again")
        (update,) = await rig.updates()

        assert later["message_id"] > messages[-1]["message_id"]
        assert update["update_id"] > updates[-1]["update_id"]
        assert await rig.people.upload(b"words", name="a.txt") > file


async def test_files_are_kept_and_the_oldest_go_first(tmp_path: Path) -> None:
    picture = make_picture(2, 2)
    async with simulator(folder=tmp_path) as rig:
        old = await rig.people.upload(bytes(KEPT_FILE_BYTES), name="old.bin")
        new = await rig.people.upload(picture, name="new.png")
        await rig.page("messages", chat_id=BEN, from_id=BEN, photo=new)
        shown = await rig.messages(BEN)

    async with simulator(folder=tmp_path) as rig:
        assert (await rig.http.get(f"/api/files/{new}")).content == picture
        assert (await rig.http.get(f"/api/files/{old}")).status_code == 404
        assert await rig.messages(BEN) == shown
        found = await rig.result("getFile", file_id=new)
        assert found["file_size"] == len(picture)
    assert len(os.listdir(tmp_path)) == 2  # noqa: PTH208 - the world and the picture


async def test_the_newest_messages_of_a_chat_are_kept(tmp_path: Path) -> None:
    async with simulator(folder=tmp_path) as rig:
        for number in range(KEPT_MESSAGES + 5):
            await rig.say(BEN, f"line {number}")

    async with simulator(folder=tmp_path) as rig:
        texts = [each["text"] for each in await rig.messages(BEN)]

    assert (len(texts), texts[0], texts[-1]) == (KEPT_MESSAGES, "line 5", f"line {KEPT_MESSAGES + 4}")


async def test_changes_are_on_the_disk_before_the_end(tmp_path: Path) -> None:
    async with simulator(folder=tmp_path) as rig:
        await rig.say(BEN, "before a crash")

        await _until_saved(tmp_path, "before a crash")
        await rig.say(BEN, "and later")
        await _until_saved(tmp_path, "and later")


@pytest.mark.parametrize("written", ["", "{", '{"bot_id": 4242}', '{"bot_id": 4242, "people": [7]}', "\0"])
async def test_a_file_that_cannot_be_read_is_put_aside(tmp_path: Path, written: str) -> None:
    (tmp_path / "world.json").write_text(written)

    async with simulator(folder=tmp_path) as rig:
        await rig.say(BEN, "hello")
        assert _texts(await rig.world()) == ["hello"]

    assert (tmp_path / "world.unreadable.json").read_text() == written
    async with simulator(folder=tmp_path) as rig:
        assert _texts(await rig.world()) == ["hello"]


async def test_another_bot_does_not_get_the_chats(tmp_path: Path) -> None:
    async with simulator(folder=tmp_path) as rig:
        await rig.say(BEN, "hello")

    async with simulator(folder=tmp_path, token=OTHER_TOKEN) as rig:
        assert _texts(await rig.world()) == []


async def test_operators_are_those_of_the_present_settings(tmp_path: Path) -> None:
    async with simulator(folder=tmp_path, operator_ids=frozenset({OLGA})):
        pass

    async with simulator(folder=tmp_path, operator_ids=frozenset({BEN})) as rig:
        people = (await rig.world())["people"]

    assert [each["id"] for each in people if each["is_operator"]] == [BEN]


async def test_a_folder_that_goes_away_harms_no_chat(tmp_path: Path) -> None:
    folder = tmp_path / "simulator"
    folder.mkdir()
    async with simulator(folder=folder) as rig:
        await rig.say(BEN, "hello")
        await _until_saved(folder, "hello")
        (folder / "world.json").unlink()
        folder.rmdir()

        await rig.say(BEN, "still there?")

        assert _texts(await rig.world()) == ["hello", "still there?"]


async def test_a_file_of_which_a_full_disk_took_a_part_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def write_a_part(path: Path, data: bytes) -> int:
        write(path, data[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    async with simulator(folder=tmp_path) as rig:
        kept = await rig.people.upload(b"all of it", name="a.txt")
        with monkeypatch.context() as full:
            full.setattr(Path, "write_bytes", write_a_part)
            await rig.page("messages", chat_id=BEN, from_id=BEN, document=kept)
            await _until(lambda: any(path.read_bytes() == b"all" for path in tmp_path.iterdir()))

    async with simulator(folder=tmp_path) as rig:
        assert (await rig.http.get(f"/api/files/{kept}")).content == b"all of it"


async def _until_saved(folder: Path, text: str) -> None:
    path = folder / "world.json"
    await _until(lambda: path.exists() and text in path.read_text("utf-8"))


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def _texts(world: dict[str, Any]) -> list[str]:
    return [message["text"] for message in world["messages"] if "text" in message]
