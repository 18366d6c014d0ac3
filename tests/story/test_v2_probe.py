"""Probe."""
import asyncio
from dataclasses import replace
import time
import pytest
from bot.turn import preview_screens
from bot.turn.turn_store import TurnStore
from memory import keys
from tests.scripted_replies import Reply, held, pieces, text, stalled
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english
from tests.story.harness import *
from tests.story.harness import a_ref, take_the_context_away
AT_ME = "@mnemogram_bot "

@pytest.fixture(autouse=True)
def quick_previews(monkeypatch):
    for name in ("DRAFT_EVERY_S", "MESSAGE_EVERY_S", "STOP_BUTTON_AFTER_S", "MESSAGE_AFTER_S"):
        monkeypatch.setattr(preview_screens, name, 0.0)

def slowly(answer, *, delay_s=0.06):
    first, *others = answer.split()
    return replace(pieces(first, *(f" {word}" for word in others)), chunk_delay_s=delay_s)

def show(bot, *chats):
    for chat in chats:
        for m in bot.shown_in(chat):
            print("SHOWN", chat, m["message_id"], m.get("text", "<doc>" + str(m.get("document",{}).get("file_name")))[:60], bool(m.get("reply_markup", {}).get("inline_keyboard")))

W = [f"w{n}" for n in range(30)]
MANY = " ".join(W)

@pytest.mark.parametrize("method", ["editMessageText", "sendMessage", "sendMessageDraft", "sendChatAction", "deleteMessage"])
@pytest.mark.parametrize("fault", ["429", "cut", "hang", "502"])
@pytest.mark.parametrize("chat", [BEN, WEEKEND])
async def test_e2(stores, method, fault, chat):
    if (chat == BEN and method in ("editMessageText",)) or (chat != BEN and method in ("sendMessageDraft","deleteMessage")): pytest.skip()
    async with running_bot(stores, [slowly(MANY)]) as bot:
        how = {"429": dict(retry_after=1, hold=True), "cut": {}, "hang": dict(seconds=3, late=True), "502": dict(error="400")}[fault]
        try:
            if fault == "502":
                await bot.people.fault("502", method=method, times=2)
            else:
                await bot.people.fault(fault, method=method, times=2, **how)
        except AssertionError as e:
            print("NOFAULT", str(e)[:300]); raise
        t = time.time()
        await bot.say(BEN, AT_ME + "count", chat=chat)
        await bot.wait_until_finished(1)
        print("TIME", method, fault, chat, round(time.time() - t, 1))
        await asyncio.sleep(3.5 if fault == "hang" else .3)
        show(bot, chat)
        calls = [(c["method"], c["status"], c["outcome"]) for c in await bot.people.calls() if c["method"] not in ("getUpdates","getMe","setMyCommands")]
        print("CALLS", calls)
        whole = [m for m in bot.shown_in(chat) if m["text"] == MANY]
        assert whole
        assert len(bot.shown_in(chat)) == 1
