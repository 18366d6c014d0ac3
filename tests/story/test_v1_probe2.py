"""Probes 2."""
import asyncio
import pytest
from bot.turn import answering
from memory import keys
from memory.message import Message
from tests.documents import pdf_of
from tests.scripted_replies import Reply, call, calls, held, text, stalled
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.harness import BEN, BOT, CHIARA, IDEAS, OLGA, WEEKEND, WORKSHOP, StoryStores, a_ref, running_bot, take_the_context_away
from tests.story.prompts import overheard, said
from tests.story.test_forget_and_edit import _dying_turns, _canaries, _forget, _summarise
from memory.summary import Fact, SummaryText

CANARY = "quokka"
LONG = f"a {CANARY} is a marsupial. " * 400

def shown(bot, chat=BEN):
    return [(m["message_id"], m["text"]) for m in bot.shown_in(chat)]

async def ends(bot):
    return [(r["state"], r["reason"]) for r in await bot.records()]

async def test_dead_document(stores: StoryStores, monkeypatch) -> None:
    async with running_bot(stores, [text("Noted.")]*9) as bot:
        with _dying_turns(monkeypatch):
            doc = await bot.people.document(BEN, LONG.encode(), name="a.txt", caption="read this")
            await bot.wait_until_finished(1)
        print(await ends(bot), await bot.keys_with(CANARY))
        print(await _forget(bot, doc))
        await bot.wait_until_idle()
        print(await bot.keys_with(CANARY))
        assert await bot.keys_with(CANARY) == []

async def test_restarted_reanswer_document(stores: StoryStores) -> None:
    gate = asyncio.Event()
    def script(request):
        return held(text("Noted."), until=gate) if "second" in str(request["messages"][-1]) else text("Noted.")
    async with running_bot(stores, script) as bot:
        doc = await bot.people.document(BEN, LONG.encode(), name="a.txt", caption="first")
        await bot.wait_for_reply(doc)
        await bot.people.edit(doc, "second")
        await bot.wait_for_prompts(2)
        await bot.people.edit(doc, "third")
        await bot.wait_until_finished(3)
        gate.set()
        await bot.wait_until_idle()
        print(await ends(bot), await bot.keys_with(CANARY), await bot.lines(BEN), len(bot.prompts()))
        print(await _forget(bot, doc))
        await bot.wait_until_idle()
        assert await bot.keys_with(CANARY) == []

async def test_stopped_second_document(stores: StoryStores, monkeypatch) -> None:
    """One is read, then stopped while the model thinks."""
    async with running_bot(stores, [stalled("one two three", after=2), text("x")], turn_deadline_s=3) as bot:
        doc = await bot.people.document(BEN, LONG.encode(), name="a.txt", caption="first")
        await bot.wait_until_finished(1)
        print(await ends(bot), await bot.keys_with(CANARY), await bot.lines(BEN), len(bot.prompts()))
        print(await _forget(bot, doc))
        await bot.wait_until_idle()
        assert await bot.keys_with(CANARY) == []

async def test_partial_summary(stores: StoryStores) -> None:
    gate = asyncio.Event()
    def script(request):
        return held(text("first"), until=gate) if last_user_text(request) == "zero" else text("answer to " + last_user_text(request))
    async with running_bot(stores, script, openai_summary_model="", recall_k=0) as bot:
        await bot.say(BEN, "zero")
        await bot.wait_for_prompts(1)
        one = await bot.say(BEN, "one")
        two = await bot.say(BEN, "two")
        await bot.wait_for_waiting(3)
        gate.set()
        await bot.wait_until_finished(3)
        await bot.wait_until_idle()
        msgs = (await bot.history(BEN)).newest
        await _summarise(bot, BEN, list(msgs[:3]), SummaryText(overview="They said zero and one", facts=()))
        await bot.people.edit(two, "TWO")
        await bot.wait_until_finished(4)
        print(await ends(bot), await bot.lines(BEN), shown(bot))
        print(bot.prompts()[-1])
        await bot.people.edit(one, "ONE")
        await bot.wait_until_finished(5)
        await bot.wait_until_idle()
        print(await ends(bot), await bot.lines(BEN), shown(bot))
        await bot.people.edit(one, "UNO")
        await bot.wait_until_finished(6)
        print(await ends(bot), await bot.lines(BEN), shown(bot))
        print((await bot.history(BEN)).summary)
