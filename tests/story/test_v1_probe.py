"""Probes."""
import asyncio
import pytest
from memory import keys
from tests.scripted_replies import Reply, call, calls, held, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.harness import BEN, BOT, CHIARA, IDEAS, OLGA, WEEKEND, WORKSHOP, StoryStores, a_ref, running_bot, take_the_context_away
from tests.story.prompts import overheard, said

CANARY = "quokka"

def shown(bot, chat=BEN):
    return [(m["message_id"], m["text"]) for m in bot.shown_in(chat)]

async def ends(bot):
    return [(r["state"], r["reason"]) for r in await bot.records()]

async def test_p1_migrated_id_collision(stores: StoryStores) -> None:
    async with running_bot(stores, echo, group_context=False, is_pushed=True) as bot:
        kept = await bot.say(BEN, "@mnemogram_bot the original", chat=WEEKEND)
        await bot.wait_for_reply(kept)
        new = await bot.people.upgrade(WEEKEND, by=OLGA)
        await bot.wait_until_finished(3)
        await bot.push({"edited_message": {"message_id": kept["message_id"], "date": kept["date"]+5, "edit_date": kept["date"]+9,
            "chat": {"id": new, "type": "supergroup", "title": "W"}, "from": {"id": CHIARA, "is_bot": False, "first_name": "C"}, "text": "an overheard thing"}})
        await bot.wait_until_finished(4)
        print(await bot.lines(WEEKEND), await ends(bot), shown(bot, new), shown(bot, WEEKEND))
        assert (await bot.lines(WEEKEND))[0] == ("user", "the original")
        assert len(bot.prompts()) == 1

async def test_p5_heard_edit_quoted(stores: StoryStores) -> None:
    async with running_bot(stores, [text("Noted.")]*5, privacy_mode=False) as bot:
        x = await bot.say(CHIARA, f"the word is {CANARY}", chat=WEEKEND)
        q = await bot.say(BEN, "@mnemogram_bot what does she mean?", chat=WEEKEND, reply_to=x["message_id"])
        await bot.wait_for_reply(q)
        await bot.people.edit(x, "the word is otter")
        await bot.wait_until_finished(3)
        await bot.wait_until_idle()
        print(await ends(bot))
        assert await bot.keys_with(CANARY) == []

async def test_p5b_unheard_edit_quoted(stores: StoryStores) -> None:
    async with running_bot(stores, [text("Noted.")]*5, privacy_mode=False, group_context=False) as bot:
        x = await bot.say(CHIARA, f"the word is {CANARY}", chat=WEEKEND)
        q = await bot.say(BEN, "@mnemogram_bot what does she mean?", chat=WEEKEND, reply_to=x["message_id"])
        await bot.wait_for_reply(q)
        await bot.people.edit(x, "the word is otter")
        await bot.wait_until_finished(3)
        await bot.wait_until_idle()
        print(await ends(bot))
        assert await bot.keys_with(CANARY) == []

async def test_p6_switched_off(stores: StoryStores) -> None:
    async with running_bot(stores, [text("Noted.")]*5, privacy_mode=False) as bot:
        x = await bot.say(CHIARA, f"the word is {CANARY}", chat=WEEKEND)
        await bot.wait_until_finished(1)
        await bot.stop()
        bot.settings = bot.settings.model_copy(update={"group_context": False})
        bot.start()
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        print(bot.prompts())
        assert CANARY not in str(bot.prompts())

async def test_p7_reset_all_heard_topics(stores: StoryStores) -> None:
    async with running_bot(stores, [text("Noted.")]*5, privacy_mode=False) as bot:
        await bot.say(CHIARA, f"the word is {CANARY}", chat=WORKSHOP, thread=IDEAS)
        await bot.wait_until_finished(1)
        r = await bot.ask(OLGA, "/reset all", chat=WORKSHOP)
        print(r)
        assert await bot.keys_with(CANARY) == []

async def test_p3_twice(stores: StoryStores) -> None:
    gate = asyncio.Event()
    def script(request):
        t = last_user_text(request)
        return held(echo(request), until=gate) if t == "two" else echo(request)
    async with running_bot(stores, script) as bot:
        await bot.ask(BEN, "zero")
        asked = await bot.say(BEN, "one")
        a = await bot.wait_for_reply(asked)
        await bot.people.edit(asked, "two")
        await bot.wait_for_prompts(3)
        await bot.people.edit(asked, "three")
        await bot.people.edit(asked, "four")
        await bot.wait_until_finished(5)
        print(await bot.lines(BEN), shown(bot), await ends(bot), len(bot.prompts()))
        gate.set()
        assert await bot.lines(BEN) == [("user","zero"),("assistant","echo: zero"),("user","four"),("assistant","echo: four")]
        assert shown(bot)[-1] == (a["message_id"], "echo: four")

async def test_p2_kill_before_commit(stores: StoryStores) -> None:
    never = asyncio.Event()
    alive = True
    def script(request):
        t = last_user_text(request)
        return held(text("late"), until=never) if alive and t == "two" else echo(request)
    async with running_bot(stores, script, lease_s=1) as bot:
        asked = await bot.say(BEN, "one")
        a = await bot.wait_for_reply(asked)
        await bot.wait_until_idle()
        await bot.people.edit(asked, "two")
        await bot.wait_for_prompts(2)
        alive = False
        await take_the_context_away(bot)
        await bot.wait_until_finished(2)
        print(await bot.lines(BEN), shown(bot), await ends(bot), len(bot.prompts()))
        assert await bot.lines(BEN) == [("user","two"),("assistant","echo: two")]
        assert shown(bot) == [(a["message_id"], "echo: two")]
        never.set()

async def test_p2_kill_between_parts(stores: StoryStores) -> None:
    long = "\n\n".join(f"{number} " + "word " * 400 for number in range(5))
    def script(request):
        return text(long + " " + last_user_text(request))
    async with running_bot(stores, script, lease_s=1) as bot:
        asked = await bot.say(BEN, "one")
        await bot.wait_until_finished(1)
        await bot.wait_until_idle()
        before = shown(bot)
        # the edit of the second part waits
        await bot.people.fault("429", method="editMessageText", times=1, retry_after=3)
        await bot.people.edit(asked, "two")
        await asyncio.sleep(0.7)
        await take_the_context_away(bot)
        await bot.people.edit(asked, "three")
        await bot.wait_until_finished(3)
        print([(i, t[-20:]) for i,t in before], [(i, t[-20:]) for i, t in shown(bot)], await ends(bot), len(bot.prompts()))
        assert [i for i,_ in before] == [i for i,_ in shown(bot)]
        assert shown(bot)[-1][1].endswith("three")
        assert len(await bot.lines(BEN)) == 2
