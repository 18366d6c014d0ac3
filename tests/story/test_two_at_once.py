"""Stories of two things at one moment: each command, button, edit, erasure and death during each kind of work."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.app import upkeep
from bot.features import CONTROLS
from bot.inbox.worker import Worker
from bot.turn import screens
from memory import keys
from memory.facts.redis_facts import RedisFacts
from tests.scripted_pictures import Drawing
from tests.scripted_speech import Speech
from tests.scripted_transcriptions import Transcriptions
from tests.story.compressions import compress_at_once
from tests.story.extractions import extract_at_once, stored_facts
from tests.story.harness import BOT, CHIARA, OLGA, Json, StoryStores, make_ref, running_bot
from tests.story.known_facts import known_in
from tests.story.page_visits import context_of, visiting
from tests.story.pairs import DRAWS, EDITED, PairModel, Stage, close_stage, has_stop, open_stage
from tests.story.test_buttons import CASES, SETTINGS
from tests.story.test_reminders import make_reminder, set_reminder

Do = Callable[[Stage], Awaitable[None]]


# Moments.


async def _ask(stage: Stage, told: str = "Tell me") -> None:
    stage.current = await stage.say(told, "c", secret="quokka")


async def _begin_answer(stage: Stage) -> None:
    stage.model.close("answer")
    await _ask(stage)
    await stage.wait_for_moment()


async def _begin_half(stage: Stage) -> None:
    stage.model.close("answer", after=4)
    await _ask(stage)
    await stage.bot.wait_until(lambda: any(each.startswith("re") for each in stage.bot.drafts_in(stage.chat)))


async def _begin_tool(stage: Stage) -> None:
    stage.model.close("")
    stage.bot.model.drawing = Drawing(gate=stage.model.gate)
    drawn = len(stage.bot.model.pictures)
    await _ask(stage, f"Please {DRAWS} a cat")
    await stage.bot.wait_until(lambda: len(stage.bot.model.pictures) > drawn)


async def _begin_search(stage: Stage) -> None:
    stage.model.close("")
    model = stage.model

    def gate(texts: Sequence[str]) -> asyncio.Event | None:
        if model.gate.is_set() or not any(stage.label("c") in each for each in texts):
            return None
        model.reached.set()
        return model.gate

    stage.bot.model.embeddings = replace(stage.bot.model.embeddings, gate=gate)
    await _ask(stage)
    await stage.wait_for_moment()


async def _begin_voice(stage: Stage) -> None:
    stage.model.close("")
    label = stage.label("c")
    words = f"I have a pet called {stage.secret('quokka')} {label}"
    stage.bot.model.transcriptions = Transcriptions(text=words, gate=stage.model.gate)
    stage.counts[label] = {1}
    heard = len(stage.bot.model.recordings)
    await stage.bot.people.voice(stage.place.person, chat=stage.chat)
    await stage.bot.wait_until(lambda: len(stage.bot.model.recordings) > heard)


async def _begin_picture(stage: Stage) -> None:
    stage.model.close("answer")
    words = stage.words("What is this?", "c", secret="quokka")
    stage.counts[stage.label("c")] = {1}
    stage.current = await stage.bot.people.photo(stage.place.person, words, chat=stage.chat)
    await stage.wait_for_moment()


async def _begin_speech(stage: Stage) -> None:
    stage.model.close("")
    stage.bot.model.speech = Speech(gate=stage.model.gate)
    spoken = len(stage.bot.model.speech_requests)
    await _ask(stage)
    await stage.bot.wait_until(lambda: len(stage.bot.model.speech_requests) > spoken)


async def _remind(stage: Stage, *, runs_agent: bool) -> None:
    stage.counts[stage.label("c")] = {1}
    reminder = make_reminder(
        stage.chat,
        text=f"Feed {stage.secret('quokka')} {stage.label('c')}",
        person_id=stage.place.person,
        person_name="Ann",
        chat_type="group" if stage.is_group else "private",
        runs_agent=runs_agent,
    )
    await set_reminder(stage.bot, reminder)


async def _begin_task(stage: Stage) -> None:
    stage.model.close("answer")
    await _remind(stage, runs_agent=True)
    await stage.wait_for_moment()


async def _hold_sends(stage: Stage) -> None:
    await stage.bot.people.fault("429", times=None, chat_id=stage.chat, method="sendMessage", retry_after=1)
    stage.release = stage.bot.people.no_faults


async def _wait_for_refusal(stage: Stage, calls: int) -> None:
    async def is_refused() -> bool:
        return len(await stage.bot.people.calls("sendMessage")) > calls

    await stage.bot.wait_until_true(is_refused)


async def _begin_reminder(stage: Stage) -> None:
    await _hold_sends(stage)
    calls = len(await stage.bot.people.calls("sendMessage"))
    await _remind(stage, runs_agent=False)
    await _wait_for_refusal(stage, calls)


async def _begin_sending(stage: Stage) -> None:
    await _hold_sends(stage)
    calls = len(await stage.bot.people.calls("sendMessage"))
    await _ask(stage)
    await _wait_for_refusal(stage, calls)


async def _begin_again(stage: Stage, *, after: int = 0) -> None:
    stage.current = await stage.say("Hello", "c", count=0)
    await stage.bot.wait_for_reply(stage.current)
    await stage.settle()
    stage.asked = "d"
    stage.counts[stage.label("d")] = {1}
    stage.model.close("answer", after=after)
    await stage.bot.people.edit(stage.current, stage.words("Hello again", "d", secret="quokka"))
    await stage.wait_for_moment()


async def _begin_half_again(stage: Stage) -> None:
    await _begin_again(stage, after=4)
    await stage.bot.wait_until(lambda: any(map(has_stop, stage.shown())))


async def _begin_extraction(stage: Stage) -> None:
    stage.model.close("facts")
    # The event may have needed the facts of what came before.
    stage.last = await stage.say("Hello once more", "c")
    await stage.bot.wait_for_reply(stage.last)
    await RedisFacts(stage.bot.redis, clock=time.time).hurry(make_ref(stage.home))
    await stage.wait_for_moment()


async def _begin_summary(stage: Stage) -> None:
    stage.model.close("summary")
    for letter in "cdefgh":
        if stage.model.reached.is_set():
            break
        stage.last = await stage.say("word " * 40, letter)
        await stage.bot.wait_for_reply(stage.last)
    await stage.wait_for_moment()


async def _begin_catchup(stage: Stage) -> None:
    stage.model.close("catch_up")
    stage.counts[stage.label("c")] = {1, 2}  # the event may be the same command
    for told in ("one", "two", stage.label("c")):
        await stage.bot.say(CHIARA, f"We said {told}", chat=stage.chat)
    await stage.command("/catchup")
    await stage.wait_for_moment()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Work that is held, in a chat of the bot with these settings."""

    begin: Do
    bot: str = "plain"
    is_group: bool = False
    commits: bool = False
    """True if its answer is not committed yet: an erasure that overtakes it begins it again."""


