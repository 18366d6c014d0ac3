"""Stories of every button of the table: pressed while an answer is written, after a restart, twice, and too late."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bot.features import CONTROLS
from bot.transport.words import words_for
from bot.turn.later_use import parse_offers
from memory import keys
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder
from memory.transfer.move_in import list_imports
from tests.exports import import_chat
from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, echo
from tests.story.expected import english, help_text
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
from tests.story.known_facts import known_in, plant
from tests.story.test_stop_buttons import answer_to

OTHER = "small:model_7b"
SETTINGS: dict[str, Any] = {
    "models": f"gpt-5.4-mini:1:2,{OTHER}:10:20:6000",
    "openai_speech_model": "speak-1",
}
LONG = "write for a long time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A chat or topic, and the person who asks for the menus there."""

    person: int = BEN
    chat: int = BEN
    thread: int | None = None

    @property
    def where(self) -> Json:
        return {"chat": self.chat, "thread": self.thread}

    async def show(self, bot: Story, command: str) -> Json:
        """Return the answer to a command, or to a text after the mention of the bot."""
        return await bot.wait_for_reply(await bot.say(self.person, command, **self.where))


PRIVATE, TOPIC = Place(), Place(person=OLGA, chat=WORKSHOP, thread=IDEAS)
GROUP = Place(person=OLGA, chat=WEEKEND)


class Gate:
    """A script that echoes, and holds the answers to LONG until the gate is open."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._reached = asyncio.Event()

    def __call__(self, request: ChatRequest) -> Reply:
        if not str(request["messages"][-1]["content"]).endswith(LONG):
            return echo(request)
        self._reached.set()
        return held(text("done"), until=self._open)

    @asynccontextmanager
    async def written_answer(self, bot: Story, place: Place) -> AsyncGenerator[None]:
        """Have an answer written during the block, and wait for the end of all work after it."""
        self._open.clear()
        self._reached.clear()
        await bot.say(place.person, f"@mnemogram_bot {LONG}", **place.where)
        await self._reached.wait()
        yield
        self._open.set()
        await bot.wait_until_idle()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A menu with the button, and the number of times that its presses had an effect."""

    show: Callable[[Story, Place], Awaitable[Json]]
    count: Callable[[Story, Place, Json], Awaitable[int]]
    number: int = 0
    """Place of the button among those of the menu."""
    data: str = ""
    """The data, if the menu does not have the button now."""
    refusal: str = ""
    """Key of the sentence for a person of a group who may not press it."""
    again: str = ""
    """Key of the sentence for a second press."""

    async def press(self, bot: Story, person: int, menu: Json) -> str:
        """Press the button. Return the id of the press."""
        return await bot.people.press(person, menu, self.data_in(menu), any_data=True)

    def data_in(self, menu: Json) -> str:
        return self.data or buttons_of(menu)[self.number]


def _menu_of(command: str) -> Callable[[Story, Place], Awaitable[Json]]:
    async def show(bot: Story, place: Place) -> Json:
        return await place.show(bot, command)

    return show


def _messages_with(text: str) -> Callable[[Story, Place, Json], Awaitable[int]]:
    """Return a function that counts the messages since the menu that begin with this text."""

    async def count(bot: Story, place: Place, menu: Json) -> int:
        newer = [each for each in bot.shown_in(place.chat) if each["message_id"] > menu["message_id"]]
        return sum(each.get("text", "").startswith(text) for each in newer)

    return count


async def _count_help(bot: Story, place: Place, menu: Json) -> int:
    help_begins = help_text(is_group=place.chat != place.person).split("\n")[0]
    return await _messages_with(help_begins)(bot, place, menu)


async def _show_reset(bot: Story, place: Place) -> Json:
    await place.show(bot, "@mnemogram_bot hello")
    return await place.show(bot, "/reset@mnemogram_bot")


async def _count_resets(bot: Story, place: Place, menu: Json) -> int:
    epoch = await bot.redis.call("GET", keys.context_key(make_ref(place.chat, place.thread), "epoch"))
    return int(epoch or 0) - int(buttons_of(menu)[0].split(":")[-1])


