"""The agent on the offline model over HTTP: a simple reader understands the prompt's form."""

from collections.abc import AsyncGenerator, Sequence

import pytest

from bot.agent.agents_file import load_agents
from bot.agent.functions_based import FunctionsBasedAgent, PromptLimits
from bot.agent.openai_model import OpenAIModel, open_openai_model
from bot.app.agents import DEMO_AGENTS
from bot.features import ALL_TOOLS
from memory.history.message import Message
from memory.history.selectors import MessageWindowMessageSelector
from simulator.offline_model.endpoint import OFFLINE_MODEL, serve_offline_model
from tests.unit.agent.kit import TOKENIZER, DictJournal, MemoryIndex, make_context, message, run_alone

SISTER = message(0, "my sister Anna lives in Lisbon")
UNRELATED = [message(number, f"unrelated line {number}") for number in range(1, 9)]


@pytest.fixture
async def model() -> AsyncGenerator[OpenAIModel]:
    async with (
        serve_offline_model(chunk_delay_s=0) as base_url,
        open_openai_model(model=OFFLINE_MODEL, api_key=None, base_url=base_url) as opened,
    ):
        yield opened


async def ask(
    model: OpenAIModel, prompt: Message, *, history: Sequence[Message] = (), is_group: bool = False
) -> str:
    team = load_agents(DEMO_AGENTS, built_in_tools=ALL_TOOLS)
    spec = team.agents[team.main]
    agent = FunctionsBasedAgent(
        model=model,
        prompt=spec.prompt,
        tools=spec.tools,
        message_selector=MessageWindowMessageSelector(2),
        tokenizer=TOKENIZER,
        limits=PromptLimits(context_window=8_000, answer_tokens=1_000),
    )
    context = await make_context(history=history, prompt=[prompt], index=MemoryIndex(), is_group=is_group)
    return await run_alone(agent, context, journal=DictJournal())


async def test_t05_the_agent_adds_with_the_tool(model: OpenAIModel) -> None:
    reply = await ask(model, message(9, "add 2 and 3"))

    assert "5" in reply


@pytest.mark.parametrize("is_group", [False, True])
async def test_m10_the_agent_answers_from_recalled_messages(model: OpenAIModel, is_group: bool) -> None:
    asked = message(9, "where does my sister Anna live?")

    reply = await ask(model, asked, history=[SISTER, *UNRELATED], is_group=is_group)

    assert "Lisbon" in reply


@pytest.mark.parametrize("is_group", [False, True])
async def test_the_agent_does_not_know_facts_outside_the_prompt(model: OpenAIModel, is_group: bool) -> None:
    reply = await ask(
        model, message(9, "where does my sister Anna live?"), history=UNRELATED, is_group=is_group
    )

    assert "Lisbon" not in reply
    assert "can't find that" in reply


async def test_the_agent_searches_its_memory_when_asked_to(model: OpenAIModel) -> None:
    reply = await ask(model, message(9, "search your memory for Anna"), history=[SISTER, *UNRELATED])

    assert "Lisbon" in reply
