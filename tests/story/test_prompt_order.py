"""Stories of whole prompts in both orders, of repeated prefixes, and of a prompt that cannot fit."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.agent.prompt.text import LEDGER_HEADING, RECALLED_HEADING, SUMMARY_HEADING, age_in_words
from bot.app.service import run_service
from bot.errors import SettingsInvalid
from memory.history.redis_history import RedisHistory
from tests.messages import some_messages
from tests.scripted_replies import Reply, call, calls, text
from tests.scripted_script import ChatRequest, echo
from tests.story.agents import keep_path, write_agents
from tests.story.compressions import compress_at_once, spoken_prompts, talk, wait_until_compressed
from tests.story.expected import ADDED, asks, assistant, gave, system, user
from tests.story.harness import BEN, Json, StoryStores, make_ref, running_bot, story_settings
from tests.summarizing_model import SummarizingModel

pytestmark = pytest.mark.slow

DESK = system("You are the desk.")
AGENT = """
[agent]
prompt = "You are the desk."
tools = ["examples.demo_tools:add"]
"""
ORDERS = ["described", "cached"]
ADDING = asks(("c1", "add", '{"a": 2, "b": 3}'))
QUESTION = "where does my sister Anna live"
THINGS = ("kettle", "ladder", "brush", "lamp", "saw", "rope")


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the agents file of an adding agent. Compressions begin at once."""
    keep_path(monkeypatch)
    compress_at_once(monkeypatch)
    return write_agents(tmp_path, AGENT, "")


@pytest.mark.parametrize("order", ORDERS)
async def test_m10_the_whole_prompt_is_as_expected_in_both_orders(
    stores: StoryStores, desk: Path, order: str
) -> None:
    settings: dict[str, Any] = {
        "agents_file": desk,
        "prompt_order": order,
        "compression_tokens": 90,
        "recall_k": 1,
    }
    async with running_bot(stores, _adding, **settings) as bot:
        await talk(bot, "my sister Anna lives in Lisbon")
        sent_at = (await bot.history(BEN)).newest[0].sent_at
        await bot.wait_until_indexed()
        await talk(bot, "/new", "the code of Boris is kestrel, please keep it", "the boards are turned over")
        await talk(bot, "the shelves are painted twice", "add 2 and 3", "the brushes are washed")
        await wait_until_compressed(bot)

        await talk(bot, QUESTION)

        when = datetime.fromtimestamp(sent_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        asked_at = (await bot.history(BEN)).newest[-2].sent_at
        age = age_in_words(sent_at, asked_at)
        recalled = user(f'{RECALLED_HEADING}\n[{when}, {age}] user: "my sister Anna lives in Lisbon"')
        conversation = [
            user(
                f"{SUMMARY_HEADING}\nOverview: They talk about shelves and paint.\n"
                "About people:\n- Boris: the code of Boris is kestrel"
            ),
            *(user("add 2 and 3"), user(f"{LEDGER_HEADING}\n\n{ADDED}"), assistant("Noted.")),
            *(user("the brushes are washed"), assistant("Noted.")),
        ]
        first = {
            "described": [DESK, recalled, *conversation, user(QUESTION)],
            "cached": [DESK, *conversation, recalled, user(QUESTION)],
        }[order]
        assert spoken_prompts(bot)[-2:] == [first, [*first, ADDING, gave("c1", "5")]]


async def test_in_the_cached_order_a_prompt_begins_like_the_last_one_up_to_its_window(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, echo, prompt_order="cached", recall_k=1) as bot:
        await talk(bot, *[f"{thing} {thing} {thing}" for thing in THINGS])
        await bot.wait_until_indexed()

        await talk(bot, "/new", *THINGS)

        prompts = bot.prompts()[len(THINGS) :]
        assert all(_recalls(prompt) for prompt in prompts)
        for before, after in pairwise(prompts):
            stable = before[:-2]  # all but what was recalled, and the message to answer
            assert after[: len(stable) + 2] == [*stable, before[-1], _reply_to(before)]
        assert [len(prompt) for prompt in prompts] == [3, 5, 7, 9, 11, 13]


@pytest.mark.parametrize(("order", "beginnings"), [("described", 10), ("cached", 2)])
async def test_in_the_cached_order_a_full_window_is_trimmed_in_chunks(
    stores: StoryStores, order: str, beginnings: int
) -> None:
    short: dict[str, Any] = {"openai_summary_model": "", "recall_k": 0, "prompt_order": order}
    async with running_bot(stores, echo, **short) as bot:
        await RedisHistory(bot.redis).append(make_ref(BEN), some_messages(60), epoch=0)

        await talk(bot, *[f"line {number}" for number in range(10)])

        assert len({prompt[1]["content"] for prompt in bot.prompts()}) == beginnings
        assert all(len(prompt) <= 1 + 50 for prompt in bot.prompts())


@pytest.mark.parametrize(
    ("described", "window", "problem"),
    [
        (
            '[agent]\nname = "desk"\ntools = []\nprompt = "' + "a " * 5000 + '"\n',
            4096,
            "AGENTS_FILE: the prompt and the tools of desk take 5,",
        ),
        (
            '[agent]\nprompt = "Hello."\ntools = []\n'
            '[agents.support]\ndescription = "Mends."\ntools = []\nprompt = "' + "a " * 5000 + '"\n',
            4096,
            "AGENTS_FILE: the prompt and the tools of support take 5,",
        ),
    ],
    ids=["of the main agent", "of a sub-agent"],
)
async def test_a_system_prompt_larger_than_the_window_ends_the_start_with_both_sizes(
    stores: StoryStores, tmp_path: Path, described: str, window: int, problem: str
) -> None:
    settings = _settings(stores, write_agents(tmp_path, described, ""), window)

    with pytest.raises(SettingsInvalid) as refused:
        await run_service(settings, serve=True, work=True)

    (told,) = str(refused.value).splitlines()
    assert told.startswith(problem)
    assert told.endswith(
        " tokens; with at least 256 for the conversation they must fit the 3,072 that scripted-unknown's window of "
        "4,096 (MODEL_CONTEXT_WINDOW) has for prompts"
    )


def _settings(stores: StoryStores, agents_file: Path, window: int) -> Any:
    nowhere = "http://127.0.0.1:1"
    return story_settings(
        stores,
        model_url=nowhere,
        telegram_url=nowhere,
        agents_file=agents_file,
        openai_model="scripted-unknown",
        model_context_window=window,
    )


def _adding(request: ChatRequest) -> Reply:
    """Script a model that adds for two messages, summarises, and otherwise repeats no word of the question."""
    if "response_format" in request:
        return SummarizingModel()(request)
    is_called_for = request["messages"][-1] in (user("add 2 and 3"), user(QUESTION))
    return calls(call("add", {"a": 2, "b": 3}, call_id="c1")) if is_called_for else text("Noted.")


def _recalls(prompt: Sequence[Json]) -> bool:
    return prompt[-2]["content"].startswith(RECALLED_HEADING)


def _reply_to(prompt: Sequence[Json]) -> Json:
    return assistant(f"echo: {prompt[-1]['content']}")
