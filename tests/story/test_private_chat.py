"""Stories of a private chat."""

import asyncio

import pytest

from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english, help_text
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, running_bot
from tests.story.prompts import prompt_texts, recalled


@pytest.mark.parametrize("is_pushed", [True, False], ids=["by webhook", "by polling"])
async def test_the_bot_answers_and_remembers(stores: StoryStores, is_pushed: bool) -> None:
    async with running_bot(stores, is_pushed=is_pushed) as bot:
        assert await bot.ask(BEN, "hello") == "echo: hello"
        assert await bot.ask(BEN, "hello again") == "echo: hello again"

        assert await bot.lines(BEN) == [
            ("user", "hello"),
            ("assistant", "echo: hello"),
            ("user", "hello again"),
            ("assistant", "echo: hello again"),
        ]
        assert prompt_texts(bot.prompts()[0]) == ["hello"]
        assert prompt_texts(bot.prompts()[1])[-1] == "hello again"
        assert "hello" in recalled(bot.prompts()[1]) or "hello" in prompt_texts(bot.prompts()[1])


async def test_a_stored_message_has_its_writer_and_time(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        asked = await bot.say(BEN, "hello")
        replied = await bot.wait_for_reply(asked)
        await bot.wait_until_idle()

        question, answer = (await bot.history(BEN)).newest
        assert question.sender is not None
        assert (question.sender.id, question.sender.name) == (BEN, "Ben Hart")
        assert (question.telegram_message_id, question.sent_at) == (asked["message_id"], asked["date"])
        assert question.tokens > 0
        record = (await bot.records())[0]
        assert f"sent:{replied['message_id']}" in record
        assert (record["state"], answer.text) == ("answered", "echo: hello")


async def test_three_quick_lines_get_one_answer(stores: StoryStores) -> None:
    first_answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        answer = echo(request)
        return held(answer, until=first_answer) if last_user_text(request) == "wait" else answer

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "wait")
        await bot.wait_for_prompts(1)
        for line in ("one", "two", "three"):
            last = await bot.say(BEN, line)
        await bot.wait_until_true(lambda: _came_in(bot, 4))
        first_answer.set()
        await bot.wait_until(lambda: len(bot.said_in(BEN)) == 2)
        await bot.wait_until_idle()

        assert bot.said_in(BEN) == ["echo: wait", "echo: three"]
        assert len(bot.prompts()) == 2
        assert prompt_texts(bot.prompts()[1])[-3:] == ["one", "two", "three"]
        assert [record["state"] for record in await bot.records()] == ["answered"] * 4
        assert [text for _, text in await bot.lines(BEN)] == [
            *("wait", "echo: wait", "one", "two", "three", "echo: three")
        ]
        assert last["text"] == "three"


async def test_two_chats_are_answered_at_the_same_time(stores: StoryStores) -> None:
    bens_answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        answer = echo(request)
        return held(answer, until=bens_answer) if last_user_text(request) == "ben" else answer

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "ben")
        await bot.wait_for_prompts(1)

        assert await bot.ask(CHIARA, "chiara") == "echo: chiara"

        assert bot.said_in(BEN) == []
        bens_answer.set()
        await bot.wait_until(lambda: bot.said_in(BEN) == ["echo: ben"])


async def test_recall_finds_a_message_outside_the_window(stores: StoryStores) -> None:
    async with running_bot(stores, window_tokens=64, openai_summary_model="") as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        for number in range(8):
            await bot.ask(BEN, f"line {number} is about something else such as rain")
        await bot.wait_until_indexed()

        await bot.ask(BEN, "where does my sister Anna live")

        prompt = bot.prompts()[-1]
        assert "Lisbon" not in "\n".join(prompt_texts(prompt))
        assert "my sister Anna lives in Lisbon" in recalled(prompt)


