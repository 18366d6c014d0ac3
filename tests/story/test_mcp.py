"""Stories of MCP servers: agents call their tools, and answer without those of a server that is down."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.agent.actions import PICTURES_HEADING
from bot.mcp import connection
from tests.scripted_replies import Call, Reply, call, calls, text
from tests.scripted_script import ChatRequest
from tests.story import harness
from tests.story.agents import TeamScript, keep_path
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, running_bot
from tests.story.prompts import tool_results

pytestmark = pytest.mark.slow

SERVER = Path(__file__).parents[1] / "mcp_server.py"
AGENT = """
[agent]
prompt = "You are the desk."
tools = ["mcp:shop/*"]
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer for servers. Each is a process that imports the SDK on a busy machine."""
    keep_path(monkeypatch)
    monkeypatch.setattr(connection, "FIRST_LIST_S", 60.0)
    monkeypatch.setattr(harness, "DEADLINE_S", 90.0)


def write_agents(folder: Path, agents: str, servers: Mapping[str, str]) -> Path:
    """Write an agents file with a stdio server for each name. A value holds more lines for its table."""
    tables = [
        f'[mcp.servers.{name}]\ncommand = "{sys.executable}"\n'
        f'args = ["{SERVER}", "{name}", "{folder / name}"]\n{lines}\n'
        for name, lines in servers.items()
    ]
    path = folder / "agents.toml"
    path.write_text("\n".join([agents, *tables]))
    return path


def offered(bot: Story, number: int = -1) -> Sequence[str]:
    """Return the names of the tools in a request, without the reader of artifacts."""
    tools: Sequence[dict[str, Any]] = bot.model.chat_requests[number].body.get("tools", ())
    names = [tool["function"]["name"] for tool in tools]
    return [name for name in names if name != "read_artifact"]


def add(server: str, a: int, b: int) -> Call:
    return call(f"{server}__add", {"a": a, "b": b})


async def test_tools_of_two_servers_with_the_same_names_are_distinct(
    stores: StoryStores, tmp_path: Path
) -> None:
    agent = AGENT.replace('"mcp:shop/*"', '"mcp:shop/add", "mcp:bank/add", "mcp:bank/fail"')
    file = write_agents(tmp_path, agent, {"shop": "", "bank": ""})
    script = [calls(add("shop", 2, 3), add("bank", 4, 5), call("bank__fail", {})), text("5 and 9")]
    async with running_bot(stores, script, agents_file=file) as bot:
        assert await bot.ask(BEN, "add both") == "5 and 9"

        assert offered(bot) == ["shop__add", "bank__add", "bank__fail"]
        shop, bank, failed = tool_results(bot.prompts()[1])
        assert (shop, bank, failed) == ("shop: 5", "bank: 9", "fail failed: Error executing tool fail")
    assert (tmp_path / "shop").read_text() == "add 2 3\n"


async def test_an_answer_comes_without_the_tools_of_a_server_that_is_down(
    stores: StoryStores, tmp_path: Path
) -> None:
    agent = AGENT.replace('"mcp:shop/*"', '"mcp:shop/*", "mcp:bank/add", "current_time"')
    file = write_agents(tmp_path, agent, {"shop": "", "bank": ""})
    file.write_text(file.read_text().replace(sys.executable, "/nothing/here", 1))
    script = [calls(add("shop", 1, 1), add("bank", 2, 2)), text("4"), text("still here")]
    async with running_bot(stores, script, agents_file=file) as bot:
        assert await bot.ask(BEN, "add both") == "4"
        assert await bot.ask(BEN, "and now?") == "still here"

        assert offered(bot, 0) == offered(bot) == ["current_time", "bank__add"]
        missing, added = tool_results(bot.prompts()[1])
        assert missing.startswith("There is no tool named 'shop__add'.")
        assert added == "bank: 4"


async def test_a_server_and_its_tools_have_scopes(stores: StoryStores, tmp_path: Path) -> None:
    agent = AGENT.replace('"mcp:shop/*"', '"mcp:shop/add", "mcp:shop/pay", "mcp:bank/add"')
    agent += '[tools.shop__pay]\nwho = "operators"\n'
    file = write_agents(tmp_path, agent, {"shop": 'who = "administrators"', "bank": 'where = ["private"]'})
    async with running_bot(stores, agents_file=file, operator_ids=frozenset([CHIARA])) as bot:
        found: dict[int, Sequence[str]] = {}
        for person in (BEN, OLGA, CHIARA):
            await bot.wait_for_reply(await bot.say(person, "@mnemogram_bot hello", chat=WEEKEND))
            found[person] = offered(bot)
        await bot.ask(BEN, "hello")

        assert found == {BEN: [], OLGA: ["shop__add"], CHIARA: ["shop__add", "shop__pay"]}
        assert offered(bot) == ["shop__add", "bank__add"]


async def test_a_delegated_agent_has_its_own_servers(stores: StoryStores, tmp_path: Path) -> None:
    agents = """