BOTS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"openai_image_model": "draw-1:0.04", "openai_transcription_model": "hear-1"},
    "speaking": {"voice_replies": "always"},
    "interruptible": {"while_busy": "interrupt"},
    "summarising": {"compression_tokens": 200, "recall_k": 0},
    "listening": {"privacy_mode": False},
}
MOMENTS: Mapping[str, Moment] = {
    "an answer": Moment(begin=_begin_answer, commits=True),
    "an answer in a group": Moment(begin=_begin_answer, commits=True, bot="listening", is_group=True),
    "an answer that gives way": Moment(begin=_begin_answer, commits=True, bot="interruptible"),
    "half an answer": Moment(begin=_begin_half, commits=True),
    "a tool": Moment(begin=_begin_tool, commits=True),
    "a search": Moment(begin=_begin_search, commits=True),
    "a voice message": Moment(begin=_begin_voice, commits=True),
    "a picture": Moment(begin=_begin_picture, commits=True),
    "speech": Moment(begin=_begin_speech, commits=True, bot="speaking"),
    "a task": Moment(begin=_begin_task, commits=True),
    "a reminder": Moment(begin=_begin_reminder),
    "sending": Moment(begin=_begin_sending),
    "sending in a group": Moment(begin=_begin_sending, bot="listening", is_group=True),
    "answering again": Moment(begin=_begin_again, commits=True),
    "half an answer again": Moment(begin=_begin_half_again, commits=True),
    "extraction": Moment(begin=_begin_extraction),
    "a summary": Moment(begin=_begin_summary, bot="summarising"),
    "catching up": Moment(begin=_begin_catchup, bot="listening", is_group=True),
}


