"""The contents of AGENTS_FILE, and one line for each mistake."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from bot.agent.agents_file import BUILT_IN_PROMPT, AgentSpec, TeamSpec, load_agents
from bot.agent.model import ToolSpec
from bot.agent.team import TeamLimits
from bot.agent.tool import Scope
from bot.errors import SettingsInvalid, ToolFailed
from bot.features import BUILT_IN_TOOLS
from bot.tools import OPTIONAL_TOOLS
from tests.unit.agent.kit import make_context, message

TOOLS = '''
"""Tools for a test."""
from bot.agent.tool import Scope
from bot.agent.tool import Tool

NUMBER = 4

def dice(sides: int = 6) -> int:
    """Roll a die."""
    return sides

def bare(sides):
    return sides

ready = Tool.from_function(dice, name="ready", is_final=True)

in_groups = Tool.from_function(dice, name="in_groups", scope=Scope(where=frozenset(["groups"])))

def delegate_to_a(task: str) -> str:
    return task

class Newest:
    """A selector of the newest message."""
    async def select(self, newest):
        return [message async for message in newest][:1]

def newest():
    return Newest()

def failing():
    raise RuntimeError("no such selector\\nmore")
'''


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    """Return a folder with a module of tools. Changes of sys are undone."""
    path, modules = list(sys.path), set(sys.modules)
    (tmp_path / "dice_tools.py").write_text(TOOLS)
    (tmp_path / "broken_tools.py").write_text("import nothing_of_this_name\n")
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.endswith("_tools"):
            del sys.modules[name]


def written(folder: Path, text: str) -> Path:
    path = folder / "agents.toml"
    path.write_text(text)
    return path


def problems(path: Path) -> list[str]:
    with pytest.raises(SettingsInvalid) as invalid:
        load_agents(path, built_in_tools=BUILT_IN_TOOLS)
    return invalid.value.problems


def loaded(path: Path) -> TeamSpec:
    return load_agents(path, built_in_tools=BUILT_IN_TOOLS)


def main_of(path: Path) -> AgentSpec:
    team = loaded(path)
    return team.agents[team.main]


async def test_a_file_sets_prompt_model_tools_and_limits(folder: Path) -> None:
    path = written(
        folder,
        """
        [agent]
        name = "Dealer"
        prompt = "You deal."
        model = "gpt-4o"
        tools = ["current_time", "dice_tools:dice", "dice_tools:ready"]
        [tools.dice]
        max_calls = 2
        timeout_s = 5
        """,
    )

    spec = main_of(path)

    assert (spec.name, spec.prompt, spec.model) == ("Dealer", "You deal.", "gpt-4o")
    assert [(tool.name, tool.max_calls, tool.timeout_s, tool.is_final) for tool in spec.tools] == [
        ("current_time", None, 30, False),
        ("dice", 2, 5, False),
        ("ready", None, 30, True),
        ("read_artifact", None, 30, False),
    ]
    assert await spec.tools[1].call('{"sides": 20}', await make_context()) == "20"


def test_missing_entries_come_from_the_built_in_agent(folder: Path) -> None:
    spec = main_of(written(folder, "[agent]\n"))

    assert (spec.name, spec.prompt, spec.model) == ("Mnemogram", BUILT_IN_PROMPT, None)
    assert [tool.name for tool in spec.tools] == list(BUILT_IN_TOOLS)


def test_a_star_in_a_list_adds_every_built_in_tool(folder: Path) -> None:
    spec = main_of(written(folder, "[agent]\ntools = ['dice_tools:dice', '*']\n"))

    assert [tool.name for tool in spec.tools] == ["dice", *BUILT_IN_TOOLS]


def test_an_agent_may_have_no_tools(folder: Path) -> None:
    assert main_of(written(folder, "[agent]\ntools = []\n")).tools == ()


def test_an_unreadable_file_is_reported(folder: Path) -> None:
    missing, binary = folder / "nowhere.toml", folder / "agents.toml"
    binary.write_bytes(b"\xff\xfe")

    assert problems(missing) == [f"AGENTS_FILE: {missing} cannot be read: No such file or directory"]
    assert problems(folder) == [f"AGENTS_FILE: {folder} cannot be read: Is a directory"]
    assert problems(binary) == [f"AGENTS_FILE: {binary} cannot be read: it is not UTF-8"]


def test_invalid_toml_is_reported_with_its_place(folder: Path) -> None:
    (problem,) = problems(written(folder, "[agent\n"))

    assert problem.startswith(f"AGENTS_FILE: {folder / 'agents.toml'} is not valid TOML: ")
    assert "line 1" in problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["agent is missing"]),
        ("[agent]\npromt = 'x'", ["agent.promt = 'x': there is no such key; did you mean `prompt`?"]),
        ("[agent]\nprompt = 5", ["agent.prompt = 5: Input should be a valid string"]),
        ("[agent]\nprompt = ''", ["agent.prompt = '': String should have at least 1 character"]),
        ("[agent]\ntools = 'add'", ["agent.tools = 'add': Input should be a valid list"]),
        (
            "[agent]\ntools = ['add', 7]\n[tools.add]\nmax_calls = 0",
            [
                "agent.tools[1] = 7: Input should be a valid string",
                "tools.add.max_calls = 0: Input should be greater than or equal to 1",
            ],
        ),
        (
            "[agent]\ntools = ['weather']",
            [
                "agent.tools[0] = 'weather': it is neither module:function nor a built-in tool "
                f"({', '.join(BUILT_IN_TOOLS)})"
            ],
        ),
        (
            "[agent]\ntools = ['nowhere_tools:dice', 'broken_tools:dice', ':dice']",
            [
                "agent.tools[0] = 'nowhere_tools:dice': nowhere_tools cannot be imported: "
                "ModuleNotFoundError: No module named 'nowhere_tools'",
                "agent.tools[1] = 'broken_tools:dice': broken_tools cannot be imported: "
                "ModuleNotFoundError: No module named 'nothing_of_this_name'",
                "agent.tools[2] = ':dice': an empty name cannot be imported: ValueError: Empty module name",
            ],
        ),
        (
            "[agent]\ntools = ['dice_tools:cards', 'dice_tools:NUMBER', 'dice_tools:Tool', 'dice_tools:bare']",
            [
                "agent.tools[0] = 'dice_tools:cards': dice_tools has no function cards",
                "agent.tools[1] = 'dice_tools:NUMBER': dice_tools has no function NUMBER",
                "agent.tools[2] = 'dice_tools:Tool': dice_tools has no function Tool",
                "agent.tools[3] = 'dice_tools:bare': parameter sides has no type annotation",
            ],
        ),
        (
            "[agent]\ntools = ['*', 'current_time']",
            ["agent.tools[1] = 'current_time': another tool is named current_time too"],
        ),
        (
            "[agent]\ntools = ['current_time', 'bot.tools.current_time:current_time']",
            [
                "agent.tools[1] = 'bot.tools.current_time:current_time': another tool is named current_time too"
            ],
        ),
        (
            "[agent]\ntools = ['current_time']\n[tools.dice]\nmax_calls = 2",
            ["tools.dice = {'max_calls': 2}: no agent lists a tool of this name"],
        ),
    ],
)
def test_each_mistake_is_one_line_with_its_key_and_value(
    folder: Path, text: str, expected: list[str]
) -> None:
    assert problems(written(folder, text)) == [f"AGENTS_FILE: {line}" for line in expected]


def test_a_long_value_is_shortened_in_the_message(folder: Path) -> None:
    (problem,) = problems(written(folder, f"[agent]\nprompt = ['{'x' * 500}']"))

    assert problem == f"AGENTS_FILE: agent.prompt = ['{'x' * 58}…: Input should be a valid string"


TEAM = """
[agent]
name = "Desk"
tools = []
delegates_to = ["researcher"]
transfers_to = ["support"]

