"""docs/security.md: the tests that it names are there, its example is understood, and it stays one page."""

import re
import tomllib
from pathlib import Path

from bot.agent.agents_file import load_agents
from bot.agent.scope import Scope
from bot.tools import BUILT_IN_TOOLS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text("utf-8")


def test_what_shows_that_something_holds_is_there() -> None:
    named = set(re.findall(r"`((?:tests|benchmarks)/[\w/]+\.py)", TEXT))

    assert len(named) > 15
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_its_scope_is_one(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    limits = tomllib.loads(example)["tools"]["refund"]
    agents = tmp_path / "agents.toml"
    agents.write_text('[agent]\ntools = ["add"]\n' + example.replace("tools.refund", "tools.add"))

    team = load_agents(agents, built_in_tools=BUILT_IN_TOOLS)

    assert team.agents[team.main].tools[0].scope == Scope(
        who=limits["who"], where=frozenset(limits["where"]), chats=frozenset(limits["chats"])
    )


def test_it_is_one_page() -> None:
    assert len(TEXT.splitlines()) <= 75