async def _show_forgotten(bot: Story, place: Place) -> Json:
    said = await bot.say(place.person, "@mnemogram_bot hello", **place.where)
    await bot.wait_for_reply(said)
    number = said["message_id"]
    asked = await bot.say(place.person, "/forget@mnemogram_bot", reply_to=number, **place.where)
    return await bot.wait_for_reply(asked)


async def _count_forgotten(bot: Story, place: Place, menu: Json) -> int:
    meta = keys.context_key(make_ref(place.chat, place.thread), "meta")
    offers = parse_offers(await bot.redis.call("HGET", meta, "offers"))
    return f"forget:{offers[-1].update_id}:" != buttons_of(menu)[0] if offers else 1


async def _show_facts(bot: Story, place: Place) -> Json:
    await place.show(bot, "@mnemogram_bot hello")
    await plant(bot, "Ann sings", "Ann swims", about=place.person, **place.where)
    return await place.show(bot, "/facts@mnemogram_bot")


async def _count_facts(bot: Story, place: Place, _: Json) -> int:
    return 2 - len(await known_in(bot, place.chat, place.thread))


async def _show_reminders(bot: Story, place: Place) -> Json:
    for number in range(2):
        reminder = Reminder(
            id=f"{number:08x}",
            text=f"water plant {number}",
            due_at=4_000_000_000.0 + number,
            zone="Europe/Lisbon",
            starts_at="2096-10-02T08:06:40",
            person_id=place.person,
            person_name="Ann",
            chat_id=place.chat,
            chat_type="private",
            created_at=time.time(),
        )
        await _reminders(bot).add(make_ref(place.chat, place.thread), reminder, epoch=0, per_person=9)
    return await place.show(bot, "/reminders@mnemogram_bot")


async def _count_reminders(bot: Story, place: Place, _: Json) -> int:
    return 2 - len(await _reminders(bot).list(make_ref(place.chat, place.thread)))


async def _count_zones(bot: Story, place: Place, _: Json) -> int:
    return await _reminders(bot).zone_of(place.person) == "Europe/Berlin"


async def _show_imports(bot: Story, place: Place) -> Json:
    await import_chat(bot.redis, make_ref(place.chat, place.thread), ["We met in May"])
    return await place.show(bot, "/import@mnemogram_bot")


async def _count_imports(bot: Story, place: Place, _: Json) -> int:
    return 1 - len(await list_imports(bot.redis, make_ref(place.chat, place.thread)))


def _reminders(bot: Story) -> RedisReminders:
    return RedisReminders(bot.redis, clock=time.time)


async def _count_model(bot: Story, place: Place, _: Json) -> int:
    return (await bot.history(place.chat, place.thread)).choices.model == OTHER


async def _count_incognito(bot: Story, place: Place, _: Json) -> int:
    return (await bot.history(place.chat, place.thread)).incognito_until <= time.time()


async def _count_retention(bot: Story, place: Place, _: Json) -> int:
    return (await bot.history(place.chat, place.thread)).retention == "0"


async def _count_stops(bot: Story, place: Place, menu: Json) -> int:
    return await _messages_with(english("stopped"))(bot, place, menu)


OWN_CASES: Mapping[str, Case] = {
    "reminders": Case(
        show=_show_reminders, count=_count_reminders, refusal="reminders-not-yours", again="reminders-gone"
    ),
    "stop": Case(
        show=_menu_of("@mnemogram_bot hello"), count=_count_stops, data="stop", again="answer-written"
    ),
    "help": Case(show=_menu_of("/start@mnemogram_bot"), count=_count_help),
    "why": Case(
        show=_menu_of("@mnemogram_bot hello"),
        count=_messages_with("What that answer was made of:"),
        data="why",
    ),
    "facts": Case(show=_show_facts, count=_count_facts, refusal="facts-not-yours", again="facts-outdated"),
    "forget": Case(
        show=_show_forgotten, count=_count_forgotten, refusal="administrators-only", again="button-unknown"
    ),
    "import": Case(
        show=_show_imports, count=_count_imports, refusal="administrators-only", again="button-unknown"
    ),
    "memory": Case(show=_show_forgotten, count=_messages_with("Erased: 1 message"), number=1),
    "timezone": Case(show=_menu_of("/timezone@mnemogram_bot Berln"), count=_count_zones),
    "model": Case(
        show=_menu_of("/model@mnemogram_bot"), count=_count_model, number=1, refusal="administrators-only"
    ),
    "incognito": Case(
        show=_menu_of("/incognito@mnemogram_bot"), count=_count_incognito, refusal="administrators-only"
    ),
    "retention": Case(
        show=_menu_of("/retention@mnemogram_bot"),
        count=_count_retention,
        number=3,
        refusal="administrators-only",
    ),
}


