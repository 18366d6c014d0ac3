"""Stories of files: the model sees pictures, hears voices, reads documents, and reports the rest."""

from typing import Any

import pytest

from tests.documents import pdf_of
from tests.scripted_replies import Failure, Reply, call, calls
from tests.scripted_script import ChatRequest, last_user_text
from tests.scripted_transcriptions import Transcriptions
from tests.sent_files import make_picture
from tests.story.harness import OLGA, Json, Story, StoryStores, running_bot

pytestmark = pytest.mark.slow

HEARING: dict[str, Any] = {"openai_transcription_model": "hear-1"}
BROKEN = b"%PDF-1.7\n\x00garbage"
SEEING: dict[str, Any] = {"openai_vision": True}


def last_content(bot: Story) -> str | list[Json]:
    """Return the content of the last user message of the newest prompt."""
    users = [message for message in bot.prompts()[-1] if message["role"] == "user"]
    return users[-1]["content"]


async def reply_to(bot: Story, message: Json) -> str:
    return (await bot.wait_for_reply(message))["text"]


async def test_the_model_sees_a_photo_in_its_turn_and_remembers_it_by_a_note(stores: StoryStores) -> None:
    async with running_bot(stores, ["A grey picture.", "As I said."], **SEEING) as bot:
        sent = await bot.people.photo(OLGA, "What is this?", data=make_picture(64, 48))
        assert await reply_to(bot, sent) == "A grey picture."

        content = last_content(bot)
        assert isinstance(content, list)
        assert [part["type"] for part in content] == ["text", "image_url"]
        assert "64×48" in content[0]["text"]
        assert content[0]["text"].endswith("What is this?")
        assert content[1]["image_url"]["url"].startswith("data:image/png;base64,")
        kept = (await bot.history(OLGA)).newest
        asked = next(message for message in kept if message.role == "user")
        assert (asked.text, asked.note) == ("What is this?", "a photo, 64×48")

        assert await bot.ask(OLGA, "And now?") == "As I said."
        assert all(isinstance(message["content"], str) for message in bot.prompts()[-1])


async def test_the_model_gets_an_album_as_one_message_with_its_pictures(stores: StoryStores) -> None:
    async with running_bot(stores, ["Three pictures."], **SEEING) as bot:
        album = await bot.people.album(OLGA, "Which is best?", "", "")
        assert await reply_to(bot, album[-1]) == "Three pictures."

        content = last_content(bot)
        assert isinstance(content, list)
        assert [part["type"] for part in content].count("image_url") == 3
        assert len(bot.prompts()) == 1


async def test_a_model_without_vision_is_told_of_a_photo_and_a_photo_alone_gets_a_sentence(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, openai_vision=False) as bot:
        alone = await reply_to(bot, await bot.people.photo(OLGA))
        assert alone.startswith("I can't see pictures")
        assert bot.prompts() == []

        await reply_to(bot, await bot.people.photo(OLGA, "My cat Tom"))
        content = last_content(bot)
        assert isinstance(content, str)
        assert "which you cannot see" in content
        assert content.endswith("My cat Tom")


async def test_an_endpoint_that_refuses_pictures_still_answers(stores: StoryStores) -> None:
    refusal = Failure(
        status=400, message="Invalid content type. image_url is only supported by certain models."
    )
    async with running_bot(stores, [Reply(failure=refusal), "I cannot see it."], **SEEING) as bot:
        assert await reply_to(bot, await bot.people.photo(OLGA, "What is this?")) == "I cannot see it."

        assert "could not be shown to you" in str(last_content(bot))


async def test_a_voice_message_is_answered_remembered_and_found_again(stores: StoryStores) -> None:
    async with running_bot(stores, **HEARING) as bot:
        bot.model.transcriptions = Transcriptions(text="My locker code is 4711.")
        answered = await reply_to(bot, await bot.people.voice(OLGA))
        assert "My locker code is 4711." in answered

        asked = next(each for each in (await bot.history(OLGA)).newest if each.role == "user")
        assert asked.text == "My locker code is 4711."
        assert asked.note.endswith("transcribed")
        await bot.wait_until_indexed()
        await bot.ask(OLGA, "/new")
        await bot.ask(OLGA, "What is my locker code?")
        assert any("4711" in str(message["content"]) for message in bot.prompts()[-1])


async def test_a_voice_message_without_a_transcription_gets_a_sentence(stores: StoryStores) -> None:
    async with running_bot(stores, **HEARING) as bot:
        busy = Failure(status=503, message="busy", retry_after_s=0.001)
        bot.model.transcriptions = Transcriptions(failure=busy)
        said = await reply_to(bot, await bot.people.voice(OLGA))

        assert said.startswith("I couldn't listen to your recording")
        assert bot.prompts() == []


async def test_a_false_ogg_is_sent_nowhere_and_gets_a_sentence(stores: StoryStores) -> None:
    async with running_bot(stores, **HEARING) as bot:
        said = await reply_to(bot, await bot.people.voice(OLGA, data=b"not an ogg at all", duration=3))

        assert said.startswith("I couldn't open this recording")
        assert bot.model.recordings == []


async def test_a_long_pdf_is_read_through_its_artifact_and_forgotten_with_its_message(
    stores: StoryStores,
) -> None:
    pages = [
        *(f"Line {number} of the report. {'filler ' * 30}" for number in range(40)),
        "The total is 981 euros.",
    ]

    def model(request: ChatRequest) -> Reply | str:
        told = last_user_text(request)
        if request["messages"][-1]["role"] == "tool":
            return "The total is 981 euros." if "981" in request["messages"][-1]["content"] else "not found"
        artifact = told.split("artifact ", 1)[1][:12]
        return calls(call("read_artifact", {"artifact_id": artifact, "search": "total"}))

    async with running_bot(stores, model) as bot:
        sent = await bot.people.document(
            OLGA, pdf_of(*pages), name="report.pdf", caption="What is the total?"
        )
        assert await reply_to(bot, sent) == "The total is 981 euros."
        asked = next(each for each in (await bot.history(OLGA)).newest if each.role == "user")
        assert "41 pages" in asked.note
        assert len(await bot.keys_with(":artifact:")) == 1

        await bot.people.send(OLGA, text="/forget", reply_to_message_id=sent["message_id"])
        await bot.wait_until_finished(2)
        await bot.wait_until_idle()
        assert await bot.keys_with(":artifact:") == []


async def test_a_corrupt_pdf_gets_a_sentence_and_its_question_an_answer(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        alone = await reply_to(bot, await bot.people.document(OLGA, BROKEN, name="broken.pdf"))
        assert alone.startswith("I couldn't open this PDF")
        assert bot.prompts() == []

        asked = await bot.people.document(OLGA, BROKEN, name="broken.pdf", caption="What is the total?")
        assert (await reply_to(bot, asked)).endswith("What is the total?")
        assert "could not be read" in str(last_content(bot))


async def test_a_file_over_the_limit_is_not_fetched(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        said = await reply_to(bot, await bot.people.document(OLGA, b"x" * 20_000_001, name="big.txt"))

        assert "up to 20 MB" in said
        assert await bot.people.calls("getFile") == []
