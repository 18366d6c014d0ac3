"""Stories of edits: of waiting messages, of the running question, of the last one, and of older ones."""

import asyncio

import pytest

from bot.inbox.worker import Worker
from memory import keys
from tests.scripted_replies import Reply, call, calls, held, server_error, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    WEEKEND,
    Json,
    Story,
    StoryStores,
    make_ref,
    running_bot,
    take_the_context_away,
)
from tests.story.prompts import prompt_texts, tool_results

pytestmark = pytest.mark.slow

CANARY = "quokka"


def bot_messages(bot: Story, chat: int = BEN) -> list[tuple[int, str]]:
    """Return the bot's messages in the chat: their ids and texts."""
    return [(message["message_id"], message["text"]) for message in bot.shown_in(chat)]


async def edit(bot: Story, message: Json, now: str) -> None:
    """Edit a message as its writer, and wait until the bot has processed the edit."""
    before = len(await bot.records())
    await bot.people.edit(message, now)
    await bot.wait_until_finished(before + 1)


async def ends(bot: Story) -> list[tuple[str, str]]:
    return [(record["state"], record["reason"]) for record in await bot.records()]


async def test_an_edit_of_the_last_question_edits_its_answer(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "hello")
        asked = await bot.say(BEN, f"where do {CANARY}s live")
        answered = await bot.wait_for_reply(asked)
        await bot.wait_until_indexed()

        await edit(bot, asked, "where do whales live")

        assert bot_messages(bot)[-1] == (answered["message_id"], "echo: where do whales live")
        assert len(bot_messages(bot)) == 2
        assert prompt_texts(bot.prompts()[-1]) == ["hello", "echo: hello", "where do whales live"]
        assert [line for _, line in await bot.lines(BEN)] == [
            "hello",
            "echo: hello",
            "where do whales live",
            "echo: where do whales live",
        ]
        assert (await ends(bot))[-1] == ("answered", "")
        await bot.wait_until_idle()
        await bot.wait_until_indexed()
        assert await bot.keys_with(CANARY) == []
        assert CANARY not in str(bot.prompts()[-1])


