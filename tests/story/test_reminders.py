"""Stories of due reminders: texts and tasks, late and missed ones, stops, and people who have left."""

import asyncio
import time
from dataclasses import replace
from typing import Any

from bot.features.reminders.turns import when_text
from bot.transport.words import words_for
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder
from tests.scripted_replies import held, text
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    BOT,
    CHIARA,
    IDEAS,
    OLGA,
    WEEKEND,
    WORKSHOP,
    Json,
    Story,
    StoryStores,
    make_ref,
    running_bot,
    take_the_context_away,
)
from tests.story.prompts import prompt_texts

TEXT = "Water the plants"
HOUR_S, DAY_S = 3600, 24 * 3600


def make_reminder(chat: int = BEN, **changes: Any) -> Reminder:
    """Return a reminder of Ben's that is due now."""
    now = time.time()
    kind = "private" if chat > 0 else "group" if chat == WEEKEND else "supergroup"
    reminder = Reminder(
        id="0a1b2c3d",
        text=TEXT,
        due_at=now,
        zone="UTC",
        starts_at=f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}",
        person_id=BEN,
        person_name="Ben",
        chat_id=chat,
        chat_type=kind,
        created_at=now,
    )
    return replace(reminder, **changes)


async def remind(bot: Story, reminder: Reminder, *, chat: int | None = None) -> Json:
    """Set the reminder, and return what the bot says then in its chat."""
    where = reminder.chat_id if chat is None else chat
    before = len(bot.said_in(where))
    await set_reminder(bot, reminder)
    await bot.wait_until(lambda: len(bot.said_in(where)) > before)
    await bot.wait_until_idle()
    return bot.shown_in(where)[-1]


async def set_reminder(bot: Story, reminder: Reminder) -> None:
    store = RedisReminders(bot.redis, clock=time.time)
    ref = make_ref(reminder.chat_id, reminder.thread_id)
    assert await store.add(ref, reminder, epoch=0) == "added"


async def reminders_in(bot: Story, chat: int) -> list[Reminder]:
    return await RedisReminders(bot.redis, clock=time.time).list(make_ref(chat))


async def state_of_own(bot: Story) -> list[tuple[str, str]]:
    """Return the states and reasons of the updates of reminders, newest first."""
    return [(r["state"], r["reason"]) for r in await bot.records() if r["gate"].startswith("reminder ")]


