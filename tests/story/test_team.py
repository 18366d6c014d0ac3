"""Stories of several agents: delegations, transfers, and what each agent sees."""

import asyncio
from pathlib import Path

import pytest

from bot.agent.prompt.text import LEDGER_HEADING, RECORD_HEADING, TASK_HEADING
from tests.scripted_replies import Call, call, calls, held, server_error, text
from tests.story.agents import (
    CHECKER,
    DESK,
    RESEARCHER,
    SUPPORT,
    TeamScript,
    keep_path,
    write_agents,
    write_team,
)
from tests.story.expected import asks, assistant, gave, system, user
from tests.story.harness import BEN, StoryStores, running_bot
from tests.story.prompts import tool_results

OPEN_DAYS = """\
## Tool: open_days

**Input:**
{}

**Output:**
[
  "Monday",
  "Tuesday"
]"""
TEA_LOOKED_UP = """\
## Tool: look_up

**Input:**
{
  "thing": "tea"
}

**Output:**
{
  "thing": "tea",
  "shelf": 3
}"""
TEA_DELEGATED = """\
## Delegation: desk → researcher

**Input:**
{
  "task": "find tea"
}

**Output:**
"The tea is on shelf 3.\""""
HONEY_DELEGATED = """\
## Delegation: desk → researcher

**Input:**
{
  "task": "find honey"
}

**Output:**
"The honey is on shelf 5.\""""
TRANSFERRED = """\
## Transfer: desk → support

**Input:**
{
  "reason": "a cup is broken"
}

**Output:**
"support has this chat now and answers from here on."

## Tool: mend

**Input:**
{
  "thing": "cup"
}

**Output:**
"cup is mended\""""

D1 = asks(("d1", "open_days", "{}"))
GAVE_D1 = gave("d1", '["Monday","Tuesday"]')
T1 = asks(("t1", "transfer_to_support", '{"reason": "a cup is broken"}'))
GAVE_T1 = gave("t1", "support has this chat now and answers from here on.")
OPENED = f"{RECORD_HEADING}\n\n{OPEN_DAYS}"


@pytest.fixture(autouse=True)
def path_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_path(monkeypatch)


def days() -> Call:
    return call("open_days", {}, call_id="d1")


def look_up(thing: str, call_id: str) -> Call:
    return call("look_up", {"thing": thing}, call_id=call_id)


def delegate(agent: str, task: str, call_id: str) -> Call:
    return call(f"delegate_to_{agent}", {"task": task}, call_id=call_id)


def transfer_to_support() -> Call:
    return call("transfer_to_support", {"reason": "a cup is broken"}, call_id="t1")


FIND_TEA = {
    "desk: where is tea?": [
        calls(days()),
        calls(delegate("researcher", "find tea", "d2")),
        text("The tea is on shelf 3, on Monday."),
    ],
    "researcher: find tea": [calls(look_up("tea", "r1")), text("The tea is on shelf 3.")],
}


async def test_i11_i12_prompts_of_a_desk_and_its_researcher_are_as_expected(
    stores: StoryStores, tmp_path: Path
) -> None:
    script = TeamScript(FIND_TEA)
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        assert await bot.ask(BEN, "where is tea?") == "The tea is on shelf 3, on Monday."

        question = [system(DESK), user("where is tea?")]
        task = [system(RESEARCHER), user("where is tea?"), user(OPENED), user(f"{TASK_HEADING}\nfind tea")]
        assert script.prompts == {
            "desk: where is tea?": [
                question,
                [*question, D1, GAVE_D1],
                [
                    *question,
                    user(f"{RECORD_HEADING}\n\n{TEA_LOOKED_UP}"),
                    *(D1, GAVE_D1),
                    asks(("d2", "delegate_to_researcher", '{"task": "find tea"}')),
                    gave("d2", "The tea is on shelf 3."),
                ],
            ],
            "researcher: find tea": [
                task,
                [*task, asks(("r1", "look_up", '{"thing": "tea"}')), gave("r1", '{"thing":"tea","shelf":3}')],
            ],
        }
        assert bot.said_in(BEN) == ["The tea is on shelf 3, on Monday."]
        assert await bot.lines(BEN) == [
            ("user", "where is tea?"),
            ("assistant", "The tea is on shelf 3, on Monday."),
        ]


