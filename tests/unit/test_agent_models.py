"""The model, window, selector and tools of each agent."""

import sys
from pathlib import Path

import pytest

from bot.agent.functions_based import FunctionsBasedAgent
from bot.app.agents import conversation_window, model_names, read_agents
from bot.app.build import build_teams, compression_limits
from bot.errors import SettingsInvalid
from bot.features import BUILT_IN_TOOLS
from bot.features.settings import load_settings
from tests.unit.agent.kit import make_context, message

FILE = """
[agent]
name = "Shop"
prompt = "You answer."
%s
tools = []
delegates_to = ["analyst", "clerk"]

[agents.analyst]
description = "Reads figures."
prompt = "You read figures."
tools = []

[agents.clerk]
description = "Writes letters."
prompt = "You write letters."
model = "gpt-4-32k"
tools = []
"""


@pytest.mark.parametrize(
    ("main", "windows", "names"),
    [
        ("", {"Shop": 32_000, "analyst": 32_000, "clerk": 32_768}, {"my-local-model", "gpt-4-32k"}),
        (
            'model = "gpt-4o"',
            {"Shop": 32_000, "analyst": 8_192, "clerk": 32_768},
            {"gpt-4o", "my-local-model", "gpt-4-32k"},
        ),
    ],
)
def test_i02_an_agent_without_a_model_uses_openai_model_and_the_main_agents_window_is_settable(
    tmp_path: Path, main: str, windows: dict[str, int], names: set[str]
) -> None:
    path = tmp_path / "agents.toml"
    path.write_text(FILE % main)
    given = load_settings(openai_model="my-local-model", model_context_window=32_000, agents_file=path)

    settings, spec = read_agents(given)
    team = build_teams(settings, spec, None)("")

    agents = {name: agent for name, agent in team.agents.items() if isinstance(agent, FunctionsBasedAgent)}
    assert {name: agent.limits.context_window for name, agent in agents.items()} == windows
    assert model_names(settings, spec) == names


def test_i02_compression_uses_the_smallest_window_of_the_agents_that_can_have_the_chat(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agents.toml"
    path.write_text(FILE % 'model = "gpt-4o"' + "\n[options]\ncompression_tokens = 0\n")
    given = load_settings(openai_model="my-local-model", agents_file=path)

    settings, spec = read_agents(given)
    limits = compression_limits(settings, spec)[""]

    assert conversation_window(settings, spec) == 8_192
    assert limits.trigger_tokens == 4_096
    without = settings.model_copy(update={"openai_summary_model": ""})
    assert compression_limits(without, spec) == {}


def test_a_window_too_small_for_the_built_in_agent_is_reported_as_a_problem_of_the_window() -> None:
    settings, spec = read_agents(load_settings(model_context_window=1024, agents_file=None))

    with pytest.raises(SettingsInvalid) as refused:
        build_teams(settings, spec, None)("")

    (told,) = refused.value.problems
    assert told.startswith("MODEL_CONTEXT_WINDOW: the prompt and the tools of Mnemogram take ")


async def test_the_selector_of_the_agents_file_is_used_with_and_without_summaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "newest_selector.py").write_text(
        "class Newest:\n    async def select(self, newest):\n        return [await anext(newest)]\n"
        "def build():\n    return Newest()\n"
    )
    path = tmp_path / "agents.toml"
    path.write_text('[agent]\nselector = "newest_selector:build"\n')
    settings, spec = read_agents(load_settings(agents_file=path))

    agent = build_teams(settings, spec, None)("").agents[spec.main]

    assert isinstance(agent, FunctionsBasedAgent)
    history = [message(1, "one"), message(2, "two")]
    for is_short in (False, True):
        context = await make_context(history=history, is_window_short=is_short)
        assert [each.text for each in await agent.select_recent(context)] == ["two"]


def test_t05_only_the_simulators_agent_has_the_tool_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    _, simulated = read_agents(load_settings(agents_file=None, telegram_bot_token=None))
    _, real = read_agents(load_settings(agents_file=None, telegram_bot_token="77:AbCdEfGh"))

    built_in = set(BUILT_IN_TOOLS)
    assert {tool.name for tool in simulated.agents[simulated.main].tools} == {"add", "upper", *built_in}
    assert {tool.name for tool in real.agents[real.main].tools} == built_in
