"""Stories of long conversations: when they are compressed, what remains, and no outdated summary."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bot.agent.prompt.text import DIGEST_HEADING, SUMMARY_HEADING
from bot.observe.metrics import COMPRESSIONS
from memory.keys import partition_key
from memory.summary.compressor import RedisSummaries
from tests.scripted_replies import Call, Reply, call, calls, held, text
from tests.scripted_script import ChatRequest
from tests.story.agents import keep_path, write_agents
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
from tests.story.expected import asks, english, gave, system, user
from tests.story.harness import BEN, CHIARA, OLGA, Json, Story, StoryStores, make_ref, receipt_of, running_bot
from tests.story.prompts import prompt_texts
from tests.summarizing_model import SummarizingModel
from tests.unit.agent.kit import sample

CANARY = "quokka"
READER = """
[agent]
prompt = "You read pages."
tools = ["{tools}:page"]
"""
PAGES = '''
def page(number: int) -> str:
    """One page."""
    return " ".join(["a"] * 3200)
'''
SECRET = f"please keep this one for me: the code of Boris is {CANARY}"
TOLD = "Overview: They talk about shelves and paint.\nAbout people:\n- Anna: the code of Anna is tamarind"
LATER = ("the ladder goes back to the cellar", "the window of the shed stays open", "the lamp is weak")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compress_at_once(monkeypatch)


@pytest.mark.parametrize("window", [4096, 8192])
async def test_i02_a_conversation_is_compressed_at_half_of_the_models_window(
    stores: StoryStores, window: int
) -> None:
    model, half = SummarizingModel(), window // 2
    known: dict[str, Any] = {"openai_model": "scripted-unknown", "model_context_window": window}
    async with running_bot(stores, model, recall_k=0, **known) as bot:
        await talk(bot, *[_tokens(half // 4)] * 3)
        reply = (await bot.history(BEN)).newest[1].tokens
        await talk(bot, _tokens(half - await _size(bot) - reply - 2 * 4 - 1))
        await wait_until_compressed(bot)
        assert await _size(bot) == half - 1
        assert model.summaries == 0

        await talk(bot, "a")

        await bot.wait_until(lambda: model.summaries > 0)
        await wait_until_compressed(bot)
        assert (await bot.history(BEN)).summary is not None


async def test_i02_an_unknown_model_has_a_window_of_8192(stores: StoryStores) -> None:
    model = SummarizingModel()
    async with running_bot(stores, model, recall_k=0, openai_model="scripted-unknown") as bot:
        await talk(bot, *[_tokens(1000)] * 3)
        await wait_until_compressed(bot)
        assert model.summaries == 0

        await talk(bot, _tokens(1100))

        await wait_until_compressed(bot)
        assert model.summaries > 0


async def test_i05_the_summary_replaces_its_messages_and_the_newest_stay_verbatim(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, SummarizingModel(), **SOON) as bot:
        await talk(bot, *EXCHANGES)
        await wait_until_compressed(bot)

        await talk(bot, "which codes do you know?")

        assert spoken_prompts(bot)[-1][1:] == [
            {"role": "user", "content": f"{SUMMARY_HEADING}\n{TOLD}"},
            {"role": "user", "content": "the third shelf gets its coat in the morning"},
            {"role": "assistant", "content": "echo: the third shelf gets its coat in t"},
            {"role": "user", "content": "the brushes are washed before the last coat"},
            {"role": "assistant", "content": "echo: the brushes are washed before the "},
            {"role": "user", "content": "which codes do you know?"},
        ]


async def test_i05_the_originals_stay_and_the_summary_lists_their_ids(stores: StoryStores) -> None:
    async with running_bot(stores, SummarizingModel(), **SOON) as bot:
        await talk(bot, *EXCHANGES)

        await wait_until_compressed(bot)

        kept = await stored(bot)
        assert [message.text for message in kept if message.role == "user"] == list(EXCHANGES)
        assert len(kept) == 10
        summary = (await bot.history(BEN)).summary
        assert summary is not None
        covered = await RedisSummaries(bot.redis, clock=lambda: 0.0).covered(make_ref(BEN), summary.id)
        assert list(covered) == [message.id for message in kept[:6]]
        assert (summary.from_sequence, summary.upto_sequence, summary.builds_on) == (0, 5, "")
        assert summary.model == bot.settings.openai_model


async def test_i05_each_summary_builds_on_the_last_and_reads_only_newer_messages(stores: StoryStores) -> None:
    model = SummarizingModel()
    async with running_bot(stores, model, **SOON) as bot:
        await talk(bot, *EXCHANGES)
        await wait_until_compressed(bot)

        for line in LATER:
            await talk(bot, line)
            await wait_until_compressed(bot)

        first, second = await lineage(bot)
        summary = (await bot.history(BEN)).summary
        assert summary is not None
        assert (summary.id, summary.builds_on, summary.from_sequence) == (second, first, 6)
        so_far, _, after = summary_requests(bot)[1].partition("\n\nMessages after it:\n")
        assert "the code of Anna is tamarind" in so_far
        assert "tamarind" not in after
        assert [line.partition(": ")[2] for line in after.splitlines()] == [
            f'"{message.text}"' for message in (await stored(bot))[6 : summary.upto_sequence + 1]
        ]
        assert [fact.fact for fact in summary.text.facts] == ["the code of Anna is tamarind"]


async def test_i14_messages_during_a_compression_are_not_lost(stores: StoryStores) -> None:
    model = SummarizingModel(holding=True)
    async with running_bot(stores, model, **SOON) as bot:
        await _talk_until_summarising(bot, model, *EXCHANGES)

        await talk(bot, "this is said meanwhile")
        model.release.set()
        await wait_until_compressed(bot)

        assert len(await lineage(bot)) == 1
        assert [message.text for message in await stored(bot)][-2:] == [
            "this is said meanwhile",
            "echo: this is said meanwhile",
        ]
        await talk(bot, "and this afterwards")
        told = prompt_texts(spoken_prompts(bot)[-1])
        assert told[0].startswith(SUMMARY_HEADING)
        assert told[-3:] == ["this is said meanwhile", "echo: this is said meanwhile", "and this afterwards"]


async def test_i14_one_of_two_services_compresses_a_conversation(stores: StoryStores) -> None:
    model = SummarizingModel(holding=True)
    async with running_bot(stores, model, is_pushed=True, **SOON) as bot:
        bot.start(serve=False)
        await _talk_until_summarising(bot, model, *EXCHANGES)

        await talk(bot, "this is said meanwhile", "and this")

        assert model.summaries == 1
        model.release.set()
        await wait_until_compressed(bot)
        assert len(await lineage(bot)) == len(summary_requests(bot))


async def test_i14_a_reset_during_a_compression_leaves_no_summary(stores: StoryStores) -> None:
    model = SummarizingModel(holding=True)
    async with running_bot(stores, model, **SOON) as bot:
        await _talk_until_summarising(bot, model, SECRET, *EXCHANGES[1:])

        await bot.ask(OLGA, f"/reset {BEN}")
        model.release.set()
        await wait_until_compressed(bot)

        assert await bot.keys_with(CANARY) == []
        assert await lineage(bot) == []
        await talk(bot, "which codes do you know?")
        assert prompt_texts(spoken_prompts(bot)[-1]) == ["which codes do you know?"]


async def test_i14_a_new_conversation_during_a_compression_begins_without_a_summary(
    stores: StoryStores,
) -> None:
    model = SummarizingModel(holding=True)
    async with running_bot(stores, model, **SOON) as bot:
        await _talk_until_summarising(bot, model, SECRET, *EXCHANGES[1:])

        assert await bot.ask(BEN, "/new") == english("new-conversation")
        model.release.set()
        await wait_until_compressed(bot)

        assert await lineage(bot) == []
        await talk(bot, "which codes do you know?")
        assert prompt_texts(spoken_prompts(bot)[-1]) == ["which codes do you know?"]
        assert (await bot.history(BEN)).count == 12


async def test_i14_a_message_forgotten_during_a_compression_is_not_in_the_summary(
    stores: StoryStores,
) -> None:
    model = SummarizingModel(holding=True)
    async with running_bot(stores, model, **SOON) as bot:
        secret = await bot.say(BEN, SECRET)
        await bot.wait_for_reply(secret)
        await _talk_until_summarising(bot, model, *EXCHANGES)

        await _forget(bot, secret)
        model.release.set()
        await bot.wait_until_indexed()
        await wait_until_compressed(bot)

        assert await bot.keys_with(CANARY) == []
        assert CANARY in summary_requests(bot)[0]
        assert CANARY not in str(summary_requests(bot)[1:])
        await talk(bot, "which codes do you know?")
        assert prompt_texts(spoken_prompts(bot)[-1])[0] == f"{SUMMARY_HEADING}\n{TOLD}"


async def test_i14_a_message_edited_during_a_compression_is_summarised_with_its_new_text(
    stores: StoryStores,
) -> None:
    model = SummarizingModel(holding=True)
    async with running_bot(stores, model, **SOON) as bot:
        secret = await bot.say(BEN, SECRET)
        await bot.wait_for_reply(secret)
        await _talk_until_summarising(bot, model, *EXCHANGES)

        now = SECRET.replace(CANARY, "kestrel")
        line = {"chat_id": BEN, "from_id": BEN, "message_id": secret["message_id"], "text": now}
        await bot.page("edits", line)
        await bot.wait_until_finished(len(EXCHANGES) + 2)
        model.release.set()
        await bot.wait_until_indexed()
        await wait_until_compressed(bot)

        assert await bot.keys_with(CANARY) == []
        await talk(bot, "which codes do you know?")
        boris_too = TOLD.replace("- Anna", "- Boris: the code of Boris is kestrel\n- Anna")
        assert prompt_texts(spoken_prompts(bot)[-1])[0] == f"{SUMMARY_HEADING}\n{boris_too}"


async def test_i05_a_summary_of_a_forgotten_message_is_deleted_and_written_again_without_it(
    stores: StoryStores,
) -> None:
    model = SummarizingModel()
    async with running_bot(stores, model, **SOON) as bot:
        secret = await bot.say(BEN, SECRET)
        await bot.wait_for_reply(secret)
        await talk(bot, *EXCHANGES)
        await wait_until_compressed(bot)
        await talk(bot, "which codes do you know?")
        assert CANARY in prompt_texts(spoken_prompts(bot)[-1])[0]
        model.holding = True

        receipt = await _forget(bot, secret)

        assert "Erased: 1 message, " in receipt
        assert await lineage(bot) == []
        await bot.wait_until_idle()
        assert await bot.keys_with(CANARY) == []
        await talk(bot, "which codes do you know now?")
        assert CANARY not in str(spoken_prompts(bot)[-1])
        assert EXCHANGES[0] in prompt_texts(spoken_prompts(bot)[-1])

        model.release.set()
        await wait_until_compressed(bot)
        await talk(bot, "and what else?")
        assert prompt_texts(spoken_prompts(bot)[-1])[0] == f"{SUMMARY_HEADING}\n{TOLD}"
        assert await bot.keys_with(CANARY) == []


async def test_i03_a_long_run_shows_its_older_steps_as_a_digest_and_continues(
    stores: StoryStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_path(monkeypatch)
    first, both = ({"done": [f"read {pages}"], "found": ["a"], "artifacts": [], "left": ""} for pages in "12")
    script = [
        *(calls(_page(1)), calls(_page(2)), text(json.dumps(first))),
        *(calls(_page(3)), text(json.dumps(both)), text("I have read them.")),
    ]
    reader = write_agents(tmp_path, READER, PAGES)
    async with running_bot(stores, script, agents_file=reader, recall_k=0, model_context_window=8192) as bot:
        assert await bot.ask(BEN, "read three pages") == "I have read them."

        start = [system("You read pages."), user("read three pages")]
        page = " ".join(["a"] * 3200)
        assert spoken_prompts(bot)[-2:] == [
            [
                *start,
                user(f"{DIGEST_HEADING}\nDone:\n- read 1\nFound out:\n- a"),
                *(asks(("c2", "page", '{"number": 2}')), gave("c2", page)),
            ],
            [
                *start,
                user(f"{DIGEST_HEADING}\nDone:\n- read 2\nFound out:\n- a"),
                *(asks(("c3", "page", '{"number": 3}')), gave("c3", page)),
            ],
        ]
        assert "read 1" in summary_requests(bot)[1]


def _page(number: int) -> Call:
    return call("page", {"number": number}, call_id=f"c{number}")


def _tokens(count: int) -> str:
    """Return a text of this many tokens."""
    return " ".join(["a"] * count)


async def _size(bot: Story) -> int:
    """Return the tokens of the conversation, with four around each message."""
    return sum(message.tokens + 4 for message in (await bot.history(BEN)).newest)


async def test_a_stopping_service_finishes_its_running_compression_and_begins_no_other(
    stores: StoryStores,
) -> None:
    model, answered = SummarizingModel(holding=True), asyncio.Event()
    before = sample(COMPRESSIONS, "mnemogram_compressions_total", outcome="compressed")

    def slow_at_last(request: ChatRequest) -> Reply:
        is_last = request["messages"][-1]["content"] == "one more"
        return held(text("the end"), until=answered) if is_last else model(request)

    async with running_bot(stores, slow_at_last, **SOON) as bot:
        await _talk_until_summarising(bot, model, *EXCHANGES)
        await bot.say(BEN, "one more")
        await bot.wait_until(lambda: spoken_prompts(bot)[-1][-1]["content"] == "one more")
        await RedisSummaries(bot.redis, clock=lambda: 1.0).queue(make_ref(CHIARA))

        bot.stopping.set()
        model.release.set()

        await bot.wait_until(
            lambda: sample(COMPRESSIONS, "mnemogram_compressions_total", outcome="compressed") == before + 1
        )
        answered.set()
        await bot.stop()

        assert make_ref(CHIARA).context_id in await bot.redis.call(
            "ZRANGE", partition_key(0, "compress"), 0, -1
        )


async def _talk_until_summarising(bot: Story, model: SummarizingModel, *lines: str) -> None:
    """Say lines until a summary is being written, which waits for its release."""
    await talk(bot, *lines)
    await bot.wait_until(lambda: model.summaries > 0)


async def _forget(bot: Story, message: Json) -> str:
    asked = await bot.say(BEN, "/forget", reply_to=message["message_id"])
    return receipt_of(await bot.wait_for_reply(asked))
