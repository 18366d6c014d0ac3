"""Two things at one moment: a stage with one chat, the model of all its pairs, and promises of each pair."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory import keys
from memory.history.redis_history import RedisHistory
from simulator.offline_model.prompt import text_of
from tests.scripted_facts import fact_json, facts_reply, numbered_lines
from tests.scripted_replies import Reply, call, calls, held, text
from tests.scripted_script import ChatRequest, last_user_text
from tests.story.extractions import wait_until_extracted
from tests.story.harness import CHIARA, OLGA, Json, Story, StoryStores, buttons_of, make_ref
from tests.story.index_points import points_with
from tests.story.prompts import RECALL_HEADING, TALK_HEADING
from tests.story.test_buttons import Place
from tests.summarizing_model import nothing_of

_LABEL = re.compile(r"\bq\d{3}[a-z]\b")
_SECRET = re.compile(r"\b(?:wombat|quokka|walrus)\d{3}\b")
EDITED = "x"
"""The letter of a text that takes the place of another one, and so has no place of its own."""
DRAWS = "draw"
"""A question with this word calls the tool that draws."""
_DONE = {"answered", "ignored", "refused", "forgotten"}


def labels_in(told: str) -> list[str]:
    """Return the labels of questions in a text."""
    return _LABEL.findall(told)


class PairModel:
    """A model that answers with the labels of the questions, and with no secret unless it `may_repeat` what it holds.

    Facts, summaries and points have the secrets or labels that they are made of. While the gate is closed, requests of
    the kind `holds` wait for it.
    """

    def __init__(self) -> None:
        self.may_repeat = False
        self.repeats = False
        self.holds = ""
        self.after = 0
        self.gate = asyncio.Event()
        self.reached = asyncio.Event()

    def close(self, kind: str, *, after: int = 0) -> None:
        """Hold requests of this kind from now on; answers after this many events."""
        self.holds, self.after, self.repeats = kind, after, self.may_repeat
        self.gate, self.reached = asyncio.Event(), asyncio.Event()

    def __call__(self, request: ChatRequest) -> Reply:
        """Answer a request of any kind."""
        kind = _kind_of(request)
        reply = _reply_to(kind, request, repeats=self.repeats)
        if kind != self.holds or self.gate.is_set():
            return reply
        self.reached.set()
        return held(reply, until=self.gate, after=self.after)


def _kind_of(request: ChatRequest) -> str:
    if "response_format" not in request:
        return "answer"
    name = request["response_format"]["json_schema"]["name"]
    return name if name in ("facts", "catch_up") else "summary"


def _reply_to(kind: str, request: ChatRequest, *, repeats: bool) -> Reply:
    if kind == "answer":
        return _answer(request["messages"], repeats=repeats)
    asked = last_user_text(request)
    if kind == "facts":
        lines = numbered_lines(asked).items()
        found = [(number, secret) for number, line in lines for secret in _SECRET.findall(line)]
        return facts_reply(
            *(fact_json(subject="I", statement=f"I have {each}.", messages=[at]) for at, each in found)
        )
    if kind == "catch_up":
        points = [{"kind": "told", "text": f"re {' '.join(labels_in(asked)[-1:])}", "messages": [1]}]
        return text(json.dumps({"points": points}))
    summary = nothing_of(request["response_format"]["json_schema"]["schema"])
    told = " ".join(sorted(set(_SECRET.findall(json.dumps(request["messages"])))))
    return text(json.dumps(summary | {"overview": f"They talk about {told or 'nothing'}."}))


def _answer(messages: Sequence[Json], *, repeats: bool) -> Reply:
    asked: list[str] = []
    for message in reversed(messages):
        if message["role"] == "assistant" and not message.get("tool_calls"):
            break
        told = text_of(message) if message["role"] == "user" else ""
        if not told.startswith((RECALL_HEADING, TALK_HEADING)):
            asked.insert(0, told)
    question = "\n".join(asked)
    if DRAWS in question.split() and messages[-1]["role"] != "tool":
        return calls(call(DRAWS, {"prompt": "a cat"}))
    secrets = _SECRET.findall(json.dumps(messages)) if repeats else []
    return text(f"re {' '.join([*labels_in(question), *secrets])} and that is all")


@dataclass(slots=True, kw_only=True)
class Stage:
    """One chat in which a moment and an event meet."""

    bot: Story
    stores: StoryStores
    model: PairModel
    place: Place
    number: int
    home: int
    """The chat's first id: that of its memory."""
    older: Json = field(default_factory=dict[str, Any])
    """A message with the secret `wombat`, already answered."""
    last: Json = field(default_factory=dict[str, Any])
    """The newest message before the moment."""
    current: Json | None = None
    """The text that is being answered; None if nothing is, or no text."""
    asked: str = "c"
    """The letter of what is being answered."""
    counts: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    """Allowed numbers of the bot's messages with a label."""
    erased: set[str] = field(default_factory=set[str])
    was_blocked: bool = False
    presses: list[str] = field(default_factory=list[str])
    since: int = 0
    """The bot's messages after this one are new."""
    release: Callable[[], Awaitable[None]] | None = None

    @property
    def chat(self) -> int:
        return self.place.chat

    @property
    def is_group(self) -> bool:
        return self.place.chat != self.place.person

    def secret(self, animal: str) -> str:
        """Return this stage's word of an animal."""
        return f"{animal}{self.number:03}"

    def label(self, letter: str) -> str:
        """Return the label of a question."""
        return f"q{self.number:03}{letter}"

    def words(self, told: str, letter: str, *, secret: str = "") -> str:
        """Return a question with a label, and a secret of this animal."""
        owned = f"I have a pet called {self.secret(secret)}. " if secret else ""
        return f"@mnemogram_bot {owned}{told} {self.label(letter)}"

    async def say(self, told: str, letter: str, *, secret: str = "", count: int = 1, **where: Any) -> Json:
        """Say something that is answered with its label, `count` times."""
        self.counts[self.label(letter)] = {count}
        return await self.bot.say(
            self.place.person, self.words(told, letter, secret=secret), chat=self.chat, **where
        )

    async def wait_for_moment(self) -> None:
        """Wait until the model holds a request."""
        await self.bot.wait_until(self.model.reached.is_set)

    async def command(self, words: str, **where: Any) -> Json:
        """Send a command."""
        name, _, argument = words.partition(" ")
        return await self.bot.say(
            self.place.person, f"{name}@mnemogram_bot {argument}".strip(), chat=self.chat, **where
        )

    async def press(self, menu: Json, data: str) -> None:
        """Press a button of the menu."""
        self.presses.append(await self.bot.people.press(self.place.person, menu, data, any_data=True))

    async def press_first(self, menu: Json) -> None:
        await self.press(menu, buttons_of(menu)[0])

    def new_messages(self) -> list[Json]:
        """Return the bot's messages since the moment began, as they are now."""
        return [each for each in self.shown() if each["message_id"] > self.since]

    def shown(self) -> list[Json]:
        """Return all the bot's messages, as they are now."""
        return [each for chat in dict.fromkeys((self.home, self.chat)) for each in self.bot.shown_in(chat)]

    async def lines(self) -> list[str]:
        """Return all that people said, as the memory has it."""
        kept = await RedisHistory(self.bot.redis).page(make_ref(self.home), after_sequence=-1, limit=1000)
        return [each.text for each in kept if each.role == "user"]

    def count(self, label: str) -> int:
        """Return the number of the bot's messages with a label."""
        return sum(label in _text_of(each).split() for each in self.shown())

    async def number_of_updates(self) -> int:
        pattern = keys.partition_key(0, "update", "").replace("{", "\\{") + "*"
        return len(await self.bot.redis.call("KEYS", pattern))

    async def wait_for_updates(self, count: int) -> None:
        """Wait until this many updates have been accepted."""

        async def are_there() -> bool:
            return await self.number_of_updates() >= count

        await self.bot.wait_until_true(are_there)

    async def settle(self) -> None:
        """Wait until nothing is to do: no context is active, and no work on the index or on summaries is left."""
        ready, work = keys.partition_key(0, "ready"), keys.partition_key(0, "work")
        lengths = [("XLEN", ready), ("XLEN", work), ("ZCARD", keys.partition_key(0, "compress"))]

        async def is_settled() -> bool:
            return not any(map(int, await self.bot.redis.calls(lengths)))

        await self.bot.wait_until_true(is_settled)