# Events.


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happens during a moment."""

    act: Callable[[Stage, Json], Awaitable[None]]
    prepare: Callable[[Stage], Awaitable[Json]] | None = None
    check: Callable[[Stage, Json], Awaitable[list[str]]] | None = None
    updates: int = 1
    """Updates that the bot accepts."""
    overtakes: bool = False
    """True for an erasure that does not wait for the chat's line."""
    place: str = ""
    """The only kind of chat in which it can happen; "" for both."""


def _may_end(stage: Stage) -> None:
    """Allow that the answer of the moment is not given, and that an edit leaves the older one."""
    for letter in ("c", stage.asked):
        if stage.label(letter) in stage.counts:
            stage.counts[stage.label(letter)] |= {0, 1}


async def _reasons(stage: Stage) -> list[str]:
    return [each["reason"] for each in await stage.bot.records()]


def _command(words: str) -> Event:
    name = words.partition(" ")[0].removeprefix("/")

    async def act(stage: Stage, _: Json) -> None:
        if name == "stop":
            _may_end(stage)
        await stage.command(words)

    async def check(stage: Stage, _: Json) -> list[str]:
        expected = "stop" if name == "stop" else f"command_{name}"
        reasons = await _reasons(stage)
        return [] if expected in "".join(reasons) else [f"no {expected} in {reasons}"]

    return Event(act=act, check=check)


def _button(word: str) -> Event:
    case = CASES[word]

    async def prepare(stage: Stage) -> Json:
        return await case.show(stage.bot, stage.place)

    async def act(stage: Stage, menu: Json) -> None:
        if word == "stop":
            _may_end(stage)
        if word == "reset":
            _may_end(stage)
            stage.erased |= {stage.secret("wombat"), stage.secret("quokka")}
        await stage.press(menu, case.data_in(menu))

    async def check(stage: Stage, menu: Json) -> list[str]:
        if word == "stop":
            return []
        count = await case.count(stage.bot, stage.place, menu)
        if word == "facts":
            known = await known_in(stage.bot, stage.home)
            count = 2 - len({"Ann sings", "Ann swims"} & set(known))
        return [] if count == 1 else [f"the button had {count} effects"]

    return Event(act=act, prepare=prepare, check=check)


def _target(stage: Stage) -> tuple[Json, str]:
    """Return the message that is being answered, or the last one, and its letter."""
    return (stage.last, stage.last["text"][-1]) if stage.current is None else (stage.current, stage.asked)


async def _edit_current(stage: Stage, _: Json) -> None:
    message, letter = _target(stage)
    if stage.current is not None:
        stage.erased.add(stage.secret("quokka"))
    stage.counts |= {stage.label(letter): {0, 1}, stage.label(EDITED): {0, 1}}
    await stage.bot.people.edit(message, stage.words("Rather this", EDITED, secret="walrus"))


