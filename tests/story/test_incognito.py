"""Stories of incognito: the bot uses its memory, and keeps nothing of what is said."""

import asyncio
import json
import time
from typing import Any

import pytest
import structlog

from bot.features.reminders.tools import IN_INCOGNITO
from bot.turn import answer
from bot.turn.batch import UNKEPT_QUOTE
from memory import keys
from tests.scripted_replies import Reply, call, calls, held, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    CHIARA,
    OLGA,
    WEEKEND,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    running_bot,
)
from tests.story.page_visits import visiting
from tests.story.prompts import overheard, prompt_texts
from tests.story.test_forget_me import confirm, receipt_in
from tests.story.test_stop_buttons import answer_to

CANARY = "quokka"
MARK = english("incognito-mark")
ON = english("incognito-on", place="private")
OFF = english("incognito-off")
HOUR_S = 3600


def marked(reply: str) -> str:
    return f"{MARK}\n\n{reply}"


async def kept_of(bot: Story, word: str = CANARY) -> list[str]:
    """Return the keys that have the word when all work is done."""
    await bot.wait_until_idle()
    return await bot.keys_with(word)


async def say_at(bot: Story, at: float, words: str) -> None:
    """Push a message of Ben's with this time."""
    number = 100_000 + int(at) % 1_000_000
    command = [{"type": "bot_command", "offset": 0, "length": len(words)}] if words.startswith("/") else []
    ben = {"id": BEN, "is_bot": False, "first_name": "Ben", "language_code": "en"}
    chat = {"id": BEN, "type": "private", "first_name": "Ben"}
    message = {"message_id": number, "date": int(at), "chat": chat, "from": ben, "text": words}
    await bot.push({"message": message | {"entities": command}})


async def test_the_bot_uses_what_it_knew_keeps_nothing_and_shows_it(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "I live in Porto")

        assert await bot.ask(BEN, "/incognito") == ON
        assert await bot.ask(BEN, f"a {CANARY} lives with me") == marked(f"echo: a {CANARY} lives with me")

        system, *told = bot.prompts()[-1]
        assert "Incognito is on: nothing of these messages and of your answer will be kept" in str(system)
        assert "I live in Porto" in str(told)
        assert await kept_of(bot) == []
        assert [line for _, line in await bot.lines(BEN)] == ["I live in Porto", "echo: I live in Porto"]
        assert (await bot.records())[-1].keys().isdisjoint({"payload"})


async def test_the_next_line_does_not_know_the_one_before_unless_it_replies_to_the_answer(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "/incognito")
        reply = await bot.wait_for_reply(await bot.say(BEN, f"a {CANARY}"))
        await bot.ask(BEN, "and tomorrow?")
        assert CANARY not in str(bot.prompts()[-1])

        again = await bot.say(BEN, "what is that?", reply_to=reply["message_id"])
        await bot.wait_for_reply(again)
        assert CANARY in str(bot.prompts()[-1])
        assert await kept_of(bot) == []


@pytest.mark.parametrize("by", ["button", "command"])
async def test_the_button_and_the_command_end_it(stores: StoryStores, by: str) -> None:
    async with running_bot(stores) as bot:
        menu = await bot.wait_for_reply(await bot.say(BEN, "/incognito"))
        await bot.ask(BEN, f"a {CANARY}")
        if by == "button":
            assert await answer_to(bot, await bot.people.press(BEN, menu, buttons_of(menu)[0])) == ("", False)
            await bot.wait_until(lambda: bot.said_in(BEN)[-1] == OFF)
        else:
            assert await bot.ask(BEN, "/incognito") == OFF

        assert await bot.ask(BEN, "I like tea") == "echo: I like tea"
        assert [line for _, line in await bot.lines(BEN)] == ["I like tea", "echo: I like tea"]
        assert await bot.ask(BEN, "/incognito") == ON
        assert await bot.ask(BEN, CANARY) == marked(f"echo: {CANARY}")
        assert await kept_of(bot) == []


