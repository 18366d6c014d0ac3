"""Which model each agent has, and whose window MODEL_CONTEXT_WINDOW is."""

from pathlib import Path

import pytest

from bot.agent.functions_based import FunctionsBasedAgent
from bot.app.agents import conversation_window, model_names, read_agents
from bot.app.build import build_team, compression_limits
from bot.errors import SettingsInvalid
from bot.settings import load_settings

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
        (
            "",
            {"Shop": 32_000, "analyst": 32_000, "clerk": 32_768},
            {"my-local-model", "gpt-4-32k"},
        ),
        (
            'model = "gpt-4o"',
            {"Shop": 32_000, "analyst": 8_192, "clerk": 32_768},
            {"gpt-4o", "my-local-model", "gpt-4-32k"},
        ),
    ],
)
def test_i02_an_agent_without_a_model_has_openai_model_and_the_main_agents_window_is_settable(
    tmp_path: Path, main: str, windows: dict[str, int], names: set[str]
) -> None:
    path = tmp_path / "agents.toml"
    path.write_text(FILE % main)
    given = load_settings(openai_model="my-local-model", model_context_window=32_000, agents_file=path)

    settings, spec = read_agents(given)
    team = build_team(settings, spec, None)

    agents = {name: agent for name, agent in team.agents.items() if isinstance(agent, FunctionsBasedAgent)}
    assert {name: agent.limits.context_window for name, agent in agents.items()} == windows
    assert model_names(settings, spec) == names


def test_i02_a_conversation_is_compressed_by_the_smallest_window_of_those_who_can_have_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "agents.toml"
    path.write_text(FILE % 'model = "gpt-4o"')
    given = load_settings(openai_model="my-local-model", compression_tokens=0, agents_file=path)

    settings, spec = read_agents(given)
    limits = compression_limits(settings, spec)

    assert conversation_window(settings, spec) == 8_192
    assert limits is not None
    assert limits.trigger_tokens == 4_096
    without = settings.model_copy(update={"openai_summary_model": ""})
    assert compression_limits(without, spec) is None


def test_a_window_too_small_for_the_built_in_agent_is_the_windows_problem() -> None:
    settings, spec = read_agents(load_settings(model_context_window=1024, agents_file=None))

    with pytest.raises(SettingsInvalid) as refused:
        build_team(settings, spec, None)

    (told,) = refused.value.problems
    assert told.startswith("MODEL_CONTEXT_WINDOW: the prompt and the tools of Mnemogram take ")
