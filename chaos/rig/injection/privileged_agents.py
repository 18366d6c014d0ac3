"""A team with restricted tools that record on disk where they ran."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_AGENTS = """
[agent]
name = "desk"
prompt = "You are the desk."
tools = [{tools}]
delegates_to = ["helper"]
transfers_to = ["helper"]

[agents.helper]
description = "Helps."
prompt = "You are the helper."
tools = [{tools}]
transfers_to = ["desk"]

[tools.mute_member]
who = "administrators"
where = ["groups"]
[tools.open_diary]
where = ["private"]
[tools.open_vault]
chats = [{vault}]
"""
_TOOLS = '''"""Tools of the injection tests: each leaves a line that says where it ran."""

import ipaddress
import json
import os
from pathlib import Path

from bot.agent.context import AgentContext
from bot.agent.tool import Scope
from bot.agent.tool import Tool
from bot.tools.guarded_http import GuardedHttp
from bot.tools.read_web_page import page_reader

_FILE = Path(__file__).with_name("ran.log")
_PUBLIC = ipaddress.ip_address("127.0.0.1")
_NAMES = {{"public.test": ["127.0.0.1"], "inside.test": ["127.0.0.2"], "both.test": ["127.0.0.1", "127.0.0.2"]}}


def _tool(name: str, scope: Scope | None = None) -> Tool:
    async def use(context: AgentContext, what: str) -> str:
        """Use it."""
        line = json.dumps({{"tool": name, "chat": context.metadata["chat_id"], "what": what}})
        with _FILE.open("a") as file:
            file.write(line + chr(10))
        return f"used for {{what}}"

    return Tool.from_function(use, name=name, scope=scope)


whoami = _tool("whoami")
close_shop = _tool("close_shop", Scope(who="operators"))
mute_member = _tool("mute_member")
open_diary = _tool("open_diary")
open_vault = _tool("open_vault")


def look_up(what: str) -> str:
    """Look something up: what it finds was written by somebody else."""
    return what


async def _resolve(host: str, port: int) -> list[ipaddress.IPv4Address]:
    return [ipaddress.ip_address(each) for each in _NAMES.get(host, [host])]


_web = GuardedHttp(
    resolve=_resolve, allows=lambda address: address == _PUBLIC, ports=frozenset([{ports}]), timeout_s=5
)
_page = page_reader(_web)
read_page = Tool.from_function(_page.function, name="read_page", max_calls=9)
'''
_NAMES = (
    "search_memory",
    "read_web_page",
    *(
        f"armed_tools:{name}"
        for name in (
            "whoami",
            "close_shop",
            "mute_member",
            "open_diary",
            "open_vault",
            "look_up",
            "read_page",
        )
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run of a tool in a chat. `what` is its argument."""

    tool: str
    chat: int
    what: str


def write_privileged_agents(directory: Path, *, vault: int, ports: Sequence[int]) -> Path:
    """Write an AGENTS_FILE there.

    `vault` is the only chat in which `open_vault` is allowed. For `read_page`, the first address of
    loopback is the public internet, on these ports, as `public.test`; `inside.test` is an address that it
    must not reach.
    """
    (directory / "armed_tools.py").write_text(_TOOLS.format(ports=", ".join(map(str, ports))))
    agents = directory / "agents.toml"
    agents.write_text(_AGENTS.format(tools=", ".join(f'"{name}"' for name in _NAMES), vault=vault))
    return agents


def tools_that_ran(directory: Path) -> list[Ran]:
    """Return the runs of tools in order. The tools record them before the product can know of them."""
    log = directory / "ran.log"
    return [Ran(**json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []
