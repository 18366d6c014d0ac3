"""Stories of the tools that a request describes: none that the chat has nothing for, and few words."""

from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest

from bot.features import BUILT_IN_TOOLS
from memory.tokens import tokenizer_for
from tests.scripted_replies import call, calls, text
from tests.scripted_script import echo
from tests.story.agents import keep_path, write_agents
from tests.story.harness import BEN, Story, StoryStores, running_bot
from tests.story.known_facts import plant

ALWAYS = BUILT_IN_TOOLS.keys() - {"forget_fact", "read_artifact", "search_memory"}
"""The tools that work on nothing of the chat's memory."""
BUILT_IN = '[agent]\nname = "Shop"\n'


async def test_hi_in_an_empty_chat_costs_few_tokens(stores: StoryStores, tmp_path: Path) -> None:
    agents = write_agents(tmp_path, BUILT_IN, "")
    async with running_bot(stores, echo, agents_file=agents) as bot:
        await bot.ask(BEN, "hi")

        (request,) = bot.model.chat_requests
        assert described(bot) == ALWAYS
        assert tokenizer_for("gpt-4o").count(str(request.body)) < 700


async def test_a_search_is_described_when_messages_are_outside_of_the_prompt(
    stores: StoryStores, tmp_path: Path
) -> None:
    agents = write_agents(tmp_path, BUILT_IN, "")
    async with running_bot(stores, echo, agents_file=agents) as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        await bot.ask(BEN, "she moved in May")
        assert "search_memory" not in described(bot)

        await bot.ask(BEN, "/new")
        await bot.ask(BEN, "where does she live?")

        assert "search_memory" in described(bot)
        await bot.reset(BEN)
        await bot.ask(BEN, "hi")
        assert "search_memory" not in described(bot)


async def test_a_long_conversation_may_be_searched_because_its_prompt_may_be_cut(
    stores: StoryStores, tmp_path: Path
) -> None:
    agents = write_agents(tmp_path, BUILT_IN, "")
    async with running_bot(stores, echo, agents_file=agents, model_context_window=4_000) as bot:
        await bot.ask(BEN, "word " * 800)
        assert "search_memory" not in described(bot)

        await bot.ask(BEN, "more " * 800)

        assert "search_memory" in described(bot)


async def test_forgetting_facts_is_described_once_there_are_some(stores: StoryStores, tmp_path: Path) -> None:
    agents = write_agents(tmp_path, BUILT_IN, "")
    async with running_bot(stores, echo, agents_file=agents) as bot:
        await bot.ask(BEN, "hi")
        await plant(bot, "Ben Hart likes tea")

        await bot.ask(BEN, "forget that I like tea")

        assert "forget_fact" in described(bot)


async def test_a_large_result_brings_its_reader_within_the_run_and_a_reset_takes_it_away(
    stores: StoryStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_path(monkeypatch)
    report = 'def report() -> str:\n    """Report."""\n    return "row " * 500\n'
    agents = write_agents(tmp_path, '[agent]\nprompt = "Report."\ntools = ["{tools}:report"]\n', report)
    script = [calls(call("report", {})), text("Done."), text("Yes."), text("Hi.")]
    async with running_bot(stores, script, agents_file=agents, artifact_chars=1_000) as bot:
        await bot.ask(BEN, "report")
        await bot.ask(BEN, "really?")
        await bot.reset(BEN)
        await bot.ask(BEN, "hi")

        assert [described(bot, number) for number in range(4)] == [
            {"report"},
            {"report", "read_artifact"},
            {"report", "read_artifact"},
            {"report"},
        ]


async def test_a_call_of_a_tool_that_was_not_described_runs(stores: StoryStores, tmp_path: Path) -> None:
    agents = write_agents(tmp_path, BUILT_IN, "")
    script = [calls(call("search_memory", {"query": "Anna"})), text("I know nothing of her.")]
    async with running_bot(stores, script, agents_file=agents) as bot:
        assert await bot.ask(BEN, "where is Anna?") == "I know nothing of her."

        assert "search_memory" in described(bot)  # this run has called it


def described(bot: Story, number: int = -1) -> AbstractSet[str]:
    """Return the names of the tools in a request, the newest one by default."""
    tools = bot.model.chat_requests[number].body.get("tools", ())
    return {tool["function"]["name"] for tool in tools}
