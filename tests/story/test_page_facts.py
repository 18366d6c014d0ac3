"""People see, correct and delete facts on the page."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from bot.page.api import OF_A_VISITOR
from bot.turn.answer_receipt import AnswerReceipt
from memory.codec import dump_json
from memory.facts.context_facts import switch_off
from memory.facts.redis_facts import RedisFacts
from memory.history.fact import LONGEST_STATEMENT
from memory.history.message import Sender
from memory.history.redis_history import RedisHistory
from memory.keys import context_key
from tests.known_facts import learn, say_lines, told
from tests.messages import make_receipt
from tests.story.harness import BEN, OLGA, WEEKEND, Story, StoryStores, make_ref, running_bot
from tests.story.page_visits import Visit, context_of, page_server, visiting

ME, OTHER = Sender(id=BEN, name="Ben Carter"), Sender(id=OLGA, name="Olga Marin")
GONE: Mapping[str, Any] = {"receipt": None}


async def know(bot: Story, chat: int) -> dict[str, str]:
    """Give a chat three facts: of Ben about himself, of Olga about Ben, of Olga about a thing. Return their ids."""
    await bot.ask(BEN, "@mnemogram_bot hello", chat=chat)
    ref = make_ref(chat)
    if chat < 0:
        await RedisFacts(bot.redis, clock=lambda: 0.0).switch_on(ref, person=None, context=True)
    (cello,) = await say_lines(bot.redis, ref, ME, ["I play the cello"])
    nuts, lock = await say_lines(bot.redis, ref, OTHER, ["Ben cannot eat nuts", "The lock opens with 4711"])
    facts = await learn(
        bot.redis,
        ref,
        told(ME, "Ben plays the cello.", cello),
        told(OTHER, "Ben is allergic to nuts.", nuts, about=ME),
        told(OTHER, "The lock opens with 4711.", lock, about="lock"),
    )
    return {fact.statement.split()[-1].rstrip("."): fact.id for fact in facts}


async def facts_of(page: Visit, chat: int, **query: int) -> dict[str, Mapping[str, Any]]:
    """Return the documents of a chat's facts by their last word."""
    found = await page.read(f"contexts/{context_of(chat)}/facts", **query)
    return {fact["statement"].split()[-1].rstrip("."): fact for fact in found["facts"]}


