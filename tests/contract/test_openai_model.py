"""The OpenAI model over HTTP, with a server that fails in every known way."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import pytest
from structlog.testing import capture_logs

from bot.agent import openai_model
from bot.agent.abilities import Abilities
from bot.agent.model import JsonSchema, ModelReply, PromptMessage, ToolCall, ToolSpec, Usage
from bot.agent.openai_model import OpenAIModel, Patience, model_breaker, open_openai_model
from bot.errors import (
    BotError,
    ModelBarred,
    ModelFiltered,
    ModelMissing,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    PromptTooLong,
)
from bot.observe.metrics import MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS
from memory.breaker import Breaker
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_replies import (
    Failure,
    Reply,
    broken_stream,
    call,
    calls,
    context_too_long,
    cut,
    empty,
    filtered,
    hang,
    held,
    null_content,
    pieces,
    quota_exceeded,
    rate_limited,
    server_error,
    stalled,
    text,
    unauthorized,
)
from tests.unit.agent.kit import sample, wait_until

KEY = "sk-secret-key"
HASTY = Patience(idle_s=1.0, first_wait_s=0.001, longest_wait_s=0.5)
ASK = [PromptMessage(role="system", text="You are a test."), PromptMessage(role="user", text="add 2 and 3")]
ADD = ToolSpec(
    name="add",
    description="Add two numbers.",
    parameters={"type": "object", "properties": {"a": {"type": "number"}}},
)


@dataclass(frozen=True)
class Rig:
    server: ScriptedOpenAI
    model: OpenAIModel

    async def chat(self) -> ModelReply:
        return await self.model.chat(ASK, [ADD])

    @property
    def tries(self) -> int:
        return len(self.server.chat_requests)


@asynccontextmanager
async def rig(
    *script: Reply | str, patience: Patience = HASTY, breaker: Breaker | None = None
) -> AsyncGenerator[Rig, None]:
    async with (
        scripted_openai(script) as server,
        open_openai_model(
            model="test-1", api_key=KEY, base_url=server.base_url, patience=patience, breaker=breaker
        ) as model,
    ):
        yield Rig(server, model)
        assert server.invalid_requests == []


def model_calls(outcome: str) -> float:
    return sample(MODEL_CALLS, "mnemogram_model_calls_total", outcome=outcome)


async def test_a_streamed_request_contains_every_kind_of_message() -> None:
    messages = [
        *ASK,
        PromptMessage(
            role="assistant", text="", tool_calls=(ToolCall(id="c1", name="add", arguments='{"a": 2}'),)
        ),
        PromptMessage(role="tool", text="2 \ud800", tool_call_id="c1"),
    ]
    async with rig("It is 5.") as each:
        reply = await each.model.chat(messages, [ADD])

        assert reply.text == "It is 5."
        assert reply.finish_reason == "stop"
        assert reply.usage.prompt_tokens > 0
        assert each.server.chat_requests[0].body == {
            "model": "test-1",
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [
                {"role": "system", "content": "You are a test."},
                {"role": "user", "content": "add 2 and 3"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
                    ],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "2 \ufffd"},
            ],
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "add",
                        "description": "Add two numbers.",
                        "parameters": {"type": "object", "properties": {"a": {"type": "number"}}},
                    },
                }
            ],
        }


async def test_without_tools_the_request_names_none() -> None:
    async with rig("hello") as each:
        await each.model.chat(ASK, [])

        assert "tools" not in each.server.chat_requests[0].body


async def test_on_text_gets_the_whole_text_so_far() -> None:
    told: list[str] = []

    async def tell(so_far: str) -> None:
        told.append(so_far)

    async with rig(pieces("It ", "is ", "5.")) as each:
        await each.model.chat(ASK, [], on_text=tell)

    assert told == ["It ", "It is ", "It is 5."]


async def test_tool_calls_are_returned_as_the_model_wrote_them() -> None:
    asked = calls(
        call("add", '{"a": 2', call_id="c1"),
        call("add", [1, 2], call_id="c2"),
        call("functions.add", "", call_id="c3"),
        call("nowhere", {"x": "ß"}, call_id="c4"),
        content="One moment.",
    )
    async with rig(asked) as each:
        reply = await each.chat()

    assert reply.text == "One moment."
    assert reply.finish_reason == "tool_calls"
    assert reply.tool_calls == (
        ToolCall(id="c1", name="add", arguments='{"a": 2'),
        ToolCall(id="c2", name="add", arguments="[1, 2]"),
        ToolCall(id="c3", name="functions.add", arguments=""),
        ToolCall(id="c4", name="nowhere", arguments='{"x": "\\u00df"}'),
    )


@pytest.mark.parametrize(
    "failure",
    [
        cut("never mind", after=2),
        broken_stream("never mind", after=2),
        stalled("never mind", after=2),
        hang(),
        server_error(),
        server_error(status=503),
        rate_limited(retry_after_s=0.01),
        rate_limited(retry_after_s=None),
        Reply(failure=Failure(status=408, message="late")),
        Reply(failure=Failure(status=409, message="locked")),
        empty(),
        null_content(),
    ],
)
async def test_a_temporary_failure_is_tried_again_from_the_start(failure: Reply) -> None:
    told: list[str] = []

    async def tell(so_far: str) -> None:
        told.append(so_far)

    async with rig(failure, text("It is 5.")) as each:
        reply = await each.model.chat(ASK, [ADD], on_text=tell)

        assert reply.text == "It is 5."
        assert told[-1] == "It is 5."
        assert each.tries == 2
        assert each.server.chat_requests[0].body == each.server.chat_requests[1].body


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (server_error(), ModelUnavailable),
        (cut("never mind", after=2), ModelUnavailable),
        (rate_limited(retry_after_s=0.01), ModelUnavailable),
    ],
)
async def test_there_are_at_most_three_tries(failure: Reply, kind: type[Exception]) -> None:
    async with rig(*[failure] * 4) as each:
        with pytest.raises(kind):
            await each.chat()

        assert each.tries == 3


async def test_an_empty_reply_is_tried_again_once() -> None:
    async with rig(empty(), null_content(), "too late") as each:
        with pytest.raises(ModelRepliedNothing):
            await each.chat()

        assert each.tries == 2


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (quota_exceeded(), ModelQuotaExhausted),
        (context_too_long(), PromptTooLong),
        (unauthorized(), ModelBarred),
        (Reply(failure=Failure(status=404, message="no such model", code="model_not_found")), ModelMissing),
        (rate_limited(retry_after_s=3_600), ModelUnavailable),
        (filtered(), ModelFiltered),
    ],
)
async def test_a_permanent_failure_is_not_tried_again(failure: Reply, kind: type[Exception]) -> None:
    async with rig(failure, "too late") as each:
        with pytest.raises(kind):
            await each.chat()

        assert each.tries == 1


@pytest.mark.parametrize(
    ("barred", "kind"), [(quota_exceeded(), ModelQuotaExhausted), (unauthorized(), ModelBarred)]
)
async def test_an_endpoint_that_refuses_every_request_is_left_alone_until_a_probe_succeeds(
    barred: Reply, kind: type[Exception]
) -> None:
    now = [0.0]
    breaker = model_breaker(first_s=5, longest_s=60, clock=lambda: now[0])
    async with rig(barred, barred, "at last", "and on", breaker=breaker) as each:
        for second, tries in ((0, 1), (1, 1), (4.9, 1), (5, 2), (14, 2)):
            now[0] = second
            with pytest.raises(kind):
                await each.chat()
            assert each.tries == tries

        now[0] = 15
        assert (await each.chat()).text == "at last"
        assert (await each.chat()).text == "and on"


async def test_retry_after_is_waited_for() -> None:
    async with rig(rate_limited(retry_after_s=0.2), "ok") as each:
        began = time.monotonic()
        await each.chat()

        assert time.monotonic() - began >= 0.2


async def test_a_silent_model_is_given_up_after_its_timeout() -> None:
    async with rig(hang(), patience=Patience(tries=1, idle_s=0.05)) as each:
        with pytest.raises(ModelUnavailable, match=r"silent for 0\.05 seconds"):
            await each.chat()


async def test_a_slow_stream_does_not_time_out() -> None:
    slow = Reply(pieces=("a", "b", "c", "d"), chunk_delay_s=0.1)

    async with rig(slow) as each:
        assert (await each.chat()).text == "abcd"


async def test_comments_of_a_stream_are_signs_of_life_until_the_callers_deadline() -> None:
    role = b'data: {"choices": [{"delta": {"role": "assistant"}}]}\n\n'
    async with (
        raw_server("text/event-stream", role, then_forever=b": keep-alive\n\n") as base_url,
        open_openai_model(
            model="test-1", api_key=KEY, base_url=base_url, patience=Patience(tries=1, idle_s=0.1)
        ) as model,
    ):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await model.chat(ASK, [])


@pytest.mark.parametrize("piece", [b"x" * 2**18, b"data:" + b"\ndata:" * 2**16])
async def test_an_event_without_an_end_is_given_up(piece: bytes) -> None:
    async with (
        raw_server("text/event-stream", b"data: ", then_forever=piece) as base_url,
        open_openai_model(
            model="test-1", api_key=KEY, base_url=base_url, patience=Patience(tries=1)
        ) as model,
        asyncio.timeout(5),
    ):
        with pytest.raises(ModelUnavailable, match="broke off"):
            await model.chat(ASK, [])


@asynccontextmanager
async def raw_server(kind: str, body: bytes, *, then_forever: bytes = b"") -> AsyncGenerator[str, None]:
    """Answer every request with 200 and this body, and repeat `then_forever` every 5 ms. Yield the base URL."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        with suppress(ConnectionError):
            await writer.drain()
            while then_forever:
                writer.write(then_forever)
                await writer.drain()
                await asyncio.sleep(0.005)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<html>Sign in to the hotel's network</html>"),
        ("application/json", b'{"choices": [{"message": {"content": "not who'),
        ("text/event-stream", b""),
        ("text/event-stream", b"data: {broken\n\n"),
        ("text/event-stream", b"data: \xff\xfe\n\n"),
        ("text/event-stream", b'data: ["a", "list"]\n\n'),
        ("text/event-stream", b'data: {"error": {"message": "sk-secret-key", "code": 502}}\n\n'),
        ("text/event-stream", b"data: " + b"[" * 100_000 + b"\n\n"),
    ],
)
async def test_a_response_that_is_no_stream_of_chunks_means_unavailable(kind: str, body: bytes) -> None:
    async with (
        raw_server(kind, body) as base_url,
        open_openai_model(model="test-1", api_key=KEY, base_url=base_url, patience=HASTY) as model,
    ):
        with pytest.raises(ModelUnavailable) as raised:
            await model.chat(ASK, [])

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "chunk",
    [
        b'{"choices": [{"delta": {}, "finish_reason": "content_filter"}]}',
        b'{"choices": [{"delta": {"content": ""}, "finish_reason": "PROHIBITED_CONTENT"}]}',
        b'{"choices": [], "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}',
        b'{"error": {"code": 403, "message": "Your input was flagged for violence"}}',
    ],
)
async def test_a_stream_that_a_filter_ended_without_a_text_is_no_answer(chunk: bytes) -> None:
    async with (
        raw_server("text/event-stream", b"data: " + chunk + b"\n\ndata: [DONE]\n\n") as base_url,
        open_openai_model(model="test-1", api_key=KEY, base_url=base_url, patience=HASTY) as model,
    ):
        with pytest.raises(ModelFiltered):
            await model.chat(ASK, [])


