"""Probes 3."""
import asyncio
import pytest
from bot.turn import answering
from memory import keys
from tests.scripted_replies import Reply, call, calls, held, text, stalled
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.harness import BEN, BOT, CHIARA, IDEAS, OLGA, WEEKEND, WORKSHOP, StoryStores, a_ref, running_bot, take_the_context_away
from tests.story.prompts import overheard, said
from tests.story.test_forget_and_edit import _dying_turns, _canaries, _forget, _summarise
from tests.story.test_stopping import wait_for_the_beginning

CANARY = "quokka"

def shown(bot, chat=BEN):
    return [(m["message_id"], m["text"], bool(m.get("reply_markup"))) for m in bot.shown_in(chat)]

async def ends(bot):
    return [(r["state"], r["reason"]) for r in await bot.records()]

@pytest.mark.parametrize("chat", [BEN, WEEKEND])
async def test_preview_after_reset(stores: StoryStores, chat) -> None:
    def script(request):
        return stalled("one two three four five six seven eight", after=5) if "count" in last_user_text(request) else echo(request)
    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "@mnemogram_bot count", chat=chat)
        await wait_for_the_beginning(bot)
        await bot.wait_until(lambda: bool(shown(bot, chat)))
        print(shown(bot, chat))
        await bot.ask(OLGA, f"/reset {chat}")
        await bot.ask(BEN, "@mnemogram_bot hello", chat=chat)
        await bot.wait_until_idle()
        print(shown(bot, chat), await ends(bot))
        assert not any(b for *_, b in shown(bot, chat))

@pytest.mark.parametrize("chat", [BEN, WEEKEND])
async def test_preview_after_death(stores: StoryStores, chat) -> None:
    n = 0
    def script(request):
        return stalled("one two three four five six seven eight", after=5) if "count" in last_user_text(request) else echo(request)
    async with running_bot(stores, script, lease_s=1) as bot:
        await bot.say(BEN, "@mnemogram_bot count", chat=chat)
        for n in range(3):
            await bot.wait_for_prompts(n + 1)
            await bot.wait_until(lambda: bool(shown(bot, chat)))
            await take_the_context_away(bot)
        await bot.wait_until_idle()
        await asyncio.sleep(0.3)
        print(shown(bot, chat), await ends(bot))
        assert not any(b for *_, b in shown(bot, chat))

async def test_migration_with_preview(stores: StoryStores) -> None:
    moved = asyncio.Event()
    def script(request):
        return stalled("one two three four five six seven eight", after=5) if "count" in last_user_text(request) else echo(request)
    async with running_bot(stores, script, turn_deadline_s=5) as bot:
        await bot.say(BEN, "@mnemogram_bot count", chat=WEEKEND)
        await wait_for_the_beginning(bot)
        await bot.wait_until(lambda: bool(shown(bot, WEEKEND)))
        new = await bot.people.upgrade(WEEKEND, by=OLGA)
        stop = await bot.say(BEN, "/stop", chat=new)
        await bot.wait_until_idle()
        print(shown(bot, WEEKEND), shown(bot, new), await ends(bot), await bot.lines(WEEKEND))
        await bot.ask(BEN, "@mnemogram_bot and now", chat=new)
        print(bot.prompts()[-1])
        print(await bot.lines(WEEKEND), await bot.lines(new))

async def test_dead_letter_quoting(stores: StoryStores, monkeypatch) -> None:
    async with running_bot(stores, lambda r: text("Noted.")) as bot:
        x = await bot.say(CHIARA, f"@mnemogram_bot the word is {CANARY}", chat=WEEKEND)
        await bot.wait_for_reply(x)
        with _dying_turns(monkeypatch):
            q = await bot.say(BEN, "@mnemogram_bot what", chat=WEEKEND, reply_to=x["message_id"])
            await bot.wait_until_finished(2)
        print(await bot.keys_with(CANARY))
        print(await _forget(bot, x, by=CHIARA, chat=WEEKEND))
        await bot.wait_until_idle()
        assert await _canaries(bot, stores.index) == []

async def test_bundle_comment_edit(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        first = await bot.say(CHIARA, "the lake is frozen", chat=WEEKEND)
        second = await bot.say(CHIARA, "bring skates", chat=WEEKEND)
        fw = await bot.people.forward(BEN, [first, second], comment="what does she mean?")
        await bot.wait_until_finished(3)
        await bot.wait_until_idle()
        print(fw)
        c = (await bot.history(BEN)).newest[0].telegram_message_id
        await bot.people.edit(next(e["message"] for e in bot.events if e["type"] == "message" and e["message"]["message_id"] == c), "who is she?")
        await bot.wait_until_finished(4)
        kept = (await bot.history(BEN)).newest
        print([(m.text, m.continues, m.forwarded_from) for m in kept], shown(bot))
        print(bot.prompts()[-1])

async def test_restart_left_forms(stores: StoryStores) -> None:
    """An edit of the first of three lines that are answered."""
    gate, never = asyncio.Event(), asyncio.Event()
    def script(request):
        t = last_user_text(request)
        if t == "zero": return held(text("first"), until=gate)
        return held(text("late"), until=never) if "onex" in str(request["messages"]) else text("ok")
    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "zero")
        await bot.wait_for_prompts(1)
        one = await bot.say(BEN, "onex")
        two = await bot.say(BEN, "two")
        await bot.wait_for_waiting(3)
        gate.set()
        await bot.wait_for_prompts(2)
        await bot.people.edit(one, "uno")
        await bot.wait_until_finished(4)
        print(await bot.lines(BEN), shown(bot), await ends(bot))
        await bot.people.edit(two, "dos")
        await bot.people.edit(one, "un")
        await bot.wait_until_finished(6)
        print(await bot.lines(BEN), shown(bot), await ends(bot), len(bot.prompts()))
        never.set()
