"""Stories of the direct messages of a channel: each person has a topic there, with a memory of its own.

Telegram's form since Bot API 9.2: a supergroup with `is_direct_messages`, where a person sees one topic alone.
"""

import time
from urllib.parse import parse_qs, urlsplit

from bot.transport.page_links import parse_place
from memory.reminders.redis_reminders import RedisReminders
from simulator.api.world import direct_topic_of
from tests.sent_files import make_picture
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, OLGA, Json, Story, StoryStores, make_ref, running_bot
from tests.story.known_facts import plant
from tests.story.page_visits import visiting
from tests.story.prompts import overheard
from tests.story.test_reminders import make_reminder

CANARY = "quokka"
BENS, CHIARAS = direct_topic_of(BEN), direct_topic_of(CHIARA)


async def open_direct_messages(bot: Story) -> int:
    """Return the direct messages of a channel that Olga administers."""
    return (await bot.people.new_channel("News", [OLGA, BEN, CHIARA], admin=OLGA))["direct_messages_id"]


def topics_of(bot: Story, chat: int) -> list[int]:
    """Return the topics of the bot's messages, oldest first."""
    return [message["direct_messages_topic"]["topic_id"] for message in bot.shown_in(chat)]


async def refused(bot: Story) -> list[str]:
    """Return the calls that the simulator has refused, as it does without the right topic."""
    return [call["method"] for call in await bot.people.calls() if call["status"] != 200]


