"""Files that tools return in a run on the real store: the line for the model, the journal, the limits."""

import json
from typing import Any

import pytest

from bot.agent.context import AgentContext
from bot.agent.files import MOST_FILES, File
from bot.agent.loop import run_agent
from bot.agent.tool import Tool
from bot.errors import Fenced
from memory.artifacts.store import LARGEST_FILE, OutgoingFiles, read_file
from memory.history.ledger import LedgerFile
from memory.keys import context_key
from memory.redis.client import RedisClient
from tests.sent_files import make_picture
from tests.unit.agent.kit import (
    REF,
    DictJournal,
    ScriptedModel,
    asks,
    call,
    make_agent,
    make_context,
    message,
    run_alone,
    says,
)
from tests.unit.agent.team_kit import TeamModel, make_team

PICTURE = make_picture()
CSV_LINE = "[The chat gets the file t.csv (text/csv, 10 bytes) with your answer. You do not see its content.]"


class Made:
    """A tool that counts its runs."""

    def __init__(self, *results: object) -> None:
        self.results = results
        self.runs = 0

    def tool(self, **options: Any) -> Tool:
        def make() -> object:
            """Make files."""
            self.runs += 1
            return list(self.results) if len(self.results) > 1 else next(iter(self.results))

        return Tool.from_function(make, name="make", **options)


def table() -> File:
    return File.table("t.csv", [("a", "b"), (1, 2)])


async def open_context(redis: RedisClient) -> AgentContext:
    files = OutgoingFiles(redis, REF, epoch=lambda: 0)
    return await make_context(prompt=[message(0, "make it")], files=files, request_id="5")


def files_of(context: AgentContext) -> list[LedgerFile]:
    return [file for entry in context.record.ledger for file in entry.files]


def results_of(model: ScriptedModel) -> list[str]:
    return [each.text for each in model.requests[-1].messages if each.role == "tool"]


async def test_the_model_reads_a_line_and_the_bytes_wait(redis: RedisClient) -> None:
    context, model = await open_context(redis), ScriptedModel(asks(call("make")), says("ok"))

    await run_alone(
        make_agent(model, Made(table(), File("p.png", PICTURE), "Two files.").tool()),
        context,
        journal=DictJournal(),
    )

    lines = results_of(model)[0].splitlines()
    assert lines == [
        CSV_LINE,
        f"[The chat gets the file p.png (a PNG image, {len(PICTURE)} bytes) with your answer."
        " You do not see its content.]",
        "Two files.",
    ]
    assert files_of(context) == [
        LedgerFile(id="5:tool:1:0:0", name="t.csv"),
        LedgerFile(id="5:tool:1:0:1", name="p.png", is_picture=True),
    ]
    assert await read_file(redis, REF, "5:tool:1:0:0") == b"a,b\r\n1,2\r\n"
    assert await read_file(redis, REF, "5:tool:1:0:1") == PICTURE


async def test_a_resumed_run_has_the_files_of_a_finished_call_and_does_not_make_them_again(
    redis: RedisClient,
) -> None:
    made, journal = Made(table()), DictJournal()
    await run_alone(
        make_agent(ScriptedModel(asks(call("make")), says("ok")), made.tool()),
        await open_context(redis),
        journal=journal,
    )
    context = await open_context(redis)

    await run_alone(make_agent(ScriptedModel(says("ok")), made.tool()), context, journal=journal)

    assert made.runs == 1
    assert files_of(context) == [LedgerFile(id="5:tool:1:0:0", name="t.csv")]
    assert context.record.file_count == 1


async def test_a_call_that_died_before_its_journal_replaces_its_file(redis: RedisClient) -> None:
    made, journal = Made(table()), DictJournal(refusal={"tool:1:0": Fenced()})
    with pytest.raises(Fenced):
        await run_alone(
            make_agent(ScriptedModel(asks(call("make")), says("ok")), made.tool()),
            await open_context(redis),
            journal=journal,
        )
    context, journal.refusal = await open_context(redis), {}

    await run_alone(make_agent(ScriptedModel(says("ok")), made.tool()), context, journal=journal)

    assert made.runs == 2
    assert len(files_of(context)) == 1
    assert await redis.call("HLEN", context_key(REF, "files")) == 1


async def test_files_of_a_delegated_agent_are_sent_too_and_after_a_crash(redis: RedisClient) -> None:
    made, journal = Made(table()), DictJournal()
    ask = call("delegate_to_researcher", json.dumps({"task": "a table"}))
    model = TeamModel(
        {"desk": [asks(ask), says("Here.")], "researcher: a table": [asks(call("make")), says("Made.")]}
    )
    first = await open_context(redis)
    await run_agent(make_team(model, made.tool()), first, journal=journal)
    again = await open_context(redis)

    await run_agent(make_team(model, made.tool()), again, journal=journal)

    assert made.runs == 1
    assert [file.name for file in files_of(first)] == ["t.csv"]
    assert files_of(again) == files_of(first)


async def test_a_final_tool_with_a_file_leaves_the_answer_to_the_model(redis: RedisClient) -> None:
    model = ScriptedModel(asks(call("make")), says("Here it is."))

    reply = await run_alone(
        make_agent(model, Made(table()).tool(is_final=True)), await open_context(redis), journal=DictJournal()
    )

    assert reply == "Here it is."


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (
            File("big.csv", b"x" * (LARGEST_FILE + 1)),
            "The file big.csv has 5,242,881 bytes, and a file may have 5,242,880. Ask for less of it.",
        ),
        (File("empty.csv", ""), "The file empty.csv is empty, so it was not sent."),
        (
            File("plot.png", "<html>"),
            "The file plot.png is no picture, so it was not sent. Give it another name.",
        ),
    ],
)
async def test_a_file_that_cannot_be_sent_is_an_error_for_the_model(
    redis: RedisClient, file: File, problem: str
) -> None:
    context, model = await open_context(redis), ScriptedModel(asks(call("make")), says("ok"))

    await run_alone(make_agent(model, Made(file).tool()), context, journal=DictJournal())

    assert results_of(model) == [problem]
    assert context.record.ledger[0].is_error
    assert files_of(context) == []
    assert await redis.call("EXISTS", context_key(REF, "files")) == 0


async def test_an_answer_has_a_limited_number_of_files(redis: RedisClient) -> None:
    many = Made(*[table()] * MOST_FILES)
    context = await open_context(redis)
    model = ScriptedModel(asks(call("make")), asks(call("make", call_id="again")), says("ok"))

    await run_alone(make_agent(model, many.tool()), context, journal=DictJournal())

    assert results_of(model)[1] == f"One answer may have {MOST_FILES} files. This one was not sent."
    assert len(files_of(context)) == MOST_FILES