[agents.researcher]
prompt = "You look things up."
description = "Finds things out"
tools = ["current_time"]
model = "gpt-4o"
delegates_to = ["Desk", "support"]

[agents.support]
prompt = "You help."
description = "Helps with broken things."
tools = []
transfers_to = ["Desk"]
delegates_to = ["researcher"]

[limits]
delegation_depth = 1
delegations = 0
"""


def test_i12_a_file_defines_a_team_with_its_limits(folder: Path) -> None:
    team = loaded(written(folder, TEAM))

    assert (team.main, list(team.agents)) == ("Desk", ["Desk", "researcher", "support"])
    assert team.limits == TeamLimits(delegation_depth=1, delegations=0, transfers=3)
    assert {name: [tool.name for tool in agent.tools] for name, agent in team.agents.items()} == {
        "Desk": ["delegate_to_researcher", "transfer_to_support", "read_artifact"],
        "researcher": ["current_time", "delegate_to_Desk", "delegate_to_support", "read_artifact"],
        "support": ["delegate_to_researcher", "transfer_to_Desk", "read_artifact"],
    }
    researcher = team.agents["researcher"]
    assert (researcher.prompt, researcher.model) == ("You look things up.", "gpt-4o")
    assert (researcher.description, researcher.delegates_to) == ("Finds things out", ("Desk", "support"))


def test_i12_a_delegated_agent_has_no_transfer_tools(folder: Path) -> None:
    support = loaded(written(folder, TEAM)).agents["support"].within_delegation()

    assert [tool.name for tool in support.tools] == ["delegate_to_researcher", "read_artifact"]
    assert support.transfers_to == ()


def test_i12_delegation_and_transfer_tools_describe_their_target_and_take_one_argument(folder: Path) -> None:
    delegate, transfer, _ = main_of(written(folder, TEAM)).tools

    assert delegate.spec == ToolSpec(
        name="delegate_to_researcher",
        description=(
            "Have the agent researcher do a task, and get its result: Finds things out. It reads this conversation "
            "and uses its own tools; it knows of your plans only what the task says. Several run at the same time."
        ),
        parameters={
            "type": "object",
            "required": ["task"],
            "properties": {
                "task": {
                    "description": "What to do, complete in itself: with all that it needs to know",
                    "minLength": 1,
                    "type": "string",
                }
            },
        },
    )
    assert transfer.spec.description == (
        "Give this chat to the agent support: Helps with broken things. It answers the user from now on, this "
        "message included, and knows what you have done so far."
    )
    assert list(transfer.spec.parameters["properties"]) == ["reason"]
    with pytest.raises(ToolFailed, match="task: String should have at least 1 character"):
        delegate.bind('{"task": " "}')


def test_limits_of_a_tool_apply_to_every_agent_that_lists_it(folder: Path) -> None:
    team = loaded(
        written(folder, f"{TEAM}\n[tools.current_time]\nmax_calls = 2\n[tools.read_artifact]\nmax_calls = 9")
    )

    limits = {
        (agent.name, tool.name): tool.max_calls for agent in team.agents.values() for tool in agent.tools
    }
    assert limits["researcher", "current_time"] == 2
    assert {limits[name, "read_artifact"] for name in team.agents} == {9}


def test_a_file_can_restrict_a_tools_scope_and_never_widen_it(folder: Path) -> None:
    path = written(
        folder,
        """
        [agent]
        tools = ["current_time", "dice_tools:dice", "dice_tools:in_groups"]
        [tools.dice]
        who = "administrators"
        where = ["private"]
        [tools.in_groups]
        who = "operators"
        chats = [-5, 7]
        """,
    )

    scopes = {tool.name: tool.scope for tool in main_of(path).tools}

    assert scopes["current_time"] == scopes["read_artifact"] == Scope()
    assert scopes["dice"] == Scope(who="administrators", where=frozenset(["private"]))
    assert scopes["in_groups"] == Scope(
        who="operators", where=frozenset(["groups"]), chats=frozenset([-5, 7])
    )


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (
            "who = 'everybody'",
            "tools.in_groups.who = 'everybody': Input should be 'anyone', 'administrators' or 'operators'",
        ),
        (
            "where = ['channels']",
            "tools.in_groups.where[0] = 'channels': Input should be 'private' or 'groups'",
        ),
        (
            "where = []",
            "tools.in_groups.where = []: List should have at least 1 item after validation, not 0",
        ),
        ("chats = ['-5']", "tools.in_groups.chats[0] = '-5': Input should be a valid integer"),
        (
            "where = ['private']",
            "agent.tools[0] = 'in_groups': its own scope and that of this file have nothing in common",
        ),
    ],
)
def test_an_empty_or_unknown_scope_ends_the_start(folder: Path, limits: str, expected: str) -> None:
    path = written(folder, f"[agent]\ntools = ['dice_tools:in_groups']\n[tools.in_groups]\n{limits}")

    assert problems(path) == [f"AGENTS_FILE: {expected}"]


def test_only_an_agent_that_lists_an_optional_tool_has_it(folder: Path) -> None:
    by_default, listed = written(folder, "[agent]\n"), folder / "listed.toml"
    listed.write_text("[agent]\ntools = ['read_web_page']\n")

    def names(path: Path) -> list[str]:
        team = load_agents(path, built_in_tools=BUILT_IN_TOOLS, optional_tools=OPTIONAL_TOOLS)
        return [tool.name for tool in team.agents[team.main].tools]

    assert names(by_default) == list(BUILT_IN_TOOLS)
    assert names(listed) == ["read_web_page", "read_artifact"]


SUB = "prompt = 'p'\ndescription = 'd'\ntools = []"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[agent]\n[agents.a]\ntools = []\n[limits]\ntransfers = -1\ndepth = 1",
            [
                "agents.a.prompt is missing",
                "agents.a.description is missing",
                "limits.transfers = -1: Input should be greater than or equal to 0",
                "limits.depth = 1: there is no such key",
            ],
        ),
        (
            f"[agent]\ndelegate_to = ['a']\n[agents.a]\n{SUB}\nmodell = 'x'\n[tools.dice]\nmax_call = 1\n"
            "[mcp.servers.wiki]\ncomand = 'password'\n[mcp.server.wiki]\n[options]\nlong_answer = 'parts'\nx = 1",
            [
                "agent.delegate_to = ['a']: there is no such key; did you mean `delegates_to`?",
                "agents.a.modell = 'x': there is no such key; did you mean `model`?",
                "tools.dice.max_call = 1: there is no such key; did you mean `max_calls`?",
                "mcp.servers.wiki.comand: there is no such key; did you mean `command`?",
                "mcp.server: there is no such key; did you mean `servers`?",
                "options.long_answer = 'parts': there is no such key; did you mean `long_answers`?",
                "options.x = 1: there is no such key",
            ],
        ),
        (
            f"[agent]\ndelegates_to = ['b']\ntransfers_to = ['Mnemogram']\n[agents.a]\n{SUB}\ntransfers_to = ['a', '']",
            [
                "agent.delegates_to[0] = 'b': there is no agent of this name (Mnemogram, a)",
                "agent.transfers_to[0] = 'Mnemogram': it is the agent itself",
                "agents.a.transfers_to[0] = 'a': it is the agent itself",
                "agents.a.transfers_to[1] = '': there is no agent of this name (Mnemogram, a)",
            ],
        ),
        (
            f"[agent]\nname = 'Help desk'\n[agents.'two words']\n{SUB}\n[agents.{'x' * 53}]\n{SUB}\n"
            f"[agents.a]\n{SUB}\ntransfers_to = ['Help desk']",
            [
                "agents.two words = 'two words': tools cannot be named for it: 1 to 52 of A-Z a-z 0-9 _ -",
                f"agents.{'x' * 53} = '{'x' * 53}': tools cannot be named for it: 1 to 52 of A-Z a-z 0-9 _ -",
                "agents.a.transfers_to[0] = 'Help desk': tools cannot be named for it: 1 to 52 of A-Z a-z 0-9 _ -",
            ],
        ),
        (
            f"[agent]\nname = 'Anna'\n[agents.anna]\n{SUB}",
            ["agents.anna = 'anna': another agent has this name"],
        ),
        (
            f"[agent]\ntools = ['dice_tools:delegate_to_a']\ndelegates_to = ['a', 'a']\n[agents.a]\n{SUB}",
            [
                "agent.tools[0] = 'dice_tools:delegate_to_a': "
                "delegate_to_a is a name for handing over to another agent",
                "agent.delegates_to[0] = 'a': another tool is named delegate_to_a too",
                "agent.delegates_to[1] = 'a': another tool is named delegate_to_a too",
            ],
        ),
        (
            f"[agent]\ndelegates_to = ['a']\n[agents.a]\n{SUB}\n[tools.delegate_to_a]\nmax_calls = 1",
            ["tools.delegate_to_a = {'max_calls': 1}: no agent lists a tool of this name"],
        ),
        (
            f"[agent]\ntools = []\n[agents.a]\n{SUB.replace('[]', repr(['weather']))}",
            [
                "agents.a.tools[0] = 'weather': it is neither module:function nor a built-in tool "
                f"({', '.join(BUILT_IN_TOOLS)})"
            ],
        ),
    ],
)
def test_i12_each_mistake_in_a_team_is_one_line_with_its_key_and_value(
    folder: Path, text: str, expected: list[str]
) -> None:
    assert problems(written(folder, text)) == [f"AGENTS_FILE: {line}" for line in expected]


async def test_an_agent_may_name_the_factory_of_its_selector(folder: Path) -> None:
    team = loaded(
        written(
            folder,
            """
            [agent]
            selector = "dice_tools:newest"
            [agents.help]
            prompt = "Help."
            description = "Helps."
            """,
        )
    )

    selector, other = team.agents[team.main].selector, team.agents["help"].selector

    assert other is None
    assert selector is not None
    context = await make_context(history=[message(1, "one"), message(2, "two")])
    assert [each.text for each in await context.chat_history.select_messages(selector())] == ["two"]


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("dice_tools", "it is not module:function"),
        ("nowhere:newest", "nowhere cannot be imported: ModuleNotFoundError: No module named 'nowhere'"),
        ("dice_tools:absent", "dice_tools has no function absent"),
        ("dice_tools:failing", "RuntimeError: no such selector"),
        ("dice_tools:dice", "it returns a int, not a MessageSelector"),
    ],
)
def test_a_wrong_selector_is_one_line_with_its_key_and_value(folder: Path, reference: str, why: str) -> None:
    path = written(folder, f'[agent]\nselector = "{reference}"\n')

    assert problems(path) == [f"AGENTS_FILE: agent.selector = {reference!r}: {why}"]