async def test_a_press_after_the_end_says_that_it_is_off(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        menu = await bot.wait_for_reply(await bot.say(BEN, "/incognito"))
        await bot.ask(BEN, "/incognito")
        assert await answer_to(bot, await bot.people.press(BEN, menu, buttons_of(menu)[0])) == (OFF, True)
        assert await bot.ask(BEN, "I like tea") == "echo: I like tea"


async def test_it_lasts_until_an_hour_after_the_last_message_also_if_they_arrive_late(
    stores: StoryStores,
) -> None:
    """The bot was away: what counts is when the messages were sent."""
    began = time.time() - 9 * HOUR_S
    async with running_bot(stores, is_pushed=True) as bot:
        await bot.wait_until_down()
        await say_at(bot, began, "/incognito")
        for late in (HOUR_S - 1, 2 * HOUR_S - 2, 3 * HOUR_S - 3):
            await say_at(bot, began + late, f"a {CANARY}")
        await bot.wait_until_finished(4)
        assert await kept_of(bot) == []

        await say_at(bot, began + 4 * HOUR_S - 3, "I like tea")
        await bot.wait_until_finished(5)
        assert [line for _, line in await bot.lines(BEN)] == ["I like tea", "echo: I like tea"]
        assert bot.said_in(BEN)[-1] == "echo: I like tea"


async def test_words_sent_behind_the_command_are_in_incognito_and_those_behind_its_end_are_not(
    stores: StoryStores,
) -> None:
    end = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(text("done"), until=end) if last_user_text(request) == "wait" else echo(request)

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "wait")
        await bot.wait_for_prompts(1)
        for line in ("/incognito", f"a {CANARY}", f"another {CANARY}", "/incognito", "I like tea"):
            last = await bot.say(BEN, line)
        end.set()
        await bot.wait_for_reply(last)

        await bot.wait_until(lambda: bot.said_in(BEN)[-1] == "echo: I like tea")
        assert await kept_of(bot) == []
        assert [line for _, line in await bot.lines(BEN)] == [
            "wait",
            "done",
            "I like tea",
            "echo: I like tea",
        ]


