"""The offline model over HTTP, through the real OpenAI client and raw requests."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

from bot.agent.actions import CompletedStep, ToolResult
from bot.agent.fact_model import ModelFactReader
from bot.agent.model import ModelReply, ToolCall
from bot.agent.openai_model import open_openai_model
from bot.agent.structured import StructuredModel
from bot.agent.summarizer import ModelSummarizer
from memory.facts.extractor import ReadingTally
from memory.facts.queue import FactPageRead, FactWork
from memory.history.fact import Fact
from memory.history.message import Sender
from memory.history.summary import SummaryFact, SummaryText
from memory.history.transcript import Excerpt
from memory.summary.compression import Piece
from memory.tokens import Tokenizer
from simulator.offline_model.endpoint import OFFLINE_MODEL, serve_offline_model
from simulator.offline_model.words import Language
from tests.messages import make_message, make_ref

pytestmark = pytest.mark.slow

TOKENIZER = Tokenizer(encoding="o200k_base")
ADD: ChatCompletionToolParam = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
    },
}
ASK: list[ChatCompletionMessageParam] = [
    {"role": "system", "content": "You are Mnemogram."},
    {"role": "user", "content": "my sister Anna lives in Lisbon"},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "where does Anna live?"},
]
ANSWER = "You told me: “my sister Anna lives in Lisbon”."


@pytest.fixture
async def base_url() -> AsyncGenerator[str, None]:
    async with serve_offline_model(chunk_delay_s=0) as url:
        yield url


@pytest.fixture
async def client(base_url: str) -> AsyncGenerator[openai.AsyncOpenAI, None]:
    async with openai.AsyncOpenAI(base_url=base_url, api_key="any", max_retries=0) as client:
        yield client


def ask(text: str) -> list[ChatCompletionMessageParam]:
    return [{"role": "user", "content": text}]


async def post(base_url: str, body: Any, *, path: str = "/chat/completions") -> tuple[int, Any]:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with httpx.AsyncClient() as client:
        response = await client.post(f"{base_url}{path}", content=content)
        return response.status_code, response.json()


async def test_a_completion_answers_from_the_prompt(client: openai.AsyncOpenAI) -> None:
    completion = await client.chat.completions.create(model="gpt-anything", messages=ASK)

    choice = completion.choices[0]
    assert (choice.message.role, choice.message.content, choice.finish_reason) == (
        "assistant",
        ANSWER,
        "stop",
    )
    assert completion.model == "gpt-anything"
    assert completion.usage is not None
    assert (
        completion.usage.total_tokens
        == completion.usage.prompt_tokens + completion.usage.completion_tokens
        > 0
    )


async def test_a_stream_has_role_content_finish_reason_and_usage_in_this_order(
    client: openai.AsyncOpenAI,
) -> None:
    stream = await client.chat.completions.create(
        model="m", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]

    *spoken, last, usage = chunks
    assert spoken[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in spoken) == ANSWER
    assert [chunk.choices[0].finish_reason for chunk in spoken] == [None] * len(spoken)
    assert last.choices[0].finish_reason == "stop"
    assert last.choices[0].delta.content is None
    assert usage.choices == []
    assert usage.usage is not None
    assert [chunk.usage for chunk in (*spoken, last) if chunk.usage] == []
    assert len({chunk.id for chunk in chunks}) == 1


async def test_a_stream_without_the_option_has_no_usage(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(model="m", messages=ASK, stream=True)

    assert [
        chunk.usage for chunk in [chunk async for chunk in stream] if chunk.usage or not chunk.choices
    ] == []


async def test_a_streamed_tool_call_is_assembled_and_its_result_stated(client: openai.AsyncOpenAI) -> None:
    messages = ask("add 2 and 3")
    async with client.chat.completions.stream(model="m", messages=messages, tools=[ADD]) as stream:
        asked = (await stream.get_final_completion()).choices[0]
    assert asked.finish_reason == "tool_calls"
    assert asked.message.content is None
    assert asked.message.tool_calls is not None
    call = asked.message.tool_calls[0]
    assert (call.function.name, json.loads(call.function.arguments)) == ("add", {"a": 2, "b": 3})

    called: ChatCompletionMessageParam = {
        "role": "assistant",
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": "add", "arguments": call.function.arguments},
            }
        ],
    }
    result: ChatCompletionMessageParam = {"role": "tool", "tool_call_id": call.id, "content": "5"}
    answer = await client.chat.completions.create(
        model="m", messages=[*messages, called, result], tools=[ADD]
    )

    assert answer.choices[0].message.content == "add: 5"


async def test_tool_choice_none_calls_nothing(client: openai.AsyncOpenAI) -> None:
    completion = await client.chat.completions.create(
        model="m", messages=ask("add 2 and 3"), tools=[ADD], tool_choice="none"
    )

    assert completion.choices[0].message.tool_calls is None


async def test_a_named_tool_is_the_only_one_that_may_be_called(client: openai.AsyncOpenAI) -> None:
    completion = await client.chat.completions.create(
        model="m",
        messages=ask("add 2 and 3"),
        tools=[ADD],
        tool_choice={"type": "function", "function": {"name": "other"}},
    )

    assert completion.choices[0].message.tool_calls is None


async def test_a_token_limit_cuts_the_text(client: openai.AsyncOpenAI) -> None:
    completion = await client.chat.completions.create(
        model="m", messages=ask("show me markdown"), max_completion_tokens=5
    )

    assert completion.choices[0].message.content == Language("english").text("markdown")[:20]
    assert completion.choices[0].finish_reason == "length"


async def test_the_models_are_listed(client: openai.AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == [OFFLINE_MODEL]
    assert (await client.models.retrieve("gpt-any")).id == "gpt-any"


async def test_a_long_text_comes_in_many_chunks_but_not_too_many(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="m", messages=ask("write 20000 characters"), stream=True
    )
    deltas = [chunk.choices[0].delta.content or "" async for chunk in stream]

    assert len("".join(deltas)) == 20_000
    assert 100 < len(deltas) <= 402


async def test_text_with_a_lone_surrogate_is_answered(base_url: str) -> None:
    body = b'{"model":"m","messages":[{"role":"user","content":"my \\ud800 cat"},'
    body += b'{"role":"user","content":"what cat?"}]}'

    status, answer = await post(base_url, body)

    assert status == 200
    assert answer["choices"][0]["message"]["content"] == "You told me: “my \ud800 cat”."


USER = {"role": "user", "content": "hi"}


def chat(*messages: Any, **options: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **options}


@pytest.mark.parametrize(
    "body",
    [
        b"{not json",
        b"[]",
        b"[" * 100_000,
        {"messages": [USER]},
        {"model": "m"},
        chat(),
        chat("hi"),
        {"model": "m", "messages": "hi"},
        chat(USER, tools=["add"]),
        chat(USER, response_format={"type": "json_object"}),
        chat(USER, response_format={"type": "json_schema"}),
        chat(USER, stream=True, stream_options=[1]),
    ],
)
async def test_an_invalid_request_is_refused_in_openais_form(base_url: str, body: Any) -> None:
    status, answer = await post(base_url, body)

    assert status == 400
    assert answer["error"].keys() == {"message", "type", "param", "code"}
    assert answer["error"]["type"] == "invalid_request_error"


async def test_an_unknown_path_is_answered_with_an_error_object(base_url: str) -> None:
    status, answer = await post(base_url, {}, path="/embeddings")

    assert (status, answer["error"]["type"]) == (404, "invalid_request_error")


async def test_the_server_stops_during_a_stream_and_leaves_nothing() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    before = asyncio.all_tasks()
    async with openai.AsyncOpenAI(base_url="http://unset", api_key="any", max_retries=0) as client:
        async with serve_offline_model(chunk_delay_s=60) as base_url:
            assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
            stream = await client.with_options(base_url=base_url).chat.completions.create(
                model="m", messages=ASK, stream=True
            )
            await anext(aiter(stream))
            started = time.monotonic()
        took = time.monotonic() - started

        with pytest.raises(openai.APIConnectionError):
            await anext(aiter(stream))
    assert took < 2
    assert asyncio.all_tasks() == before


async def test_two_models_can_be_served_at_once() -> None:
    async with serve_offline_model(chunk_delay_s=0) as one, serve_offline_model(chunk_delay_s=0) as other:
        assert one != other
        assert (await post(one, chat(USER)))[0] == (await post(other, chat(USER)))[0] == 200


async def test_i04_a_summary_by_rules_has_the_facts_of_people(base_url: str) -> None:
    told = ["my sister Anna lives in Lisbon", "good morning", "We decided to meet in Porto. My bike is red."]
    excerpts = tuple(
        Excerpt(message=replace(make_message(f"m{n}", each), sender=Sender(id=1, name="Olga")), text=each)
        for n, each in enumerate(told)
    )
    async with open_openai_model(model="any", api_key=None, base_url=base_url) as model:
        structured = StructuredModel(model, tokenizer=TOKENIZER, context_window=8_192, timeout_s=5)
        summarizer = ModelSummarizer(structured, summary_tokens=400)
        first = await summarizer.summarize(None, Piece(lines=excerpts, covers=()))
        again = await summarizer.summarize(first, Piece(lines=excerpts[1:2], covers=()))

    assert first == SummaryText(
        overview="A conversation with Olga.",
        facts=(
            SummaryFact(about="Olga", fact="my sister Anna lives in Lisbon"),
            SummaryFact(about="Olga", fact="We decided to meet in Porto."),
            SummaryFact(about="Olga", fact="My bike is red."),
        ),
        next="The last message was: We decided to meet in Porto. My bike is red.",
    )
    assert again == replace(first, next="The last message was: good morning")


async def test_i03_a_digest_by_rules_has_the_results_of_tools(base_url: str) -> None:
    call = ToolCall(id="c", name="add", arguments='{"a": 2}')
    step = CompletedStep(
        reply=ModelReply(tool_calls=(call,)),
        results=(ToolResult(call_id="c", name="add", output="5", artifact_id="a111"),),
    )
    async with open_openai_model(model="any", api_key=None, base_url=base_url) as model:
        structured = StructuredModel(model, tokenizer=TOKENIZER, context_window=8_192, timeout_s=5)
        summarizer = ModelSummarizer(structured, summary_tokens=400)
        first = await summarizer.digest(task="t", digest="", steps=[step], usages=[])
        again = await summarizer.digest(task="t", digest=first, steps=[], usages=[])

    assert first == 'Found out:\n- tool add {"a": 2}: 5\nStored results:\n- a111 (add)'
    assert again == first


async def test_facts_by_rules_are_those_that_the_reader_accepts(base_url: str) -> None:
    olga = Sender(id=1, name="Olga Marin")
    told = ("I live in Porto", "hello!", "My bike is red. I am allergic to nuts.", "where is it?")
    work = FactWork(
        ref=make_ref(),
        epoch=0,
        revision=0,
        version=0,
        people={1: "Olga Marin"},
        messages=tuple(
            replace(make_message(f"m{n}", each), sender=olga, sequence=n) for n, each in enumerate(told)
        ),
        known=(
            Fact(
                id="f1",
                subject="Olga Marin",
                subject_id=1,
                statement="Olga Marin: “I live in Lisbon”",
                said_by=1,
                message_ids=("m",),
                valid_from=1.0,
                confidence=1.0,
            ),
        ),
        page=FactPageRead(),
    )
    async with open_openai_model(model="any", api_key=None, base_url=base_url) as model:
        structured = StructuredModel(model, tokenizer=TOKENIZER, context_window=8_192, timeout_s=5)
        reader = ModelFactReader(structured)
        facts = await reader.read(work, ReadingTally())

    assert [(fact.subject, fact.subject_id, fact.statement, fact.message_ids) for fact in facts] == [
        ("Olga Marin", 1, "Olga Marin: “I live in Porto”", ("m0",)),
        ("Olga Marin", 1, "Olga Marin: “My bike is red.”", ("m2",)),
        ("Olga Marin", 1, "Olga Marin: “I am allergic to nuts.”", ("m2",)),
    ]
    assert [fact.replaces for fact in facts] == [("f1",), (), ()]
