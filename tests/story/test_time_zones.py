"""Stories of time zones: how people tell theirs, and the dates that models read about them."""

import json
import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from bot.app import upkeep
from memory.reminders.redis_reminders import RedisReminders
from memory.zones.clocks import find_zone
from tests.scripted_replies import Reply, call, calls, text
from tests.scripted_script import ChatRequest, echo
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, WEEKEND, Json, Story, StoryStores, running_bot
from tests.story.prompts import tool_results

GROUP = "/timezone@mnemogram_bot"
_TIME = r" — \d\d:\d\d$"


async def _zone(bot: Story, person: int = BEN) -> str | None:
    return await RedisReminders(bot.redis, clock=time.time).zone_of(person)


def _now(bot: Story, message: Json) -> Json:
    shown = bot.shown_in(message["chat"]["id"])
    return next(each for each in shown if each["message_id"] == message["message_id"])


def _buttons(message: Json) -> dict[str, str]:
    """Return the data of the buttons by their labels, without the times."""
    rows: list[list[Json]] = message.get("reply_markup", {}).get("inline_keyboard", [])
    return {re.sub(_TIME, "", each["text"]): each["callback_data"] for row in rows for each in row}


async def _ask(bot: Story, said: str, person: int = BEN, *, chat: int | None = None) -> Json:
    return await bot.wait_for_reply(await bot.say(person, said, chat=chat))


async def _press(bot: Story, message: Json, label: str) -> str:
    before = _now(bot, message)["text"]
    await bot.people.press(BEN, message, _buttons(message)[label])
    await bot.wait_until(lambda: _now(bot, message)["text"] != before)
    return _now(bot, message)["text"]


