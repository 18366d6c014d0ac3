"""Stories of a failing model: each turn ends with an answer or one honest sentence, and the chat goes on."""

from collections.abc import Generator
from typing import Any

import pytest
import stamina

from bot.errors import (
    DeadlinePassed,
    ModelBarred,
    ModelQuotaExhausted,
    ModelRepliedNothing,
    ModelUnavailable,
    PromptTooLong,
)
from bot.transport.texts import failure_text
from bot.transport.words import words_for
from tests.scripted_replies import (
    Reply,
    broken_stream,
    call,
    calls,
    context_too_long,
    cut,
    empty,
    hang,
    null_content,
    quota_exceeded,
    rate_limited,
    server_error,
    stalled,
    text,
    unauthorized,
)
from tests.story.harness import BEN, Story, StoryStores, running_bot
from tests.story.prompts import tool_results

pytestmark = pytest.mark.slow

ANSWER = text("Here you are.")
SECRETS = ("sk-story", "127.0.0.1", "Traceback", "Error", "HTTP", "redis")


@pytest.fixture(autouse=True)
def no_waits_between_tries() -> Generator[None]:
    """Remove the pauses between tries; their number stays."""
    with stamina.set_testing(True, attempts=3):
        yield


async def _ask(bot: Story) -> str:
    answer = await bot.ask(BEN, "hello")
    await bot.wait_until_idle()
    assert not any(secret in answer for secret in SECRETS)
    return answer


RECOVERED: dict[str, list[Reply]] = {
    "a 500": [server_error(), ANSWER],
    "a 429 with hope": [rate_limited(retry_after_s=0.01), ANSWER],
    "a 429 without a time": [rate_limited(retry_after_s=None), ANSWER],
    "a stream that was cut": [cut("never seen by anybody", after=2), ANSWER],
    "an error in the stream": [broken_stream("never seen by anybody", after=2), ANSWER],
    "an empty reply": [empty(), ANSWER],
    "null": [null_content(), ANSWER],
    "a reply that shows nothing": [text("\u2060\u00ad"), ANSWER],
    "a tool that there is not": [calls(call("no_such_tool", {"a": 1})), ANSWER],
    "arguments that are no JSON": [calls(call("add", '{"a": 2, "b"')), ANSWER],
    "arguments that are a list": [calls(call("add", [2, 3])), ANSWER],
    "arguments of other types": [calls(call("add", {"a": "two", "b": None})), ANSWER],
    "no arguments": [calls(call("add", "")), ANSWER],
}


@pytest.mark.parametrize("script", RECOVERED.values(), ids=RECOVERED.keys())
async def test_the_bot_answers_despite_the_failure(stores: StoryStores, script: list[Reply]) -> None:
    async with running_bot(stores, script) as bot:
        assert await _ask(bot) == "Here you are."

        assert await bot.lines(BEN) == [("user", "hello"), ("assistant", "Here you are.")]
        assert "never seen" not in str(bot.events)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (call("no_such_tool", {"a": 1}), "There is no tool named 'no_such_tool'"),
        (call("add", '{"a": 2, "b"'), "JSON"),
        (call("add", [2, 3]), "object"),
    ],
)
async def test_the_model_learns_what_was_wrong_with_its_call(
    stores: StoryStores, asked: Any, told: str
) -> None:
    async with running_bot(stores, [calls(asked), ANSWER]) as bot:
        await _ask(bot)

        (result,) = tool_results(bot.prompts()[1])
        assert told in result


FAILED: dict[str, tuple[list[Reply], type[Exception]]] = {
    "500s": ([server_error()] * 3, ModelUnavailable),
    "cut streams": ([cut("never seen by anybody", after=2)] * 3, ModelUnavailable),
    "429s": ([rate_limited(retry_after_s=0.01)] * 3, ModelUnavailable),
    "a 429 for longer than we wait": ([rate_limited(retry_after_s=3600)], ModelUnavailable),
    "replies that show nothing": ([text("\u200b"), text("\ufeff\u3164")], ModelRepliedNothing),
    "empty replies": ([empty(), null_content()], ModelRepliedNothing),
    "a prompt that is too long and cannot be made smaller": ([context_too_long()], PromptTooLong),
}


@pytest.mark.parametrize(("script", "failure"), FAILED.values(), ids=FAILED.keys())
async def test_the_bot_reports_the_failure_and_keeps_the_question(
    stores: StoryStores, script: list[Reply], failure: Any
) -> None:
    async with running_bot(stores, [*script, ANSWER]) as bot:
        assert await _ask(bot) == failure_text(words_for("en"), failure())

        assert len(bot.prompts()) == len(script)
        assert await bot.lines(BEN) == [("user", "hello")]
        record = (await bot.records())[0]
        assert (record["state"], record["reason"]) == ("answered", failure.__name__)
        assert "never seen" not in str(bot.events)
        assert await _ask(bot) == "Here you are."


@pytest.mark.parametrize(
    ("barred", "failure"), [(quota_exceeded(), ModelQuotaExhausted), (unauthorized(), ModelBarred)]
)
async def test_an_endpoint_that_refuses_every_request_is_asked_once_and_every_chat_is_told_at_once(
    stores: StoryStores, barred: Reply, failure: Any
) -> None:
    async with running_bot(stores, [barred, ANSWER]) as bot:
        told = failure_text(words_for("en"), failure())
        assert [await _ask(bot) for _ in range(3)] == [told] * 3

        assert len(bot.prompts()) == 1
        assert await bot.lines(BEN) == [("user", "hello")] * 3
        assert {record["reason"] for record in await bot.records()} == {failure.__name__}


async def test_a_prompt_that_is_too_long_for_the_endpoint_is_sent_again_half_as_long(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, [ANSWER, context_too_long(), ANSWER], recall_k=0) as bot:
        long = "all the words of a long letter " * 100
        await bot.ask(BEN, long)
        assert await bot.ask(BEN, long) == "Here you are."

        sizes = [len(str(prompt)) for prompt in bot.prompts()]
        assert sizes[2] < sizes[1] * 0.7
        assert len(await bot.lines(BEN)) == 4


async def test_a_prompt_that_is_too_long_twice_is_reported(stores: StoryStores) -> None:
    async with running_bot(stores, [context_too_long()] * 2) as bot:
        assert await bot.ask(BEN, "ᚠᛒ " * 1_300) == failure_text(words_for("en"), PromptTooLong())

        assert len(bot.prompts()) == 2


@pytest.mark.parametrize("silence", [hang(), stalled("never seen by anybody", after=2)])
async def test_a_silent_model_is_given_up_at_the_deadline(stores: StoryStores, silence: Reply) -> None:
    async with running_bot(stores, [silence, ANSWER], turn_deadline_s=2) as bot:
        assert await _ask(bot) == failure_text(words_for("en"), DeadlinePassed())

        assert await bot.lines(BEN) == [("user", "hello")]
        assert await _ask(bot) == "Here you are."


async def test_the_deadline_covers_the_whole_turn(stores: StoryStores) -> None:
    again = calls(call("add", {"a": 2, "b": 3}))
    async with running_bot(stores, [again, again, hang()], turn_deadline_s=3) as bot:
        assert await _ask(bot) == failure_text(words_for("en"), DeadlinePassed())

        assert len(bot.prompts()) == 3
        assert await bot.lines(BEN) == [("user", "hello")]


async def test_an_unreachable_model_is_reported(stores: StoryStores) -> None:
    async with running_bot(stores, openai_base_url="http://127.0.0.1:1/v1", openai_embedding_model="") as bot:
        assert await _ask(bot) == failure_text(words_for("en"), ModelUnavailable())