async def _check_edit(stage: Stage, _: Json) -> list[str]:
    letter = _target(stage)[1]
    total = stage.count(stage.label(letter)) + stage.count(stage.label(EDITED))
    broken = [] if total == 1 else [f"{total} answers to an edited message"]
    if not any(stage.secret("walrus") in line for line in await stage.lines()):
        broken.append("the edit was not kept")
    return broken


async def _edit_older(stage: Stage, _: Json) -> None:
    stage.erased.add(stage.secret("wombat"))
    await stage.bot.people.edit(stage.older, stage.words("Do you know it?", "a", secret="walrus"))


async def _check_older(stage: Stage, _: Json) -> list[str]:
    is_kept = any(stage.secret("walrus") in line for line in await stage.lines())
    return [] if is_kept else ["the edit was not kept"]


async def _forget_older(stage: Stage, _: Json) -> None:
    stage.erased.add(stage.secret("wombat"))
    await stage.command("/forget", reply_to=stage.older["message_id"])


async def _forget_current(stage: Stage, _: Json) -> None:
    message = _target(stage)[0]
    if stage.current is not None:
        stage.erased.add(stage.secret("quokka"))
    await stage.command("/forget", reply_to=message["message_id"])


async def _ask_to_forget_me(stage: Stage) -> Json:
    return await stage.bot.wait_for_reply(await stage.command("/forget me"))


async def _forget_me(stage: Stage, menu: Json) -> None:
    stage.erased |= {stage.secret("wombat"), stage.secret("quokka")}
    await stage.press_first(menu)


async def _check_forgotten_me(stage: Stage, _: Json) -> list[str]:
    await stage.bot.wait_until(lambda: any("document" in each for each in stage.new_messages()))
    return []


async def _ask_to_reset_all(stage: Stage) -> Json:
    return await stage.bot.wait_for_reply(await stage.command("/reset all"))


async def _reset_all(stage: Stage, menu: Json) -> None:
    _may_end(stage)
    stage.erased |= {stage.secret("wombat"), stage.secret("quokka")}
    await stage.press_first(menu)


async def _reset_from_outside(stage: Stage, _: Json) -> None:
    _may_end(stage)
    stage.erased |= {stage.secret("wombat"), stage.secret("quokka")}
    await stage.bot.wait_for_reply(await stage.bot.say(OLGA, f"/reset {stage.chat}"))


async def _reset_on_page(stage: Stage, _: Json) -> None:
    _may_end(stage)
    stage.erased |= {stage.secret("wombat"), stage.secret("quokka")}
    group = stage.chat if stage.is_group else None
    async with visiting(stage.bot, stage.place.person, group=group) as page:
        await page.do(f"contexts/{context_of(stage.home)}/reset")


async def _forget_on_page(stage: Stage, _: Json) -> None:
    stage.erased.add(stage.secret("wombat"))
    ids = [
        each.id
        for each in (await stage.bot.history(stage.home)).newest
        if stage.secret("wombat") in each.text
    ]
    await _forget(stage, ids)


async def _forget(stage: Stage, ids: Sequence[str]) -> None:
    group = stage.chat if stage.is_group else None
    async with visiting(stage.bot, stage.place.person, group=group) as page:
        await page.do(f"contexts/{context_of(stage.home)}/forget", {"message_ids": list(ids)})


async def _forget_current_on_page(stage: Stage, _: Json) -> None:
    """Forget the question and its older answer, which are in the memory if it is answered again."""
    _may_end(stage)
    kept = (await stage.bot.history(stage.home)).newest
    ids = [each.id for each in kept if stage.label("c") in each.text]
    if ids:
        await _forget(stage, ids)


async def _say_more(stage: Stage, _: Json) -> None:
    await stage.say("And this?", "p", secret="walrus")


async def _say_more_as_another(stage: Stage, _: Json) -> None:
    stage.counts[stage.label("p")] = {1}
    await stage.bot.say(CHIARA, stage.words("And this?", "p"), chat=stage.chat)