async def test_done_ends_a_stream_without_a_finish_reason() -> None:
    stream = (
        b'data: {"choices": [{"delta": {"content": "It is 5."}}]}\n\n'
        b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}\n\n'
        b"data: [DONE]\n\n"
    )
    async with (
        raw_server("text/event-stream", stream) as base_url,
        open_openai_model(model="test-1", api_key=KEY, base_url=base_url, patience=HASTY) as model,
    ):
        reply = await model.chat(ASK, [])

    usage = Usage(prompt_tokens=3, completion_tokens=4)
    assert reply == ModelReply(text="It is 5.", usage=usage, model="test-1")


async def test_a_finish_reason_in_each_chunk_ends_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """QuantumNous/new-api#378, songquanpeng/one-api#1477: Gemini behind gateways."""
    monkeypatch.setattr(openai_model, "_REST_S", 0.0)
    chunk = b'data: {"choices": [{"delta": {"content": "word "}, "finish_reason": "stop"}]}\n\n'
    async with (
        raw_server("text/event-stream", 2 * chunk, then_forever=chunk) as base_url,
        open_openai_model(
            model="test-1", api_key=KEY, base_url=base_url, abilities=Abilities(longest_text=50)
        ) as model,
    ):
        reply = await model.chat(ASK, [])

    assert reply.text == 10 * "word "