async def test_in_a_group_only_administrators_begin_and_end_it(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        refused = english("administrators-only")
        assert await bot.ask(BEN, "/incognito@mnemogram_bot", chat=WEEKEND) == refused
        assert (await bot.ask(BEN, "@mnemogram_bot one", chat=WEEKEND)).endswith("one")

        menu = await bot.wait_for_reply(await bot.say(OLGA, "/incognito@mnemogram_bot", chat=WEEKEND))
        assert menu["text"] == english("incognito-on", place="group")
        assert await bot.ask(BEN, "/incognito@mnemogram_bot", chat=WEEKEND) == refused
        press = await bot.people.press(CHIARA, menu, buttons_of(menu)[0])
        assert await answer_to(bot, press) == (refused, True)
        assert (await bot.ask(BEN, f"@mnemogram_bot {CANARY}", chat=WEEKEND)).startswith(MARK)
        assert await bot.ask(CHIARA, "elsewhere") == "echo: elsewhere"
        assert await kept_of(bot) == []


async def test_what_others_say_in_a_group_meanwhile_is_not_kept(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        before = await bot.say(BEN, "the train leaves at nine", chat=WEEKEND)
        await bot.ask(OLGA, "/incognito@mnemogram_bot", chat=WEEKEND)
        said = await bot.say(BEN, f"the word is {CANARY}", chat=WEEKEND)
        await bot.people.edit(said, f"the word is {CANARY}!")
        await bot.people.edit(before, f"the {CANARY} leaves at nine")
        await bot.people.document(CHIARA, CANARY.encode(), name=f"{CANARY}.txt", chat=WEEKEND)
        asked = await bot.ask(OLGA, "@mnemogram_bot which train?", chat=WEEKEND)
        assert "the train leaves at nine" in str(overheard(bot.prompts()[-1])), asked
        assert (await bot.ask(CHIARA, "/catchup@mnemogram_bot", chat=WEEKEND)).find(CANARY) == -1

        await bot.ask(OLGA, "/incognito@mnemogram_bot", chat=WEEKEND)
        await bot.people.edit(said, f"the word is still {CANARY}")
        await bot.ask(OLGA, "@mnemogram_bot which word?", chat=WEEKEND)
        (line,) = overheard(bot.prompts()[-1])
        assert line.endswith('"the train leaves at nine"')
        assert await kept_of(bot) == []


async def test_a_pin_of_what_was_said_in_incognito_is_not_overheard(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False, is_pushed=True) as bot:
        await bot.wait_until_down()
        await bot.ask(OLGA, "/incognito@mnemogram_bot", chat=WEEKEND)
        said = await bot.say(BEN, f"the word is {CANARY}", chat=WEEKEND)
        await bot.ask(OLGA, "/incognito@mnemogram_bot", chat=WEEKEND)
        other = await bot.say(BEN, "the word is tea", chat=WEEKEND)
        for number, pinned in enumerate((said, other | {"date": other["date"] + 100})):
            pin = {"message_id": 9_000 + number, "date": int(time.time()), "chat": said["chat"]}
            await bot.push({"message": pin | {"from": said["from"], "pinned_message": pinned}})
        await bot.wait_until_finished(6)

        assert await kept_of(bot) == []
        lines = [line.text for line in (await bot.history(WEEKEND)).talk.lines]
        assert lines[-1].endswith("the word is tea")


async def test_edits_write_nothing_while_it_is_on_and_nothing_of_it_later(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        known = await bot.say(BEN, "I like tea")
        await bot.wait_for_reply(known)
        await bot.ask(BEN, "/incognito")
        said = await bot.say(BEN, f"a {CANARY}")
        await bot.wait_for_reply(said)
        await bot.people.edit(said, f"two {CANARY}s")
        await bot.people.edit(known, f"I like {CANARY}s")
        await bot.wait_until_finished(5)
        await bot.ask(BEN, "/incognito")
        await bot.people.edit(said, f"three {CANARY}s")
        await bot.wait_until_finished(7)

        assert await kept_of(bot) == []
        assert [line for _, line in await bot.lines(BEN)] == ["I like tea", "echo: I like tea"]
        reasons = [each["reason"] for each in await bot.records() if " edit " in each["gate"]]
        assert reasons == ["edit_in_incognito", "edit_in_incognito", "edit_of_unkept_message"]


@pytest.mark.parametrize("quote", [None, CANARY])
async def test_a_later_reply_quotes_nothing_of_it(stores: StoryStores, quote: str | None) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "/incognito")
        said = await bot.say(BEN, f"a {CANARY}")
        answered = await bot.wait_for_reply(said)
        await bot.ask(BEN, "/incognito")
        kept = await bot.wait_for_reply(await bot.say(BEN, "I like tea"))

        for each in (said, answered):
            await bot.wait_for_reply(
                await bot.say(BEN, "what was that?", reply_to=each["message_id"], quote=quote)
            )
            assert CANARY not in str(bot.prompts()[-1])
            assert UNKEPT_QUOTE in str(bot.prompts()[-1])
        await bot.wait_for_reply(await bot.say(BEN, "and that?", reply_to=kept["message_id"]))
        assert "echo: I like tea" in prompt_texts(bot.prompts()[-1])[-1]
        assert await kept_of(bot) == []


async def test_a_voice_message_and_files_leave_nothing(stores: StoryStores) -> None:
    hearing: dict[str, Any] = {"openai_transcription_model": "hear-1", "openai_vision": True}
    long = f"the {CANARY} eats leaves. " * 400
    async with running_bot(stores, **hearing) as bot:
        await bot.ask(BEN, "/incognito")
        spoken = await bot.wait_for_reply(await bot.people.voice(BEN))
        heard = spoken["text"].removeprefix(f"{MARK}\n\necho: ")
        await bot.wait_for_reply(await bot.people.photo(BEN, f"is that a {CANARY}?"))
        await bot.wait_for_reply(await bot.people.document(BEN, long.encode(), name=f"{CANARY}.txt"))

        assert str(bot.prompts()[-1]).count(CANARY) > 400, "the whole document"
        assert heard
        assert await kept_of(bot) == []
        assert await kept_of(bot, heard) == []
        kinds = ("messages", "artifacts", "ledger", "receipts", "unread")
        names = [keys.context_key(make_ref(BEN), kind) for kind in kinds]
        assert await bot.redis.call("EXISTS", *names, keys.context_key(make_ref(BEN), "files")) == 0


async def test_a_tool_that_remembers_says_that_it_keeps_nothing(stores: StoryStores) -> None:
    def script(request: ChatRequest) -> Reply:
        last = request["messages"][-1]
        if last["role"] == "tool":
            return text(last["content"])
        return calls(call("set_reminder", {"when": "in 20 minutes", "text": f"feed the {CANARY}"}))

    async with running_bot(stores, script) as bot:
        await bot.ask(BEN, "/incognito")
        reply = await bot.ask(BEN, f"remind me to feed the {CANARY}")

        assert reply.startswith(MARK)
        assert reply.endswith(IN_INCOGNITO)
        assert await bot.redis.call("EXISTS", keys.context_key(make_ref(BEN), "reminders")) == 0
        assert await kept_of(bot) == []
        await bot.ask(BEN, "/incognito")
        assert "Set for" in await bot.ask(BEN, "remind me to feed the cat")


async def test_why_and_memory_and_the_page_say_it(stores: StoryStores) -> None:
    async with running_bot(stores, is_pushed=True) as bot:
        await bot.wait_until_down()
        first = await bot.wait_for_reply(await bot.say(BEN, "I like tea"))
        await bot.ask(BEN, "/incognito")
        said = await bot.wait_for_reply(await bot.say(BEN, "a secret"))
        line, why = english("incognito-line"), english("incognito-why")

        assert (await bot.ask(BEN, "/memory")).startswith(f"{line}\n\n")
        assert await bot.ask(BEN, "/why") == why
        on_it = await bot.say(BEN, "/why", reply_to=first["message_id"])
        assert (await bot.wait_for_reply(on_it))["text"].startswith(english("why-title", which="this"))
        async with visiting(bot, BEN) as page:
            assert line in json.dumps(await page.read("contexts"), ensure_ascii=False)
            await bot.ask(BEN, "/incognito")
            assert line not in json.dumps(await page.read("contexts"), ensure_ascii=False)

        later = await bot.say(BEN, "/why", reply_to=said["message_id"])
        assert (await bot.wait_for_reply(later))["text"] == why
        assert line not in await bot.ask(BEN, "/memory")


async def test_a_turn_that_dies_leaves_no_text_and_nobody_can_retry_it(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_always(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a bug")

    async with running_bot(stores) as bot:
        await bot.ask(BEN, "/incognito")
        with monkeypatch.context() as patched:
            patched.setattr(answer, "run_agent", break_always)
            await bot.say(BEN, f"a {CANARY}")
            await bot.wait_until(lambda: bot.said_in(BEN)[-1] == english("buried"))

        assert await kept_of(bot) == []
        assert (await bot.records())[-1]["state"] == "dead"
        assert await bot.redis.call("EXISTS", keys.partition_key(0, "dead")) == 0
        assert await bot.ask(BEN, "hello") == marked("echo: hello")


async def test_an_interrupted_turn_resumes_in_incognito(stores: StoryStores) -> None:
    """The worker stops in its middle, and the hour has ended long ago."""
    began, end = time.time() - 3 * HOUR_S, asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        messages = request["messages"]
        if messages[-1]["role"] != "tool":
            return calls(call("convert", {"amount": 1, "from_unit": "km", "to_unit": "mile"}))
        return held(text(f"the {CANARY}"), until=end)

    async with running_bot(stores, script, is_pushed=True) as bot:
        await bot.wait_until_down()
        await say_at(bot, began, "/incognito")
        await say_at(bot, began + 10, f"a {CANARY}")
        await bot.wait_for_prompts(2)
        await bot.stop()
        end.set()
        bot.start()
        await bot.wait_until_finished(2)

        assert bot.said_in(BEN)[-1] == marked(f"the {CANARY}")
        assert await kept_of(bot) == []


async def test_a_repeated_update_after_the_end_is_known_without_its_text(stores: StoryStores) -> None:
    ben = {"id": BEN, "is_bot": False, "first_name": "Ben", "language_code": "en"}
    async with running_bot(stores, is_pushed=True) as bot:
        await bot.wait_until_down()
        await bot.ask(BEN, "/incognito")
        chat = {"id": BEN, "type": "private", "first_name": "Ben"}
        message = {"message_id": 800, "date": int(time.time()), "chat": chat, "from": ben, "text": CANARY}
        update = {"update_id": 77_777, "message": message}
        await bot.push(update)
        await bot.wait_until(lambda: bot.said_in(BEN)[-1] == marked(f"echo: {CANARY}"))
        await bot.ask(BEN, "/incognito")
        await bot.push(update)
        await bot.ask(BEN, "I like tea")

        assert [each for each in bot.said_in(BEN) if CANARY in each] == [marked(f"echo: {CANARY}")]
        assert await kept_of(bot) == []


async def test_texts_stay_out_of_the_logs_even_if_they_are_logged(
    stores: StoryStores, capsys: pytest.CaptureFixture[str]
) -> None:
    before = structlog.get_config()
    try:
        async with running_bot(stores, log_text=True) as bot:
            await bot.ask(BEN, "I like tea")
            await bot.ask(BEN, "/incognito")
            await bot.ask(BEN, f"a {CANARY}")
            await bot.ask(BEN, "/incognito")
            await bot.ask(BEN, "I like coffee")
        logged = capsys.readouterr().err
    finally:
        structlog.configure(**before)

    assert "echo: I like tea" in logged
    assert "echo: I like coffee" in logged
    assert CANARY not in logged


async def test_a_due_reminder_from_before_is_sent_and_kept(stores: StoryStores) -> None:
    from tests.story.test_reminders import make_reminder, remind

    async with running_bot(stores) as bot:
        await bot.ask(BEN, "/incognito")
        shown = await remind(bot, make_reminder())
        assert "Water the plants" in shown["text"]
        assert MARK not in shown["text"]
        assert len(await bot.lines(BEN)) == 1


async def test_neither_a_reset_nor_forget_me_ends_it_or_lets_it_be_quoted_later(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "I like tea")
        await bot.ask(BEN, "/incognito")
        said = await bot.say(BEN, f"a {CANARY}")
        answered = await bot.wait_for_reply(said)

        await bot.reset(BEN)
        assert await bot.ask(BEN, f"one {CANARY}") == marked(f"echo: one {CANARY}")
        await confirm(bot, BEN)
        await receipt_in(bot, BEN)
        assert await bot.ask(BEN, f"two {CANARY}s") == marked(f"echo: two {CANARY}s")

        assert await bot.ask(BEN, "/incognito") == OFF
        await bot.ask(BEN, "I like coffee")
        await bot.reset(BEN)
        await bot.people.edit(said, f"the {CANARY}")
        await bot.wait_for_reply(await bot.say(BEN, "what was that?", reply_to=answered["message_id"]))
        assert UNKEPT_QUOTE in str(bot.prompts()[-1])
        assert await kept_of(bot) == []