def _text_of(message: Json) -> str:
    return message.get("text", message.get("caption", ""))


async def open_stage(
    bot: Story, stores: StoryStores, model: PairModel, *, number: int, is_group: bool
) -> Stage:
    """Create a person, a chat, and two answered messages."""
    person = await bot.people.new_person("Ann")
    chat = person
    if is_group:
        chat = await bot.people.new_chat("Choir", [person, CHIARA, OLGA], admins=[person])
    place = Place(person=person, chat=chat)
    stage = Stage(bot=bot, stores=stores, model=model, place=place, number=number, home=chat)
    stage.older = await stage.say("Do you know it?", "a", secret="wombat")
    await bot.wait_for_reply(stage.older)
    stage.last = await stage.say("Hello", "b")
    await bot.wait_for_reply(stage.last)
    await stage.settle()
    return stage


async def close_stage(stage: Stage) -> list[str]:
    """Return the broken promises of a pair, and remove its traces from the recorded events and requests."""
    bot = stage.bot
    await stage.settle()
    begun = len(bot.model.requests)
    await _extract(stage)
    final = await stage.say("And now?", "z")
    await bot.wait_for_reply(final)
    await stage.settle()
    await _extract(stage)
    await stage.settle()
    broken = await _unsound_work(stage)
    broken += [
        f"press {each} answered {_answers(bot, each)} times"
        for each in stage.presses
        if _answers(bot, each) != 1
    ]
    broken += [
        f"{label}: {stage.count(label)} messages, not {sorted(allowed)}"
        for label, allowed in stage.counts.items()
        if stage.count(label) not in allowed
    ]
    if not stage.was_blocked:  # nobody can change the messages of a chat that blocks the bot
        broken += [f"left a Stop button: {_text_of(each)}" for each in stage.shown() if has_stop(each)]
    told = [label for line in await stage.lines() for label in labels_in(line)]
    broken += [f"kept twice: {label}" for label in set(told) if told.count(label) > 1]
    in_order = [each for each in told if each != stage.label(EDITED)]
    broken += [] if in_order == sorted(in_order) else [f"out of order: {told}"]
    for secret in stage.erased:
        broken += [f"{secret} is in {key}" for key in await bot.keys_with(secret)]
        broken += [f"{secret} is in point {key}" for key in await points_with(stage.stores.index, secret)]
        later = bot.model.requests[begun:]
        broken += [f"{secret} is in a later request" for each in later if secret in json.dumps(each.body)]
    bot.events.clear()
    bot.model.requests.clear()
    return broken


async def _extract(stage: Stage) -> None:
    if stage.bot.settings.openai_summary_model:
        await wait_until_extracted(stage.bot, make_ref(stage.home))


async def _unsound_work(stage: Stage) -> list[str]:
    bot, ref = stage.bot, make_ref(stage.home)
    records = await bot.records()
    found = [
        f"an update ended {each['state']}: {each.get('reason')}"
        for each in records
        if each["state"] not in _DONE
    ]
    found += [
        f"left {name}"
        for name in ("box", "journal", "outbox", "sending", "delivering", "files")
        if int(await bot.redis.call("EXISTS", keys.context_key(ref, name)))
    ]
    if await bot.redis.call("HGETALL", keys.partition_key(0, "active")):
        found.append("a context is still active")
    if int(await bot.redis.call("ZCARD", keys.partition_key(0, "dead"))):
        found.append("a dead letter")
    return found


def _answers(bot: Story, press: str) -> int:
    return sum(each["callback_query_id"] == press for each in bot.callback_answers())


def has_stop(message: Json) -> bool:
    """Return True if the message has a Stop button."""
    return any(data.startswith("stop:") for data in buttons_of(message))