async def test_usage_does_not_end_a_stream() -> None:
    stream = b'data: {"choices": [{"delta": {"content": "It is"}}], "usage": {"prompt_tokens": 3}}\n\n'
    async with (
        raw_server("text/event-stream", stream) as base_url,
        open_openai_model(model="test-1", api_key=KEY, base_url=base_url, patience=HASTY) as model,
    ):
        with pytest.raises(ModelUnavailable, match="cut off"):
            await model.chat(ASK, [])


async def test_an_unused_port_means_unavailable() -> None:
    async with scripted_openai([]) as server:
        gone = server.base_url
    async with open_openai_model(model="test-1", api_key=KEY, base_url=gone, patience=HASTY) as model:
        with pytest.raises(ModelUnavailable):
            await model.chat(ASK, [])


async def test_errors_and_logs_contain_neither_the_key_nor_the_url_nor_the_endpoints_words() -> None:
    failures = [server_error(), unauthorized(), quota_exceeded(), context_too_long(), cut("x y z", after=1)]

    for failure in failures:
        async with rig(*[failure] * 3) as each:
            with capture_logs() as logs, pytest.raises(BotError) as raised:
                await each.chat()

            told = f"{raised.value} {raised.value!r} {logs}"
            assert KEY not in told
            assert "127.0.0.1" not in told
            assert "Incorrect API key" not in told
            assert "processing your request" not in told


