"""The example agent, loaded as the product loads it and run over HTTP."""

import sys
from collections.abc import Generator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bot.agent.agents_file import AgentSpec, load_agents
from bot.agent.functions_based import FunctionsBasedAgent, PromptLimits
from bot.agent.openai_model import open_openai_model
from bot.agent.tool_output import Attached
from bot.features import BUILT_IN_TOOLS
from memory.history.selectors import TokenWindowMessageSelector
from tests.scripted_openai import scripted_openai
from tests.scripted_replies import call, calls
from tests.unit.agent.kit import TOKENIZER, DictJournal, make_context, message, run_alone

AGENTS_FILE = Path(__file__).parents[2] / "examples" / "agents.toml"
HISTORY = [message(0, "buy milk"), message(1, "Noted.", role="assistant"), message(2, "Buy  flour ")]


@pytest.fixture(autouse=True)
def path_restored() -> Generator[None]:
    path = list(sys.path)
    yield
    sys.path[:] = path


def load_main() -> AgentSpec:
    team = load_agents(AGENTS_FILE, built_in_tools=BUILT_IN_TOOLS)
    return team.agents[team.main]


async def test_the_example_agent_answers_with_its_tools() -> None:
    spec = load_main()
    context = await make_context(history=HISTORY, prompt=[message(3, "what do I need for twice the dough?")])
    script = [
        calls(
            call("convert", {"amount": 2, "from_unit": "cup", "to_unit": "ml"}, call_id="c1"),
            call("scale_recipe", {"ingredients": {"flour": 250}, "servings": 2, "wanted": 4}, call_id="c2"),
            call("shopping_list", call_id="c3"),
            call("scale_recipe", {"ingredients": {}, "servings": 2, "wanted": 4}, call_id="c4"),
            call("convert", {"amount": 2, "from_unit": "bucket", "to_unit": "ml"}, call_id="c5"),
        ),
        "Milk and 500 g of flour.",
    ]

    async with (
        scripted_openai(script) as server,
        open_openai_model(model="test-1", api_key=None, base_url=server.base_url) as model,
    ):
        agent = FunctionsBasedAgent(
            model=model,
            prompt=spec.prompt,
            tools=spec.tools,
            message_selector=TokenWindowMessageSelector(1_000, TOKENIZER),
            tokenizer=TOKENIZER,
            limits=PromptLimits(context_window=8_000, answer_tokens=1_000),
        )
        reply = await run_alone(agent, context, journal=DictJournal())

    assert reply == "Milk and 500 g of flour."
    assert server.invalid_requests == []
    assert [
        each["content"] for each in server.chat_requests[1].body["messages"] if each["role"] == "tool"
    ] == [
        "2 cup = 500 ml",
        '{"flour":500.0}',
        '["milk","flour"]',
        "There are no ingredients. Ask for the recipe first.",
        "Wrong arguments. from_unit: Input should be 'ml', 'l', 'tsp', 'tbsp' or 'cup', not 'bucket'",
    ]


def test_the_example_sets_limits() -> None:
    spec = load_main()

    limits = {tool.name: (tool.max_calls, tool.timeout_s) for tool in spec.tools}
    assert limits == {
        "search_memory": (2, 30),
        "current_time": (None, 30),
        "convert": (None, 5),
        "scale_recipe": (None, 30),
        "shopping_list": (None, 30),
        "recipe_table": (None, 30),
        "recipe_chart": (None, 30),
        "read_artifact": (None, 30),
    }


async def test_the_example_makes_a_table_and_a_chart() -> None:
    made = {tool.name: tool for tool in load_main().tools}
    context, given = await make_context(), '{"ingredients": {"flour": 250, "<milk>": 125}}'

    table = await made["recipe_table"].call(given, context)
    chart = await made["recipe_chart"].call(given, context)

    assert isinstance(table, Attached)
    assert isinstance(chart, Attached)
    assert table.files[0].content == b"ingredient,amount\r\nflour,250.0\r\n<milk>,125.0\r\n"
    assert chart.files[0].name == "recipe.svg"
    drawn = ElementTree.fromstring(chart.files[0].content.decode())  # noqa: S314 - our own
    assert [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")] == [
        "flour: 250",
        "<milk>: 125",
    ]
    assert chart.splitlines()[1] == "The longest bar is 250."
