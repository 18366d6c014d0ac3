"""Stories of recall with failures: the turn is answered, and messages are found again later."""

import time
from collections.abc import Awaitable
from typing import Any

import pytest
from structlog.testing import capture_logs

from chaos.rig.tcp_proxy import Faults, TcpProxy
from memory.recall.embedders.openai import EmbeddingEndpoint
from tests.scripted_embeddings import EmbeddingFailure, Embeddings
from tests.store_proxy import index_proxy
from tests.story.harness import BEN, Story, StoryStores, make_ref, running_bot
from tests.story.index_points import points_with
from tests.story.prompts import recalled

pytestmark = pytest.mark.slow

SHORT_WINDOW: dict[str, Any] = {"window_tokens": 64, "openai_summary_model": ""}
TOLD = "my sister Anna lives in Lisbon"
ASKED = "where does my sister live"
FILLER = tuple(
    f"yesterday we painted {thing}, and after that it rained for hours, so all has to be done again"
    for thing in ("the fence", "the ladder", "the kettle", "the lamp")
)


async def talk_past_window(bot: Story) -> None:
    """Let Ben tell of his sister and talk until that is outside the window."""
    for line in (TOLD, *FILLER):
        await bot.ask(BEN, line)
    await bot.wait_until_indexed()


@pytest.mark.parametrize(
    "failure", ["server_error", "rate_limited", "wrong_dimension", "null", "nan", "nan_text"]
)
async def test_while_the_embedder_fails_recall_uses_words_and_logs_it_once(
    stores: StoryStores, failure: EmbeddingFailure
) -> None:
    async with running_bot(stores, **SHORT_WINDOW) as bot:
        await talk_past_window(bot)
        bot.model.embeddings = Embeddings(failure=failure)
        with capture_logs() as logs:
            answers = [await bot.ask(BEN, asked) for asked in (ASKED, f"and {ASKED}")]
            found = recalled(bot.prompts()[-2])

        assert answers == [f"echo: {ASKED}", f"echo: and {ASKED}"]
        assert TOLD in found
        assert [entry["event"] for entry in logs].count("recall_by_words_alone") == 1
        assert "recall_unavailable" not in {entry["event"] for entry in logs}

        bot.model.embeddings = Embeddings()
        await bot.wait_until_indexed()  # what was said meanwhile has its vector too
        context_id = make_ref(BEN).context_id
        assert len(await points_with(stores.index, context_id)) == len(await bot.lines(BEN))


async def test_a_hanging_embedder_delays_an_answer_only_up_to_its_timeout(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert EmbeddingEndpoint.__init__.__kwdefaults__ is not None
    monkeypatch.setitem(EmbeddingEndpoint.__init__.__kwdefaults__, "timeout_s", 0.5)
    async with running_bot(stores, **SHORT_WINDOW) as bot:
        await talk_past_window(bot)
        bot.model.embeddings = Embeddings(failure="hang")
        with capture_logs() as logs:
            assert await bot.ask(BEN, ASKED) == f"echo: {ASKED}"

        assert TOLD in recalled(bot.prompts()[-1])
        assert [entry["event"] for entry in logs].count("recall_by_words_alone") == 1


async def test_a_slow_embedder_is_waited_for(stores: StoryStores) -> None:
    async with running_bot(stores, **SHORT_WINDOW) as bot:
        await talk_past_window(bot)
        bot.model.embeddings = Embeddings(delay_s=0.3)
        with capture_logs() as logs:
            assert await bot.ask(BEN, ASKED) == f"echo: {ASKED}"

        assert TOLD in recalled(bot.prompts()[-1])
        assert "recall_by_words_alone" not in {entry["event"] for entry in logs}


async def test_an_index_lost_during_a_batch_is_rebuilt_from_the_history(stores: StoryStores) -> None:
    async with (
        index_proxy(stores.index.url) as way,
        running_bot(stores, qdrant_url=way.http_url, **SHORT_WINDOW) as bot,
    ):
        await bot.wait_until_down()
        for number, line in enumerate((TOLD, *FILLER)):
            if number == 2:
                await way.cut()
            assert await bot.ask(BEN, line) == f"echo: {line}"
        kept = await bot.lines(BEN)
        await way.mend()
        await bot.wait_until_indexed()

        assert [text for role, text in kept if role == "user"] == [TOLD, *FILLER]
        assert len(await points_with(stores.index, make_ref(BEN).context_id)) == len(kept)
        await bot.ask(BEN, ASKED)
        assert TOLD in recalled(bot.prompts()[-1])


async def test_while_the_index_hangs_two_turns_wait_a_second_each_and_the_others_do_not(
    stores: StoryStores,
) -> None:
    async with (
        index_proxy(stores.index.url) as way,
        running_bot(stores, qdrant_url=way.http_url, **SHORT_WINDOW) as bot,
    ):
        await bot.wait_until_down()
        await talk_past_window(bot)
        way.faults = Faults(blackhole=True)
        way.reset_all()
        with capture_logs() as logs:
            waits = [await timed(bot.ask(BEN, f"{ASKED}, {number}")) for number in range(6)]
            began = time.monotonic()
            status, down = await bot.health()
            assert time.monotonic() - began < 1

        assert max(waits[:2]) < 2
        assert max(waits[2:]) < 0.9, "a turn waits for the index while recall pauses"
        assert recalled(bot.prompts()[-1]) == ""
        assert (status, down["qdrant"].partition(":")[0]) == (
            503,
            "does not answer in time, and recall pauses",
        )
        assert [entry["event"] for entry in logs].count("recall_paused") == 1

        await mend_and_recall(way, bot)


async def mend_and_recall(way: TcpProxy, bot: Story) -> None:
    """Let the index answer again, and check that a question then recalls what was told."""
    await way.mend()
    await bot.wait_until_down()
    await bot.wait_until_indexed()
    await bot.ask(BEN, f"so {ASKED}")
    assert TOLD in recalled(bot.prompts()[-1])


async def timed(call: Awaitable[object]) -> float:
    """Return the seconds that a call takes."""
    began = time.monotonic()
    await call
    return time.monotonic() - began


async def test_a_question_without_the_index_is_answered_without_memories_and_counted(
    stores: StoryStores,
) -> None:
    async with (
        index_proxy(stores.index.url) as way,
        running_bot(stores, qdrant_url=way.http_url, **SHORT_WINDOW) as bot,
    ):
        await bot.wait_until_down()
        await talk_past_window(bot)
        await way.cut()
        with capture_logs() as logs:
            assert await bot.ask(BEN, ASKED) == f"echo: {ASKED}"

        assert recalled(bot.prompts()[-1]) == ""
        assert [entry["event"] for entry in logs].count("recall_unavailable") == 1
        await mend_and_recall(way, bot)
