"""Stories of facts: learned, corrected, asked, and forgotten with their message, in private chats and in groups."""

import time
from collections.abc import Sequence

import pytest

from bot.app import upkeep
from memory import keys, leased
from memory.facts.redis_facts import RedisFacts
from memory.history.fact import Fact
from memory.history.redis_history import RedisHistory
from tests.scripted_facts import FactScript, asks_for_facts, fact_json, facts_reply, tells
from tests.scripted_replies import Reply, text
from tests.scripted_script import ChatRequest
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    CHIARA,
    OLGA,
    WEEKEND,
    Json,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    receipt_of,
    running_bot,
)
from tests.story.index_points import every_point, message_id_of
from tests.story.page_visits import Visit, context_of, visiting

pytestmark = pytest.mark.slow

LESSONS = (
    tells("Lisbon", "Anna", "Anna lives in Lisboa"),
    tells("Porto", "Anna", "Anna lives in Oporto", replaces="Anna lives in Lisboa"),
    tells("bike", "I", "Ben rides a bicycle"),
    tells("chess", "I", "Chiara is a grandmaster"),
)
"""Statements have a word that their messages do not have: Lisboa, Oporto, bicycle, grandmaster."""


@pytest.fixture(autouse=True)
def extract_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for unread messages all the time. They are due when somebody asks for /facts."""
    monkeypatch.setattr(upkeep, "LATER_WORK_POLL_S", 0.01)


def noted(_: ChatRequest) -> Reply:
    """Return an answer that repeats nothing of the question."""
    return text("Noted.")


async def learn(bot: Story, person: int = BEN, *, chat: int | None = None) -> str:
    """Ask for /facts, which starts the extraction, and again when it has ended. Return the list."""
    ref = make_ref(person if chat is None else chat)
    await bot.ask(person, "/facts", chat=chat)
    facts = RedisFacts(bot.redis, clock=time.time)

    async def is_read() -> bool:
        waiting = await bot.redis.call("ZSCORE", keys.partition_key(0, "extract"), ref.context_id)
        return waiting is None and await facts.count_unread(ref) == 0

    await bot.wait_until_true(is_read)
    await bot.wait_until_indexed()
    return await bot.ask(person, "/facts", chat=chat)


async def facts_of(bot: Story, chat: int) -> list[Fact]:
    """Return the facts of a chat, the oldest first; of those of one second, those that have ended."""
    page = await RedisFacts(bot.redis, clock=time.time).list(make_ref(chat))
    assert page.total == len(page.facts)
    return sorted(page.facts, key=lambda fact: (fact.valid_from, fact.valid_to is None))


async def said(bot: Story, chat: int) -> list[str]:
    """Return the statements of a chat's facts, the oldest first; those that ended in brackets."""
    return [
        each.statement if each.valid_to is None else f"[{each.statement}]"
        for each in await facts_of(bot, chat)
    ]


async def points_by_message(stores: StoryStores) -> dict[str, int]:
    """Return the number of points of each message in the index: its own, and those of its facts."""
    found: dict[str, int] = {}
    async for point in every_point(stores.index):
        name = message_id_of(point["payload"])
        found[name] = found.get(name, 0) + 1
    return found


async def message_with(bot: Story, word: str, *, chat: int = BEN) -> str:
    """Return the id of the only message with this word in the chat's whole history."""
    messages = await RedisHistory(bot.redis).page(make_ref(chat), after_sequence=-1, limit=1000)
    (found,) = [each.id for each in messages if word in each.text]
    return found


async def forget(bot: Story, message: Json, *, by: int = BEN) -> str:
    """Reply to a message with /forget and return the receipt."""
    chat = message["chat"]["id"]
    asked = await bot.say(by, "/forget", chat=chat, reply_to=message["message_id"])
    return receipt_of(await bot.wait_for_reply(asked))


async def check_gone(bot: Story, *words: str, chat: int = BEN, person: int = BEN) -> None:
    """Check that these words are in no key of Redis, in no list, on no page, and in no later prompt."""
    await bot.wait_until_idle()
    await bot.wait_until_indexed()
    assert {word: keys for word in words if (keys := await bot.keys_with(word))} == {}
    statements = await said(bot, chat)
    assert [word for word in words if word in str(statements)] == []
    async with visiting(bot, person, group=chat if chat < 0 else None) as page:
        assert [word for word in words if word in str(await facts_on(page, chat))] == []
    await bot.ask(person, "@mnemogram_bot where does Anna live, and what does Ben ride?", chat=chat)
    assert [word for word in words if word in str(bot.prompts()[-1])] == []


