"""The usage of model calls: the endpoint's figures, or our own count without them."""

import asyncio
from collections.abc import Sequence

import pytest

from bot.agent.loop import run_agent
from bot.agent.model import MeteredCall, ModelReply, OnText, PromptMessage, ToolSpec, Usage
from bot.agent.team import Team
from bot.errors import ModelRepliedNothing, ModelUnavailable, TellUser
from tests.unit.agent.kit import (
    TOKENIZER,
    DictJournal,
    ScriptedModel,
    asks,
    call,
    make_agent,
    make_context,
    message,
    says,
)

ASK = message(0, "what is the time?")
TOLD = Usage(prompt_tokens=10, completion_tokens=2, model="scripted")


class EndingModel:
    """A model that writes a text and then raises or hangs."""

    name = "ending"

    def __init__(self, written: str, failure: Exception | None = None) -> None:
        self.is_asked = asyncio.Event()
        self._written = written
        self._failure = failure

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        if on_text and self._written:
            await on_text(self._written)
        self.is_asked.set()
        if self._failure:
            raise self._failure
        return await asyncio.Future[ModelReply]()


def make_call(usages: list[Usage], on_text: OnText | None = None) -> MeteredCall:
    return MeteredCall(model="scripted", prompt_tokens=50, meter=TOKENIZER, usages=usages, on_text=on_text)


async def replied(reply: ModelReply) -> Usage:
    async def ask(on_text: OnText) -> ModelReply:
        await on_text(reply.text)
        return reply

    usages: list[Usage] = []
    metered = make_call(usages)
    given = await metered.run(ask(metered.take))
    assert usages == [], "who asked takes it from the reply"
    return given.usage


def noon() -> str:
    """The time."""
    return "noon"


async def test_the_endpoints_own_count_is_used() -> None:
    assert await replied(says("It is noon.")) == TOLD
    only = ModelReply(text="It is noon.", usage=Usage(completion_tokens=3))
    assert await replied(only) == Usage(completion_tokens=3, model="scripted"), "and it names the model"


async def test_a_reply_without_usage_is_counted_with_its_calls() -> None:
    reply = ModelReply(text="Let me see.", tool_calls=(call("clock", '{"zone": "UTC"}'), call("date")))
    words = ("Let me see.", "clock", '{"zone": "UTC"}', "date", "{}")
    counted = sum(map(TOKENIZER.count, words))
    assert await replied(reply) == Usage(prompt_tokens=50, completion_tokens=counted, model="scripted")


async def test_a_run_without_usage_is_counted_by_its_prompt_records_once() -> None:
    replies = [ModelReply(tool_calls=asks(call("noon")).tool_calls), ModelReply(text="It is noon.")]
    team = Team.of(make_agent(ScriptedModel(*replies, replies[1]), noon))
    context, journal = await make_context(prompt=[ASK]), DictJournal()

    await run_agent(team, context, journal=journal)

    written = sum(map(TOKENIZER.count, ("noon", "{}", "It is noon.")))
    sent = sum(each.tokens for each in context.record.prompts)
    assert len(context.record.prompts) == 2
    assert sum(context.record.usages, Usage()) == Usage(prompt_tokens=sent, completion_tokens=written)
    resumed = await make_context(prompt=[ASK])
    await run_agent(team, resumed, journal=journal)
    assert resumed.record.usages == context.record.usages


@pytest.mark.parametrize("written", ["", "It is almost"])
async def test_a_cancelled_call_counts_its_prompt_and_its_text(written: str) -> None:
    model = EndingModel(written)
    context = await make_context(prompt=[ASK])
    running = asyncio.create_task(run_agent(Team.of(make_agent(model)), context, journal=DictJournal()))
    await model.is_asked.wait()

    running.cancel()
    await asyncio.wait([running])

    assert running.cancelled()
    (sent,) = context.record.prompts
    assert context.record.usages == [
        Usage(prompt_tokens=sent.tokens, completion_tokens=TOKENIZER.count(written), model="ending")
    ]


@pytest.mark.parametrize(
    ("written", "failure", "counts"),
    [
        ("", ModelUnavailable(), False),
        ("It is al", ModelUnavailable(), True),
        ("", ModelRepliedNothing(), True),
    ],
)
async def test_a_failed_call_counts_its_prompt_if_the_endpoint_answered(
    written: str, failure: TellUser, counts: bool
) -> None:
    context = await make_context(prompt=[ASK])
    with pytest.raises(type(failure)):
        await run_agent(Team.of(make_agent(EndingModel(written, failure))), context, journal=DictJournal())
    (sent,) = context.record.prompts
    used = Usage(prompt_tokens=sent.tokens, completion_tokens=TOKENIZER.count(written), model="ending")
    assert context.record.usages == ([used] if counts else [])


async def test_an_empty_last_reply_counts() -> None:
    context = await make_context(prompt=[ASK])
    model = ScriptedModel(asks(call("noon")), asks(call("noon")))
    await run_agent(Team.of(make_agent(model, noon)), context, journal=DictJournal(), max_actions=1)
    assert sum(context.record.usages, Usage()) == Usage(prompt_tokens=20, completion_tokens=4)