async def _go_incognito(stage: Stage, _: Json) -> None:
    stage.erased.add(stage.secret("walrus"))
    await stage.command("/incognito")
    await stage.say("And this?", "p", secret="walrus")


async def _delete_current(stage: Stage, _: Json) -> None:
    await stage.bot.people.delete(stage.place.person, _target(stage)[0])


async def _block(stage: Stage, _: Json) -> None:
    _may_end(stage)
    stage.was_blocked = True
    await stage.bot.people.block(stage.chat)


async def _unblock(stage: Stage, _: Json) -> list[str]:
    known = await stage.number_of_updates()
    await stage.bot.people.block(stage.chat, is_blocked=False)
    await stage.wait_for_updates(known + 1)
    await stage.settle()
    return []


async def _remove(stage: Stage, _: Json) -> None:
    _may_end(stage)
    await stage.bot.people.member("remove", stage.chat, by=stage.place.person, user=BOT)


async def _add_back(stage: Stage, _: Json) -> list[str]:
    known = await stage.number_of_updates()
    await stage.bot.people.member("add", stage.chat, by=stage.place.person, user=BOT)
    await stage.wait_for_updates(known + 1)
    await stage.settle()
    return []


async def _upgrade(stage: Stage, _: Json) -> None:
    person = stage.place.person
    stage.place = replace(stage.place, chat=await stage.bot.people.upgrade(stage.chat, by=person))


async def _restart(stage: Stage, _: Json) -> None:
    await stage.bot.stop()
    stage.bot.start()


async def _take_over(stage: Stage, _: Json) -> None:
    """Take the context away, as a worker does that thinks this one dead and then dies itself."""
    ready = keys.partition_key(0, "ready")
    for entry in await stage.bot.redis.call("XRANGE", ready, "-", "+"):
        await stage.bot.redis.call("XCLAIM", ready, "workers", "another", 0, entry[0], "IDLE", 60_000)


async def _check_no_facts(stage: Stage, _: Json) -> list[str]:
    return [f"still knows {each}" for each in await stored_facts(stage.bot, make_ref(stage.home))]


EVENTS: Mapping[str, Event] = {
    **{f"/{name}": _command(f"/{name}") for name in CONTROLS.commands},
    **{
        words: _command(words)
        for words in (
            "/facts on",
            "/model small:model_7b",
            "/retention 7",
            "/timezone Europe/Berlin",
            "/voice on",
        )
    },
    "/facts off": replace(_command("/facts off"), check=_check_no_facts),
    **{f"button {word}": _button(word) for word in CASES},
    "an edit": Event(act=_edit_current, check=_check_edit),
    "an edit of an older message": Event(act=_edit_older, check=_check_older),
    "/forget an older message": Event(act=_forget_older),
    "/forget this message": Event(act=_forget_current),
    "/forget me": Event(act=_forget_me, prepare=_ask_to_forget_me, check=_check_forgotten_me),
    "/reset all": Event(act=_reset_all, prepare=_ask_to_reset_all),
    "a reset from outside": Event(act=_reset_from_outside, overtakes=True),
    "a reset on the page": Event(act=_reset_on_page, updates=0, overtakes=True),
    "forgetting on the page": Event(act=_forget_on_page, updates=0, overtakes=True),
    "forgetting this on the page": Event(act=_forget_current_on_page, updates=0),
    "more": Event(act=_say_more),
    "another person": Event(act=_say_more_as_another, place="group"),
    "incognito": Event(act=_go_incognito, updates=2),
    "a deletion": Event(act=_delete_current, updates=0),
    "a block": Event(act=_block, check=_unblock, place="private"),
    "a removal": Event(act=_remove, check=_add_back, place="group"),
    "an upgrade": Event(act=_upgrade, place="group"),
    "a restart": Event(act=_restart, updates=0),
    "a takeover": Event(act=_take_over, updates=0),
}