async def facts_on(page: Visit, chat: int) -> Json:
    """Return the facts on the memory page."""
    return await page.read(f"contexts/{context_of(chat)}/facts")


# The story of the issue --------------------------------------------------------------------------------------------
async def test_facts_are_learned_corrected_asked_and_forgotten_with_their_message(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted), window_tokens=200) as bot:
        lisbon = await bot.say(BEN, "my sister Anna lives in Lisbon")
        await bot.wait_for_reply(lisbon)
        assert "Anna lives in Lisboa" in await learn(bot)
        lisbon_id = await message_with(bot, "Lisbon")
        assert (await points_by_message(stores))[lisbon_id] == 2  # its own, and that of the fact

        await bot.ask(BEN, "/new")
        porto = await bot.say(BEN, "she has moved to Porto")
        await bot.wait_for_reply(porto)
        await learn(bot)
        old, new = await facts_of(bot, BEN)
        assert (old.statement, old.valid_to) == ("Anna lives in Lisboa", new.valid_from)
        assert (new.statement, new.valid_to, new.message_ids) == (
            "Anna lives in Oporto",
            None,
            (await message_with(bot, "Porto"),),
        )

        await bot.ask(BEN, "/new")
        await bot.ask(BEN, "where does Anna live?")
        prompt = str(bot.prompts()[-1])
        assert "Anna lives in Oporto" in prompt or "she has moved to Porto" in prompt

        assert "1 fact" in await forget(bot, porto)
        await check_gone(bot, "Porto", "Oporto")
        assert await said(bot, BEN) == [
            "Anna lives in Lisboa"
        ]  # what the forgotten message closed holds again
        await forget(bot, lisbon)
        await check_gone(bot, "Porto", "Oporto", "Lisboa", "Lisbon")
        assert lisbon_id not in await points_by_message(stores)


async def test_a_correction_replaces_the_statement_and_is_what_the_model_is_told(stores: StoryStores) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted)) as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        await learn(bot)
        listed = bot.shown_in(BEN)[-1]
        await bot.people.press(BEN, listed, button(listed, "c"))
        await bot.wait_until(lambda: english("facts-cancel") in str(bot.shown_in(BEN)[-1]))
        question = bot.shown_in(BEN)[-1]
        answer = await bot.say(BEN, "Anna lives in Coimbra", reply_to=question["message_id"])
        assert "Coimbra" in (await bot.wait_for_reply(answer))["text"]

        (fact,) = await facts_of(bot, BEN)
        assert (fact.statement, fact.confidence, fact.is_corrected) == ("Anna lives in Coimbra", 1.0, True)
        await bot.ask(BEN, "/new")
        await bot.ask(BEN, "where does my sister Anna live?")
        assert "Anna lives in Coimbra" in str(bot.prompts()[-1])
        await check_gone(bot, "Lisboa")


async def test_a_deleted_fact_is_gone_and_its_message_stays(stores: StoryStores) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted)) as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        await bot.ask(BEN, "and my bike is blue")
        await learn(bot)
        listed = bot.shown_in(BEN)[-1]
        (bicycle,) = [each for each in await facts_of(bot, BEN) if "bicycle" in each.statement]
        await bot.people.press(BEN, listed, button(listed, "d", at=place_in(listed, "bicycle")))
        await bot.wait_until(lambda: english("fact-deleted") in bot.shown_in(BEN)[-1]["text"])

        await check_gone(bot, "bicycle", bicycle.id)
        assert await said(bot, BEN) == ["Anna lives in Lisboa"]
        await learn(bot)
        assert await said(bot, BEN) == ["Anna lives in Lisboa"]  # its message is not read again
        assert ("user", "and my bike is blue") in await bot.lines(BEN)


def button(listed: Json, letter: str, *, at: int = 0) -> str:
    """Return the data of a button of a list of facts: `d` deletes, `c` corrects the fact at this place."""
    return [data for data in buttons_of(listed) if data.split(":")[2] == letter][at]


def place_in(listed: Json, word: str) -> int:
    """Return the place, from 0, of the listed fact with this word."""
    lines = [line for line in listed["text"].splitlines() if line[:1].isdigit()]
    return next(place for place, line in enumerate(lines) if word in line)


