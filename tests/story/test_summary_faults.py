"""Stories of a missing or failing summary model: the chat continues with the recent window."""

import asyncio
import json
from collections.abc import Generator
from typing import Any

import pytest
import stamina

from bot.agent.prompt.text import SUMMARY_HEADING
from bot.app import build as assembly
from memory import keys, leased
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.summary import compression
from memory.tokens import tokenizer_for
from tests.messages import make_message, some_messages
from tests.redis_values import all_values
from tests.scripted_replies import (
    Reply,
    context_too_long,
    cut,
    empty,
    hang,
    held,
    null_content,
    quota_exceeded,
    server_error,
    text,
    unauthorized,
)
from tests.scripted_script import Behaviour, ChatRequest
from tests.story.compressions import (
    EXCHANGES,
    SOON,
    compress_at_once,
    lineage,
    spoken_prompts,
    stored,
    summary_requests,
    talk,
    wait_until_compressed,
)
from tests.story.harness import BEN, Story, StoryStores, make_ref, running_bot
from tests.story.prompts import prompt_texts
from tests.summarizing_model import SummarizingModel, echo_of, summary_of

pytestmark = pytest.mark.slow

DESCRIBED: dict[str, Any] = {"prompt_order": "described", "recall_k": 0}
"""Its window is not trimmed in chunks: it has as many messages as it may, the one to answer included."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Make each try of a compression a single request."""
    compress_at_once(monkeypatch)
    with stamina.set_testing(True, attempts=1):
        yield


async def test_i07_without_a_summary_model_the_window_is_the_50_newest_messages(stores: StoryStores) -> None:
    async with running_bot(stores, openai_summary_model="", **DESCRIBED) as bot:
        await _seed(bot, some_messages(60))

        await talk(bot, "and now?")

        assert prompt_texts(spoken_prompts(bot)[-1]) == [
            *(f"text {number}" for number in range(11, 60)),
            "and now?",
        ]
        assert summary_requests(bot) == []


async def test_i07_without_a_summary_model_the_window_is_at_most_8000_tokens(stores: StoryStores) -> None:
    async with running_bot(stores, openai_summary_model="", **DESCRIBED) as bot:
        await _seed(bot, [make_message(f"m{number}", _tokens(1000)) for number in range(12)])

        await talk(bot, "and now?")

        assert prompt_texts(spoken_prompts(bot)[-1]) == [*[_tokens(1000)] * 7, "and now?"]


async def test_i07_without_a_summary_model_window_tokens_limits_the_window(stores: StoryStores) -> None:
    async with running_bot(stores, openai_summary_model="", window_tokens=64, **DESCRIBED) as bot:
        await _seed(bot, [make_message(f"m{number}", _tokens(20)) for number in range(12)])

        await talk(bot, "and now?")

        assert prompt_texts(spoken_prompts(bot)[-1]) == [*[_tokens(20)] * 3, "and now?"]


async def test_i01_with_a_summary_model_the_window_is_every_uncovered_message(stores: StoryStores) -> None:
    async with running_bot(stores, SummarizingModel(), **DESCRIBED) as bot:
        await _seed(bot, some_messages(120))

        await talk(bot, "and now?")

        assert prompt_texts(spoken_prompts(bot)[-1]) == [
            *(f"text {number}" for number in range(120)),
            "and now?",
        ]


BLANK: dict[str, Any] = {
    "overview": " ",
    "goals": {"primary": "", "secondary": []},
    "outcomes": {"done": [], "partial": [], "discovered": []},
    **dict.fromkeys(("facts", "decisions", "open_questions", "artifacts"), ()),
    "next": "",
}
FAILURES: dict[str, Reply] = {
    "a 500": server_error(),
    "a stream that is cut": cut("never seen by anybody", after=2),
    "a wrong key": unauthorized(),
    "no quota": quota_exceeded(),
    "an empty answer": empty(),
    "null": null_content(),
    "an answer that is not JSON": text("I would rather not."),
    "JSON of another form": text('{"summary": "They talked."}'),
    "JSON that is cut at its limit": text('{"overview": "They', finish_reason="length"),
    "a summary that says nothing": text(json.dumps(BLANK)),
}