Pair = tuple[str, str]
"""The names of a moment and an event."""


def _can_meet(moment: Moment, event: Event) -> bool:
    # Its menu begins incognito, in which no edit is answered, and nothing is summed up or caught up with.
    begins = (_begin_again, _begin_half_again, _begin_summary, _begin_catchup)
    is_unkept = event is EVENTS["button incognito"] and moment.begin in begins
    return not is_unkept and event.place in ("", "group" if moment.is_group else "private")


def events_of(moment: Moment) -> list[str]:
    """Return the events that can happen in the moment's chat."""
    return [name for name, event in EVENTS.items() if _can_meet(moment, event)]


def each_once() -> list[Pair]:
    """Return pairs with every moment, and with every event once.

    Commands with a button are left out: their menus are pressed.
    """
    left, pairs = list(MOMENTS), list[Pair]()
    for name, event in EVENTS.items():
        if name.removeprefix("/") in CASES:
            continue
        moment = next(each for each in left if _can_meet(MOMENTS[each], event))
        left.remove(moment)
        left.append(moment)
        pairs.append((moment, name))
    return pairs


async def run_pair(stage: Stage, moment: Moment, event: Event) -> list[str]:
    """Let the event happen during the moment, and return the broken promises."""
    model = stage.model
    menu = await event.prepare(stage) if event.prepare else {}
    await stage.settle()
    stage.since = max(each["message_id"] for each in stage.shown())
    model.may_repeat = moment.commits and event.overtakes
    await moment.begin(stage)
    known = await stage.number_of_updates()
    await event.act(stage, menu)
    await stage.wait_for_updates(known + event.updates)
    model.gate.set()
    if stage.release is not None:
        await stage.release()
    await stage.settle()
    model.repeats = False
    broken = await event.check(stage, menu) if event.check else []
    return broken + await close_stage(stage)


async def run_pairs(stores: StoryStores, bot_name: str, pairs: Sequence[Pair]) -> dict[Pair, list[str]]:
    """Return the broken promises of each pair, each in a chat of its own."""
    model, found = PairModel(), dict[Pair, list[str]]()
    async with running_bot(stores, model, lease_s=2, **(SETTINGS | dict(BOTS[bot_name]))) as bot:
        for number, (moment, event) in enumerate(pairs):
            is_group = MOMENTS[moment].is_group
            with capture_logs() as logs:
                stage = await open_stage(bot, stores, model, number=number, is_group=is_group)
                broken = await run_pair(stage, MOMENTS[moment], EVENTS[event])
            errors = [line for line in logs if line["log_level"] in ("error", "critical")]
            broken += [str(line) for line in errors if line["event"] not in ("not_ready", "recall_paused")]
            if broken:
                found[moment, event] = broken
            for key in await bot.redis.call("KEYS", "*:update:*"):
                await bot.redis.call("DEL", key)
    return found


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin later work soon, and stop at once."""
    extract_at_once(monkeypatch)
    compress_at_once(monkeypatch)
    monkeypatch.setattr(screens, "MESSAGE_AFTER_S", 0.0)
    monkeypatch.setattr(upkeep, "LATER_WORK_POLL_S", 0.1)
    assert Worker.run.__kwdefaults__ is not None
    monkeypatch.setitem(Worker.run.__kwdefaults__, "grace_s", 0.1)


@pytest.mark.parametrize("bot_name", BOTS)
async def test_every_event_during_one_moment(stores: StoryStores, bot_name: str) -> None:
    pairs = [pair for pair in each_once() if MOMENTS[pair[0]].bot == bot_name]
    assert await run_pairs(stores, bot_name, pairs) == {}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
async def test_every_event_during_every_moment(stores: StoryStores, moment: str) -> None:
    pairs = [(moment, event) for event in events_of(MOMENTS[moment])]
    assert await run_pairs(stores, MOMENTS[moment].bot, pairs) == {}