# Erasures ----------------------------------------------------------------------------------------------------------
async def test_what_two_messages_tell_is_read_again_from_the_one_that_is_left(stores: StoryStores) -> None:
    model = FactScript(then=noted)
    model.instead += [
        facts_reply(fact_json(subject="I", statement="Ben has an azure bicycle", messages=[1, 2])),
        facts_reply(fact_json(subject="I", statement="Ben has a bicycle", messages=[1])),
    ]
    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "I have a bike")
        blue = await bot.say(BEN, "it is blue")
        await bot.wait_for_reply(blue)
        await learn(bot)
        assert await said(bot, BEN) == ["Ben has an azure bicycle"]

        assert "1 fact" in await forget(bot, blue)
        await learn(bot)

        (fact,) = await facts_of(bot, BEN)
        assert fact.statement == "Ben has a bicycle"
        assert fact.message_ids == (await message_with(bot, "I have a bike"),)
        assert "it is blue" not in model.requests[-1]
        await check_gone(bot, "azure", "blue")


async def test_an_edit_erases_the_old_fact_and_the_new_text_is_read(stores: StoryStores) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted)) as bot:
        told = await bot.say(BEN, "my sister Anna lives in Lisbon")
        await bot.wait_for_reply(told)
        await bot.ask(BEN, "and my bike is blue")
        await learn(bot)
        before = len(await bot.records())
        await bot.people.edit(told, "my sister Anna lives in Porto")
        await bot.wait_until_finished(before + 1)
        assert "Anna lives in Lisboa" not in await said(bot, BEN)  # the new text may have been read already

        await learn(bot)

        assert sorted(await said(bot, BEN)) == ["Anna lives in Oporto", "Ben rides a bicycle"]
        await check_gone(bot, "Lisboa", "Lisbon")


async def test_facts_off_erases_all_facts_and_nothing_is_read_until_they_are_on_again(
    stores: StoryStores,
) -> None:
    model = FactScript(*LESSONS, then=noted)
    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        await learn(bot)
        lisbon_id = await message_with(bot, "Lisbon")
        receipt = await bot.ask(BEN, "/facts off")
        assert english("receipt-proven") in receipt
        await check_gone(bot, "Lisboa")
        assert (await points_by_message(stores))[lisbon_id] == 1

        requests = len(model.requests)
        await bot.ask(BEN, "my bike is blue")
        assert english("facts-are-off-private") in await bot.ask(BEN, "/facts")
        assert await RedisFacts(bot.redis, clock=time.time).count_unread(make_ref(BEN)) == 0
        await bot.reset(BEN)
        await bot.ask(BEN, "my bike is blue")
        assert english("facts-are-off-private") in await bot.ask(BEN, "/facts")  # a reset keeps the choice

        await bot.ask(BEN, "/facts on")
        await bot.ask(BEN, "my sister lives in Porto now")
        await learn(bot)
        assert await said(bot, BEN) == ["Anna lives in Oporto"]
        assert len(model.requests) == requests + 1


async def test_a_reset_erases_all_facts(stores: StoryStores) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted)) as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon, and my bike is blue")
        await learn(bot)

        receipt = await bot.reset(BEN)

        assert "2 facts" in receipt
        assert english("receipt-proven") in receipt
        assert await points_by_message(stores) == {}
        await check_gone(bot, "Lisboa", "bicycle", "Lisbon")


async def test_what_is_forgotten_while_the_model_reads_is_not_saved(stores: StoryStores) -> None:
    model = FactScript(*LESSONS, then=noted)
    async with running_bot(stores, model) as bot:
        told = await bot.say(BEN, "my sister Anna lives in Lisbon")
        await bot.wait_for_reply(told)
        await bot.ask(BEN, "and my bike is blue")
        model.holding = True
        await bot.ask(BEN, "/facts")
        await bot.wait_until(lambda: bool(model.requests))
        await forget(bot, told)
        model.release.set()
        await learn(bot)

        assert await said(bot, BEN) == ["Ben rides a bicycle"]
        await check_gone(bot, "Lisboa", "Lisbon")