async def test_t01_a_new_conversation_starts_with_an_empty_window_and_old_messages_are_found(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        await bot.wait_until_indexed()

        assert await bot.ask(BEN, "/new") == english("new-conversation")
        await bot.ask(BEN, "it rains")
        await bot.ask(BEN, "where does my sister Anna live")

        second, third = bot.prompts()[1:]
        assert prompt_texts(second) == ["it rains"]
        assert "my sister Anna lives in Lisbon" in recalled(third)
        assert (await bot.history(BEN)).count == 6


async def test_t01_the_window_grows_within_a_conversation(stores: StoryStores) -> None:
    async with running_bot(stores, recall_k=0) as bot:
        for line in ("one", "two", "three"):
            await bot.ask(BEN, line)

        assert [prompt_texts(prompt) for prompt in bot.prompts()] == [
            ["one"],
            ["one", "echo: one", "two"],
            ["one", "echo: one", "two", "echo: two", "three"],
        ]


async def test_memory_shows_the_stored_counts(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        assert await bot.ask(BEN, "/memory") == english("memory-nothing")
        await bot.ask(BEN, "one")
        await bot.ask(BEN, "/new")
        await bot.ask(BEN, "two")
        await bot.ask(BEN, "three")
        await bot.wait_until_indexed()

        told = await bot.ask(BEN, "/memory")

        assert told.startswith("I remember 6 messages from this chat, since ")
        assert "4 of them are in our current conversation. I can search all of them." in told


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/start", english("start-private") + "\n" + english("start-erasing")),
        ("/help", help_text()),
        ("/nonsense now", english("unknown-command", name="/nonsense")),
        ("/stats", english("operators-only")),
    ],
)
async def test_a_command_is_answered_without_the_model_and_not_remembered(
    stores: StoryStores, line: str, answer: str
) -> None:
    async with running_bot(stores) as bot:
        assert await bot.ask(BEN, line) == answer

        assert bot.prompts() == []
        assert await bot.lines(BEN) == []
        assert (await bot.records())[0]["state"] == "answered"


async def test_unreadable_content_gets_a_sentence(stores: StoryStores) -> None:
    async with running_bot(stores, is_pushed=True) as bot:
        await bot.ask(BEN, "/help")
        message = {"message_id": 9, "date": 1, "chat": {"id": BEN, "type": "private"}, "from": {"id": BEN}}

        await bot.push({"message": message | {"voice": {"file_id": "x"}}})

        await bot.wait_until(lambda: len(bot.said_in(BEN)) == 2)
        assert bot.said_in(BEN)[1] == english("media-deaf")


async def test_markdown_becomes_entities(stores: StoryStores) -> None:
    async with running_bot(stores, [text("**bold** and `code` 😀 _slanted_")]) as bot:
        reply = await bot.wait_for_reply(await bot.say(BEN, "hello"))

        assert reply["text"] == "bold and code 😀 slanted"
        assert [(e["type"], e["offset"], e["length"]) for e in reply["entities"]] == [
            ("bold", 0, 4),
            ("code", 9, 4),
            ("italic", 17, 7),
        ]
        assert (await bot.lines(BEN))[1] == ("assistant", "**bold** and `code` 😀 _slanted_")


async def test_an_answer_of_ten_thousand_characters_arrives_whole_in_several_messages(
    stores: StoryStores,
) -> None:
    long = " ".join(f"word{number}" for number in range(1250))
    async with running_bot(stores, [text(long)]) as bot:
        await bot.say(BEN, "tell me everything")
        await bot.wait_until(lambda: " ".join(bot.said_in(BEN)).split() == long.split())
        await bot.wait_until_idle()

        assert len(long) > 10_000
        assert len(bot.said_in(BEN)) == 3
        record = (await bot.records())[0]
        assert record["state"] == "answered"
        assert len([name for name in record if name.startswith("sent:")]) == 3
        assert (await bot.lines(BEN))[1] == ("assistant", long)


async def test_an_answer_with_nothing_but_a_source_is_shown(stores: StoryStores) -> None:
    async with running_bot(stores, [text("[x]: http://a.example")]) as bot:
        assert await bot.ask(BEN, "one") == "[x]: http://a.example"


async def _came_in(bot: Story, updates: int) -> bool:
    return len(await bot.records()) >= updates


async def test_only_an_operator_is_told_of_the_key_that_is_missing_and_only_in_private(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, openai_base_url=None, openai_api_key=None) as bot:
        told = {
            "operator": await bot.ask(OLGA, "/start"),
            "person": await bot.ask(BEN, "/start"),
            "group": await bot.ask(OLGA, "/start@mnemogram_bot", chat=WEEKEND),
        }

    assert [who for who, text in told.items() if "KEY" in text] == ["operator"]
    assert [who for who, text in told.items() if english("start-offline") in text] == list(told)