ASKED_ONCE = ("a wrong key", "no quota")
"""A failure that opens the model's breaker (bot/agent/openai_model.py): the other tries fail without a request."""
ASKED_AGAIN = ("an answer that is not JSON", "JSON of another form")
"""An answer that cannot be read: each try asks for it once more (bot/agent/structured.py)."""


@pytest.mark.parametrize("name", FAILURES)
async def test_i07_a_failed_summary_changes_no_stored_data_and_is_tried_three_times(
    stores: StoryStores, name: str
) -> None:
    may_fail = asyncio.Event()
    script = _failing(held(FAILURES[name], until=may_fail))
    other_model: dict[str, Any] = {
        "openai_summary_model": "gpt-4.1-nano"
    }  # what is wrong with it is no matter of the chat's own
    async with running_bot(
        stores, script, window_tokens=64, **SOON, **other_model, prompt_order="described"
    ) as bot:
        await talk(bot, *EXCHANGES)
        await bot.wait_until(lambda: len(summary_requests(bot)) == 1)
        await bot.wait_until_idle()
        before = await _memory(bot)

        may_fail.set()
        await wait_until_compressed(bot)

        assert await _memory(bot) == before
        asked = 1 if name in ASKED_ONCE else 6 if name in ASKED_AGAIN else 3
        assert len(summary_requests(bot)) == asked
        await _talks_on_in_the_short_window(bot)


async def test_i07_a_summary_model_that_finds_everything_too_long_gets_less_and_is_then_given_up(
    stores: StoryStores,
) -> None:
    async with running_bot(
        stores, _failing(context_too_long()), window_tokens=64, **SOON, prompt_order="described"
    ) as bot:
        await talk(bot, *EXCHANGES)

        await wait_until_compressed(bot)

        assert len(summary_requests(bot)) == 3 * 3
        assert len(await stored(bot)) == 10
        await _talks_on_in_the_short_window(bot)


async def test_i07_a_hanging_summary_model_is_given_up_and_delays_nobody(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "SUMMARY_TIMEOUT_S", 0.3)
    async with running_bot(
        stores, _failing(hang()), window_tokens=64, **SOON, prompt_order="described"
    ) as bot:
        await talk(bot, *EXCHANGES)
        await bot.wait_until(lambda: len(summary_requests(bot)) > 0)

        assert await bot.ask(BEN, "are you there?") == "echo: are you there?"

        await wait_until_compressed(bot)
        assert (await bot.history(BEN)).summary_state.failed_at is not None
        assert len(summary_requests(bot)) <= 3
        assert len(await stored(bot)) == 12
        await _talks_on_in_the_short_window(bot)


async def test_i07_between_tries_the_prompt_has_the_whole_conversation(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leased, "RETRY_PAUSES_S", (60.0, 60.0))
    async with running_bot(stores, _failing(server_error()), window_tokens=64, **SOON) as bot:
        await talk(bot, *EXCHANGES)
        await bot.wait_until_true(lambda: _has_failed(bot))

        await talk(bot, "and now?")

        assert prompt_texts(spoken_prompts(bot)[-1]) == [
            *(text for line in EXCHANGES for text in (line, f"echo: {line}"[:40])),
            "and now?",
        ]
        assert len(summary_requests(bot)) == 1


async def test_i07_a_failed_compression_is_tried_again_after_more_messages(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compression, "RETRY_AFTER_MESSAGES", 4)
    outcomes = [server_error()] * 3

    def script(request: ChatRequest) -> Reply:
        if "response_format" in request:
            return outcomes.pop() if outcomes else text(json.dumps(summary_of(request)))
        return text(echo_of(request))

    async with running_bot(stores, script, window_tokens=64, **SOON) as bot:
        await talk(bot, *EXCHANGES)
        await wait_until_compressed(bot)
        await talk(bot, "and now?")
        await wait_until_compressed(bot)
        assert len(summary_requests(bot)) == 3

        await talk(bot, "and then?")

        await wait_until_compressed(bot)
        assert len(summary_requests(bot)) == 4
        assert len(await lineage(bot)) == 1
        await talk(bot, "which codes do you know?")
        told = prompt_texts(spoken_prompts(bot)[-1])
        assert told[0].startswith(SUMMARY_HEADING)
        assert "the code of Anna is tamarind" in told[0]