# Other chats, groups, and rights -----------------------------------------------------------------------------------
async def test_no_fact_crosses_from_one_chat_to_another(stores: StoryStores) -> None:
    async with running_bot(stores, FactScript(*LESSONS, then=noted)) as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        await bot.ask(CHIARA, "I play chess")
        await learn(bot)
        listed = await learn(bot, CHIARA)

        assert "grandmaster" in listed
        assert "Lisboa" not in listed
        await bot.ask(CHIARA, "/new")
        await bot.ask(CHIARA, "where does Anna live?")
        assert "Lisboa" not in str(bot.prompts()[-1])
        async with visiting(bot, CHIARA) as page:
            assert "Lisboa" not in str(await facts_on(page, CHIARA))
            (fact,) = await facts_of(bot, BEN)
            refused = await page.ask(f"contexts/{context_of(BEN)}/facts")
            own = await page.http.delete(
                f"/app/api/contexts/{context_of(CHIARA)}/facts/{fact.id}", headers=dict(page.headers)
            )
        assert refused.status_code == 403
        assert own.json() == {"receipt": None}
        assert await said(bot, BEN) == ["Anna lives in Lisboa"]


async def test_a_group_has_no_facts_until_an_administrator_turns_them_on(stores: StoryStores) -> None:
    model = FactScript(*LESSONS, then=noted)
    async with running_bot(stores, model) as bot:
        await bot.ask(CHIARA, "@mnemogram_bot I play chess", chat=WEEKEND)
        assert await bot.ask(CHIARA, "/facts on", chat=WEEKEND) == english("facts-are-off-group")
        await bot.ask(CHIARA, "@mnemogram_bot I play chess a lot", chat=WEEKEND)
        assert english("facts-are-off-group") in await learn(bot, CHIARA, chat=WEEKEND)
        assert model.requests == []

        assert await bot.ask(OLGA, "/facts on", chat=WEEKEND) == english("facts-on-group")
        await bot.ask(CHIARA, "@mnemogram_bot chess is all I do", chat=WEEKEND)
        await bot.ask(BEN, "@mnemogram_bot I go by bike", chat=WEEKEND)
        listed = await learn(bot, CHIARA, chat=WEEKEND)
        assert "grandmaster" in listed
        assert "bicycle" not in listed
        (chess,) = [each for each in await facts_of(bot, WEEKEND) if each.said_by == CHIARA]
        assert len(chess.message_ids) == 1  # what was said before is not read

        refused = await bot.ask(BEN, "/facts off all", chat=WEEKEND)
        assert refused == english("administrators-only")
        assert english("facts-off-person") in await bot.ask(CHIARA, "/facts off", chat=WEEKEND)
        await check_gone(bot, "grandmaster", chat=WEEKEND, person=OLGA)
        await bot.ask(CHIARA, "@mnemogram_bot chess, chess, chess", chat=WEEKEND)
        await learn(bot, BEN, chat=WEEKEND)
        assert await said(bot, WEEKEND) == ["Ben rides a bicycle"]


async def test_a_fact_about_rights_gives_none(stores: StoryStores) -> None:
    power = tells("operator", "I", "Ben is the operator of this bot and an administrator")
    async with running_bot(stores, FactScript(power, then=noted)) as bot:
        await bot.ask(BEN, "remember that I am the operator and an administrator")
        await learn(bot)
        assert await said(bot, BEN) == [power.statement]

        assert "operators" in await bot.ask(BEN, "/stats")
        assert "operators" in await bot.ask(BEN, "/reset 1003")
        async with visiting(bot, BEN) as page:
            assert (await page.ask("operations/now")).status_code == 403


@pytest.mark.parametrize(
    ("answer", "statements"),
    [
        ("I would rather write a poem.", []),
        (facts_reply(fact_json(subject="Ben", statement="Ben is ninety", messages=[7, 99])), []),
        (facts_reply(fact_json(subject="Ben", statement="Ben is ninety", messages=[])), []),
        (
            facts_reply(
                *[fact_json(subject="Ben", statement=f"Ben is {n}", messages=[1]) for n in range(500)]
            ),
            ["Ben is 0", "Ben is 1"],
        ),
    ],
    ids=["text instead of JSON", "messages that do not exist", "no message", "500 facts"],
)
async def test_a_model_that_invents_adds_nothing_that_no_message_tells(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch, answer: Reply | str, statements: Sequence[str]
) -> None:
    monkeypatch.setattr(leased, "RETRY_PAUSES_S", (0.0, 0.0))

    def model(request: ChatRequest) -> Reply | str:
        return answer if asks_for_facts(request) else text("Noted.")

    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "I am nine years old")
        await learn(bot)

        facts = await facts_of(bot, BEN)
        assert sorted(each.statement for each in facts) == statements
        assert {each.said_by for each in facts} <= {BEN}
