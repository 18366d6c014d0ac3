"""Stories of topics: each has its own memory, in forums and in private chats alike."""

from tests.story.harness import BEN, BUGS, IDEAS, OLGA, WORKSHOP, StoryStores, running_bot

CANARY = "quokka"


async def test_each_topic_of_a_private_chat_has_its_own_memory_and_its_answers(stores: StoryStores) -> None:
    async with running_bot(stores, private_topics=True) as bot:
        garden = await bot.people.new_topic(BEN, "Garden", by=BEN)
        kitchen = await bot.people.new_topic(BEN, "Kitchen", by=BEN)

        answer = await bot.wait_for_reply(await bot.say(BEN, f"beans and a {CANARY}", thread=garden))
        await bot.ask(BEN, "what did I say?", thread=kitchen)
        await bot.ask(BEN, "and here?")

        assert answer["message_thread_id"] == garden
        assert [CANARY in str(prompt) for prompt in bot.prompts()] == [True, False, False]
        assert [len(await bot.lines(BEN, thread)) for thread in (garden, kitchen, None)] == [2, 2, 2]


async def test_reset_all_erases_every_topic_even_one_with_only_overheard_talk(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        await bot.ask(BEN, f"@mnemogram_bot the word is {CANARY}", chat=WORKSHOP)
        await bot.ask(BEN, f"@mnemogram_bot the word is {CANARY}", chat=WORKSHOP, thread=IDEAS)
        await bot.say(BEN, f"a {CANARY} between us", chat=WORKSHOP, thread=BUGS)

        await bot.reset(OLGA, "all", chat=WORKSHOP)

        assert await bot.keys_with(CANARY) == []


async def test_new_topics_of_a_supergroup_are_in_the_partition_of_its_memory(stores: StoryStores) -> None:
    """A reset of all with the old id finds them."""
    async with running_bot(stores) as bot:
        old = await bot.people.new_chat("Choir", [OLGA, BEN])
        new = await bot.people.upgrade(old, by=OLGA)
        await bot.ask(BEN, f"@mnemogram_bot the word is {CANARY}", chat=new)
        topic = {"message_thread_id": 77, "is_topic_message": True}
        said = {"message_id": 900, "date": 1_800_000_000, "text": f"@mnemogram_bot a {CANARY}"}
        said |= {"chat": {"id": new, "type": "supergroup", "title": "Choir", "is_forum": True}}
        said |= {"from": {"id": BEN, "is_bot": False, "first_name": "Ben"}} | topic
        said |= {"entities": [{"type": "mention", "offset": 0, "length": 14}]}
        await bot.push({"message": said})
        await bot.wait_until_finished(4)
        assert len(await bot.lines(old, 77)) == 2

        await bot.ask(OLGA, f"/reset {old}")

        assert await bot.keys_with(CANARY) == []
