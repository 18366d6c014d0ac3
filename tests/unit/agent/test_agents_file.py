"""What AGENTS_FILE may say, and how each mistake in it is told."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from bot.agent.agents_file import BUILT_IN_PROMPT, load_agent
from bot.errors import SettingsInvalid
from bot.tools import BUILT_IN_TOOLS
from tests.unit.agent.kit import make_context

TOOLS = '''
"""Tools for a test."""
from bot.agent.tool import Tool

NUMBER = 4

def dice(sides: int = 6) -> int:
    """Roll a die."""
    return sides

def bare(sides):
    return sides

ready = Tool.from_function(dice, name="ready", is_final=True)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    """A folder with a module of tools; what loading does to sys is undone."""
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
        load_agent(path, built_in_tools=BUILT_IN_TOOLS)
    return invalid.value.problems


async def test_a_file_names_prompt_model_tools_and_their_limits(folder: Path) -> None:
    path = written(
        folder,
        """
        [agent]
        name = "Dealer"
        prompt = "You deal."
        model = "gpt-4o"
        tools = ["add", "dice_tools:dice", "dice_tools:ready"]
        [tools.dice]
        max_calls = 2
        timeout_s = 5
        """,
    )

    spec = load_agent(path, built_in_tools=BUILT_IN_TOOLS)

    assert (spec.name, spec.prompt, spec.model) == ("Dealer", "You deal.", "gpt-4o")
    assert [(tool.name, tool.max_calls, tool.timeout_s, tool.is_final) for tool in spec.tools] == [
        ("add", None, 30, False),
        ("dice", 2, 5, False),
        ("ready", None, 30, True),
    ]
    assert await spec.tools[1].call('{"sides": 20}', await make_context()) == "20"


def test_what_a_file_leaves_out_is_that_of_the_built_in_agent(folder: Path) -> None:
    spec = load_agent(written(folder, "[agent]\n"), built_in_tools=BUILT_IN_TOOLS)

    assert (spec.name, spec.prompt, spec.model) == ("Mnemogram", BUILT_IN_PROMPT, None)
    assert [tool.name for tool in spec.tools] == list(BUILT_IN_TOOLS)


def test_an_agent_may_have_no_tools(folder: Path) -> None:
    assert load_agent(written(folder, "[agent]\ntools = []\n"), built_in_tools=BUILT_IN_TOOLS).tools == ()


def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    missing, binary = folder / "nowhere.toml", folder / "agents.toml"
    binary.write_bytes(b"\xff\xfe")

    assert problems(missing) == [f"AGENTS_FILE: {missing} cannot be read: No such file or directory"]
    assert problems(folder) == [f"AGENTS_FILE: {folder} cannot be read: Is a directory"]
    assert problems(binary) == [f"AGENTS_FILE: {binary} cannot be read: it is not UTF-8"]


def test_text_that_is_not_toml_is_told_with_its_place(folder: Path) -> None:
    (problem,) = problems(written(folder, "[agent\n"))

    assert problem.startswith(f"AGENTS_FILE: {folder / 'agents.toml'} is not valid TOML: ")
    assert "line 1" in problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["agent = {}: Field required"]),
        ("[agent]\npromt = 'x'", ["agent.promt = 'x': Extra inputs are not permitted"]),
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
                "(add, current_time, search_memory, upper)"
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
            "[agent]\ntools = ['add', 'bot.tools.add:add']",
            ["agent.tools[1] = 'bot.tools.add:add': another tool is named add too"],
        ),
        (
            "[agent]\ntools = ['add']\n[tools.dice]\nmax_calls = 2",
            [
                "tools.dice = {'max_calls': 2, 'timeout_s': 30.0, 'is_final': False}: "
                "agent.tools lists no tool of this name"
            ],
        ),
    ],
)
def test_each_mistake_is_one_line_with_its_key_and_value(
    folder: Path, text: str, expected: list[str]
) -> None:
    assert problems(written(folder, text)) == [f"AGENTS_FILE: {line}" for line in expected]


def test_a_long_value_is_shown_by_its_beginning(folder: Path) -> None:
    (problem,) = problems(written(folder, f"[agent]\nprompt = ['{'x' * 500}']"))

    assert problem == f"AGENTS_FILE: agent.prompt = ['{'x' * 58}…: Input should be a valid string"
