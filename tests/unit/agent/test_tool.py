"""A tool made from a typed function: its schema, its arguments, and its results."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from bot.agent.context import AgentContext
from bot.agent.tool import Tool
from bot.errors import Fenced, ToolFailed
from memory.errors import Forgotten, RecallUnavailable
from tests.unit.agent.kit import make_context


class Place(BaseModel):
    city: str
    country: str = "Portugal"


@dataclass
class Sun:
    rises: date


def forecast(
    place: Annotated[str, Field(description="A city")], days: int = 1, *, unit: Literal["C", "F"] = "C"
) -> str:
    """Tell the weather.

    Only of tomorrow.
    """
    return f"{place} {days} {unit}"


async def called(function: Callable[..., object] | Tool, arguments: str = "{}") -> str:
    tool = function if isinstance(function, Tool) else Tool.from_function(function)
    return await tool.call(arguments, await make_context())


def returning(value: object) -> Tool:
    def give() -> object:
        return value

    return Tool.from_function(give)


def raising(error: BaseException) -> Tool:
    async def fail() -> None:
        raise error

    return Tool.from_function(fail)


def test_m13_a_tool_has_name_description_and_schema() -> None:
    spec = Tool.from_function(forecast).spec

    assert spec.name == "forecast"
    assert spec.description == "Tell the weather.\n\nOnly of tomorrow."
    assert spec.parameters == {
        "type": "object",
        "required": ["place"],
        "properties": {
            "place": {"type": "string", "description": "A city"},
            "days": {"type": "integer", "default": 1},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
        },
    }


def test_a_tool_without_parameters_or_docstring_has_a_schema_and_a_description() -> None:
    def roll_dice() -> int:
        return 4

    spec = Tool.from_function(roll_dice).spec

    assert spec.description == "roll dice"
    assert spec.parameters == {"type": "object", "properties": {}}


async def test_an_empty_default_is_not_described_and_a_null_means_it() -> None:
    def find(word: str = "", day: Annotated[int | None, Field(ge=1)] = None, unit: str | None = "C") -> str:
        return json.dumps([word, day, unit])

    tool, context = Tool.from_function(find), await make_context()

    assert tool.spec.parameters["properties"] == {
        "word": {"type": "string"},
        "day": {"type": "integer", "minimum": 1},
        "unit": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": "C"},
    }
    assert await tool.call('{"day": 2}', context) == '["", 2, "C"]'
    assert await tool.call('{"word": null, "day": null, "unit": null}', context) == '["", null, null]'
    with pytest.raises(ToolFailed, match="greater than or equal to 1, not 0"):
        await tool.call('{"day": 0}', context)


async def test_arguments_are_checked_and_converted_and_defaults_apply() -> None:
    def visit(place: Place, on: date, schema: str = "own", _x: list[int] | None = None) -> list[str]:
        return [repr(place), repr(on), schema, repr(_x)]

    output = await called(visit, '{"place": {"city": "Lisbon"}, "on": "2026-11-20", "_x": [1]}')

    assert output == (
        '["Place(city=\'Lisbon\', country=\'Portugal\')","datetime.date(2026, 11, 20)","own","[1]"]'
    )


async def test_m13_wrong_arguments_are_explained_in_plain_words() -> None:
    with pytest.raises(ToolFailed) as failed:
        await called(forecast, '{"days": "many", "unit": "K"}')

    assert str(failed.value) == (
        "Wrong arguments. place: Field required; "
        "days: Input should be a valid integer, unable to parse string as an integer, not 'many'; "
        "unit: Input should be 'C' or 'F', not 'K'"
    )


@pytest.mark.parametrize(
    ("value", "output"),
    [
        ("", ""),
        ("text", "text"),
        (0, "0"),
        (False, "false"),
        (None, "null"),
        (2.5, "2.5"),
        (float("inf"), "Infinity"),
        ({"city": "Lisboa", "ß": [1, None]}, '{"city":"Lisboa","ß":[1,null]}'),
        (
            [Place(city="Évora"), Sun(date(2026, 11, 20))],
            '[{"city":"Évora","country":"Portugal"},{"rises":"2026-11-20"}]',
        ),
        (b"\xff\x00", "(2 bytes of binary data, which cannot be shown as text)"),
        ({"key": 1j}, '{"key":"1j"}'),
    ],
)
async def test_every_output_becomes_text(value: object, output: str) -> None:
    assert await called(returning(value)) == output


async def test_a_large_output_stays_whole_and_is_serialised_outside_the_loop() -> None:
    text = "a" * 60_000 + "b" * 60_000
    seen: list[bool] = []

    class Witness:
        def __str__(self) -> str:
            seen.append(threading.current_thread() is threading.main_thread())
            return "seen"

    async def on_loop() -> list[object]:
        return [text, Witness()]

    assert await called(returning(text)) == text
    assert await called(on_loop) == f'["{text}","seen"]'
    assert seen == [False]


async def test_a_recursive_value_is_described_by_its_type() -> None:
    endless: list[Any] = []
    endless.append(endless)

    assert await called(returning(endless)) == "(a value of type list, which cannot be shown as text)"


async def test_a_plain_function_runs_in_a_thread_and_an_async_one_on_the_loop() -> None:
    async def on_loop() -> bool:
        return threading.current_thread() is threading.main_thread()

    def in_thread() -> bool:
        return threading.current_thread() is not threading.main_thread()

    assert await called(on_loop) == "true"
    assert await called(in_thread) == "true"


async def test_m13_an_exception_of_a_tool_reaches_the_model_without_its_text() -> None:
    for error in (ValueError("secret"), SystemExit("secret"), KeyError("secret")):
        with pytest.raises(ToolFailed) as failed:
            await called(raising(error))

        assert str(failed.value) == f"fail failed ({type(error).__name__})."


async def test_a_function_that_exits_or_exhausts_memory_is_answered_too() -> None:
    def leave() -> None:
        sys.exit(1)

    def run_out() -> object:
        return next(iter(()))

    for function in (leave, run_out):
        with pytest.raises(ToolFailed, match=f"{function.__name__} failed"):
            await called(function)


async def test_a_tool_can_report_an_error_in_its_own_words() -> None:
    with pytest.raises(ToolFailed, match="no such city"):
        await called(raising(ToolFailed("no such city")))


async def test_unavailable_recall_is_a_result_and_an_error_that_ends_the_turn_is_not() -> None:
    with pytest.raises(ToolFailed, match="memory cannot be searched now"):
        await called(raising(RecallUnavailable()))
    for error in (Forgotten(), Fenced()):
        with pytest.raises(type(error)):
            await called(raising(error))


async def test_a_slow_tool_is_given_up() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(ToolFailed, match=r"wait did not answer within 0\.01 seconds"):
        await called(Tool.from_function(wait, timeout_s=0.01))


async def test_a_slow_thread_is_given_up_and_does_not_delay_the_end() -> None:
    release = threading.Event()
    threads: list[threading.Thread] = []

    def block() -> None:
        threads.append(threading.current_thread())
        release.wait(30)

    with pytest.raises(ToolFailed, match="did not answer"):
        await called(Tool.from_function(block, timeout_s=0.05))

    assert threads[0].daemon
    release.set()


async def test_a_tool_that_cancels_itself_is_answered_and_a_cancelled_one_is_not() -> None:
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    with pytest.raises(ToolFailed, match="was cancelled"):
        await called(raising(asyncio.CancelledError()))
    task = asyncio.create_task(called(wait))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_m14_a_tool_reads_and_appends_the_chat_history_through_its_context() -> None:
    async def note(context: AgentContext, text: str) -> int:
        """Note a text."""
        await context.chat_history.append_assistant_message(f"Noted: {text}")
        return len([message async for message in context.chat_history.messages()])

    context = await make_context()
    tool = Tool.from_function(note)

    assert "context" not in tool.spec.parameters["properties"]
    assert await tool.call('{"text": "milk"}', context) == "1"
    last = await context.chat_history.last_assistant_message()
    assert last is not None
    assert last.text == "Noted: milk"


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "naïve", "<lambda>", "dotted.name"])
def test_an_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is no name for a tool"):
        Tool.from_function(lambda: None, name=name)


def test_a_signature_without_a_schema_is_refused() -> None:
    def many(*values: int) -> None: ...
    def opaque(lock: threading.Event) -> None: ...
    def unresolved(a: int) -> None: ...

    unresolved.__annotations__["a"] = "Nowhere"

    def bare(a: int) -> None: ...

    del bare.__annotations__["a"]
    for function, why in [
        (bare, "parameter a has no type annotation"),
        (many, r"parameter \*values: int cannot be given by name"),
        (opaque, "cannot be described to a model"),
        (unresolved, "cannot be resolved: name 'Nowhere'"),
    ]:
        with pytest.raises(TypeError, match=why):
            Tool.from_function(function, name="tool")


@pytest.mark.parametrize("limits", [{"max_calls": 0}, {"timeout_s": 0}, {"timeout_s": float("nan")}])
def test_a_limit_of_zero_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Tool.from_function(forecast, **limits)
