"""MCP servers in AGENTS_FILE, and one line for each mistake."""

import re
import sys
from pathlib import Path

import pytest

from bot.agent.agents_file import TeamSpec, load_agents
from bot.agent.mcp_servers import McpReference
from bot.agent.tool import Tool
from bot.errors import SettingsInvalid
from bot.features import BUILT_IN_TOOLS

EXAMPLE = Path(__file__).parents[3] / "examples" / "agents.toml"
SECRET = "sk-very-secret"


def loaded(folder: Path, text: str) -> TeamSpec:
    path = folder / "agents.toml"
    path.write_text(text)
    return load_agents(path, built_in_tools=BUILT_IN_TOOLS, environ={"SHOP_KEY": SECRET})


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(SettingsInvalid) as invalid:
        loaded(folder, text)
    assert SECRET not in str(invalid.value.problems)
    return invalid.value.problems


def probe() -> str:
    """Probe."""
    return "probed"


def test_an_agent_lists_tools_of_servers(tmp_path: Path) -> None:
    team = loaded(
        tmp_path,
        """
        [agent]
        tools = ["current_time", "mcp:shop/*", "mcp:clock/now"]
        [agents.helper]
        description = "Helps."
        prompt = "Help."
        tools = ["mcp:clock/*"]
        [mcp.servers.shop]
        url = "https://shop.example/mcp"
        headers = { Authorization = "Bearer env:SHOP_KEY" }
        who = "administrators"
        [mcp.servers.clock]
        command = "clock"
        [tools.clock__now]
        max_calls = 1
        who = "operators"
        """,
    )

    main, helper = team.agents["Mnemogram"], team.agents["helper"]
    assert [tool.name for tool in main.tools] == ["current_time", "read_artifact"]
    assert [tool.name for tool in helper.tools] == ["read_artifact"]
    assert main.mcp is not None
    assert helper.mcp is not None
    assert main.mcp.references == (
        McpReference(server="shop", tool="*"),
        McpReference(server="clock", tool="now"),
    )
    assert main.mcp.roles == {"administrators", "anyone", "operators"}
    assert helper.mcp.roles == {"anyone", "operators"}
    limited = main.mcp.limit(Tool.from_function(probe, name="clock__now"))
    assert (limited.max_calls, limited.scope.who) == (1, "operators")
    assert team.servers["shop"].headers == {"Authorization": f"Bearer {SECRET}"}
    assert SECRET not in repr(team)
    assert team.secrets == (SECRET,)


def test_an_agent_without_servers_has_no_toolset(tmp_path: Path) -> None:
    team = loaded(tmp_path, "[agent]\n")

    assert (team.agents["Mnemogram"].mcp, team.servers) == (None, {})


def test_each_mistake_has_a_line(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """
        [agent]
        tools = ["mcp:shop/*", "mcp:gone/*", "mcp:shop", "mcp:"]
        [mcp.servers.shop]
        url = "https://shop.example/mcp"
        headers = { Authorization = "Bearer sk-very-secret" }
        [mcp.servers.both]
        command = "x"
        url = "https://shop.example/env:NOT_THERE"
        [mcp.servers.delegate_to_shop]
        command = "x"
        """,
    )

    assert found == [
        "AGENTS_FILE: agent.tools[1] = 'mcp:gone/*': there is no [mcp.servers.gone] "
        "(servers: shop, both, delegate_to_shop)",
        "AGENTS_FILE: agent.tools[2] = 'mcp:shop': it is not mcp:SERVER/TOOL or mcp:SERVER/*",
        "AGENTS_FILE: agent.tools[3] = 'mcp:': it is not mcp:SERVER/TOOL or mcp:SERVER/*",
        "AGENTS_FILE: mcp.servers.shop.headers.Authorization: secrets do not belong into this file: "
        'use "env:NAME" and set the variable NAME',
        "AGENTS_FILE: mcp.servers.both: name either a command or a url",
        "AGENTS_FILE: mcp.servers.both.url: the environment variable NOT_THERE is not set",
        "AGENTS_FILE: mcp.servers.delegate_to_shop = 'delegate_to_shop': names of tools for handing over begin so",
    ]


def test_an_address_without_a_scheme_is_a_mistake_that_does_not_show_it(tmp_path: Path) -> None:
    for url in ("shop.example/mcp", "env:SHOP_KEY", "https:///mcp"):
        found = problems(tmp_path, f'[agent]\ntools = ["mcp:shop/*"]\n[mcp.servers.shop]\nurl = "{url}"\n')

        assert found == [
            "AGENTS_FILE: mcp.servers.shop.url: it must begin with https:// or http:// and a host"
        ]


def test_a_server_that_no_agent_uses_is_a_mistake(tmp_path: Path) -> None:
    found = problems(tmp_path, '[agent]\ntools = []\n[mcp.servers.shop]\ncommand = "shop"\n')

    assert found == ["AGENTS_FILE: mcp.servers.shop = 'shop': no agent lists its tools"]


def test_limits_of_a_tool_of_no_used_server_are_a_mistake(tmp_path: Path) -> None:
    found = problems(tmp_path, "[agent]\n[tools.shop__buy]\nmax_calls = 1\n")

    assert found == ["AGENTS_FILE: tools.shop__buy = {'max_calls': 1}: no agent lists a tool of this name"]


def test_wrong_types_name_the_key_and_no_secret(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """
        [agent]
        tools = ["mcp:shop/*"]
        [mcp.servers.shop]
        url = "https://shop.example/mcp"
        headers = "Bearer sk-very-secret"
        timeout_s = 0
        token = "sk-very-secret"
        """,
    )

    assert found == [
        "AGENTS_FILE: mcp.servers.shop.headers: Input should be a valid dictionary",
        "AGENTS_FILE: mcp.servers.shop.timeout_s = 0: Input should be greater than 0",
        "AGENTS_FILE: mcp.servers.shop.token: there is no such key",
    ]


def test_the_example_is_valid_without_its_comment_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(EXAMPLE.parent)])
    text = re.sub(
        r'^( *)# ("mcp:|\[mcp|(command|args|env|tools|timeout_s|max_at_once) =)',
        r"\1\2",
        EXAMPLE.read_text("utf-8"),
        flags=re.MULTILINE,
    )

    path = tmp_path / "agents.toml"
    path.write_text(text)
    team = load_agents(path, built_in_tools=BUILT_IN_TOOLS, environ={"TZ": "UTC"})

    assert team.agents[team.main].mcp is not None
    table = team.servers["time"].table
    assert (table.command, table.args, table.tools) == ("uvx", ["mcp-server-time"], ["get_current_time"])
