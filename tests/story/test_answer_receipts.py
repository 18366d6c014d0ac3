"""Stories of receipts of answers: what they name, that they have no word of the chat, and when they go."""

import pytest

from bot.turn.answer_receipt import AnswerReceipt, load_receipts
from memory import keys
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from tests.redis_values import all_values
from tests.scripted_replies import call, calls, text
from tests.scripted_script import ChatRequest, Reply
from tests.story.harness import BEN, Story, StoryStores, make_ref, running_bot

pytestmark = pytest.mark.slow

REF = make_ref(BEN)
TOLD = "the zanzibar locker opens with 4711"
ASKED = "which code has the zanzibar locker?"
RESULT = "quokka"
ANSWER = "It is wombat."


def adds_first(request: ChatRequest) -> Reply:
    """Answer the question after two tool calls, and anything else at once."""
    messages = request["messages"]
    if messages[-1]["role"] == "tool":
        return text(ANSWER)
    if messages[-1]["content"] == ASKED:
        return calls(call("add", {"a": 2, "b": 3}), call(f"{RESULT}_tool", {"numbat": 1}))
    return text("Noted.")


async def answers(bot: Story) -> list[Message]:
    """Return all answers of the bot to Ben, oldest first."""
    found = await RedisHistory(bot.redis).page(REF, after_sequence=-1, limit=99, whole=True)
    return [message for message in found if message.role == "assistant"]


async def ask_about_the_locker(bot: Story) -> tuple[Message, AnswerReceipt]:
    """Tell Ben's secret, begin a new conversation, ask for it. Return the answer and its receipt."""
    await bot.ask(BEN, TOLD)
    await bot.wait_until_indexed()
    await bot.ask(BEN, "/new")
    assert await bot.ask(BEN, ASKED) == ANSWER
    await bot.wait_until_idle()
    answer = (await answers(bot))[-1]
    return answer, (await load_receipts(bot.redis, REF, [answer.id]))[answer.id]


async def test_a_receipt_names_what_an_answer_was_made_of(stores: StoryStores) -> None:
    async with running_bot(stores, adds_first, models="gpt-5.4-mini:1:2", recall_k=1) as bot:
        answer, receipt = await ask_about_the_locker(bot)
        (told,) = (await RedisHistory(bot.redis).get(REF, [receipt.recalled[0].message_id])).values()

        assert told.text == TOLD
        assert receipt.recalled[0].reasons[0] in ("words", "meaning")
        assert receipt.recalled[0].left_out == ""
        called = {(tool.name, tool.outcome) for tool in receipt.tools}
        assert called == {("add", "ok"), ("unknown", "error")}
        (model,) = receipt.models
        assert model.model == bot.settings.openai_model
        assert receipt.micros == model.prompt_tokens + 2 * model.completion_tokens > 0
        assert 0 < receipt.prompt_tokens < receipt.room
        assert (receipt.message_id, receipt.agent, receipt.summary_id) == (answer.id, "Mnemogram", "")
        assert receipt.at >= answer.sent_at


async def test_a_receipt_has_no_word_of_the_chat(stores: StoryStores) -> None:
    async with running_bot(stores, adds_first, recall_k=1) as bot:
        answer, _ = await ask_about_the_locker(bot)
        values = await all_values(bot.redis)

    prefix = keys.context_key(REF, "receipt")
    stored = {key: str(value) for key, value in values.items() if key.startswith(prefix)}
    assert keys.context_key(REF, "receipt", answer.id) in stored
    for word in ("zanzibar", "locker", "4711", "wombat", RESULT, "numbat", "Noted", "Ben Hart"):
        assert word in str(values), "the memory has it"
        assert not any(word.casefold() in value.casefold() for value in stored.values()), word


async def test_forgetting_a_recalled_message_leaves_its_id_and_forgetting_the_answer_leaves_nothing(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, adds_first, recall_k=1) as bot:
        answer, receipt = await ask_about_the_locker(bot)
        (recalled,) = receipt.recalled
        for forgotten in (recalled.message_id, answer.id):
            (shown,) = await _telegram_ids(bot, forgotten)
            asked = await bot.say(BEN, "/forget", reply_to=shown)
            await bot.wait_for_reply(asked)
            await bot.wait_until_idle()
            left = await load_receipts(bot.redis, REF, [answer.id])
            if forgotten != answer.id:
                assert left == {answer.id: receipt}
                assert await RedisHistory(bot.redis).get(REF, [recalled.message_id]) == {}

        assert left == {}


async def test_a_reset_erases_all_receipts(stores: StoryStores) -> None:
    async with running_bot(stores, adds_first, recall_k=1) as bot:
        await ask_about_the_locker(bot)

        assert "nothing is left" in await bot.reset(BEN)

        await bot.wait_until_idle()
        assert [key for key in await all_values(bot.redis) if ":receipt" in key] == []


async def _telegram_ids(bot: Story, message_id: str) -> list[int]:
    found = await bot.redis.call("HGET", keys.context_key(REF, "telegram"), message_id)
    return [int(each) for each in str(found or "").split()]