def _case_of_choice(word: str) -> Case:
    """Return the case of a feature that keeps a choice: its command shows the menu, and the last button chooses."""

    async def count(bot: Story, place: Place, _: Json) -> int:
        return word in (await bot.history(place.chat, place.thread)).choices.of_features

    refusal = "administrators-only" if CONTROLS.buttons[word].pressers == "owners" else ""
    return Case(show=_menu_of(f"/{word}@mnemogram_bot"), count=count, number=-1, refusal=refusal)


CASES: Mapping[str, Case] = {
    **OWN_CASES,
    **{word: _case_of_choice(word) for word in CONTROLS.buttons if word not in {*OWN_CASES, "reset"}},
    "reset": Case(show=_show_reset, count=_count_resets, refusal="reset-not-yours", again="button-unknown"),
}
"""By word, the reset last because it erases what the others have done."""


async def _wait_for_box(bot: Story, place: Place, updates: int) -> None:
    box = keys.context_key(make_ref(place.chat, place.thread), "box")

    async def is_full() -> bool:
        return int(await bot.redis.call("ZCARD", box)) == updates

    await bot.wait_until_true(is_full)


def _answers(bot: Story, press: str) -> list[str]:
    return [each.get("text", "") for each in bot.callback_answers() if each["callback_query_id"] == press]


@pytest.mark.parametrize("place", [PRIVATE, TOPIC])
async def test_a_press_while_an_answer_is_written_is_done_after_it_and_stop_at_once(
    stores: StoryStores, place: Place
) -> None:
    gate = Gate()
    async with running_bot(stores, gate, **SETTINGS) as bot:
        for word, case in CASES.items():
            menu = await case.show(bot, place)
            async with gate.written_answer(bot, place):
                press = await case.press(bot, place.person, menu)
                if CONTROLS.buttons[word].waits:
                    await _wait_for_box(bot, place, 2)
                    assert not _answers(bot, press), word
                else:
                    assert await answer_to(bot, press) == (english("stopped"), False)
            await answer_to(bot, press)
            assert len(_answers(bot, press)) == 1, word
            assert await case.count(bot, place, menu) == 1, word
            assert _answers(bot, press) == [english("stopped") if word == "stop" else ""]


async def test_a_press_during_a_restart_is_done_once(stores: StoryStores) -> None:
    async with running_bot(stores, **SETTINGS) as bot:
        for word, case in CASES.items():
            menu = await case.show(bot, PRIVATE)
            await bot.wait_until_idle()
            await bot.stop()
            press = await case.press(bot, BEN, menu)
            bot.start()
            expected = english(case.again) if word == "stop" else ""
            assert await answer_to(bot, press) == (expected, False), word
            await bot.wait_until_idle()
            assert await case.count(bot, PRIVATE, menu) == (word != "stop"), word


async def test_presses_at_once_by_one_and_another_person_are_each_answered_and_done_once(
    stores: StoryStores,
) -> None:
    gate = Gate()
    async with running_bot(stores, gate, **SETTINGS) as bot:
        for word, case in CASES.items():
            menu = await case.show(bot, GROUP)
            if not CONTROLS.buttons[word].waits:
                continue
            async with gate.written_answer(bot, GROUP):
                others, first, second = [await case.press(bot, each, menu) for each in (CHIARA, OLGA, OLGA)]
            refusal = (english(case.refusal), True) if case.refusal else ("", False)
            again = (english(case.again), True) if case.again else ("", False)
            assert await answer_to(bot, others) == refusal, word
            assert await answer_to(bot, first) == ("", False), word
            assert await answer_to(bot, second) == again, word
            assert [len(_answers(bot, each)) for each in (others, first, second)] == [1, 1, 1], word
            people = 2 if word in ("help", "why", "memory") else 1
            assert await case.count(bot, GROUP, menu) == people, word


