"""Stories of groups: whom the bot answers, where, and from which memory."""

import asyncio

import pytest

from memory import keys
from memory.redis.client import RedisClient
from tests.scripted_replies import Reply, held
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english, help_text
from tests.story.harness import (
    BEN,
    BUGS,
    CHIARA,
    IDEAS,
    OLGA,
    WEEKEND,
    WORKSHOP,
    StoryStores,
    make_ref,
    running_bot,
)
from tests.story.prompts import prompt_texts, recalled

CANARY = "quokka"


async def test_a_mention_is_answered_as_a_reply_without_the_name_in_the_prompt(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        asked = await bot.say(BEN, "@mnemogram_bot what now?", chat=WEEKEND)
        reply = await bot.wait_for_reply(asked)

        assert reply["reply_to_message"]["message_id"] == asked["message_id"]
        assert prompt_texts(bot.prompts()[0])[-1].endswith("what now?")
        assert "mnemogram_bot" not in prompt_texts(bot.prompts()[0])[-1]


async def test_a_reply_to_the_bot_is_answered(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        first = await bot.wait_for_reply(await bot.say(BEN, "@mnemogram_bot one", chat=WEEKEND))

        asked = await bot.say(CHIARA, "and two", chat=WEEKEND, reply_to=first["message_id"])

        assert (await bot.wait_for_reply(asked))["text"].endswith("and two")


async def test_a_command_is_answered_with_and_without_the_bots_name(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        assert await bot.ask(BEN, "/help", chat=WEEKEND) == help_text(is_group=True)
        assert await bot.ask(BEN, "/help@mnemogram_bot", chat=WEEKEND) == help_text(is_group=True)


async def test_without_group_context_no_overheard_talk_is_stored(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False, group_context=False) as bot:
        await bot.say(BEN, f"between us, {CANARY}", chat=WEEKEND)
        await bot.say(BEN, "/reset@other_bot", chat=WEEKEND)
        await bot.wait_until_finished(2)

        assert [(r["state"], r["reason"]) for r in await bot.records()] == [
            ("ignored", "not_addressed"),
            ("ignored", "other_bots_command"),
        ]
        assert bot.said_in(WEEKEND) == []
        assert bot.prompts() == []
        assert await bot.keys_with(CANARY) == []


async def test_the_model_gets_the_writers_of_group_messages(stores: StoryStores) -> None:
    async with running_bot(stores, recall_k=0) as bot:
        await bot.ask(BEN, "@mnemogram_bot I like tea", chat=WEEKEND)
        await bot.ask(CHIARA, "@mnemogram_bot I like rain", chat=WEEKEND)

        told = prompt_texts(bot.prompts()[1])
        assert "Ben Hart" in told[0]
        assert "Chiara Rossi" in told[-1]


@pytest.mark.parametrize("thread", [IDEAS, None], ids=["Ideas", "General"])
async def test_m02_each_topic_has_its_own_memory(stores: StoryStores, thread: int | None) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, f"@mnemogram_bot the word is {CANARY}", chat=WORKSHOP, thread=thread)
        await bot.wait_until_indexed()

        await bot.ask(BEN, "@mnemogram_bot what is the word", chat=WORKSHOP, thread=BUGS)

        assert CANARY not in str(bot.prompts()[-1])
        assert len(await bot.lines(WORKSHOP, thread)) == 2
        assert len(await bot.lines(WORKSHOP, BUGS)) == 2


async def test_m02_a_private_chat_and_a_group_of_one_person_are_two_contexts(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, f"the word is {CANARY}")
        await bot.wait_until_indexed()

        await bot.ask(BEN, "@mnemogram_bot what is the word", chat=WEEKEND)

        assert CANARY not in str(bot.prompts()[-1])


async def test_no_prompt_contains_messages_of_another_chat(stores: StoryStores) -> None:
    """Each chat has a canary word. Every prompt contains only the word of its own chat."""
    places: list[tuple[int, int, int | None]] = [
        (BEN, BEN, None),
        (CHIARA, CHIARA, None),
        (OLGA, WEEKEND, None),
        (OLGA, WORKSHOP, None),
        (OLGA, WORKSHOP, IDEAS),
        (OLGA, WORKSHOP, BUGS),
    ]
    async with running_bot(stores, window_tokens=64, openai_summary_model="") as bot:
        rain = "some rain fell on the hills today, as it did yesterday and on the day before that, "
        for line in ("the word is", rain * 3, "what is the word"):
            for number, (person, chat, thread) in enumerate(places):
                await bot.ask(
                    person, f"@mnemogram_bot {line} canary{number} canary", chat=chat, thread=thread
                )
            await bot.wait_until_indexed()

        prompts = bot.prompts()
        assert len(prompts) == 3 * len(places)
        for at, prompt in enumerate(prompts):
            own = at % len(places)
            told = str(prompt)
            assert [n for n in range(len(places)) if f"canary{n}" in told] == [own]
        assert all(recalled(prompt) for prompt in prompts[2 * len(places) :])


async def test_every_context_is_listed_for_operators_with_its_title(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WORKSHOP, thread=IDEAS)

        kept = await _registered(bot.redis)

        assert make_ref(BEN).context_id in kept
        assert "Ben Hart" in kept[make_ref(BEN).context_id]
        assert "Workshop" in kept[make_ref(WORKSHOP, IDEAS).context_id]


async def _registered(redis: RedisClient) -> dict[str, str]:
    return await redis.call("HGETALL", keys.partition_key(0, "contexts"))


async def test_only_administrators_start_a_new_conversation_in_a_group(stores: StoryStores) -> None:
    async with running_bot(stores, operator_ids="9999") as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)

        assert await bot.ask(BEN, "/new", chat=WEEKEND) == english("administrators-only")
        assert len(await bot.lines(WEEKEND)) == 2
        assert await bot.ask(OLGA, "/new", chat=WEEKEND) == english("new-conversation")
        assert await bot.lines(WEEKEND) == []


async def test_lines_of_two_people_are_never_joined_into_one_message(stores: StoryStores) -> None:
    first = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        reply = echo(request)
        return held(reply, until=first) if "wait" in last_user_text(request) else reply

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "@mnemogram_bot wait", chat=WEEKEND)
        await bot.wait_for_prompts(1)
        await bot.say(BEN, "@mnemogram_bot one", chat=WEEKEND)
        await bot.say(CHIARA, "@mnemogram_bot two", chat=WEEKEND)

        async def have_come_in() -> bool:
            return len(await bot.records()) == 3

        await bot.wait_until_true(have_come_in)
        first.set()

        await bot.wait_until(lambda: len(bot.said_in(WEEKEND)) == 3)