[agent]
prompt = "You are the desk."
tools = []
delegates_to = ["clerk"]
[agents.clerk]
description = "Adds."
prompt = "You are the clerk."
tools = ["mcp:shop/*"]
"""
    script = TeamScript(
        {
            "desk: add it": [calls(call("delegate_to_clerk", {"task": "2 and 3"})), "It is 5."],
            "clerk: 2 and 3": [calls(add("shop", 2, 3)), "5"],
        }
    )
    file = write_agents(tmp_path, agents, {"shop": 'tools = ["add"]'})
    async with running_bot(stores, script, agents_file=file) as bot:
        assert await bot.ask(BEN, "add it") == "It is 5."

        assert [offered(bot, number) for number in (0, 1)] == [["delegate_to_clerk"], ["shop__add"]]
        assert tool_results(script.prompts["clerk: 2 and 3"][1]) == ["shop: 5"]


async def test_a_large_result_becomes_an_artifact_that_the_model_reads(
    stores: StoryStores, tmp_path: Path
) -> None:
    file = write_agents(tmp_path, AGENT, {"shop": ""})

    def script(request: ChatRequest) -> Reply:
        results = tool_results(request["messages"])
        if not results:
            return calls(call("shop__recite", {"lines": 2_000}))
        artifact = results[0].split()[1].rstrip(":")
        found = call("read_artifact", {"artifact_id": artifact, "search": "line 1234"})
        return text("found") if results[1:] else calls(found)

    async with running_bot(stores, script, agents_file=file, recall_k=0) as bot:
        assert await bot.ask(BEN, "recite") == "found"

        reference, found = tool_results(bot.prompts()[2])
        assert reference.startswith("[artifact ")
        assert "the result of shop__recite" in reference
        assert "line 1234 of the poem" in found


@pytest.mark.parametrize("sees", [True, False])
async def test_pictures_of_a_result_reach_models_that_see(
    stores: StoryStores, tmp_path: Path, sees: bool
) -> None:
    file = write_agents(tmp_path, AGENT, {"shop": ""})
    script = [calls(call("shop__draw", {})), text("a pixel")]
    async with running_bot(stores, script, agents_file=file, openai_vision=sees) as bot:
        assert await bot.ask(BEN, "draw") == "a pixel"

        result, shown = bot.prompts()[1][-2:]
        assert (result["role"], result["content"].splitlines()[0]) == ("tool", "one pixel")
        heading = PICTURES_HEADING.format(names="shop__draw")
        if sees:
            assert [part["type"] for part in shown["content"]] == ["text", "image_url"]
            assert shown["content"][0]["text"] == heading
            assert shown["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
        else:
            assert (
                shown["content"]
                == f"{heading}\n[The picture of this message could not be shown to you: say so.]"
            )
