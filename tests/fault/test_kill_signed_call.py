"""A worker that is killed during a tool call whose endpoint wants its own fields back."""

from pathlib import Path

import pytest

from bot.agent.tool_calls import OUTCOME_UNKNOWN
from chaos.rig.chat_driver import driving_chats
from chaos.rig.chat_load import Place, gather_people
from chaos.rig.evidence import settled, update_states
from chaos.rig.program import until
from chaos.rig.system import running_system
from tests.odd.endpoint import odd_endpoint
from tests.odd.returns import GOOGLES, KIMIS, SECRET, SIGNED
from tests.odd.row import Row, lacks_call_field, lacks_field, refuse
from tests.odd.wire import HELLO, called, reminds
from tests.story.prompts import tool_results
from tests.story.test_mcp import AGENT, write_agents

WITHIN_S = 120.0
PAYS = '{"amount": 500}'
ROWS = [
    Row(
        name="signed by Gemini",
        replies=(called(reminds(PAYS, name="shop__pay", extra_content=SIGNED)),),
        refuses=refuse(lacks_call_field("extra_content", SIGNED), GOOGLES),
    ),
    Row(
        name="reasoned by DeepSeek",
        replies=(called(reminds(PAYS, name="shop__pay"), reasoning_content=SECRET),),
        refuses=refuse(lacks_field("reasoning_content", SECRET), KIMIS),
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
async def test_the_fields_go_back_after_a_crash_and_the_tool_ran_once(row: Row, tmp_path: Path) -> None:
    file, called_in = write_agents(tmp_path, AGENT, {"shop": ""}), tmp_path / "shop"
    async with odd_endpoint() as endpoint:
        play = endpoint.begin(row)
        async with running_system(
            tmp_path,
            [],
            OPENAI_BASE_URL=endpoint.base_url,
            OPENAI_MODEL=row.model,
            OPENAI_SUMMARY_MODEL="",
            AGENTS_FILE=str(file),
        ) as system:
            (chat,) = await gather_people(system.simulator, 1)
            _, worker = await system.start("serve", "work")
            async with driving_chats(system) as chats:
                chats.send(Place(chat_id=chat, writer_id=chat), "pay 500")
                await until(called_in.exists, within_s=WITHIN_S, what="the call")
                await worker.kill()
                called_in.with_suffix(".go").touch()
                await system.start("work")
                await chats.wait_for(Place(chat_id=chat, writer_id=chat), HELLO, within_s=WITHIN_S)
            await settled(system.redis)

            assert await update_states(system.redis) == {"answered": 1}
    assert called_in.read_text().splitlines() == ["pay 500"]
    assert len(play.requests) == 2  # none was refused
    assert tool_results(play.requests[-1]["messages"]) == [OUTCOME_UNKNOWN]