async def test_an_edited_answer_can_be_edited_and_forgotten(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        asked = await bot.say(BEN, "one")
        answered = await bot.wait_for_reply(asked)
        await edit(bot, asked, "two")

        await edit(bot, asked, "three")

        assert bot_messages(bot) == [(answered["message_id"], "echo: three")]
        forget = await bot.say(BEN, "/forget", reply_to=answered["message_id"])
        await bot.wait_for_reply(forget)
        assert await bot.lines(BEN) == [("user", "three")]


async def test_a_longer_answer_continues_in_new_messages_and_a_shorter_one_deletes_them(
    stores: StoryStores,
) -> None:
    long = "\n\n".join(f"{number} " + "word " * 400 for number in range(5))

    def script(request: ChatRequest) -> Reply:
        return text(long) if last_user_text(request) == "long" else text("short")

    async with running_bot(stores, script) as bot:
        asked = await bot.say(BEN, "short")
        first = (await bot.wait_for_reply(asked))["message_id"]

        await edit(bot, asked, "long")

        longer = bot_messages(bot)
        assert len(longer) > 1
        assert longer[0][0] == first
        await edit(bot, asked, "short")
        assert bot_messages(bot) == [(first, "short")]


async def test_an_edit_of_an_older_message_changes_only_the_memory(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        older = await bot.say(BEN, f"my {CANARY} is ill")
        await bot.wait_for_reply(older)
        await bot.ask(BEN, "what shall I do")
        before = bot_messages(bot)

        await edit(bot, older, "my cat is ill")

        assert len(bot.prompts()) == 2
        assert bot_messages(bot) == before
        assert (await bot.lines(BEN))[0] == ("user", "my cat is ill")
        assert (await ends(bot))[-1] == ("answered", "edited")


async def test_a_failure_to_answer_again_replaces_the_old_answer(stores: StoryStores) -> None:
    def script(request: ChatRequest) -> Reply:
        return server_error() if "two" in last_user_text(request) else echo(request)

    async with running_bot(stores, script) as bot:
        asked = await bot.say(BEN, "one")
        answered = await bot.wait_for_reply(asked)

        await edit(bot, asked, "two")

        assert bot_messages(bot) == [(answered["message_id"], english("failure-model-unavailable"))]
        assert await bot.lines(BEN) == [("user", "two")]


async def test_in_a_group_the_last_answer_is_edited_for_its_asker(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        asked = await bot.say(BEN, "@mnemogram_bot one", chat=WEEKEND)
        answered = await bot.wait_for_reply(asked)

        await edit(bot, asked, "@mnemogram_bot two")

        assert [number for number, _ in bot_messages(bot, WEEKEND)] == [answered["message_id"]]
        assert bot_messages(bot, WEEKEND)[0][1].endswith("two")
        assert (await bot.history(WEEKEND)).newest[0].text == "two"


async def test_an_edit_of_the_running_question_restarts_the_turn(stores: StoryStores) -> None:
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(echo(request), until=never) if CANARY in last_user_text(request) else echo(request)

    async with running_bot(stores, script) as bot:
        asked = await bot.say(BEN, f"a {CANARY}")
        await bot.wait_for_prompts(1)

        await edit(bot, asked, "a whale")

        assert [told for _, told in bot_messages(bot)] == ["echo: a whale"]
        assert await bot.lines(BEN) == [("user", "a whale"), ("assistant", "echo: a whale")]
        assert len(bot.prompts()) == 2
        records = await bot.records()
        assert [(record["state"], record.get("attempts")) for record in records] == [
            ("answered", "1"),
            ("answered", None),
        ]
        await bot.wait_until_idle()
        await bot.wait_until_indexed()
        assert await bot.keys_with(CANARY) == []
        never.set()


async def test_an_edit_without_a_change_lets_the_answer_continue(stores: StoryStores) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, lambda request: held(echo(request), until=answer), is_pushed=True) as bot:
        asked = await bot.say(BEN, "hello")
        await bot.wait_for_prompts(1)

        await bot.push({"edited_message": asked | {"edit_date": asked["date"] + 1}})
        answer.set()

        await bot.wait_until_finished(2)
        assert len(bot.prompts()) == 1
        assert [told for _, told in bot_messages(bot)] == ["echo: hello"]
        assert (await ends(bot))[-1] == ("ignored", "edit_changes_nothing")


async def test_a_turn_with_an_edit_during_a_takeover_restarts(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Worker.run.__kwdefaults__ is not None
    monkeypatch.setitem(Worker.run.__kwdefaults__, "grace_s", 0.1)
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(echo(request), until=never) if CANARY in last_user_text(request) else echo(request)

    async with running_bot(stores, script, is_pushed=True) as bot:
        asked = await bot.say(BEN, f"a {CANARY}")
        await bot.wait_for_prompts(1)
        (update_id,) = await bot.wait_for_waiting(1)
        await bot.stop()
        journal = keys.context_key(make_ref(BEN), "journal")
        await bot.redis.call("HSET", journal, "joined", f"[{update_id}]", "model:1", "{}")
        bot.start(work=False)
        await bot.wait_until_down()
        await bot.people.edit(asked, "a whale")
        await bot.wait_for_waiting(2)

        bot.start(serve=False)

        await bot.wait_until(lambda: [told for _, told in bot_messages(bot)] == ["echo: a whale"])
        await bot.wait_until_idle()
        assert await bot.redis.call("EXISTS", journal) == 0
        never.set()


async def test_a_restarted_turn_is_resumed_with_its_edited_question(stores: StoryStores) -> None:
    never, has_called = asyncio.Event(), False

    def script(request: ChatRequest) -> Reply:
        nonlocal has_called
        if CANARY in last_user_text(request):
            return held(text("too late"), until=never)
        if not has_called:
            has_called = True
            return calls(call("current_time", {}))
        return held(text("too late"), until=never) if is_alive else text("done")

    is_alive = True
    async with running_bot(stores, script, lease_s=1) as bot:
        asked = await bot.say(BEN, f"a {CANARY}")
        await bot.wait_for_prompts(1)
        await bot.people.edit(asked, "what time is it")
        await bot.wait_for_prompts(3)
        is_alive = False
        await take_the_context_away(bot)

        await bot.wait_until_finished(2)

        assert len(bot.prompts()) == 4
        assert tool_results(bot.prompts()[3]) == tool_results(bot.prompts()[2])
        assert await bot.lines(BEN) == [("user", "what time is it"), ("assistant", "done")]
        assert CANARY not in str(bot.prompts()[1:])
        never.set()


async def test_a_forgotten_quotation_does_not_return_with_an_edit_of_the_quoting_message(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, lambda _: text("Noted.")) as bot:
        quoted = await bot.say(BEN, f"my {CANARY} is ill")
        await bot.wait_for_reply(quoted)
        await bot.ask(BEN, "/new")
        asked = await bot.say(BEN, "what to do?", reply_to=quoted["message_id"])
        answered = await bot.wait_for_reply(asked)
        assert CANARY in str(bot.prompts()[-1])
        await bot.wait_for_reply(await bot.say(BEN, "/forget", reply_to=quoted["message_id"]))

        await edit(bot, asked, "what shall I do?")

        assert answered["message_id"] in [number for number, _ in bot_messages(bot)]
        assert CANARY not in str(bot.prompts()[-1])
        assert await bot.keys_with(CANARY) == []