async def test_a_time_zone_is_shown_set_suggested_and_forgotten(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        assert await bot.ask(BEN, "/timezone") == english("timezone-none")
        assert "Europe/Lisbon" in await bot.ask(BEN, "/timezone lisbon")
        assert (await bot.ask(BEN, "/timezone")).startswith("Your time zone is Europe/Lisbon")
        question = await _ask(bot, "/timezone Berln")
        chosen = await _press(bot, question, "Europe/Berlin")
        assert await _zone(bot) == "Europe/Berlin"
        unknown = await bot.ask(BEN, "/timezone *qqqqzzzz*")
        assert await bot.ask(BEN, "/timezone off") == english("timezone-off")
        assert await _zone(bot) is None
    assert question["text"] == english("timezone-choose")
    assert chosen.startswith("Your time zone is now Europe/Berlin")
    assert unknown == english("timezone-unknown", name="*qqqqzzzz*")


async def test_zones_to_choose_from_show_their_time_and_one_button_is_for_none_of_them(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, echo) as bot:
        question = await _ask(bot, "/timezone IST")
        assert list(_buttons(question)) == [
            "Asia/Kolkata",
            "Asia/Jerusalem",
            "Europe/Dublin",
            "None of these",
        ]
        label = question["reply_markup"]["inline_keyboard"][0][0]["text"]
        shown = datetime.strptime(label[-5:], "%H:%M").replace(tzinfo=UTC)
        there = datetime.now(find_zone("Asia/Kolkata")).replace(tzinfo=UTC)
        apart = abs((there - shown).total_seconds()) % 86_400

        assert await _press(bot, question, "None of these") == english("timezone-help")
        assert await _zone(bot) is None
        assert _buttons(_now(bot, question)) == {}
    assert min(apart, 86_400 - apart) < 120


async def test_the_time_on_a_clock_is_enough(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        here = datetime.now(UTC) + timedelta(hours=5, minutes=45)
        question = await _ask(bot, f"/timezone it is {here:%H:%M} here")
        await _press(bot, question, "Asia/Kathmandu")
        assert await _zone(bot) == "Asia/Kathmandu"


async def test_an_offset_is_kept_and_cities_are_offered_for_summer_time(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        answer = await _ask(bot, "/timezone GMT+5:30")
        assert await _zone(bot) == "UTC+05:30"
        assert await _press(bot, answer, "Asia/Kolkata") != answer["text"]
        assert await _zone(bot) == "Asia/Kolkata"
    first, second = answer["text"].split("\n\n")
    assert first.startswith("Your time zone is now UTC+05:30, where it's ")
    assert second == english("timezone-fixed")


async def test_a_press_in_a_group_sets_the_zone_of_the_person_who_presses(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        question = await _ask(bot, f"{GROUP} IST", CHIARA, chat=WEEKEND)
        await bot.people.press(BEN, question, _buttons(question)["Asia/Jerusalem"])
        await bot.wait_until(lambda: any("Asia/Jerusalem, where" in each for each in bot.said_in(WEEKEND)))
        assert (await _zone(bot), await _zone(bot, CHIARA)) == ("Asia/Jerusalem", None)


async def test_a_location_after_the_question_or_under_the_command_gives_the_zone(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        before = await bot.wait_for_reply(
            await bot.people.send(BEN, location={"latitude": 35.7, "longitude": 51.4})
        )
        await bot.ask(BEN, "/timezone")
        sent = await bot.people.send(BEN, location={"latitude": 35.7, "longitude": 51.4})
        assert (await bot.wait_for_reply(sent))["text"].startswith("Your time zone is now Asia/Tehran")
        place = await bot.people.send(CHIARA, location={"latitude": 41.9, "longitude": 12.5})
        await bot.wait_for_reply(place)
        asked = await bot.say(CHIARA, "/timezone", reply_to=place["message_id"])
        assert (await bot.wait_for_reply(asked))["text"].startswith("Your time zone is now Europe/Rome")
    assert not before["text"].startswith("Your time zone")


async def test_a_reminder_repeats_in_an_offset_and_says_which_months_it_skips(stores: StoryStores) -> None:
    arguments = {"when": "2027-01-31T09:00", "text": "rent", "repeats": "monthly", "zone": "GMT-0330"}
    script = [calls(call("set_reminder", arguments)), text("Done.")]
    async with running_bot(stores, script) as bot:
        await bot.ask(BEN, "remind me of the rent, I am on GMT-0330")
        (result,) = tool_results(bot.prompts()[-1])
        assert await _zone(bot) == "UTC-03:30"
        listed = await bot.ask(BEN, "/reminders")
    assert "Sunday 2027-01-31 09:00 (UTC-03:30), repeats FREQ=MONTHLY" in result
    assert "Months without a day 31 are skipped" in result
    assert "31 January 2027, 09:00 (every month): rent" in listed


@pytest.mark.parametrize("repeats", ["none", "once", "null"])
async def test_a_reminder_that_does_not_repeat_may_be_set_in_words(stores: StoryStores, repeats: str) -> None:
    arguments = {"when": "in 2 hours", "text": "tea", "repeats": repeats}
    async with running_bot(stores, [calls(call("set_reminder", arguments)), text("Done.")]) as bot:
        await bot.ask(BEN, "remind me of tea")
        (result,) = tool_results(bot.prompts()[-1])
    assert result.startswith("Set for ")
    assert "repeats" not in result


async def test_marks_of_a_group_are_on_the_clocks_of_their_writers(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "/timezone Kiritimati")
        await bot.ask(CHIARA, "@mnemogram_bot good morning", chat=WEEKEND)
        began = datetime.now(find_zone("Pacific/Kiritimati")).date()
        await bot.ask(BEN, "@mnemogram_bot tomorrow I fly", chat=WEEKEND)
        prompt = json.dumps(bot.prompts()[-1], ensure_ascii=False)
        ended = datetime.now(find_zone("Pacific/Kiritimati")).date()
    assert re.search(r"\[\d{4}-\d\d-\d\d \d\d:\d\d UTC\] Chiara", prompt)
    (day,) = re.findall(r"\[(\d{4}-\d\d-\d\d) \d\d:\d\d Pacific/Kiritimati\] Ben", prompt)
    assert day in (str(began), str(ended))


async def test_facts_are_read_on_the_clock_of_the_person(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "LATER_WORK_POLL_S", 0.01)
    requests: list[str] = []

    def model(request: ChatRequest) -> Reply:
        if "response_format" in request:
            requests.append(str(request["messages"][-1]["content"]))
            return text('{"facts": []}')
        return text("Noted.")

    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "/timezone UTC+14")
        began = datetime.now(find_zone("UTC+14:00")).date()
        await bot.ask(BEN, "tomorrow I fly")
        await bot.ask(BEN, "/facts")
        await bot.wait_until(lambda: any("tomorrow I fly" in each for each in requests))
        ended = datetime.now(find_zone("UTC+14:00")).date()
    (day,) = re.findall(r"1\. \[(\S+) \d\d:\d\d UTC\+14:00\] Ben Hart: \"tomorrow I fly\"", requests[-1])
    assert day in (str(began), str(ended))
