"""Stories of /why and of the button under answers: what an answer was made of, for everybody in the chat."""

import re
from datetime import UTC, datetime

import pytest

from bot.turn.answer_receipt import AnswerReceipt
from memory import keys
from memory.codec import parse_json
from tests.scripted_replies import call, calls, text
from tests.scripted_script import echo
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    CHIARA,
    IDEAS,
    OLGA,
    WEEKEND,
    WORKSHOP,
    Json,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    running_bot,
)
from tests.story.test_stop_buttons import answer_to

FACT = "the wifi password is quokka"
QUESTION = "what is the wifi password?"


def _today() -> str:
    now = datetime.now(UTC)
    return f"{now.day} {now:%B %Y}"


async def _why(
    bot: Story, person: int, *, about: Json | None = None, chat: int | None = None, thread: int | None = None
) -> Json:
    reply_to = about["message_id"] if about else None
    asked = await bot.say(
        person, "/why@mnemogram_bot" if chat else "/why", chat=chat, thread=thread, reply_to=reply_to
    )
    return await bot.wait_for_reply(asked)


async def _recalled(bot: Story, person: int, *, chat: int | None = None, thread: int | None = None) -> Json:
    """Tell a fact, begin a new conversation, and return the answer to a question about the fact."""
    mention = "@mnemogram_bot " if chat else ""
    await bot.ask(person, mention + FACT, chat=chat, thread=thread)
    await bot.ask(OLGA if chat else person, "/new", chat=chat, thread=thread)
    await bot.wait_until_indexed()
    return await bot.wait_for_reply(await bot.say(person, mention + QUESTION, chat=chat, thread=thread))


def _lines(message: Json) -> list[str]:
    return message["text"].split("\n")