async def test_a_person_sees_every_fact_with_its_subject_its_source_and_its_messages(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        ids = await know(bot, BEN)
        async with visiting(bot, BEN) as page:
            found = await page.read(f"contexts/{context_of(BEN)}/facts")
            facts = await facts_of(page, BEN)
            cited = await page.read(
                f"contexts/{context_of(BEN)}/messages", around=facts["nuts"]["message_ids"][0], limit=1
            )
            unknown = await page.read(f"contexts/{context_of(BEN)}/messages", around="nothing")
            second = await page.read(f"contexts/{context_of(BEN)}/facts", offset=1, limit=1)

    assert (found["total"], found["unread"], found["is_on"], found["is_offered"]) == (3, 0, True, True)
    assert facts["cello"] == {
        "id": ids["cello"],
        "subject": "Ben Carter",
        "subject_id": BEN,
        "is_person": True,
        "is_me": True,
        "kind": "fact",
        "statement": "Ben plays the cello.",
        "said_by": {"id": BEN, "name": "Ben Carter"},
        "message_ids": facts["cello"]["message_ids"],
        "valid_from": facts["cello"]["valid_from"],
        "valid_to": None,
        "confidence": 0.9,
        "is_corrected": False,
        "imported_from": "",
        "may_change": True,
    }
    lock = facts["4711"]
    assert (lock["is_person"], lock["is_me"], lock["said_by"]["name"]) == (False, False, "Olga Marin")
    assert [message["text"] for message in cited["messages"]] == ["Ben cannot eat nuts"]
    assert unknown == {"messages": [], "has_more": False}
    assert (len(second["facts"]), second["total"]) == (1, 3)


async def test_a_deleted_fact_is_gone_everywhere_and_its_message_stays(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        ids = await know(bot, BEN)
        async with visiting(bot, BEN) as page:
            path = f"contexts/{context_of(BEN)}/facts/{ids['nuts']}"
            done = (await page.delete(path)).json()
            again = (await page.delete(path)).json()
            left = await facts_of(page, BEN)

        assert await bot.keys_with("allergic") == []
        assert ("user", "Ben cannot eat nuts") in await bot.lines(BEN)
    receipt = done["receipt"]
    assert (receipt["erased"], receipt["left"], receipt["vectors_left"]) == ({"facts": 1}, {}, 0)
    assert receipt["is_proven"]
    assert "I've forgotten that fact." in receipt["text"]
    assert again == GONE
    assert set(left) == {"cello", "4711"}


async def test_a_corrected_fact_keeps_its_place_and_its_old_statement_is_gone(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        ids = await know(bot, BEN)
        async with visiting(bot, BEN) as page:
            path = f"contexts/{context_of(BEN)}/facts/{ids['nuts']}"
            before = (await facts_of(page, BEN))["nuts"]
            done = await page.do(path, {"statement": "  Ben dislikes \n walnuts. "})
            after = await facts_of(page, BEN)

        assert await bot.keys_with("allergic") == []
    expected = {**before, "statement": "Ben dislikes walnuts.", "is_corrected": True, "confidence": 1.0}
    assert done["fact"] == after["walnuts"] == expected


async def test_a_fact_that_is_gone_is_neither_corrected_nor_an_error(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        ids = await know(bot, BEN)
        async with visiting(bot, BEN) as page:
            path = f"contexts/{context_of(BEN)}"
            unknown = await page.do(f"{path}/facts/nothing", {"statement": "Ben has a cat."})
            await page.do(f"{path}/reset")
            deleted = (await page.delete(f"{path}/facts/{ids['nuts']}")).json()
            corrected = await page.do(f"{path}/facts/{ids['cello']}", {"statement": "Ben has a cat."})
            found = await page.read(f"{path}/facts")

    assert (unknown, deleted, corrected) == ({"fact": None}, GONE, {"fact": None})
    assert found["facts"] == []


async def test_the_receipt_of_an_answer_tells_its_facts_and_that_one_was_forgotten_since(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        ids = await know(bot, BEN)
        answer = (await answers_of(bot, BEN))[0]
        receipt = make_receipt(answer, facts=(ids["cello"], ids["nuts"]))
        key = context_key(make_ref(BEN), "receipt", answer)
        await bot.redis.call("SET", key, dump_json(AnswerReceipt, receipt), "EX", 3600)
        async with visiting(bot, BEN) as page:
            path = f"contexts/{context_of(BEN)}"
            before = await page.read(f"{path}/receipts/{answer}")
            await page.delete(f"{path}/facts/{ids['nuts']}")
            after = await page.read(f"{path}/receipts/{answer}")

    cello, nuts = ("Ben plays the cello.", "Ben is allergic to nuts.")
    assert before["receipt"]["facts"] == [
        {"subject": "Ben Carter", "statement": statement} for statement in (cello, nuts)
    ]
    assert after["receipt"]["facts"] == [{"subject": "Ben Carter", "statement": cello}, None]


async def answers_of(bot: Story, chat: int) -> list[str]:
    """Return the ids of the bot's answers, newest first."""
    page = await RedisHistory(bot.redis).page(make_ref(chat), limit=100, whole=True)
    return [message.id for message in page if message.role == "assistant"]


async def test_of_two_windows_that_delete_the_same_fact_one_gets_the_receipt(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        ids = await know(bot, BEN)
        async with visiting(bot, BEN) as first, visiting(bot, BEN) as second:
            for each in ids.values():
                path = f"contexts/{context_of(BEN)}/facts/{each}"
                answers = await asyncio.gather(*[page.delete(path) for page in (first, second)])
                outcomes = sorted(answer.json()["receipt"] is not None for answer in answers)
                assert outcomes == [False, True]


async def test_a_member_changes_what_is_about_them_or_told_by_them_and_nothing_else(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, group_memory_page="members") as bot:
        ids = await know(bot, WEEKEND)
        path = f"contexts/{context_of(WEEKEND)}/facts"
        async with visiting(bot, BEN, group=WEEKEND) as page, visiting(bot, OLGA, group=WEEKEND) as owner:
            mine = await facts_of(page, WEEKEND)
            theirs = await facts_of(owner, WEEKEND)
            refused = [
                await page.delete(f"{path}/{ids['4711']}"),
                await page.send(f"{path}/{ids['4711']}", {"statement": "The lock is broken."}),
            ]
            corrected = await page.do(f"{path}/{ids['nuts']}", {"statement": "Ben eats nuts."})
            deleted = (await page.delete(f"{path}/{ids['cello']}")).json()
            by_owner = (await owner.delete(f"{path}/{ids['nuts']}")).json()

    assert {word: fact["may_change"] for word, fact in mine.items()} == {
        "cello": True,
        "nuts": True,
        "4711": False,
    }
    assert all(fact["may_change"] for fact in theirs.values())
    assert [(answer.status_code, answer.json()["error"]) for answer in refused] == [(403, "forbidden")] * 2
    assert corrected["fact"]["statement"] == "Ben eats nuts."
    assert deleted["receipt"]["is_proven"]
    assert by_owner["receipt"]["is_proven"]


async def test_the_list_says_whether_facts_are_on_in_this_chat_and_offered_by_this_bot(
    stores: StoryStores,
) -> None:
    async with running_bot(stores) as bot:
        facts, history = RedisFacts(bot.redis, clock=lambda: 0.0), RedisHistory(bot.redis)
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        async with page_server(bot) as server, page_server(bot, facts=False) as another:
            states: list[bool] = []
            for chat, person in ((BEN, BEN), (WEEKEND, OLGA)):
                page, ref = server.visit(person, group=WEEKEND), make_ref(chat)
                path = f"contexts/{context_of(chat)}/facts"
                states.append((await page.read(path))["is_on"])
                epoch = (await history.load(ref, limit=0)).epoch
                await facts.switch_on(ref, person=None, context=True)
                states.append((await page.read(path))["is_on"])
                await switch_off(ref, person=None, epoch=epoch, facts=facts, recall=None)
                states.append((await page.read(path))["is_on"])
            await facts.switch_on(make_ref(BEN), person=None, context=True)
            path = f"contexts/{context_of(BEN)}/facts"
            offered = await server.visit(BEN).read(path)
            unoffered = await another.visit(BEN).read(path)

    assert states == [True, True, False, False, True, False]
    assert (offered["is_on"], offered["is_offered"]) == (True, True)
    assert (unoffered["is_on"], unoffered["is_offered"]) == (False, False)


@pytest.mark.parametrize(
    "statement",
    ["", " \n ", "\u00ad\u2060", "x" * (LONGEST_STATEMENT + 1), "\ud800", None, 4711, ["Ben has a cat."]],
)
async def test_a_statement_that_is_none_is_refused(stores: StoryStores, statement: object) -> None:
    async with running_bot(stores) as bot:
        ids = await know(bot, BEN)
        async with visiting(bot, BEN) as page:
            answer = await page.http.post(
                f"/app/api/contexts/{context_of(BEN)}/facts/{ids['nuts']}",
                content=json.dumps({"statement": statement}),
                headers=dict(page.headers),
            )
            kept = await facts_of(page, BEN)

    assert (answer.status_code, answer.json()["error"]) == (400, "bad_request")
    assert set(kept) == {"cello", "nuts", "4711"}


async def test_a_person_cannot_keep_the_index_busy_with_changes_of_facts(stores: StoryStores) -> None:
    async with running_bot(stores) as bot, page_server(bot) as server:
        page, other = server.visit(BEN), server.visit(OLGA)
        statuses = [
            (await page.delete(f"contexts/{context_of(BEN)}/facts/nothing")).status_code
            for _ in range(OF_A_VISITOR.burst)  # more would be too many requests of any kind
        ]
        theirs = await other.delete(f"contexts/{context_of(OLGA)}/facts/nothing")

    assert set(statuses) == {200, 429}
    assert theirs.status_code == 200
