"""Stories of rich messages (Bot API 10.1): text that was pasted from a page, with its media."""

from typing import Any

from tests.scripted_replies import text
from tests.scripted_transcriptions import Transcriptions
from tests.sent_files import make_picture, make_voice_note
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Json, StoryStores, running_bot
from tests.story.prompts import overheard, prompt_texts

ADDRESS = "https://example.org/a_b"
LINK = {"type": "url", "text": "notes", "url": ADDRESS}
BLOCKS: list[Json] = [
    {"type": "heading", "size": 2, "text": {"type": "bold", "text": "Packing"}},
    {"type": "paragraph", "text": ["Read my ", LINK, " first."]},
    {"type": "list", "items": [{"label": "1.", "blocks": [{"type": "paragraph", "text": "boots"}]}]},
]
WRITTEN = f"Packing\n\nRead my notes ({ADDRESS}) first.\n\n1. boots"


async def test_a_pasted_page_is_read_forwarded_quoted_and_overheard(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted."), privacy_mode=False) as bot:
        sent = await bot.people.send(BEN, rich_message={"blocks": BLOCKS})
        await bot.wait_for_reply(sent)
        assert prompt_texts(bot.prompts()[-1])[-1] == WRITTEN

        (forwarded,) = await bot.people.forward(BEN, [sent])
        await bot.wait_for_reply(forwarded)
        quoted = "\n".join(f"> {line}".rstrip() for line in WRITTEN.splitlines())
        assert prompt_texts(bot.prompts()[-1])[-1] == f"[forwarded from Ben Hart]\n{quoted}"

        await bot.wait_for_reply(await bot.say(BEN, "which boots?", reply_to=sent["message_id"]))
        quoted = prompt_texts(bot.prompts()[-1])[-1]
        assert "Packing" in quoted
        assert ADDRESS in quoted
        assert quoted.endswith("which boots?")

        await bot.people.send(CHIARA, chat=WEEKEND, rich_message={"blocks": BLOCKS})
        await bot.ask(OLGA, "@mnemogram_bot what to pack?", chat=WEEKEND)
        (line,) = overheard(bot.prompts()[-1])
        assert "boots" in line
        assert ADDRESS in line


async def test_an_edit_of_a_pasted_page_is_answered_again(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted.")) as bot:
        sent = await bot.people.send(BEN, rich_message={"blocks": BLOCKS})
        await bot.wait_for_reply(sent)

        changed = [*BLOCKS, {"type": "paragraph", "text": "and a tent"}]
        edited = sent | {"edit_date": sent["date"] + 5, "rich_message": {"blocks": changed}}
        await bot.push({"edited_message": edited})
        await bot.wait_for_prompts(2)

        assert prompt_texts(bot.prompts()[-1])[-1] == f"{WRITTEN}\n\nand a tent"


async def test_a_mention_inside_a_pasted_page_addresses_the_bot_in_a_group(stores: StoryStores) -> None:
    name = {"type": "mention", "text": "@mnemogram_bot", "username": "mnemogram_bot"}
    async with running_bot(stores) as bot:
        blocks = [{"type": "paragraph", "text": [name, " is this right?"]}, *BLOCKS]
        sent = await bot.people.send(BEN, chat=WEEKEND, rich_message={"blocks": blocks})
        await bot.wait_for_reply(sent)

        assert f"is this right?\n\n{WRITTEN}" in prompt_texts(bot.prompts()[-1])[-1]


async def test_all_pictures_and_recordings_of_a_pasted_page_are_read(stores: StoryStores) -> None:
    changes: dict[str, Any] = {"openai_vision": True, "openai_transcription_model": "hear-1"}
    async with running_bot(stores, lambda _: text("Noted."), **changes) as bot:
        blocks: list[Json] = [{"type": "paragraph", "text": "Our tents"}]
        for width in (20, 30):
            file_id = await bot.people.upload(make_picture(width), name="photo.png")
            size = {"file_id": file_id, "file_unique_id": file_id, "width": width, "height": 6}
            blocks.append({"type": "photo", "photo": [size], "caption": {"text": f"tent {width}"}})
        voice = {"file_id": await bot.people.upload(make_voice_note(), name="v.ogg"), "duration": 3}
        blocks.append({"type": "voice_note", "voice_note": voice})
        bot.model.transcriptions = Transcriptions(text="The larger one leaks.")
        await bot.wait_for_reply(await bot.people.send(BEN, rich_message={"blocks": blocks}))

        words, *pictures = bot.prompts()[-1][-1]["content"]
        assert "20×6" in words["text"]
        assert "30×6" in words["text"]
        assert words["text"].endswith("The larger one leaks.")
        assert len(pictures) == 2


async def test_a_picture_of_a_pasted_page_is_seen(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("Noted."), openai_vision=True) as bot:
        file_id = await bot.people.upload(make_picture(64, 48), name="photo.png")
        size = {"file_id": file_id, "file_unique_id": "u", "width": 64, "height": 48}
        photo = {"type": "photo", "photo": [size], "caption": {"text": "my tent"}}
        await bot.wait_for_reply(await bot.people.send(BEN, rich_message={"blocks": [*BLOCKS, photo]}))

        words, picture = bot.prompts()[-1][-1]["content"]
        assert "64×48" in words["text"]
        assert words["text"].endswith(f"{WRITTEN}\n\nmy tent")
        assert picture["type"] == "image_url"
