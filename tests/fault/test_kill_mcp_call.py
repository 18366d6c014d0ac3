"""A worker that is killed in the middle of two MCP calls: only the one that only reads is repeated."""

from pathlib import Path

from bot.agent.tool_calls import OUTCOME_UNKNOWN
from chaos.rig.chat_load import collect_bot_messages, gather_people
from chaos.rig.evidence import settled, update_states
from chaos.rig.program import until
from chaos.rig.system import running_system
from tests.scripted_replies import Reply, call, calls, text
from tests.scripted_script import ChatRequest
from tests.story.prompts import tool_results
from tests.story.test_mcp import AGENT, write_agents

WITHIN_S = 120.0


def pay_and_look(request: ChatRequest) -> Reply:
    """Call both tools, and answer after their results."""
    if tool_results(request["messages"]):
        return text("I do not know whether it is paid.")
    return calls(call("shop__pay", {"amount": 500}), call("shop__look", {"amount": 500}))


async def test_a_call_of_unknown_outcome_is_not_repeated_and_one_that_reads_is(tmp_path: Path) -> None:
    file = write_agents(tmp_path, AGENT, {"shop": ""})
    called = tmp_path / "shop"
    async with running_system(tmp_path, pay_and_look, AGENTS_FILE=str(file)) as system:
        (chat,) = await gather_people(system.simulator, 1)
        _, worker = await system.start("serve", "work")
        async with collect_bot_messages(system.simulator) as heard:
            await system.simulator.say(chat, "pay 500")
            await until(
                lambda: called.exists() and len(called.read_text().splitlines()) == 2,
                within_s=WITHIN_S,
                what="two calls",
            )
            (server,) = servers_in(tmp_path)
            await worker.kill()
            called.with_suffix(".go").touch()
            await until(
                lambda: server not in servers_in(tmp_path), within_s=WITHIN_S, what="its server's end"
            )
            await system.start("work")
            await until(lambda: heard.count >= 1, within_s=WITHIN_S, what="the answer")
        await settled(system.redis)

        assert await update_states(system.redis) == {"answered": 1}
        assert sorted(called.read_text().splitlines()) == ["look 500", "look 500", "pay 500"]
        last = system.model.chat_requests[-1].body["messages"]
        assert tool_results(last) == [OUTCOME_UNKNOWN, "saw 500"]


def servers_in(folder: Path) -> set[int]:
    """Return the processes of MCP servers that write into this folder."""
    found: set[int] = set()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:  # it has ended
                continue
            if (
                any(word.endswith(b"mcp_server.py") for word in words)
                and str(folder / "shop").encode() in words
            ):
                found.add(int(process.name))
    return found
