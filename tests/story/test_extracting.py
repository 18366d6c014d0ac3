"""Facts are read after the reply, by the running service, in nobody's way."""

import time
from typing import Any

import pytest
from structlog.testing import capture_logs

from memory.facts.redis_facts import RedisFacts
from tests.scripted_facts import FactScript, tells
from tests.scripted_replies import hang, text
from tests.story.extractions import extract_at_once, stored_facts, wait_until_extracted
from tests.story.harness import BEN, StoryStores, make_ref, running_bot

BIKE = tells("my bike is red", "Ben's bike", "Ben's bike is red.")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    extract_at_once(monkeypatch)


async def test_facts_are_read_after_the_reply(stores: StoryStores) -> None:
    model = FactScript(BIKE)
    async with running_bot(stores, model) as bot:
        assert (await bot.ask(BEN, "hello, my bike is red. And yours?")).endswith("And yours?")
        await bot.ask(BEN, "and it is fast")
        assert model.requests == []
        await wait_until_extracted(bot)

        (fact,) = await stored_facts(bot)
        assert (fact.subject, fact.statement, fact.said_by) == ("Ben's bike", "Ben's bike is red.", BEN)
        assert len(model.requests) == 1
        assert 'assistant: "And yours?"' in model.requests[0]


@pytest.mark.parametrize("options", [{"facts": False}, {"openai_summary_model": ""}])
async def test_without_facts_or_a_summary_model_nothing_is_read(
    stores: StoryStores, options: dict[str, Any]
) -> None:
    model = FactScript(BIKE)
    async with running_bot(stores, model, **options) as bot:
        await bot.ask(BEN, "hello, my bike is red")
        await wait_until_extracted(bot)

        assert model.requests == []
        assert await stored_facts(bot) == []


async def test_a_summary_model_that_answers_nonsense_or_fails_is_given_up_and_delays_nobody(
    stores: StoryStores,
) -> None:
    model = FactScript(BIKE)
    model.instead = [text("my bike is red"), text('{"bikes": 1}')] * 3  # each one is asked for once more
    async with running_bot(stores, model) as bot:
        await bot.ask(BEN, "hello, my bike is red")
        with capture_logs() as logs:
            await wait_until_extracted(bot)
            # It is logged after it is stored.
            await bot.wait_until(lambda: any(line.get("outcome") == "given_up" for line in logs))

        assert await stored_facts(bot) == []
        said = [line for line in logs if line["event"] == "facts_not_extracted"]
        assert [line["outcome"] for line in said] == ["later", "later", "given_up"]
        assert "bike" not in str(logs)
        assert "hello again" in await bot.ask(BEN, "hello again")


async def test_an_extraction_that_hangs_delays_no_answer_and_no_stop_and_loses_no_message(
    stores: StoryStores,
) -> None:
    model = FactScript(BIKE)
    model.instead = [hang()]
    async with running_bot(stores, model, lease_s=1) as bot:
        await bot.ask(BEN, "hello, my bike is red")
        facts = RedisFacts(bot.redis, clock=time.time)
        await facts.hurry(make_ref(BEN))
        await bot.wait_until(lambda: len(model.requests) == 1)

        assert "hello again" in await bot.ask(BEN, "hello again")
        await bot.stop()
        assert await facts.count_unread(make_ref(BEN)) == 2

        bot.start()
        await wait_until_extracted(bot)
        assert [fact.statement for fact in await stored_facts(bot)] == ["Ben's bike is red."]