async def test_i11_concurrent_delegations_do_not_see_each_others_results(
    stores: StoryStores, tmp_path: Path
) -> None:
    tea_is_found, honey_is_found = asyncio.Event(), asyncio.Event()
    two = calls(delegate("researcher", "find tea", "d2"), delegate("researcher", "find honey", "d3"))
    script = TeamScript(
        {
            "desk: where are both?": [two, text("On shelves 3 and 5.")],
            "researcher: find tea": [
                calls(look_up("tea", "r1")),
                held(calls(look_up("tea", "r2")), until=honey_is_found),
                text("The tea is on shelf 3."),
            ],
            "researcher: find honey": [
                held(calls(look_up("honey", "h1")), until=tea_is_found),
                text("The honey is on shelf 5."),
            ],
        }
    )
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        asked = await bot.say(BEN, "where are both?")
        await bot.wait_until(lambda: len(script.prompts["researcher: find tea"]) == 2)
        tea_is_found.set()
        await bot.wait_until(lambda: len(script.prompts["researcher: find honey"]) == 2)
        honey_is_found.set()
        await bot.wait_for_reply(asked)

        start = [system(RESEARCHER), user("where are both?")]
        tea, honey = '{"thing":"tea","shelf":3}', '{"thing":"honey","shelf":5}'
        assert script.prompts["researcher: find tea"][-1] == [
            *start,
            user(f"{TASK_HEADING}\nfind tea"),
            *(asks(("r1", "look_up", '{"thing": "tea"}')), gave("r1", tea)),
            *(asks(("r2", "look_up", '{"thing": "tea"}')), gave("r2", tea)),
        ]
        assert script.prompts["researcher: find honey"][-1] == [
            *start,
            user(f"{TASK_HEADING}\nfind honey"),
            *(asks(("h1", "look_up", '{"thing": "honey"}')), gave("h1", honey)),
        ]
        assert tool_results(script.prompts["desk: where are both?"][-1]) == [
            "The tea is on shelf 3.",
            "The honey is on shelf 5.",
        ]


async def test_i11_a_delegate_sees_the_top_level_and_its_own_line_only(
    stores: StoryStores, tmp_path: Path
) -> None:
    script = TeamScript(
        {
            "desk: where is tea?": [
                calls(delegate("researcher", "find honey", "d1")),
                calls(delegate("researcher", "find tea", "d2")),
                text("The tea is on shelf 3."),
            ],
            "researcher: find honey": [calls(look_up("honey", "h1")), text("The honey is on shelf 5.")],
            "researcher: find tea": [
                calls(look_up("tea", "r1")),
                calls(delegate("checker", "check tea", "r2")),
                text("The tea is on shelf 3."),
            ],
            "checker: check tea": [text("It is.")],
        }
    )
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        await bot.ask(BEN, "where is tea?")

        assert script.prompts["researcher: find tea"][0] == [
            system(RESEARCHER),
            user("where is tea?"),
            user(f"{RECORD_HEADING}\n\n{HONEY_DELEGATED}"),
            user(f"{TASK_HEADING}\nfind tea"),
        ]
        assert script.prompts["checker: check tea"] == [
            [
                system(CHECKER),
                user("where is tea?"),
                user(f"{RECORD_HEADING}\n\n{HONEY_DELEGATED}\n\n{TEA_LOOKED_UP}"),
                user(f"{TASK_HEADING}\ncheck tea"),
            ]
        ]


async def test_i09_i10_i11_the_next_turns_desk_sees_the_calls_of_its_delegates_and_a_new_delegate_does_not(
    stores: StoryStores, tmp_path: Path
) -> None:
    script = TeamScript(
        FIND_TEA
        | {
            "desk: and milk?": [calls(delegate("researcher", "find milk", "e1")), text("There is no milk.")],
            "researcher: find milk": [text("There is none.")],
        }
    )
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        await bot.ask(BEN, "where is tea?")

        await bot.ask(BEN, "and milk?")

        answered = assistant("The tea is on shelf 3, on Monday.")
        assert script.prompts["desk: and milk?"][0] == [
            system(DESK),
            user("where is tea?"),
            user("\n\n".join([LEDGER_HEADING, OPEN_DAYS, TEA_LOOKED_UP, TEA_DELEGATED])),
            *(answered, user("and milk?")),
        ]
        assert script.prompts["researcher: find milk"][0] == [
            system(RESEARCHER),
            user("where is tea?"),
            user("\n\n".join([LEDGER_HEADING, OPEN_DAYS, TEA_DELEGATED])),
            *(answered, user("and milk?")),
            user(f"{TASK_HEADING}\nfind milk"),
        ]


MEND = {
    "desk: mend my cup": [calls(transfer_to_support())],
    "support: mend my cup": [
        text("unused"),
        calls(call("mend", {"thing": "cup"}, call_id="m1")),
        text("It is mended."),
    ],
    "support: thanks": [text("You are welcome.")],
    "support: and now?": [text("Still here.")],
}


async def test_i09_i12_prompts_of_a_transfer_and_of_the_next_turn_are_as_expected(
    stores: StoryStores, tmp_path: Path
) -> None:
    script = TeamScript(MEND)
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        assert await bot.ask(BEN, "mend my cup") == "It is mended."
        assert await bot.ask(BEN, "thanks") == "You are welcome."

        taken = [system(SUPPORT), user("mend my cup"), T1, GAVE_T1]
        assert script.prompts == {
            "desk: mend my cup": [[system(DESK), user("mend my cup")]],
            "support: mend my cup": [
                taken,
                [*taken, asks(("m1", "mend", '{"thing": "cup"}')), gave("m1", "cup is mended")],
            ],
            "support: thanks": [
                [
                    system(SUPPORT),
                    user("mend my cup"),
                    user(f"{LEDGER_HEADING}\n\n{TRANSFERRED}"),
                    assistant("It is mended."),
                    user("thanks"),
                ]
            ],
        }


