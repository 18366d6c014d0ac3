"""The scripted OpenAI server, through the real client and as a process of its own."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam

from tests import scripted_replies as replies
from tests.scripted_embeddings import EmbeddingFailure, Embeddings, vector_of
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_replies import Reply, call, calls
from tests.scripted_script import Script, echo, tool_then_echo

pytestmark = pytest.mark.slow

HI: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hi"}]
ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def served(
    script: Script, **options: Any
) -> AsyncGenerator[tuple[ScriptedOpenAI, openai.AsyncOpenAI], None]:
    async with (
        scripted_openai(script, **options) as server,
        openai.AsyncOpenAI(
            base_url=server.base_url, api_key="sk-canary", max_retries=0, timeout=10
        ) as client,
    ):
        yield server, client


async def ask(client: openai.AsyncOpenAI, text: str = "hi") -> ChatCompletion:
    return await client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])


async def stream_text(client: openai.AsyncOpenAI) -> str:
    stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])


async def test_a_list_of_replies_is_used_in_order_and_requests_are_recorded_without_the_key() -> None:
    async with served(["one", replies.text("two words")]) as (server, client):
        first = await ask(client, "first")
        second = await stream_text(client)

    assert (first.choices[0].message.content, second) == ("one", "two words")
    assert [request.body["messages"][0]["content"] for request in server.chat_requests] == ["first", "hi"]
    assert server.invalid_requests == []
    assert "sk-canary" not in repr(server.requests)
    assert "user-agent" in server.requests[0].headers


async def test_a_function_answers_each_request() -> None:
    def shout(request: dict[str, Any]) -> str:
        return request["messages"][-1]["content"].upper()

    async with served(shout) as (_server, client):
        assert (await ask(client, "loud")).choices[0].message.content == "LOUD"


async def test_a_request_after_the_last_reply_is_refused_and_recorded() -> None:
    async with served([]) as (server, client):
        with pytest.raises(openai.BadRequestError, match="no reply for request 1"):
            await ask(client)

    assert [invalid.reason for invalid in server.invalid_requests] == ["no reply for request 1"]


@pytest.mark.parametrize("arguments", ['{"a": 2', "[1, 2]", "", "null", "not json"])
async def test_tool_arguments_are_sent_as_scripted(arguments: str) -> None:
    asked = calls(call("add", arguments, call_id="call_x"), call("no_such_tool", {"x": 1}))
    async with served([asked, asked]) as (_server, client):
        whole = (await ask(client)).choices[0]
        async with client.chat.completions.stream(model="m", messages=HI) as stream:
            streamed = (await stream.get_final_completion()).choices[0]

    for choice in (whole, streamed):
        assert choice.finish_reason == "tool_calls"
        assert choice.message.content is None
        sent = [each for each in choice.message.tool_calls or [] if each.type == "function"]
        assert [(each.function.name, each.function.arguments) for each in sent] == [
            ("add", arguments),
            ("no_such_tool", '{"x": 1}'),
        ]
        assert sent[0].id == "call_x"


async def test_a_reply_has_twenty_parallel_calls_after_its_content() -> None:
    asked = calls(*(call("add", {"a": number}) for number in range(20)), content="let me see")
    async with (
        served([asked]) as (_server, client),
        client.chat.completions.stream(model="m", messages=HI) as stream,
    ):
        message = (await stream.get_final_completion()).choices[0].message

    assert message.content == "let me see"
    assert len({each.id for each in message.tool_calls or []}) == 20


@pytest.mark.parametrize(("reply", "content"), [(replies.empty(), ""), (replies.null_content(), None)])
async def test_a_reply_has_no_content(reply: Reply, content: str | None) -> None:
    async with served([reply, reply]) as (_server, client):
        whole = (await ask(client)).choices[0].message
        streamed = await stream_text(client)

    assert (whole.content, whole.tool_calls, streamed) == (content, None, "")


async def test_a_cut_stream_ends_after_its_events() -> None:
    async with served([replies.cut("one two three", after=3)]) as (_server, client):
        stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
        said: list[str | None] = []
        with pytest.raises(openai.APIConnectionError):
            await read_into(said, stream)

    assert said == ["", "one", " two"]


async def read_into(said: list[str | None], stream: openai.AsyncStream[ChatCompletionChunk]) -> None:
    async for chunk in stream:
        said.append(chunk.choices[0].delta.content)  # noqa: PERF401 - what came before the cut must be kept


async def test_a_broken_stream_carries_an_error() -> None:
    async with served([replies.broken_stream("one two", after=2)]) as (_server, client):
        with pytest.raises(openai.APIError, match="server had an error"):
            await stream_text(client)


@pytest.mark.parametrize(
    ("reply", "error", "code"),
    [
        (replies.rate_limited(), openai.RateLimitError, "rate_limit_exceeded"),
        (replies.quota_exceeded(), openai.RateLimitError, "insufficient_quota"),
        (replies.server_error(), openai.InternalServerError, None),
        (replies.context_too_long(), openai.BadRequestError, "context_length_exceeded"),
        (replies.unauthorized(), openai.AuthenticationError, "invalid_api_key"),
    ],
)
async def test_a_failure_has_its_status_and_code(
    reply: Reply, error: type[openai.APIStatusError], code: str | None
) -> None:
    async with served([reply]) as (server, client):
        with pytest.raises(error) as raised:
            await ask(client)

    assert raised.value.code == code
    assert server.invalid_requests == []


async def test_retry_after_is_sent_only_if_it_is_scripted() -> None:
    script = [replies.rate_limited(retry_after_s=0.5), replies.rate_limited(retry_after_s=None)]
    async with served(script) as (_server, client):
        sent: list[str | None] = []
        for _ in script:
            with pytest.raises(openai.RateLimitError) as raised:
                await ask(client)
            sent.append(raised.value.response.headers.get("retry-after"))

    assert sent == ["0.5", None]


@pytest.mark.parametrize("reply", [replies.hang(), replies.stalled("one two", after=1)])
async def test_a_hang_lasts_until_the_client_disconnects(reply: Reply) -> None:
    async with served([reply, "back"]) as (server, client):
        with pytest.raises((openai.APITimeoutError, openai.APIConnectionError)):
            await stream_text(client.with_options(timeout=0.1))
        assert (await ask(client)).choices[0].message.content == "back"

    assert len(server.requests) == 2


async def test_a_held_reply_waits_for_its_gate() -> None:
    gate = asyncio.Event()
    async with served([replies.held(replies.text("free"), until=gate), "another"]) as (server, client):
        answer = asyncio.create_task(ask(client))
        await server.wait_for_requests(1)
        assert (await ask(client)).choices[0].message.content == "another"
        assert not answer.done()
        gate.set()

        assert (await answer).choices[0].message.content == "free"


async def test_a_held_failure_waits_for_its_gate() -> None:
    gate = asyncio.Event()
    async with served([replies.held(replies.server_error(), until=gate), "another"]) as (server, client):
        failure = asyncio.create_task(ask(client))
        await server.wait_for_requests(1)
        assert (await ask(client)).choices[0].message.content == "another"
        assert not failure.done()
        gate.set()

        with pytest.raises(openai.InternalServerError):
            await failure


async def test_a_slow_reply_pauses_between_events() -> None:
    async with served([replies.slow("one two", chunk_delay_s=0.02)]) as (_server, client):
        loop = asyncio.get_running_loop()
        started = loop.time()
        assert await stream_text(client) == "one two"

    assert loop.time() - started >= 0.08  # role, two words, finish reason


async def test_closing_the_server_ends_hanging_replies_and_leaves_no_task() -> None:
    before = asyncio.all_tasks()
    async with served([replies.hang()]) as (server, client):
        pending = asyncio.create_task(ask(client))
        await server.wait_for_requests(1)
        pending.cancel()

    await asyncio.gather(pending, return_exceptions=True)
    assert asyncio.all_tasks() == before


async def test_an_invalid_request_is_refused_recorded_and_costs_no_reply() -> None:
    orphan: ChatCompletionMessageParam = {"role": "tool", "tool_call_id": "call_1", "content": "5"}
    async with served(["kept"]) as (server, client):
        with pytest.raises(openai.BadRequestError, match="must be a response to a preceeding message"):
            await client.chat.completions.create(model="m", messages=[*HI, orphan])
        assert (await ask(client)).choices[0].message.content == "kept"

    assert [(each.path, each.body is not None) for each in server.invalid_requests] == [
        ("/v1/chat/completions", True)
    ]


async def test_tool_then_echo_calls_its_tool_once_per_user_message() -> None:
    async with served(tool_then_echo) as (server, client):
        asked = (await ask(client, "go")).choices[0].message
        assert asked.tool_calls is not None
        answered = await client.chat.completions.create(
            model="m",
            messages=[
                {"role": "user", "content": "go"},
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}
                    ],
                },
                {"role": "tool", "tool_call_id": "c", "content": "5"},
            ],
        )

    assert answered.choices[0].message.content == "echo: go"
    assert server.invalid_requests == []


def dot(one: list[float], other: list[float]) -> float:
    return sum(left * right for left, right in zip(one, other, strict=True))


async def test_embeddings_keep_the_order_of_inputs_in_both_encodings() -> None:
    texts = ["my sister Anna", "a red bicycle", "sister Anna"]
    async with served([], embeddings=Embeddings(dimension=32)) as (server, client):
        packed = await client.embeddings.create(model="e", input=texts)
        plain = await client.embeddings.create(model="e", input=texts, encoding_format="float")

    expected = [vector_of(text, 32, {}) for text in texts]
    assert [each.embedding for each in plain.data] == expected
    assert [each.embedding for each in packed.data] == [
        pytest.approx(vector, abs=1e-6) for vector in expected
    ]
    assert [each.index for each in packed.data] == [0, 1, 2]
    assert len(server.embedding_requests) == 2
    assert dot(expected[0], expected[2]) > 0.6 > 0.3 > dot(expected[0], expected[1])


async def test_embeddings_have_the_requested_dimension() -> None:
    async with served([]) as (_server, client):
        answer = await client.embeddings.create(model="e", input="one", dimensions=7)

    assert len(answer.data[0].embedding) == 7


@pytest.mark.parametrize(
    ("failure", "length", "first"),
    [
        ("wrong_dimension", 65, None),
        ("null", 64, "[None]"),
        ("nan_text", 64, "['NaN']"),
        ("nan", 64, "[nan]"),
    ],
)
async def test_embeddings_can_be_invalid_vectors(
    failure: EmbeddingFailure, length: int, first: str | None
) -> None:
    async with served([], embeddings=Embeddings(failure=failure)) as (_server, client):
        packed = await client.embeddings.create(model="e", input="one")
        plain = await client.embeddings.create(model="e", input="one", encoding_format="float")

    for answer in (packed, plain):
        vector = answer.data[0].embedding
        assert len(vector) == length
        assert first is None or repr(vector[:1]) == first


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        ("server_error", openai.InternalServerError),
        ("rate_limited", openai.RateLimitError),
        ("hang", openai.APITimeoutError),
    ],
)
async def test_embeddings_can_hang_or_fail(failure: EmbeddingFailure, error: type[Exception]) -> None:
    async with served([]) as (server, client):
        server.embeddings = Embeddings(failure=failure)
        with pytest.raises(error):
            await client.with_options(timeout=0.2).embeddings.create(model="e", input="one")
        server.embeddings = Embeddings()
        assert len((await client.embeddings.create(model="e", input="one")).data) == 1


@pytest.mark.parametrize("given", ["", [], ["fine", ""]])
async def test_embeddings_of_nothing_are_refused(given: str | list[str]) -> None:
    async with served([]) as (server, client):
        with pytest.raises(openai.BadRequestError):
            await client.embeddings.create(model="e", input=given)

    assert [each.path for each in server.invalid_requests] == ["/v1/embeddings"]


async def test_each_call_is_logged_as_it_arrives(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    async with served(echo, log=log) as (_server, client):
        await ask(client, "first")
        await client.embeddings.create(model="e", input="one")

    assert [json.loads(line) for line in log.read_text().splitlines()] == [
        {"n": 1, "path": "/v1/chat/completions", "last_user": "first", "messages": 1},
        {"n": 2, "path": "/v1/embeddings"},
    ]


async def test_the_process_serves_a_script_file_and_ends_at_sigterm(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "calls.jsonl"
    planned = [
        "hello",
        {"reply": "rate_limited", "retry_after_s": 2},
        {"reply": "tool_calls", "calls": [{"name": "add"}]},
    ]
    script.write_text(json.dumps({"replies": planned, "then": "echo"}))
    command = [sys.executable, "-m", "tests.scripted_openai", "--port", "0", "--script", script, "--log", log]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        base_url = (await asyncio.wait_for(process.stdout.readline(), 20)).decode().strip()
        async with openai.AsyncOpenAI(base_url=base_url, api_key="any", max_retries=0) as client:
            first = (await ask(client)).choices[0].message.content
            with pytest.raises(openai.RateLimitError):
                await ask(client)
            third = (await ask(client)).choices[0]
            fourth = (await ask(client, "again")).choices[0].message.content
    finally:
        process.terminate()
        status = await asyncio.wait_for(process.wait(), 10)

    assert (first, third.finish_reason, fourth, status) == ("hello", "tool_calls", "echo: again", 0)
    assert [json.loads(line)["last_user"] for line in log.read_text().splitlines()] == [
        "hi",
        "hi",
        "hi",
        "again",
    ]