async def test_a_press_whose_menu_is_deleted_meanwhile_is_done_and_shown_in_a_new_message(
    stores: StoryStores,
) -> None:
    gate = Gate()
    async with running_bot(stores, gate, **SETTINGS) as bot:
        for word, case in CASES.items():
            menu = await case.show(bot, PRIVATE)
            if not CONTROLS.buttons[word].waits:
                continue
            async with gate.written_answer(bot, PRIVATE):
                press = await case.press(bot, BEN, menu)
                await bot.people.delete(BEN, menu)
            assert await answer_to(bot, press) == ("", False), word
            assert await case.count(bot, PRIVATE, menu) == 1, word
            assert bot.shown_in(BEN)[-1]["text"] != "done", word


async def test_a_press_of_a_message_that_is_gone_in_a_forum_names_the_command_and_changes_nothing(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, **SETTINGS) as bot:
        for word, case in CASES.items():
            menu = await case.show(bot, TOPIC)
            await bot.people.delete(OLGA, menu)
            press = await case.press(bot, OLGA, menu)
            gone = (english("button-gone", command=f"/{word}"), True)
            assert await answer_to(bot, press) == (
                (english("answer-written"), False) if word == "stop" else gone
            )
            await bot.wait_until_idle()
            assert await case.count(bot, TOPIC, menu) == 0, word


async def test_a_press_that_has_expired_is_done_and_its_refusal_becomes_a_message(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, is_pushed=True, **SETTINGS) as bot:
        await bot.wait_until_down()
        case = CASES["facts"]
        menu = await case.show(bot, GROUP)
        for person, facts in ((CHIARA, 0), (OLGA, 1)):
            sender = {"id": person, "is_bot": False, "first_name": "Ann"}
            query = {
                "id": "1",
                "from": sender,
                "data": case.data_in(menu),
                "message": menu,
                "chat_instance": "1",
            }
            await bot.push({"callback_query": query})
            await bot.wait_until_idle()
            assert await case.count(bot, GROUP, menu) == facts
        assert bot.said_in(WEEKEND).count(english("facts-not-yours")) == 1


def _forgeries(bot: Story, place: Place, menus: Mapping[str, str], message: Json) -> list[Json]:
    """Return presses of a member and of the asker with the data of every menu, which name this message."""
    senders = [{"id": each, "is_bot": False, "first_name": "Ann"} for each in (CHIARA, place.person)]
    return [
        {"id": "1", "from": sender, "data": data, "message": message, "chat_instance": "1"}
        for data in [*menus.values(), f"stop:{CHIARA}:alone:1"]
        for sender in senders
    ]


async def test_made_up_data_changes_no_message_that_is_not_the_menu(stores: StoryStores) -> None:
    async with running_bot(stores, is_pushed=True, **SETTINGS) as bot:
        await bot.wait_until_down()
        answer = await GROUP.show(bot, "@mnemogram_bot hello")
        menus = {word: case.data_in(await case.show(bot, GROUP)) for word, case in CASES.items()}
        await bot.wait_until_idle()
        before = bot.shown_in(WEEKEND)
        undescribed = {"chat": answer["chat"], "message_id": answer["message_id"], "date": 0}
        for message in (answer, undescribed):
            for query in _forgeries(bot, GROUP, menus, message):
                await bot.push({"callback_query": query})
        await bot.wait_until_idle()
        assert bot.shown_in(WEEKEND)[: len(before)] == before


async def test_a_menu_that_telegram_does_not_describe_any_more_answers_in_a_new_message(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, is_pushed=True, **SETTINGS) as bot:
        await bot.wait_until_down()
        for word, case in CASES.items():
            menu = await case.show(bot, PRIVATE)
            await bot.wait_until_idle()
            before = bot.shown_in(BEN)
            old = {"chat": menu["chat"], "message_id": menu["message_id"], "date": 0}
            person = {"id": BEN, "is_bot": False, "first_name": "Ben"}
            query = {"id": "1", "from": person, "data": case.data_in(menu), "message": old}
            await bot.push({"callback_query": query | {"chat_instance": "1"}})
            await bot.wait_until_idle()
            # The question for a reset has a date after which it is not confirmed. Counts may be made up.
            works = word not in ("stop", "reset", "memory")
            assert await case.count(bot, PRIVATE, menu) == works, word
            shown = bot.shown_in(BEN)
            assert shown[: len(before)] == before, word
            assert len(shown) == len(before) + (word != "stop"), word