async def test_nobody_sees_the_words_of_another_person_and_each_answer_has_its_topic(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        chat = await open_direct_messages(bot)
        await bot.say(BEN, f"the {CANARY} sleeps", chat=chat)
        said = await bot.say(BEN, f"@mnemogram_bot my {CANARY} lives in Porto", chat=chat)
        await bot.wait_for_reply(said)
        await bot.wait_until_indexed()

        answer = await bot.wait_for_reply(
            await bot.say(CHIARA, "@mnemogram_bot where does it live?", chat=chat)
        )

        first, second = bot.prompts()
        assert CANARY in overheard(first)[0]
        assert (CANARY in str(second), overheard(second)) == (False, [])
        assert CANARY not in answer["text"]
        assert (topics_of(bot, chat), await refused(bot)) == ([BENS, CHIARAS], [])
        own = await bot.history(chat, CHIARAS, is_direct=True)
        assert [message.role for message in own.newest] == ["user", "assistant"]
        assert (await bot.history(chat)).count == 0


async def test_the_channels_administrator_answers_in_the_topic_of_the_person(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        chat = await open_direct_messages(bot)
        await bot.ask(BEN, "@mnemogram_bot hello", chat=chat)
        await bot.say(OLGA, f"the {CANARY} is with us", chat=chat, thread=BENS)

        await bot.ask(BEN, "@mnemogram_bot where is it?", chat=chat)
        await bot.ask(CHIARA, "@mnemogram_bot and mine?", chat=chat)

        assert [CANARY in str(prompt) for prompt in bot.prompts()] == [False, True, False]


async def test_files_and_errors_are_sent_to_the_topic(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        chat = await open_direct_messages(bot)
        await bot.say(BEN, "@mnemogram_bot hello", chat=chat)
        await bot.people.photo(BEN, "@mnemogram_bot see", data=make_picture(), chat=chat)
        await bot.ask(BEN, "/help", chat=chat)
        await bot.ask(BEN, "/why", chat=chat)
        await bot.wait_until_idle()

        assert (set(topics_of(bot, chat)), await refused(bot)) == ({BENS}, [])


async def test_a_reset_of_one_person_leaves_the_other_even_with_all(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        chat = await open_direct_messages(bot)
        for person in (BEN, CHIARA):
            await bot.say(person, "a word between us", chat=chat)
            await bot.ask(person, f"@mnemogram_bot my name is {person}", chat=chat)

        receipt = await bot.reset(BEN, "all", chat=chat)

        assert english("reset-topic") in receipt
        assert (await bot.history(chat, BENS, is_direct=True)).count == 0
        other = await bot.history(chat, CHIARAS, is_direct=True)
        assert (other.count, len(other.talk.lines)) == (2, 1)


async def test_a_forged_button_erases_nothing_of_other_people(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        chat = await open_direct_messages(bot)
        for person in (BEN, CHIARA):
            await bot.ask(person, "@mnemogram_bot hello", chat=chat)
        question = await bot.wait_for_reply(await bot.say(BEN, "/reset", chat=chat))
        epoch = (await bot.history(chat, BENS, is_direct=True)).epoch

        await bot.people.press(BEN, question, f"reset:{BEN}:all:{epoch}", any_data=True)
        await bot.wait_for_receipt(question)

        assert (await bot.history(chat, CHIARAS, is_direct=True)).count == 2


async def test_facts_and_catch_up_are_of_one_topic(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        chat = await open_direct_messages(bot)
        await bot.ask(BEN, "@mnemogram_bot hello", chat=chat)
        await bot.ask(CHIARA, "@mnemogram_bot hello", chat=chat)
        await bot.say(BEN, f"a {CANARY}", chat=chat)
        await plant(bot, f"Ben Hart has a {CANARY}", chat=chat, thread=BENS, is_direct=True)

        own = await bot.ask(BEN, "/facts@mnemogram_bot", chat=chat)
        others = await bot.ask(CHIARA, "/facts@mnemogram_bot", chat=chat)
        missed = await bot.ask(CHIARA, "/catchup@mnemogram_bot", chat=chat)

        assert [CANARY in text for text in (own, others, missed)] == [True, False, False]


async def test_a_reminder_arrives_in_its_topic(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        chat = await open_direct_messages(bot)
        await bot.ask(BEN, "@mnemogram_bot hello", chat=chat)
        await bot.ask(CHIARA, "@mnemogram_bot hello", chat=chat)
        reminder = make_reminder(chat, thread_id=BENS, is_direct=True, chat_type="supergroup")
        store, ref = RedisReminders(bot.redis, clock=time.time), make_ref(chat, BENS, is_direct=True)
        assert await store.add(ref, reminder, epoch=0) == "added"

        await bot.wait_until(lambda: len(bot.shown_in(chat)) == 3)

        due = bot.shown_in(chat)[-1]
        assert due["direct_messages_topic"]["topic_id"] == BENS
        assert await store.list(make_ref(chat, CHIARAS, is_direct=True)) == []


async def test_the_page_of_a_topic_opens_for_its_person_alone(stores: StoryStores) -> None:
    async with running_bot(stores, public_url="https://page.example") as bot:
        chat = await open_direct_messages(bot)
        await bot.ask(BEN, f"@mnemogram_bot a {CANARY}", chat=chat)
        await bot.ask(CHIARA, "@mnemogram_bot hello", chat=chat)
        shown = await bot.wait_for_reply(await bot.say(BEN, "/memory", chat=chat))
        link = _link(shown)

        place = parse_place(link, bot.settings.token)
        async with visiting(bot, BEN, link=link) as visit:
            listed = await visit.read("contexts")
        async with visiting(bot, CHIARA, link=link) as visit:
            foreign = await visit.ask("contexts")

        assert place is not None
        assert (place.thread_id, place.person_id, len(link)) == (BENS, BEN, 55)
        ids = [each["id"] for each in listed["contexts"]]
        assert ids == [make_ref(BEN).context_id, make_ref(chat, BENS, is_direct=True).context_id]
        assert foreign.status_code == 403


async def test_comments_and_posts_as_a_channel_have_the_memory_of_their_group(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        channel = await bot.people.new_channel("News", [OLGA, BEN], admin=OLGA)
        group = channel["comments_id"]
        await bot.wait_until(lambda: len(bot.said_in(group)) == 1)  # the greeting
        await bot.say(OLGA, "We have moved", chat=channel["id"])
        await bot.wait_until(lambda: bool(_posts(bot)))
        post = _posts(bot)[0]

        comment = await bot.say(BEN, "@mnemogram_bot where to?", chat=group, reply_to=post["message_id"])
        answer = await bot.wait_for_reply(comment)
        await bot.wait_until_idle()

        assert answer["message_thread_id"] == post["message_id"]
        assert answer["reply_to_message"]["message_id"] == comment["message_id"]
        assert (await bot.history(group)).count == 2
        assert (len(bot.said_in(group)), bot.said_in(channel["id"])) == (2, [])


def _posts(bot: Story) -> list[Json]:
    messages = [event["message"] for event in bot.events if event["type"] == "message"]
    return [message for message in messages if message.get("is_automatic_forward")]


def _link(message: Json) -> str:
    """Return the parameter of the link under a message."""
    url: str = message["reply_markup"]["inline_keyboard"][0][0]["url"]
    return parse_qs(urlsplit(url).query)["start"][0]
