"""Stories of the buttons that open the memory page: under /memory, and behind a group's link."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest

from bot.transport.page_links import PagePlace, parse_place, sign_place
from bot.transport.people import Guests
from bot.transport.words import words_for
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
    running_bot,
)

PUBLIC = "https://page.example"
OPEN = english("memory-open")


def _keyboard(message: Json) -> list[Json]:
    return [button for row in message.get("reply_markup", {}).get("inline_keyboard", []) for button in row]


async def _memory(bot: Story, person: int, *, chat: int | None = None, thread: int | None = None) -> Json:
    return await bot.wait_for_reply(await bot.say(person, "/memory", chat=chat, thread=thread))


def _place_in(bot: Story, address: str, field: str) -> PagePlace | None:
    return parse_place(parse_qs(urlsplit(address).query)[field][0], bot.settings.token)


async def test_memory_in_a_private_chat_has_a_button_that_opens_the_page(stores: StoryStores) -> None:
    async with running_bot(stores, public_url=PUBLIC) as bot:
        await bot.ask(BEN, "hello")
        (button,) = _keyboard(await _memory(bot, BEN))

    address = button["web_app"]["url"]
    assert button == {"text": "Open memory", "web_app": {"url": address}}
    assert address.startswith(f"{PUBLIC}/app/?link=")
    assert _place_in(bot, address, "link") == PagePlace(chat_id=BEN)


async def test_the_simulators_page_is_at_the_port_where_we_listen(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        (button,) = _keyboard(await _memory(bot, BEN))

    assert button["web_app"]["url"].startswith(f"{bot.http_url}/app/?link=")


async def test_memory_in_a_topic_of_a_group_has_a_link_that_the_private_chat_answers_with_the_button(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, public_url=PUBLIC) as bot:
        (link,) = _keyboard(await _memory(bot, OLGA, chat=WORKSHOP, thread=IDEAS))
        parameter = link["url"].removeprefix("https://t.me/mnemogram_bot?start=")

        answer = await bot.wait_for_reply(await bot.say(OLGA, f"/start {parameter}"))

    assert parse_place(parameter, bot.settings.token) == PagePlace(chat_id=WORKSHOP, thread_id=IDEAS)
    assert link == {"text": "Open memory", "url": f"https://t.me/mnemogram_bot?start={parameter}"}
    assert answer["text"] == (
        "Press the button to open the memory of your group. Only its administrators can see it."
    )
    assert _keyboard(answer) == [
        {"text": "Open memory", "web_app": {"url": f"{PUBLIC}/app/?link={parameter}"}}
    ]


async def test_the_answer_to_a_link_says_who_may_see_the_page(stores: StoryStores) -> None:
    async with running_bot(stores, group_memory_page="members") as bot:
        parameter = sign_place(PagePlace(chat_id=WEEKEND), bot.settings.token)

        said = await bot.ask(BEN, f"/start {parameter}")

    assert said == "Press the button to open the memory of your group. Only its members can see it."


async def test_groups_without_a_page_get_no_link_and_old_links_are_declined(stores: StoryStores) -> None:
    async with running_bot(stores, group_memory_page="off") as bot:
        parameter = sign_place(PagePlace(chat_id=WEEKEND), bot.settings.token)

        in_group, in_private = await _memory(bot, OLGA, chat=WEEKEND), await _memory(bot, OLGA)
        declined = await bot.wait_for_reply(await bot.say(OLGA, f"/start {parameter}"))

    assert _keyboard(in_group) == []
    assert [button["text"] for button in _keyboard(in_private)] == [OPEN]
    assert (declined["text"], _keyboard(declined)) == (english("start-page-off"), [])


async def test_a_group_that_became_a_supergroup_has_links_with_its_present_id(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        old = await bot.people.new_chat("Choir", [OLGA, BEN])
        await bot.wait_until(lambda: len(bot.said_in(old)) == 1)  # the greeting
        new = await bot.people.upgrade(old, by=OLGA)
        (link,) = _keyboard(await _memory(bot, BEN, chat=new))

    assert _place_in(bot, link["url"], "start") == PagePlace(chat_id=new)


async def test_a_stranger_with_a_link_gets_the_button_and_no_invitation_is_tried(stores: StoryStores) -> None:
    async with running_bot(stores, invited_only=True) as bot:
        parameter = sign_place(PagePlace(chat_id=WEEKEND), bot.settings.token)
        code = await Guests(stores.redis, clock=time.time).invite()

        for _ in range(11):
            answer = await bot.wait_for_reply(await bot.say(BEN, f"/start {parameter}"))
            assert [button["text"] for button in _keyboard(answer)] == [OPEN]
        assert await bot.ask(BEN, "hello") == english("refused")
        assert (await bot.ask(BEN, f"/start {code}")).startswith(english("invitation-accepted"))
        (record, *_) = await bot.records()

    assert record["gate"] == "polling command page_link"


async def test_a_forged_link_is_a_wrong_invitation_for_strangers_and_nothing_for_others(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, invited_only=True, allowed_user_ids=str(CHIARA)) as bot:
        forged = sign_place(PagePlace(chat_id=WEEKEND), "4242:another-token")

        answers = [await bot.ask(BEN, f"/start {forged}") for _ in range(11)]
        greeting = await bot.ask(CHIARA, f"/start {forged}")

    assert answers == [english("invitation-invalid")] * 10 + [english("invitation-later")]
    assert greeting.startswith(english("start-private"))


async def test_a_link_said_in_a_group_opens_nothing(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        parameter = sign_place(PagePlace(chat_id=WORKSHOP), bot.settings.token)

        said = await bot.ask(BEN, f"/start@mnemogram_bot {parameter}", chat=WEEKEND)

    assert said.startswith(english("start-group"))


@pytest.mark.parametrize("language", ["fa", "ru"])
async def test_the_buttons_and_the_sentence_are_in_the_readers_language(
    stores: StoryStores, language: str
) -> None:
    words = words_for(language)
    async with running_bot(stores) as bot:
        reader = await bot.people.new_person("Dana", language_code=language)
        parameter = sign_place(PagePlace(chat_id=WEEKEND), bot.settings.token)

        answer = await bot.wait_for_reply(await bot.say(reader, f"/start {parameter}"))

    assert answer["text"] == words("start-page", viewers="administrators")
    assert [button["text"] for button in _keyboard(answer)] == [words("memory-open")]