async def test_a_list_turns_its_pages_after_a_restart(stores: StoryStores) -> None:
    async with running_bot(stores, **SETTINGS) as bot:
        await bot.ask(BEN, "hello")
        await plant(bot, *[f"Ben Hart owns {number} boats" for number in range(20)], chat=BEN)
        first = await PRIVATE.show(bot, "/facts")
        await bot.stop()
        bot.start()
        texts = [first["text"]]
        for _ in range(2):
            (shown,) = [each for each in bot.shown_in(BEN) if each["message_id"] == first["message_id"]]
            press = await bot.people.press(
                BEN, shown, [each for each in buttons_of(shown) if ":p:" in each][-1]
            )
            assert await answer_to(bot, press) == ("", False)
            await bot.wait_until_idle()
            texts += [each["text"] for each in bot.shown_in(BEN) if each["message_id"] == first["message_id"]]
        assert len(set(texts)) == 3


async def test_a_press_under_a_message_of_inline_mode_is_taken_and_does_nothing(stores: StoryStores) -> None:
    async with running_bot(stores, is_pushed=True, **SETTINGS) as bot:
        await bot.wait_until_down()
        menus = [case.data_in(await case.show(bot, PRIVATE)) for case in CASES.values()]
        await bot.wait_until_idle()
        before = bot.shown_in(BEN)
        sender = {"id": BEN, "is_bot": False, "first_name": "Ben"}
        for data in menus:
            query = {
                "id": "1",
                "from": sender,
                "data": data,
                "inline_message_id": "AAA",
                "chat_instance": "1",
            }
            await bot.push({"callback_query": query})
        await bot.wait_until_idle()
        reasons = [record["reason"] for record in (await bot.records())[-len(menus) :]]
    assert reasons == ["unknown_button"] * len(menus)
    assert bot.shown_in(BEN) == before


async def test_a_refusal_is_in_the_language_of_the_person_who_pressed(stores: StoryStores) -> None:
    async with running_bot(stores, **SETTINGS) as bot:
        reader = await bot.people.new_person("Rosa", language_code="es")
        await bot.people.member("add", WEEKEND, by=OLGA, user=reader)
        for case in CASES.values():
            menu = await case.show(bot, GROUP)
            if case.refusal:
                press = await case.press(bot, reader, menu)
                assert await answer_to(bot, press) == (words_for("es")(case.refusal), True)


async def test_none_of_these_zones_waits_too(stores: StoryStores) -> None:
    gate = Gate()
    async with running_bot(stores, gate) as bot:
        question = await GROUP.show(bot, "/timezone@mnemogram_bot Berln")
        async with gate.written_answer(bot, GROUP):
            press = await bot.people.press(OLGA, question, buttons_of(question)[-1])
            await _wait_for_box(bot, GROUP, 2)
        assert await answer_to(bot, press) == ("", False)
        assert bot.said_in(WEEKEND)[-2:] == ["done", english("timezone-help")]


async def test_presses_around_a_reset_keep_their_order(stores: StoryStores) -> None:
    gate = Gate()
    async with running_bot(stores, gate, **SETTINGS) as bot:
        voice, facts = [await CASES[word].show(bot, PRIVATE) for word in ("voice", "facts")]
        question = await CASES["reset"].show(bot, PRIVATE)
        model = await CASES["model"].show(bot, PRIVATE)
        menus = {"voice": voice, "reset": question, "facts": facts, "model": model}
        async with gate.written_answer(bot, PRIVATE):
            presses = [await CASES[word].press(bot, BEN, menu) for word, menu in menus.items()]
        told = [await answer_to(bot, press) for press in presses]
        choices = (await bot.history(BEN)).choices
    assert told == [("", False), ("", False), (english("facts-outdated"), True), ("", False)]
    assert (dict(choices.of_features), choices.model) == ({}, OTHER)