async def test_why_names_the_memories_of_the_last_answer_and_links_to_the_page(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await _recalled(bot, BEN)
        why = await _why(bot, BEN)

    title, heading, *memories, spent = _lines(why)
    assert (title, heading) == ("What my last answer was made of:", "From memory:")
    assert f"• {_today()}, Ben Hart: “{FACT}”" in memories
    assert re.fullmatch(r"Model: \S+\. Read: [\d,]+ tokens\. Written: \d+ tokens?\.", spent)
    assert "entities" not in why
    (button,) = why["reply_markup"]["inline_keyboard"][0]
    assert (button["text"], "web_app" in button) == (english("memory-open"), True)


async def test_in_a_topic_each_memory_links_to_its_message_and_everybody_may_ask(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        answer = await _recalled(bot, BEN, chat=WORKSHOP, thread=IDEAS)
        told = (await bot.history(WORKSHOP, IDEAS)).newest
        why = await _why(bot, CHIARA, about=answer, chat=WORKSHOP, thread=IDEAS)
        elsewhere = await _why(bot, CHIARA, chat=WORKSHOP)

    assert told
    assert _lines(why)[0] == "What that answer was made of:"
    assert FACT in why["text"]
    (link, *_) = why["entities"]
    assert link["type"] == "text_link"
    assert re.fullmatch(rf"https://t\.me/c/3001/{IDEAS}/\d+", link["url"])
    assert elsewhere["text"] == english("why-none")


async def test_the_link_leads_to_the_message_that_was_recalled(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        told = await bot.say(BEN, f"@mnemogram_bot {FACT}", chat=WORKSHOP)
        await bot.wait_for_reply(told)
        await bot.ask(OLGA, "/new", chat=WORKSHOP)
        await bot.wait_until_indexed()
        await bot.ask(BEN, f"@mnemogram_bot {QUESTION}", chat=WORKSHOP)

        why = await _why(bot, BEN, chat=WORKSHOP)

    urls = [entity["url"] for entity in why["entities"] if entity["type"] == "text_link"]
    assert f"https://t.me/c/3001/{told['message_id']}" in urls


async def test_a_memory_that_was_forgotten_since_is_counted_and_its_words_are_gone(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, lambda _: text("noted")) as bot:
        told = await bot.say(BEN, FACT)
        await bot.wait_for_reply(told)
        await bot.ask(BEN, "/new")
        await bot.wait_until_indexed()
        answer = await bot.wait_for_reply(await bot.say(BEN, QUESTION))
        forget = await bot.say(BEN, "/forget", reply_to=told["message_id"])
        await bot.wait_for_reply(forget)

        why = await _why(bot, BEN, about=answer)

    assert "quokka" not in why["text"]
    assert english("why-forgotten", count=1) in why["text"]


async def test_why_names_the_tools_of_an_answer(stores: StoryStores) -> None:
    script = [calls(call("add", {"a": 2, "b": 3})), calls(call("add", {"a": "x"})), text("It is 5.")]
    async with running_bot(stores, script) as bot:
        answer = await bot.wait_for_reply(await bot.say(BEN, "add 2 and 3"))
        why = await _why(bot, BEN, about=answer)

    assert "Tools: add, add (failed)." in _lines(why)
    assert english("why-nothing-recalled") in _lines(why)


async def test_a_cost_is_named_where_prices_are_known(stores: StoryStores) -> None:
    async with running_bot(stores, models="gpt-5.4-mini:1:2") as bot:
        await bot.ask(BEN, "hello")
        why = await _why(bot, BEN)

    assert re.search(r" Written: \d+ tokens?\. Cost: 0\.\d+\.$", why["text"])


async def test_a_message_that_is_no_answer_is_named_so(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        assert (await _why(bot, BEN))["text"] == english("why-none")
        question = await bot.say(BEN, "hello")
        await bot.wait_for_reply(question)
        no_answer = await bot.wait_for_reply(await bot.say(BEN, "/usage"))

        said = [(await _why(bot, BEN, about=about))["text"] for about in (question, no_answer)]

    assert said == [english("why-no-answer")] * 2


async def test_after_a_forgotten_answer_nothing_is_told_of_it(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        answer = await _recalled(bot, BEN)
        await bot.wait_for_reply(await bot.say(BEN, "/forget", reply_to=answer["message_id"]))

        why = await _why(bot, BEN, about=answer)

    assert why["text"] == english("why-no-answer")


async def test_an_answer_without_a_receipt_is_named_so(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        answer = await bot.wait_for_reply(await bot.say(BEN, "hello"))
        answer_id = (await bot.history(BEN)).newest[-1].id
        await stores.redis.call("DEL", keys.context_key(make_ref(BEN), "receipt", answer_id))

        why = await _why(bot, BEN, about=answer)

    assert why["text"] == english("why-no-receipt")


async def test_what_people_write_is_shown_and_not_rendered(stores: StoryStores) -> None:
    hostile = "**wifi** password <b>is</b> `q` [a](https://e.example)"
    async with running_bot(stores) as bot:
        await bot.ask(BEN, hostile)
        await bot.ask(BEN, "/new")
        await bot.wait_until_indexed()
        await bot.ask(BEN, QUESTION)

        why = await _why(bot, BEN)

    assert f"Ben Hart: “{hostile}”" in why["text"]
    # Telegram itself marks addresses in any text.
    assert {entity["type"] for entity in why["entities"]} == {"url"}


@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("fa", "پایهٔ آخرین پاسخ من این‌ها بود:"),  # noqa: RUF001
        ("ru", "На чём основан мой последний ответ:"),  # noqa: RUF001
    ],
)
async def test_why_speaks_the_readers_language(stores: StoryStores, language: str, title: str) -> None:
    async with running_bot(stores, lambda _: text("да")) as bot:
        reader = await bot.people.new_person("Дана", language_code=language)
        await bot.ask(reader, "привет")
        why = await _why(bot, reader)

    assert _lines(why)[0] == title
    words = re.sub(r"[\w.-]*gpt[\w.-]*", "", why["text"])
    assert re.findall("[A-Za-z]{2,}", words) == []


async def test_without_show_sources_an_answer_has_no_button(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        assert "reply_markup" not in await _recalled(bot, BEN)


async def test_with_show_sources_a_press_tells_what_the_answer_was_made_of(stores: StoryStores) -> None:
    async with running_bot(stores, show_sources=True) as bot:
        answer = await _recalled(bot, BEN, chat=WEEKEND)
        no_memories = await bot.wait_for_reply(await bot.say(CHIARA, "hello"))
        assert buttons_of(no_memories) == []
        assert answer["reply_markup"]["inline_keyboard"] == [[{"text": "🧠", "callback_data": "why"}]]

        press = await bot.people.press(CHIARA, answer, "why")
        assert await answer_to(bot, press) == ("", False)
        await bot.wait_until_idle()
        why = bot.shown_in(WEEKEND)[-1]

    assert _lines(why)[0] == "What that answer was made of:"
    assert f"• {_today()}, Ben Hart: “{FACT}”" in _lines(why)
    assert why["reply_to_message"]["message_id"] == answer["message_id"]


async def test_a_repeated_press_is_answered_once(stores: StoryStores) -> None:
    async with running_bot(stores, is_pushed=True, show_sources=True) as bot:
        answer = await _recalled(bot, BEN)
        person = {"id": BEN, "is_bot": False, "first_name": "Ben"}
        pressed = {"id": "1", "from": person, "data": "why", "message": answer, "chat_instance": "1"}
        before = len(bot.said_in(BEN))

        for _ in range(2):
            await bot.push({"update_id": 3_000_000_000, "callback_query": pressed})
        await bot.wait_until_idle()

    assert len(bot.said_in(BEN)) == before + 1


async def test_a_person_without_access_learns_nothing_from_the_button(stores: StoryStores) -> None:
    async with running_bot(stores, show_sources=True, allowed_user_ids=f"{BEN},{OLGA}") as bot:
        answer = await _recalled(bot, BEN, chat=WEEKEND)
        before = len(bot.said_in(WEEKEND))

        press = await bot.people.press(CHIARA, answer, "why")

        assert await answer_to(bot, press) == (english("button-unknown"), False)
        await bot.wait_until_idle()
        assert len(bot.said_in(WEEKEND)) == before


async def test_a_streamed_answer_and_one_with_a_document_end_with_the_button(stores: StoryStores) -> None:
    long = "\n\n".join(f"Paragraph {number}. " + "word " * 700 for number in range(6))
    replies = iter([text("noted"), text("It is quokka."), text(long)])
    async with running_bot(
        stores, lambda _: next(replies), show_sources=True, streaming=True, long_answers="document"
    ) as bot:
        streamed = await _recalled(bot, BEN)
        await bot.ask(BEN, "/new")
        await bot.wait_until_indexed()
        await bot.say(BEN, QUESTION)
        await bot.wait_until(lambda: "document" in bot.shown_in(BEN)[-1])
        beginning, document = bot.shown_in(BEN)[-2:]

    assert buttons_of(streamed) == ["why"]
    assert (buttons_of(beginning), buttons_of(document)) == (["why"], [])


async def test_the_receipt_that_why_reads_has_no_word_of_the_chat(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await _recalled(bot, BEN)
        answer_id = (await bot.history(BEN)).newest[-1].id
        line = await stores.redis.call("GET", keys.context_key(make_ref(BEN), "receipt", answer_id))

    assert parse_json(AnswerReceipt, line).recalled
    assert "quokka" not in line