async def test_a_text_is_sent_when_it_is_due_and_can_be_answered(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        reminder = await remind(bot, make_reminder())
        answer = await bot.say(BEN, "done", reply_to=reminder["message_id"])
        await bot.wait_for_reply(answer)

        assert reminder["text"] == english("reminder-due", text=TEXT)
        assert "reply_to_message" not in reminder
        assert await bot.lines(BEN) == [
            ("assistant", reminder["text"]),
            ("user", "done"),
            ("assistant", (await bot.lines(BEN))[-1][1]),
        ]
        assert TEXT in str(prompt_texts(bot.prompts()[0]))
        assert len(bot.prompts()) == 1
        assert await state_of_own(bot) == [("answered", "reminder")]
        assert await reminders_in(bot, BEN) == []


async def test_a_task_is_done_by_the_agent_with_its_note(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        said = await remind(bot, make_reminder(text="What is open?", runs_agent=True))

        assert said["text"].endswith("What is open?")
        question, answer = (await bot.history(BEN)).newest
        assert (question.role, question.text, question.telegram_message_id) == ("user", "What is open?", None)
        assert question.note.startswith("a reminder that Ben has set, due at 20")
        assert answer.role == "assistant"
        assert "a reminder that Ben has set" in str(bot.prompts()[0])


async def test_late_reminders_say_when_they_were_due(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        due_at = time.time() - HOUR_S
        late = english("reminder-late", when=when_text(words_for("en"), due_at, "UTC"))

        plain = await remind(bot, make_reminder(due_at=due_at))
        task = await remind(bot, make_reminder(id="ffffffff", due_at=due_at, runs_agent=True))

        assert plain["text"] == english("reminder-due", text=f"{TEXT}\n\n{late}")
        assert task["text"].startswith(f"{late}\n\necho:")
        assert late not in str((await bot.lines(BEN))[-2:])


async def test_a_reminder_older_than_a_day_is_reported_and_its_task_is_not_run(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        due_at = time.time() - DAY_S - HOUR_S
        said = await remind(bot, make_reminder(due_at=due_at, runs_agent=True))

        missed = english("reminder-missed", when=when_text(words_for("en"), due_at, "UTC"), text=TEXT)
        assert said["text"] == english("reminder-due", text=missed)
        assert bot.prompts() == []


async def test_in_a_group_the_text_mentions_its_person(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        said = await remind(bot, make_reminder(WEEKEND))

        assert said["text"] == english("reminder-due-group", name="Ben", text=TEXT)
        (entity,) = said["entities"]
        assert (entity["type"], entity["user"]["id"]) == ("text_mention", BEN)
        assert said["text"][entity["offset"] : entity["offset"] + entity["length"]] == "Ben"


async def test_a_name_cannot_turn_the_direction_of_the_text(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        said = await remind(bot, make_reminder(WEEKEND, person_name="Ben\u202e \U0001f331\u2066"))

        assert said["text"] == english("reminder-due-group", name="Ben \U0001f331", text=TEXT)
        assert said["entities"][0]["length"] == len("Ben ") + 2


async def test_a_reminder_of_a_topic_is_sent_there(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        said = await remind(bot, make_reminder(WORKSHOP, thread_id=IDEAS, person_id=OLGA, person_name="Olga"))

        assert said["message_thread_id"] == IDEAS
        assert len(await bot.lines(WORKSHOP, IDEAS)) == 1


async def test_a_reminder_of_a_group_that_became_a_supergroup_finds_it(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        new = await bot.people.upgrade(WEEKEND, by=OLGA)
        await bot.wait_until_finished(2)
        said = await remind(bot, make_reminder(WEEKEND, runs_agent=True), chat=new)

        assert said["text"].endswith(TEXT)
        assert len(await bot.lines(WEEKEND)) == 2


async def test_a_person_who_left_the_group_is_not_reminded(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.people.member("remove", WEEKEND, by=OLGA, user=BEN)
        await set_reminder(bot, make_reminder(WEEKEND, repeats="FREQ=DAILY"))
        await bot.wait_until_true(lambda: ended(bot))

        assert await state_of_own(bot) == [("refused", "not_a_member")]
        assert bot.said_in(WEEKEND) == []
        assert await reminders_in(bot, WEEKEND) == []


async def test_a_person_without_access_is_not_reminded(stores: StoryStores) -> None:
    async with running_bot(stores, allowed_user_ids=str(CHIARA)) as bot:
        await set_reminder(bot, make_reminder(runs_agent=True))
        await bot.wait_until_true(lambda: ended(bot))

        assert await state_of_own(bot) == [("refused", "not_allowed")]
        assert bot.said_in(BEN) == []


async def ended(bot: Story) -> bool:
    """Return True if a reminder has run."""
    return [state for state, _ in await finished(bot)] != []


async def finished(bot: Story) -> list[tuple[str, str]]:
    return [
        (record["state"], record["gate"])
        for record in await bot.records()
        if "finished_at" in record and record["gate"].startswith("reminder ")
    ]


async def test_limits_of_its_person_count_when_a_task_is_due(stores: StoryStores) -> None:
    async with running_bot(stores, user_messages_per_minute=1) as bot:
        await bot.ask(BEN, "hello")
        said = await remind(bot, make_reminder(runs_agent=True))

        assert said["text"].startswith("I can answer you once a minute")
        assert await state_of_own(bot) == [("refused", "limit_user_messages")]
        assert len(bot.prompts()) == 1


async def test_a_stop_ends_a_running_task(stores: StoryStores) -> None:
    never = asyncio.Event()
    async with running_bot(stores, [held(text("too late"), until=never)]) as bot:
        await set_reminder(bot, make_reminder(runs_agent=True))
        await bot.wait_for_prompts(1)

        assert await bot.ask(BEN, "/stop") == english("stopped")
        await bot.wait_until_idle()

        assert await state_of_own(bot) == [("answered", "stopped")]
        never.set()


async def test_an_old_stop_ends_no_reminder(stores: StoryStores) -> None:
    never = asyncio.Event()
    async with running_bot(stores, [held(text("too late"), until=never), text("on time")]) as bot:
        await bot.say(BEN, "count")
        await bot.wait_for_prompts(1)
        await bot.ask(BEN, "/stop")
        await bot.wait_until_idle()

        assert (await remind(bot, make_reminder(runs_agent=True)))["text"] == "on time"
        never.set()


async def test_a_reminder_comes_after_the_answer_that_is_being_written(stores: StoryStores) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, [held(text("at last"), until=answer)], streaming=False) as bot:
        await bot.say(BEN, "a long question")
        await bot.wait_for_prompts(1)
        await set_reminder(bot, make_reminder())
        await bot.wait_for_waiting(2)
        answer.set()
        await bot.wait_until(lambda: len(bot.said_in(BEN)) == 2)

        assert bot.said_in(BEN) == ["at last", english("reminder-due", text=TEXT)]


async def test_a_task_that_loses_its_worker_is_done_once(stores: StoryStores) -> None:
    go_on = asyncio.Event()
    async with running_bot(stores, [held(text("lost"), until=go_on), text("done")], lease_s=2) as bot:
        await set_reminder(bot, make_reminder(runs_agent=True))
        await bot.wait_for_prompts(1)
        await take_the_context_away(bot)
        await bot.wait_until(lambda: bot.said_in(BEN) != [])
        await bot.wait_until_idle()
        go_on.set()

        assert bot.said_in(BEN) == ["done"]
        assert [role for role, _ in await bot.lines(BEN)] == ["user", "assistant"]


async def test_no_task_runs_for_a_chat_that_takes_no_messages(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.people.block(BEN)
        await bot.wait_until_finished(1)
        await set_reminder(bot, make_reminder(runs_agent=True))
        await bot.wait_until_finished(2)

        assert bot.prompts() == []
        assert await state_of_own(bot) == [("ignored", "undeliverable_unreachable")]

        await bot.people.block(BEN, is_blocked=False)
        await bot.wait_until_finished(3)
        await remind(bot, make_reminder(id="ffffffff", runs_agent=True))
        assert len(bot.prompts()) == 1


async def test_a_blocked_bot_keeps_on_and_later_reminders_arrive(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.people.block(BEN)
        await bot.wait_until_finished(1)
        await set_reminder(bot, make_reminder())
        await bot.wait_until_true(lambda: ended(bot))
        await bot.people.block(BEN, is_blocked=False)
        await bot.wait_until_finished(3)

        assert (await remind(bot, make_reminder(id="ffffffff")))["from"]["id"] == BOT
