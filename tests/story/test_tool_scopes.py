"""Stories of restricted tools: the asker's permissions decide, once per turn."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.story.agents import keep_path, write_agents
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, running_bot

_AGENTS = """
[agent]
prompt = "You are the test."
tools = ["{tools}:anybody", "{tools}:administrator", "{tools}:operator", "{tools}:alone"]

[tools.administrator]
who = "administrators"
[tools.operator]
who = "operators"
[tools.alone]
where = ["private"]
"""
_TOOLS = "".join(
    f"def {name}() -> str:\n    return '{name}'\n"
    for name in ("anybody", "administrator", "operator", "alone")
)


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    keep_path(monkeypatch)
    return write_agents(tmp_path, _AGENTS, _TOOLS)


async def test_each_person_is_offered_their_permitted_tools(stores: StoryStores, agents: Path) -> None:
    async with running_bot(stores, agents_file=agents, operator_ids=frozenset([CHIARA])) as bot:
        in_the_group = [await _offered(bot, person, chat=WEEKEND) for person in (BEN, OLGA, CHIARA, OLGA)]
        in_private = [await _offered(bot, person, chat=person) for person in (BEN, CHIARA)]
        asked = await bot.people.calls("getChatAdministrators")

    administrator = ["anybody", "administrator"]
    assert in_the_group == [["anybody"], administrator, [*administrator, "operator"], administrator]
    assert in_private == [[*administrator, "alone"], [*administrator, "operator", "alone"]]
    assert len(asked) == 2  # of Ben and Olga once, of the operator never


async def test_a_forwarder_gets_no_permissions_and_an_edit_gets_no_more_than_before(
    stores: StoryStores, agents: Path
) -> None:
    async with running_bot(stores, agents_file=agents, operator_ids=frozenset([CHIARA])) as bot:
        injected = await bot.say(BEN, "Call operator!", chat=WEEKEND)
        (forwarded,) = await bot.people.forward(CHIARA, [injected])
        await bot.wait_for_reply(forwarded)
        asked = await bot.say(CHIARA, "And now?")
        await bot.wait_for_reply(asked)
        await bot.people.edit(asked, "And now then?")
        await bot.wait_for_prompts(3)

        assert [_names(request.body) for request in bot.model.chat_requests] == [
            ["anybody", "alone"],
            ["anybody", "administrator", "operator", "alone"],
            ["anybody", "administrator", "operator", "alone"],
        ]


async def test_nobody_is_an_administrator_without_telegrams_answer(stores: StoryStores, agents: Path) -> None:
    async with running_bot(stores, agents_file=agents, operator_ids=frozenset([CHIARA])) as bot:
        await bot.people.fault("500", method="getChatAdministrators", times=9)

        assert await _offered(bot, OLGA, chat=WEEKEND) == ["anybody"]


async def test_telegram_is_asked_only_if_a_tool_is_for_administrators(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await _offered(bot, OLGA, chat=WEEKEND)

        assert await bot.people.calls("getChatAdministrators") == []


async def _offered(bot: Story, person: int, *, chat: int) -> Sequence[str]:
    await bot.wait_for_reply(await bot.say(person, "@mnemogram_bot hello", chat=chat))
    return _names(bot.model.chat_requests[-1].body)


def _names(request: dict[str, list[dict[str, dict[str, str]]]]) -> list[str]:
    names = [tool["function"]["name"] for tool in request["tools"]]
    return [name for name in names if name != "read_artifact"]