async def test_i12_a_transfer_lasts_over_a_restart_until_a_new_conversation(
    stores: StoryStores, tmp_path: Path
) -> None:
    script = TeamScript(MEND | {"desk: hello": [text("The desk again.")]})
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        await bot.ask(BEN, "mend my cup")
        await bot.ask(BEN, "thanks")

        await bot.stop()
        bot.start()

        assert await bot.ask(BEN, "and now?") == "Still here."
        assert "The agent support has taken over this chat" in await bot.ask(BEN, "/memory")
        await bot.ask(BEN, "/new")
        assert await bot.ask(BEN, "hello") == "The desk again."
        assert script.prompts["desk: hello"] == [[system(DESK), user("hello")]]


async def test_i12_a_transfer_lasts_until_the_next_one(stores: StoryStores, tmp_path: Path) -> None:
    back = call("transfer_to_desk", {"reason": "it is done"}, call_id="b1")
    script = TeamScript(
        MEND
        | {
            "support: where is tea?": [calls(back)],
            "desk: where is tea?": [text("unused"), text("On shelf 3.")],
            "desk: and honey?": [text("On shelf 5.")],
        }
    )
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        await bot.ask(BEN, "mend my cup")

        assert await bot.ask(BEN, "where is tea?") == "On shelf 3."

        assert await bot.ask(BEN, "and honey?") == "On shelf 5."
        assert (await bot.history(BEN)).choices.agent == ""


async def test_i12_a_chat_of_a_removed_agent_returns_to_the_main_agent(
    stores: StoryStores, tmp_path: Path
) -> None:
    script = TeamScript(MEND | {"desk: thanks": [text("You are welcome, says the desk.")]})
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        await bot.ask(BEN, "mend my cup")
        await bot.stop()
        write_agents(tmp_path, '[agent]\nname = "desk"\nprompt = "You are the desk."\ntools = []\n', "")

        bot.start()

        assert await bot.ask(BEN, "thanks") == "You are welcome, says the desk."
        assert (await bot.history(BEN)).choices.agent == ""


async def test_i12_a_reset_returns_the_chat_to_the_main_agent(stores: StoryStores, tmp_path: Path) -> None:
    script = TeamScript(MEND | {"desk: hello": [text("The desk again.")]})
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        await bot.ask(BEN, "mend my cup")

        await bot.reset(BEN)

        assert await bot.ask(BEN, "hello") == "The desk again."
        assert script.prompts["desk: hello"] == [[system(DESK), user("hello")]]


@pytest.mark.parametrize(
    ("limits", "asked", "told"),
    [
        (
            "delegation_depth = 0",
            [delegate("researcher", "find tea", "d1")],
            "Delegations may be 0 deep, and this would be one more. Do it yourself.",
        ),
        (
            "delegations = 1",
            [delegate("checker", "check tea", "d1"), delegate("researcher", "find tea", "d2")],
            "The limit of 1 delegations for one message is reached.",
        ),
        ("transfers = 0", [transfer_to_support()], "This chat cannot be transferred from here."),
    ],
)
async def test_i12_over_a_limit_nothing_is_delegated_and_the_model_learns_it(
    stores: StoryStores, tmp_path: Path, limits: str, asked: list[Call], told: str
) -> None:
    script = TeamScript(
        {
            "desk: where is tea?": [calls(*asked), text("I do not know.")],
            "checker: check tea": [text("It is.")],
        }
    )
    team = write_team(tmp_path, limits=limits)
    async with running_bot(stores, script, agents_file=team, recall_k=0) as bot:
        assert await bot.ask(BEN, "where is tea?") == "I do not know."

        assert tool_results(script.prompts["desk: where is tea?"][-1])[-1] == told
        assert "researcher: find tea" not in script.prompts


async def test_i12_a_failed_delegate_is_reported_to_its_delegator_and_the_chat_is_answered(
    stores: StoryStores, tmp_path: Path
) -> None:
    script = TeamScript(
        {
            "desk: where is tea?": [calls(delegate("researcher", "find tea", "d1")), text("I cannot say.")],
            "researcher: find tea": [server_error(status=400)],
        }
    )
    async with running_bot(stores, script, agents_file=write_team(tmp_path), recall_k=0) as bot:
        assert await bot.ask(BEN, "where is tea?") == "I cannot say."

        (result,) = tool_results(script.prompts["desk: where is tea?"][-1])
        assert result.startswith("researcher could not do it.")
        assert "The server had an error" not in result