async def test_a_server_without_stream_options_is_asked_without_them() -> None:
    unknown = Failure(status=400, message="Unknown parameter: 'stream_options'.", param="stream_options")
    async with rig(Reply(failure=unknown), "first", "second") as each:
        assert (await each.chat()).text == "first"
        assert (await each.chat()).text == "second"

        options = ["stream_options" in request.body for request in each.server.chat_requests]
        assert options == [True, False, False]


async def test_each_request_is_counted_and_timed_and_its_tokens_are_summed() -> None:
    ok, failed = model_calls("ok"), model_calls("ModelUnavailable")
    timed = sample(MODEL_SECONDS, "mnemogram_model_seconds_count")
    tokens = sample(MODEL_TOKENS, "mnemogram_model_tokens_total", direction="prompt")

    async with rig(server_error(), "It is 5.") as each:
        reply = await each.chat()

    assert (model_calls("ok"), model_calls("ModelUnavailable")) == (ok + 1, failed + 1)
    assert sample(MODEL_SECONDS, "mnemogram_model_seconds_count") == timed + 2
    assert reply.usage != Usage()
    summed = sample(MODEL_TOKENS, "mnemogram_model_tokens_total", direction="prompt")
    assert summed == tokens + reply.usage.prompt_tokens


async def test_a_cancelled_call_ends_at_once_and_leaves_no_task() -> None:
    async with rig(hang(), patience=Patience()) as each:
        before = asyncio.all_tasks()
        asked = asyncio.create_task(each.chat())
        await wait_until(lambda: each.tries == 1)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

        assert asked not in asyncio.all_tasks()
        assert not {task for task in asyncio.all_tasks() - before if "openai" in repr(task)}


async def test_an_exception_of_the_listener_ends_the_call_unchanged() -> None:
    class ListenerGoneError(ValueError):
        pass

    async def tell(_: str) -> None:
        raise ListenerGoneError

    async with rig("It is 5.", "never") as each:
        with pytest.raises(ListenerGoneError):
            await each.model.chat(ASK, [], on_text=tell)

        assert each.tries == 1


FORM = JsonSchema(
    name="verdict",
    schema={
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    },
)
ASK_JSON = [PromptMessage(role="user", text="Answer in JSON.")]
STRICT = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": FORM.schema}}


