"""Crash at each point."""
import asyncio, json
import pytest
from bot.errors import Fenced
from bot.turn.turn_store import TurnStore
from memory import keys
from tests.scripted_replies import Reply, call, calls, held, text, stalled
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.harness import BEN, BOT, CHIARA, IDEAS, OLGA, WEEKEND, WORKSHOP, StoryStores, a_ref, running_bot
from tests.story.prompts import said

LONG = "\n\n".join(f"{number} " + "word " * 400 for number in range(5))

def shown(bot, chat=BEN):
    return [(m["message_id"], m["text"]) for m in bot.shown_in(chat)]

async def ends(bot):
    return [(r["state"], r["reason"]) for r in await bot.records()]

class Crash:
    def __init__(self, monkeypatch, op, when, nth):
        self.armed, self.count, self.hit = False, 0, False
        real = getattr(TurnStore, op)
        crash = self
        async def wrapped(store, *args, **kwargs):
            if crash.armed:
                crash.count += 1
            if crash.armed and crash.count == nth and not crash.hit and when == "before":
                crash.hit = True
                raise Fenced
            result = await real(store, *args, **kwargs)
            if crash.armed and crash.count == nth and not crash.hit and when == "after":
                crash.hit = True
                raise Fenced
            return result
        monkeypatch.setattr(TurnStore, op, wrapped)

POINTS = [(op, when, n) for op in ("record", "commit", "sent", "take") for when in ("before", "after") for n in (1, 2) if not (op == "commit" and n == 2)]

@pytest.mark.parametrize("op,when,nth", POINTS)
async def test_reanswer(stores: StoryStores, monkeypatch, op, when, nth) -> None:
    crash = Crash(monkeypatch, op, when, nth)
    def script(request):
        t = last_user_text(request)
        if request["messages"][-1]["role"] == "tool":
            return text(LONG + " " + t)
        return calls(call("current_time", {})) if t in ("two", "one") else echo(request)
    async with running_bot(stores, script, lease_s=1) as bot:
        await bot.ask(BEN, "zero")
        asked = await bot.say(BEN, "one")
        await bot.wait_until_finished(2)
        await bot.wait_until_idle()
        before = shown(bot)
        n = len(bot.prompts())
        crash.armed = True
        await bot.people.edit(asked, "two")
        await bot.wait_until_finished(3)
        await bot.wait_until_idle()
        await bot.wait_until_indexed()
        after = shown(bot)
        assert crash.hit
        assert [i for i, _ in before] == [i for i, _ in after]
        assert after[-1][1].endswith("two")
        assert [l for _, l in await bot.lines(BEN)] == ["zero", "echo: zero", "two", LONG + " two"]
        assert len((await bot.history(BEN)).ledger) == 1
        assert (await ends(bot))[-1] == ("answered", "")
        print(len(bot.prompts()) - n)
        assert len(bot.prompts()) - n <= 3

@pytest.mark.parametrize("op,when,nth", [("restart", "before", 1), ("restart", "after", 1), ("record", "after", 2), ("record", "before", 2), ("take", "after", 1), ("take", "after", 2), ("commit", "before", 1), ("commit", "after", 1)])
async def test_restart(stores: StoryStores, monkeypatch, op, when, nth) -> None:
    crash = Crash(monkeypatch, op, when, nth)
    never = asyncio.Event()
    def script(request):
        t = last_user_text(request)
        if t == "one":
            return held(text("late"), until=never)
        if request["messages"][-1]["role"] == "tool":
            return echo(request)
        return calls(call("current_time", {}))
    async with running_bot(stores, script, lease_s=1) as bot:
        asked = await bot.say(BEN, "one")
        await bot.wait_for_prompts(1)
        crash.armed = True
        await bot.people.edit(asked, "two")
        await bot.wait_until_finished(2)
        await bot.wait_until_idle()
        assert crash.hit or op == "take"
        assert [t for _, t in shown(bot)] == ["echo: two"]
        assert await bot.lines(BEN) == [("user", "two"), ("assistant", "echo: two")]
        assert all(e == ("answered", "") for e in await ends(bot))
        never.set()

@pytest.mark.parametrize("op,when,nth", [("commit", "before", 1), ("commit", "after", 1), ("sent", "before", 1), ("sent", "after", 1)])
async def test_interrupt(stores: StoryStores, monkeypatch, op, when, nth) -> None:
    from tests.story.test_stopping import wait_for_the_beginning
    crash = Crash(monkeypatch, op, when, nth)
    seen = []
    def script(request):
        t = last_user_text(request)
        if t == "count":
            seen.append(1)
            return stalled("one two three four five six", after=4) if len(seen) == 1 else text("counted")
        return text("next")
    async with running_bot(stores, script, while_busy="interrupt", lease_s=1) as bot:
        await bot.say(BEN, "count")
        await wait_for_the_beginning(bot)
        crash.armed = True
        await bot.say(BEN, "enough")
        await bot.wait_until_finished(2)
        await bot.wait_until_idle()
        assert crash.hit
        print(await bot.lines(BEN), shown(bot), await ends(bot))
        roles = [r for r, _ in await bot.lines(BEN)]
        assert len([t for _, t in shown(bot) if t == "next"]) >= 1
