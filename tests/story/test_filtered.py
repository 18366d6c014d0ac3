"""Stories of an endpoint with a content filter: one text that it refuses does not silence a chat."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.agent.filtered import RESULT_LEFT_OUT
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.history.store import HistorySnapshot
from memory.history.summary import Summary, SummaryText
from memory.summary.compressor import RedisSummaries
from tests.scripted_replies import Reply, call, calls, filtered, held, text
from tests.scripted_script import Behaviour, ChatRequest, echo
from tests.story.compressions import compress_at_once, wait_until_compressed
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Story, StoryStores, make_ref, running_bot
from tests.story.index_points import points_with
from tests.story.prompts import overheard, prompt_texts, recalled, tool_results
from tests.story.test_recall import ENGLISH, lines_of, remember

pytestmark = pytest.mark.slow

POISON = "manchineel"
PLAIN: dict[str, Any] = {"openai_summary_model": "", "recall_k": 0}
SEARCHING: dict[str, Any] = {"openai_summary_model": "", "recall_k": 4, "recall_neighbours": 0}


@dataclass(slots=True)
class Filter:
    """An endpoint that refuses every prompt with the word, and counts its refusals."""

    behave: Behaviour = echo
    refused: list[str] = field(default_factory=list[str])

    def __call__(self, request: ChatRequest) -> Reply | str:
        prompt = json.dumps(request["messages"])
        if POISON in prompt:
            self.refused.append(prompt)
            return filtered()
        return self.behave(request)


def refusal(*quoted: str) -> str:
    listed = english("list-separator").join(english("quoted-words", text=each) for each in quoted)
    return english("refused-messages", count=len(quoted), messages=listed)


async def snapshot(bot: Story, chat: int = BEN) -> HistorySnapshot:
    await bot.wait_until_idle()
    return await bot.history(chat)


async def marked(bot: Story, chat: int = BEN) -> list[Message]:
    """Return the messages that are marked as refused, of all conversations."""
    await bot.wait_until_idle()
    page = await RedisHistory(bot.redis).page(make_ref(chat), after_sequence=-1, limit=500, whole=True)
    return [message for message in page if message.is_refused]


async def marked_texts(bot: Story, chat: int = BEN) -> list[str]:
    return [message.text for message in await marked(bot, chat)]


async def test_a_refused_question_is_named_and_the_next_one_is_answered_at_once(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, **SEARCHING) as bot:
        assert await bot.ask(BEN, "hello") == "echo: hello"
        assert await bot.ask(BEN, f"is the *{POISON}* poisonous?") == refusal(f"is the {POISON} poisonous?")
        (message,) = await marked(bot)
        assert (len(model.refused), message.text) == (2, f"is the *{POISON}* poisonous?")

        assert await bot.ask(BEN, "and the oak?") == "echo: and the oak?"
        assert await bot.ask(BEN, "/new") == english("new-conversation")
        assert await bot.ask(BEN, "is a tree poisonous?") == "echo: is a tree poisonous?"

        await bot.wait_until_indexed()
        assert await points_with(stores.index, message.id) == []
        assert len(model.refused) == 2
        assert "hello" in prompt_texts(bot.prompts()[3])
        outcomes = [record.get("reason") for record in await bot.records()]
        assert outcomes[:2] == ["", "ModelFiltered"]


async def test_the_first_question_of_a_chat_is_asked_once(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, **PLAIN) as bot:
        assert await bot.ask(BEN, f"{POISON}?") == refusal(f"{POISON}?")

        assert len(bot.prompts()) == 1


async def test_all_messages_that_were_asked_together_are_named(stores: StoryStores) -> None:
    answered = asyncio.Event()
    model = Filter(lambda _: held(text("Yes."), until=answered))
    async with running_bot(stores, model, **PLAIN) as bot:
        await bot.say(BEN, "are you there?")
        await bot.wait_for_prompts(1)
        await bot.say(BEN, "I have a long question about the trees at the beach")
        await bot.say(BEN, f"a {POISON}")
        await bot.wait_for_waiting(3)
        answered.set()
        await bot.wait_until(lambda: len(bot.said_in(BEN)) == 2)

        assert bot.said_in(BEN)[-1] == refusal("I have a long question about the trees…", f"a {POISON}")
        assert len(await marked(bot)) == 2
        assert await bot.ask(BEN, "hello") == "Yes."
        assert len(model.refused) == 2


async def test_an_edit_brings_the_message_back(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, **SEARCHING) as bot:
        question = await bot.say(BEN, f"our garden has a {POISON}")
        await bot.wait_for_reply(question)
        await bot.wait_until_idle()
        await bot.people.edit(question, "our garden has an apple tree")
        await bot.wait_until_finished(2)

        assert await marked(bot) == []
        assert await bot.ask(BEN, "thanks") == "echo: thanks"
        assert "our garden has an apple tree" in prompt_texts(bot.prompts()[-1])
        await bot.wait_until_indexed()
        await bot.ask(BEN, "/new")
        await bot.ask(BEN, "what tree has our garden?")
        assert "apple tree" in recalled(bot.prompts()[-1])
        assert len(model.refused) == 1


async def test_a_refused_message_in_the_window_begins_a_new_conversation(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, **PLAIN) as bot:
        await remember(bot, lines_of(["good morning", f"the {POISON} is in bloom", "nice"]))

        answer = await bot.ask(BEN, "how are you?")
        assert answer == f"echo: how are you?\n\n{english('left-out', what='conversation')}"
        assert len(model.refused) == 1
        assert await bot.lines(BEN) == [("user", "how are you?"), ("assistant", "echo: how are you?")]

        assert await bot.ask(BEN, "and now?") == "echo: and now?"
        assert (len(model.refused), await marked(bot)) == (1, [])
        assert "echo: how are you?" in prompt_texts(bot.prompts()[-1])


async def test_a_refused_summary_begins_a_new_conversation(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, **PLAIN) as bot:
        await bot.ask(BEN, "hello")
        before = await snapshot(bot)
        await keep_summary(bot, before, f"They spoke of the {POISON}.")

        answer = await bot.ask(BEN, "how are you?")

        assert answer.endswith(english("left-out", what="conversation"))
        assert await bot.ask(BEN, "and now?") == "echo: and now?"
        assert len(model.refused) == 1


async def test_refused_memories_are_marked_and_half_of_the_innocent_ones_stay(stores: StoryStores) -> None:
    model = Filter()
    lines = [f"my sister Anna has a {POISON}", "my sister Anna lives in Lisbon"]
    async with running_bot(stores, model, **SEARCHING) as bot:
        await remember(bot, [*lines_of(lines), *lines_of(list(ENGLISH.small_talk())[:80], first=50)])

        answer = await bot.ask(BEN, "what do you know of my sister Anna?")
        assert (
            answer == f"echo: what do you know of my sister Anna?\n\n{english('left-out', what='memories')}"
        )
        refused = len(model.refused)
        texts = await marked_texts(bot)
        assert (lines[0] in texts, len(texts)) == (True, 2)

        assert await bot.ask(BEN, "what has my sister Anna?") == "echo: what has my sister Anna?"
        await bot.ask(BEN, "/new")
        assert await bot.ask(BEN, "has my sister Anna a tree?") == "echo: has my sister Anna a tree?"
        assert len(model.refused) == refused
        assert len([line for line in await bot.lines(BEN) if POISON in line[1]]) == 0


async def test_a_refused_result_of_a_tool_is_replaced_also_in_the_ledger(stores: StoryStores) -> None:
    def behave(request: ChatRequest) -> Reply | str:
        if request["messages"][-1]["role"] == "tool" or "again" in str(request["messages"][-1]["content"]):
            return "Nothing there."
        return calls(call("search_memory", {"query": "my sister Anna has a tree"}))

    model = Filter(behave)
    async with running_bot(stores, model, **PLAIN) as bot:
        await remember(bot, lines_of([f"my sister Anna has a {POISON} tree"]))
        await remember(bot, lines_of(list(ENGLISH.small_talk())[:80], first=50))

        assert await bot.ask(BEN, "search for Anna's tree") == "Nothing there."
        assert tool_results(bot.prompts()[-1]) == [RESULT_LEFT_OUT]
        assert await bot.ask(BEN, "again") == "Nothing there."

        assert len(model.refused) == 1
        assert any(RESULT_LEFT_OUT in each for each in prompt_texts(bot.prompts()[-1]))


async def test_refused_talk_of_a_group_is_not_shown_again(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, privacy_mode=False, **PLAIN) as bot:
        await bot.say(BEN, f"I planted a {POISON}", chat=WEEKEND)
        await bot.say(BEN, "and an oak", chat=WEEKEND)

        answer = await bot.ask(OLGA, "@mnemogram_bot which tree?", chat=WEEKEND)
        assert answer.endswith(f"which tree?\n\n{english('left-out', what='talk')}")
        answer = await bot.ask(OLGA, "@mnemogram_bot well?", chat=WEEKEND)
        assert answer.endswith("well?")

        assert len(model.refused) == 1
        assert overheard(bot.prompts()[-1]) == []
        assert "which tree?" in str(bot.prompts()[-1])


async def test_talk_is_at_fault_and_memories_stay(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, privacy_mode=False, **SEARCHING) as bot:
        await remember(bot, lines_of(["my sister Anna lives in Lisbon"]), WEEKEND)
        await remember(bot, lines_of(list(ENGLISH.small_talk())[:80], first=50), WEEKEND)
        await bot.say(CHIARA, f"I planted a {POISON}", chat=WEEKEND)

        answer = await bot.ask(OLGA, "@mnemogram_bot where lives my sister Anna?", chat=WEEKEND)

        assert answer.endswith(english("left-out", what="talk"))
        assert "Lisbon" in recalled(bot.prompts()[-1])
        assert (len(model.refused), await marked(bot, WEEKEND)) == (1, [])


async def test_a_refused_quotation_is_dropped(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, privacy_mode=False, **PLAIN) as bot:
        line = await bot.say(CHIARA, f"I planted a {POISON}", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot hello", chat=WEEKEND)
        reply = await bot.wait_for_reply(
            await bot.say(OLGA, "@mnemogram_bot is it true?", chat=WEEKEND, reply_to=line["message_id"])
        )

        assert reply["text"].endswith(english("left-out", what="quote"))
        assert [message.quote for message in (await snapshot(bot, WEEKEND)).newest] == [None] * 4
        refused = len(model.refused)
        assert (await bot.ask(OLGA, "@mnemogram_bot sure?", chat=WEEKEND)).endswith("sure?")
        assert len(model.refused) == refused


async def test_a_reply_to_a_refused_message_does_not_quote_it(stores: StoryStores) -> None:
    model = Filter()
    async with running_bot(stores, model, **PLAIN) as bot:
        question = await bot.say(BEN, f"is a {POISON} poisonous?")
        await bot.wait_for_reply(question)
        await bot.wait_until_idle()

        reply = await bot.wait_for_reply(await bot.say(BEN, "why?", reply_to=question["message_id"]))

        assert reply["text"] == "echo: why?"
        assert len(model.refused) == 1


async def test_a_summary_leaves_out_what_was_refused(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    compress_at_once(monkeypatch)
    model = Filter(summarize)
    async with running_bot(stores, model, compression_tokens=120, recall_k=0) as bot:
        assert await bot.ask(BEN, "hello") == "echo: hello"
        await bot.ask(BEN, f"is a {POISON} poisonous?")
        for number in range(8):
            await bot.ask(BEN, f"the paint on shelf number {number} dries in about two long hours, I think")
        await wait_until_compressed(bot)

        assert len(model.refused) == 2
        assert (await snapshot(bot)).summary is not None


def summarize(request: ChatRequest) -> Reply | str:
    if "response_format" not in request:
        return echo(request)
    answer: dict[str, Any] = {
        "overview": "They painted shelves.",
        "goals": {"primary": "", "secondary": []},
        "outcomes": {name: [] for name in ("done", "partial", "discovered")},
        **{name: [] for name in ("facts", "decisions", "open_questions", "artifacts")},
        "next": "",
    }
    return text(json.dumps(answer))


async def keep_summary(bot: Story, before: HistorySnapshot, overview: str) -> None:
    """Make this the summary of all messages so far."""
    summaries, ref = RedisSummaries(bot.redis, clock=time.time), make_ref(BEN)
    await summaries.queue(ref)
    claim = await summaries.claim(ref.partition, lease_s=60)
    assert claim is not None
    last = before.newest[-1].sequence or 0
    summary = Summary(
        id="s1",
        builds_on="",
        conversation_start=before.conversation_start,
        from_sequence=before.newest[0].sequence or 0,
        upto_sequence=last,
        text=SummaryText(overview=overview),
        tokens=9,
        model="m",
        created_at=0.0,
    )
    ids = [message.id for message in before.newest]
    saved = await summaries.save(claim, summary, ids, epoch=before.epoch, revision=before.revision)
    assert saved == "saved"
    await summaries.finish(claim)