def refused_option(message: str, *, param: str | None = None, status: int = 400) -> Reply:
    return Reply(failure=Failure(status=status, message=message, param=param))


def formats(each: Rig) -> list[object]:
    return [request.body.get("response_format") for request in each.server.chat_requests]


async def test_a_json_answer_is_requested_strictly_and_streamed() -> None:
    async with rig('{"ok": true}') as each:
        before = model_calls("ok")
        reply = await each.model.chat_json(ASK_JSON, FORM)

        assert (reply.text, reply.finish_reason) == ('{"ok": true}', "stop")
        assert reply.usage.prompt_tokens > 0
        assert each.server.chat_requests[0].body == {
            "model": "test-1",
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": "Answer in JSON."}],
            "response_format": STRICT,
        }
        assert model_calls("ok") == before + 1
        assert each.model.name == "test-1"


@pytest.mark.parametrize(
    "refusal",
    [
        refused_option(
            "Invalid parameter: 'response_format' of type 'json_schema'.", param="response_format"
        ),
        refused_option("Unsupported value.", param="response_format"),
        refused_option("json_schema is not supported by this model", status=422),
    ],
)
async def test_an_endpoint_that_refuses_a_schema_is_asked_for_any_object_from_then_on(refusal: Reply) -> None:
    async with rig(refusal, "{}", "{}") as each:
        await each.model.chat_json(ASK_JSON, FORM)
        await each.model.chat_json(ASK_JSON, FORM)

        assert formats(each) == [STRICT, {"type": "json_object"}, {"type": "json_object"}]


async def test_an_endpoint_that_refuses_every_format_is_asked_without_one() -> None:
    unknown = refused_option("Unrecognized request argument supplied: response_format")
    async with rig(unknown, unknown, "{}", "hello", unknown) as each:
        assert (await each.model.chat_json(ASK_JSON, FORM)).text == "{}"
        assert (await each.model.chat(ASK_JSON, [])).text == "hello"
        with pytest.raises(ModelRefused):
            await each.model.chat_json(ASK_JSON, FORM)

        assert formats(each) == [STRICT, {"type": "json_object"}, None, None, None]


async def test_another_refusal_does_not_change_the_format() -> None:
    async with rig(refused_option("Unknown model."), "{}") as each:
        with pytest.raises(ModelRefused):
            await each.model.chat_json(ASK_JSON, FORM)
        await each.model.chat_json(ASK_JSON, FORM)

        assert formats(each) == [STRICT, STRICT]


async def test_two_concurrent_refusals_change_the_format_once() -> None:
    go = asyncio.Event()
    refusal = refused_option("response_format json_schema is unknown")

    def behave(request: dict[str, object]) -> Reply | str:
        wanted = request.get("response_format")
        return refusal if wanted == STRICT else held(text("{}"), until=go)

    async with (
        scripted_openai(behave) as server,
        open_openai_model(model="m", api_key=KEY, base_url=server.base_url, patience=HASTY) as model,
    ):
        both = asyncio.gather(model.chat_json(ASK_JSON, FORM), model.chat_json(ASK_JSON, FORM))
        go.set()
        await both

        wanted = [request.body.get("response_format") for request in server.chat_requests]
        assert [each for each in wanted if each != STRICT] == [{"type": "json_object"}] * 2


async def test_a_json_answer_has_the_same_tries_as_any_other() -> None:
    async with rig(server_error(), cut("{", after=2), empty(), '{"ok": false}') as each:
        with pytest.raises(ModelRepliedNothing):
            await each.model.chat_json(ASK_JSON, FORM)
        assert each.tries == 3
    async with rig(empty(), '{"ok": false}') as each:
        assert (await each.model.chat_json(ASK_JSON, FORM)).text == '{"ok": false}'
    async with rig(context_too_long()) as each:
        with pytest.raises(PromptTooLong):
            await each.model.chat_json(ASK_JSON, FORM)


async def test_an_answer_cut_at_its_limit_is_reported() -> None:
    async with rig(text('{"ok": tr', finish_reason="length")) as each:
        assert (await each.model.chat_json(ASK_JSON, FORM)).finish_reason == "length"
