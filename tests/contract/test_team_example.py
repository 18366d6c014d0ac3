"""The example team on the offline model over HTTP, with the real store:

a delegation, a transfer, an artifact.
"""

import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from bot.agent.agents_file import AgentSpec, Options, load_agents
from bot.agent.context import AgentContext
from bot.agent.functions_based import FunctionsBasedAgent, PromptLimits
from bot.agent.loop import run_agent
from bot.agent.openai_model import OpenAIModel, open_openai_model
from bot.agent.team import Team
from bot.features import BUILT_IN_TOOLS
from memory.artifacts.store import ContextArtifacts
from memory.history.selectors import MessageWindowMessageSelector
from memory.redis.client import RedisClient
from simulator.offline_model.endpoint import OFFLINE_MODEL, serve_offline_model
from tests.unit.agent.kit import REF, TOKENIZER, DictJournal, make_context, message

AGENTS_FILE = Path(__file__).parents[2] / "examples" / "team.toml"
AS_SET: int = Options.model_fields["artifact_chars"].default


@pytest.fixture(autouse=True)
def path_restored() -> Generator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path


@pytest.fixture
async def model() -> AsyncGenerator[OpenAIModel]:
    async with (
        serve_offline_model(chunk_delay_s=0) as base_url,
        open_openai_model(model=OFFLINE_MODEL, api_key=None, base_url=base_url) as opened,
    ):
        yield opened


def open_team(model: OpenAIModel) -> Team:
    spec = load_agents(AGENTS_FILE, built_in_tools=BUILT_IN_TOOLS)

    def build(agent: AgentSpec) -> FunctionsBasedAgent:
        return FunctionsBasedAgent(
            name=agent.name,
            model=model,
            prompt=agent.prompt,
            tools=agent.tools,
            message_selector=MessageWindowMessageSelector(10),
            tokenizer=TOKENIZER,
            limits=PromptLimits(context_window=32_000, answer_tokens=1_000),
        )

    return Team(
        agents={name: build(agent) for name, agent in spec.agents.items()},
        delegates={name: build(agent.within_delegation()) for name, agent in spec.agents.items()},
        main=spec.main,
        limits=spec.limits,
    )


async def ask(
    model: OpenAIModel, text: str, *, redis: RedisClient | None = None, agent_name: str = ""
) -> tuple[str, AgentContext]:
    artifacts = None
    if redis is not None:
        artifacts = ContextArtifacts(
            redis, REF, epoch=lambda: 0, clock=lambda: 1_800_000_000.0, ttl_s=600, keep_beyond=AS_SET
        )
    context = await make_context(
        prompt=[message(3, text)], artifacts=artifacts, agent_name=agent_name, request_id="7"
    )
    return await run_agent(open_team(model), context, journal=DictJournal()), context


def ledger_of(context: AgentContext) -> list[tuple[str, str, str, bool]]:
    return [(each.kind, each.agent, each.name, each.is_error) for each in context.record.ledger]


async def test_i12_the_desk_delegates_and_gets_an_answer(model: OpenAIModel) -> None:
    asked = 'use delegate_to_researcher with task="use town_facts with town=Porto"'

    reply, context = await ask(model, asked)

    assert "Campanhã" in reply
    assert ledger_of(context) == [
        ("tool", "researcher", "town_facts", False),
        ("delegation", "desk", "researcher", False),
    ]
    assert context.agent_name == ""


async def test_i12_the_desk_transfers_the_chat_to_booking(model: OpenAIModel) -> None:
    _, context = await ask(model, 'use transfer_to_booking with reason="seats are wanted"')

    assert ledger_of(context) == [("transfer", "desk", "booking", False)]
    assert context.agent_name == "booking"


async def test_i12_booking_keeps_the_chat_and_can_return_it(model: OpenAIModel) -> None:
    reply, reserving = await ask(model, "use reserve with train=L004 seats=2", agent_name="booking")
    _, returning = await ask(model, 'use transfer_to_desk with reason="it is done"', agent_name="booking")

    assert "2 seats on L004 are reserved." in reply
    assert (reserving.agent_name, returning.agent_name) == ("booking", "")


async def test_i06_a_long_timetable_is_a_readable_artifact(model: OpenAIModel, redis: RedisClient) -> None:
    asked = 'use delegate_to_researcher with task="use timetable with town=Lisbon"'

    _, context = await ask(model, asked, redis=redis)

    (found, delegated) = context.record.ledger
    assert found.artifact_id
    assert found.output.startswith(f"[artifact {found.artifact_id}: the result of timetable, ")
    assert "L000" in found.output
    assert (delegated.opened, found.delegation_id) == ("7:tool:1:0", "7:tool:1:0")
    assert context.artifacts is not None
    assert await context.artifacts.search(found.artifact_id, "L215", at_most=1)
