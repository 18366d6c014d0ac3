"""Arguments in the types of their schema."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from bot.agent.mcp_servers import McpServer, McpServerTable
from bot.agent.tool import Tool, fit_arguments
from bot.mcp.tools import read_tools
from tests.unit.agent.kit import make_context

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["must"],
    "properties": {
        "must": {"type": "string"},
        "word": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "loud": {"type": "boolean"},
        "maybe": {"type": ["integer", "null"]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "unit": {"enum": ["C", "F"]},
        "any": {},
        "tags": {"type": "array", "items": {"type": "integer"}},
        "inner": {"type": "object", "properties": {"count": {"type": "integer"}}},
    },
}


@pytest.mark.parametrize(
    ("sent", "fitted"),
    [
        (
            {"must": None, "word": None, "count": None, "loud": None, "unit": None, "tags": None},
            {"must": None},
        ),
        ({"maybe": None, "either": None, "any": None}, {"maybe": None, "either": None, "any": None}),
        ({"count": "null", "share": "None", "loud": " none ", "either": "null", "tags": ""}, {}),
        ({"word": "null", "must": "none", "unit": "null"}, {"word": "null", "must": "none", "unit": "null"}),
        ({"count": "5", "share": "0.5", "loud": "True"}, {"count": 5, "share": 0.5, "loud": True}),
        ({"count": "5.0", "share": "5", "maybe": "7"}, {"count": 5, "share": 5, "maybe": 7}),
        ({"count": "many", "loud": "5", "tags": "{}"}, {"count": "many", "loud": "5", "tags": "{}"}),
        ({"tags": '["1", 2]', "inner": '{"count": "3"}'}, {"tags": [1, 2], "inner": {"count": 3}}),
        ({"inner": {"count": None, "other": None}}, {"inner": {"other": None}}),
        ({"word": "5", "any": "5", "unknown": None}, {"word": "5", "any": "5", "unknown": None}),
    ],
)
def test_arguments_get_the_types_of_the_schema(sent: dict[str, Any], fitted: dict[str, Any]) -> None:
    assert fit_arguments(sent, SCHEMA) == fitted


class Place(BaseModel):
    city: str
    floor: int = 0


async def test_null_and_words_for_it_leave_the_defaults_of_a_function_of_ours() -> None:
    def show(
        text: str, place: Place, repeats: str = "", count: int = 3, tags: list[int] | None = None
    ) -> str:
        return f"{text} {place.city}{place.floor} {repeats!r} {count} {tags}"

    tool, context = Tool.from_function(show), await make_context()
    nothing = '{"text": "a", "place": {"city": "x", "floor": null}, "repeats": null, "count": "null", "tags": "None"}'
    spelled = """{"text": "a", "place": "{'city': 'x'}", "count": "5", "tags": "[1]"}""".replace("'", '\\"')

    assert await tool.call(nothing, context) == "a x0 '' 3 None"
    assert await tool.call(spelled, context) == "a x0 '' 5 [1]"


async def test_a_tool_of_a_server_gets_the_types_of_its_schema() -> None:
    received: list[object] = []

    async def call(name: str, arguments: Mapping[str, Any]) -> str:
        received.append((name, arguments))
        return "done"

    server = McpServer(name="s", table=McpServerTable.model_validate({"command": "x"}))
    tools = read_tools(server, [{"name": "find", "inputSchema": SCHEMA}], call)

    await tools["find"].call('{"must": "a", "count": "5", "inner": {"count": null}}', await make_context())

    assert received == [("find", {"must": "a", "count": 5, "inner": {}})]