async def test_i05_a_summary_model_with_a_small_window_reads_a_long_conversation_in_pieces(
    stores: StoryStores,
) -> None:
    long = make_message("m10", _tokens(9000), role="assistant")
    seeded = [
        make_message("m0", "the code of Anna is tamarind. " + _tokens(1000)),
        *some_messages(9, start=1),
    ]
    windows: dict[str, Any] = {"openai_model": "scripted-large", "model_context_window": 32_000}
    small: dict[str, Any] = {"openai_summary_model": "scripted-small", "compression_tokens": 0, "recall_k": 0}
    async with running_bot(stores, SummarizingModel(), **windows, **small) as bot:
        await _seed(bot, [*seeded, long, *_thousands(11, 10)])

        await talk(bot, "and now?")
        await wait_until_compressed(bot)

        count = tokenizer_for("scripted-small").count
        bodies = [r.body for r in bot.model.chat_requests if "response_format" in r.body]
        assert {body["model"] for body in bodies} == {"scripted-small"}
        assert len(bodies) > 3
        assert [size for body in bodies if (size := count(str(body["messages"]))) > 8192] == []
        assert len(await lineage(bot)) > 1
        await talk(bot, "which codes do you know?")
        assert "the code of Anna is tamarind" in prompt_texts(spoken_prompts(bot)[-1])[0]


def _failing(reply: Reply) -> Behaviour:
    """Return a model that echoes, and answers requests for summaries with this."""
    return lambda request: reply if "response_format" in request else text(echo_of(request))


def _tokens(count: int) -> str:
    """Return a text of this many tokens."""
    return " ".join(["a"] * count)


def _thousands(start: int, number: int) -> list[Message]:
    return [make_message(f"m{at}", _tokens(1000)) for at in range(start, start + number)]


async def _seed(bot: Story, messages: list[Message]) -> None:
    """Store these messages in Ben's history."""
    await RedisHistory(bot.redis).append(make_ref(BEN), messages, epoch=0)


async def _memory(bot: Story) -> dict[str, Any]:
    """Return all stored data of Ben's conversation, except the count of failures and the receipts of answers."""
    prefix = keys.context_key(make_ref(BEN), "meta").removesuffix("meta")
    values = await all_values(bot.redis)
    receipts = keys.context_key(make_ref(BEN), "receipt")
    kept = {
        key: value for key, value in values.items() if key.startswith(prefix) and not key.startswith(receipts)
    }
    meta = kept[keys.context_key(make_ref(BEN), "meta")]
    kept[keys.context_key(make_ref(BEN), "meta")] = {
        name: value for name, value in meta.items() if not name.startswith("summary_fail")
    }
    return kept


async def _has_failed(bot: Story) -> bool:
    return await bot.redis.call("HGET", keys.context_key(make_ref(BEN), "meta"), "summary_failures") == "1"


async def _talks_on_in_the_short_window(bot: Story) -> None:
    """Check that the chat is answered from the newest messages within WINDOW_TOKENS, without a summary."""
    newest: list[str] = []
    room = 64 - tokenizer_for(bot.settings.openai_model).count("and now?")
    for message in reversed(await stored(bot)):
        room -= message.tokens
        if room < 0:
            break
        newest.insert(0, message.text)

    assert await bot.ask(BEN, "and now?") == "echo: and now?"

    assert prompt_texts(spoken_prompts(bot)[-1]) == [*newest, "and now?"]
    assert 3 < len(newest) < len(await stored(bot))
    assert await lineage(bot) == []
