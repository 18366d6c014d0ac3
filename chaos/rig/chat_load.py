"""People who write to the bot in many chats at once, with their lines, the acknowledgements and the answers."""

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from chaos.rig.program import until
from chaos.rig.system import BOT_ID, System
from memory.keys import ContextRef, partition_of
from simulator.api.events import Event
from simulator.api.groups import Gathering, Newcomer, add_chat, add_person
from simulator.api.people import ButtonPress, Line, press_button, write_line
from simulator.api.simulation import Simulation
from simulator.api.updates import Delivery, Update
from tests.contract.simulator_rig import Rig

ANSWERED_WITHIN_S = 60.0
LINE = re.compile(r"line \d+ of -?\d+(?:/\d+)?")
"""The unique part of every line: its number, its chat and its topic."""

_TICK_S = 0.02

Plan = Mapping[int, Sequence[Sequence[str]]]
"""The lines of each chat: a burst in each wave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The place where one person writes: their private chat, a group, or a topic of one."""

    chat_id: int
    writer_id: int
    thread_id: int | None = None
    mention: str = ""
    form: str = ""
    """The form of the chat, for rows that count them."""
    reply_to: int | None = None
    """The post of a channel under which the person comments."""
    as_channel: int | None = None
    """The channel as which the person writes."""

    @property
    def name(self) -> str:
        """Return the place's name in lines."""
        return str(self.chat_id) if self.thread_id is None else f"{self.chat_id}/{self.thread_id}"

    def line(self, number: int) -> str:
        """Return the words that identify a line of this place."""
        return f"line {number} of {self.name}"


@dataclass(slots=True, kw_only=True)
class Written:
    """A line and its result, as people and Telegram see it.

    Times are Unix seconds. A line is answered when an answer to it, or to a later line of its place, is
    seen: waiting lines are answered together.
    """

    place: Place
    line: str
    at: float
    update_id: int | None = None
    acknowledged_at: float | None = None
    tries: int = 0
    answered_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """An update that was acknowledged with a 200. `line` is empty if it is no line of ours."""

    update_id: int
    chat_id: int
    at: float
    line: str


@dataclass(slots=True, kw_only=True)
class ChatLoad:
    """People who write, each in one place.

    `open_chat_load` makes one, which watches until it is closed. `acknowledged` has every update with a
    200 by its id, `refused` the number of tries with another response or none.
    """

    simulation: Simulation
    places: Sequence[Place]
    written: list[Written] = field(default_factory=list[Written])
    acknowledged: dict[int, Acknowledged] = field(default_factory=dict[int, Acknowledged])
    refused: int = 0
    answers_seen: int = 0
    _by_line: dict[str, Written] = field(default_factory=dict[str, Written])
    _waiting: dict[str, list[Written]] = field(default_factory=lambda: defaultdict(list))
    _numbers: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def waiting(self) -> int:
        """Return the number of lines without an answer."""
        return sum(map(len, self._waiting.values()))

    @property
    def unacknowledged(self) -> int:
        """Return the number of lines that Telegram has not delivered."""
        return sum(one.acknowledged_at is None for waiting in self._waiting.values() for one in waiting)

    def of(self, place: Place) -> list[Written]:
        """The lines of one place, in order."""
        return [one for one in self.written if one.place == place]

    def written_as(self, line: str) -> Written | None:
        """Return the line with these words, or None."""
        return self._by_line.get(line)

    def write(self, place: Place, more: str = "") -> Written:
        """One line, now; `more` stands behind its own words. Cheap: it does not go by HTTP."""
        line = place.line(self._numbers[place.name])
        self._numbers[place.name] += 1
        one = Written(place=place, line=line, at=time.time())
        self.written.append(one)
        self._by_line[line] = one
        self._waiting[place.name].append(one)
        said = " ".join(filter(None, (place.mention, line, more)))
        write_line(
            self.simulation,
            Line(
                chat_id=place.chat_id, from_id=place.writer_id, text=said, message_thread_id=place.thread_id
            ),
        )
        return one

    async def write_steadily(
        self,
        count: int,
        *,
        per_second: float,
        random: Random,
        burst: int = 1,
        at_most_waiting: int | None = None,
    ) -> None:
        """Write this many lines at this rate, in bursts of 1 to `burst` at random places.

        `at_most_waiting`: nobody writes while so many lines are unanswered: the load is then what the system can bear.
        """
        begun, done = time.monotonic(), 0
        while done < count:
            due = min(count, int((time.monotonic() - begun) * per_second) + 1)
            while done < due and (at_most_waiting is None or self.waiting < at_most_waiting):
                place = random.choice(self.places)
                lines = min(random.randint(1, burst), count - done)
                for _ in range(lines):
                    self.write(place)
                done += lines
            if at_most_waiting is not None and self.waiting >= at_most_waiting:
                begun = (
                    time.monotonic() - done / per_second
                )  # what was held up is not caught up with in a rush
            await asyncio.sleep(_TICK_S)

    async def write_waves(self, waves: int, *, lines: int, within_s: float = ANSWERED_WITHIN_S) -> None:
        """Write this many lines in every place in each wave. The next wave starts after all answers."""
        for _ in range(waves):
            for place in self.places:
                for _ in range(lines):
                    self.write(place)
            await self.until_answered(within_s=within_s)

    async def until_answered(self, *, within_s: float = ANSWERED_WITHIN_S) -> None:
        """Wait until every line has its answer. Fail with the first lines that have none."""
        deadline = time.monotonic() + within_s
        while self.waiting:
            if time.monotonic() >= deadline:
                missing = [one.line for waiting in self._waiting.values() for one in waiting]
                raise AssertionError(
                    f"{len(missing)} lines have no answer after {within_s:g} s: {missing[:5]}"
                )
            await asyncio.sleep(_TICK_S)

    async def give_up_waiting(self, *, within_s: float) -> int:
        """Wait as `until_answered` does, up to a limit. Return the number of unanswered lines."""
        deadline = time.monotonic() + within_s
        while self.waiting and time.monotonic() < deadline:  # noqa: ASYNC110 - a killed process sets no event
            await asyncio.sleep(_TICK_S)
        return self.waiting

    def answers(self, place: Place) -> list[str]:
        """Return the current texts of the bot's messages there, oldest first, without those with a Stop button.

        A message whose Stop button was orphaned by a crash stays: it is no answer.
        """
        shown = self.simulation.world.newest(place.chat_id, 5_000)
        return [
            message.text
            for message in shown
            if message.sender_id == BOT_ID
            and message.thread_id == place.thread_id
            and "'stop" not in str(message.reply_markup)
            and message.service is None
        ]

    def waits(self) -> list[float]:
        """Return the seconds from each line to its answer, sorted."""
        return sorted(one.answered_at - one.at for one in self.written if one.answered_at is not None)

    def note_delivery(self, update: Update, delivery: Delivery) -> None:
        """Record a delivery of Telegram."""
        line = _line_of(update)
        one = self._by_line.get(line)
        if one is not None:
            one.update_id = update.id
            one.tries += 1
        if delivery.status != 200:
            self.refused += 1
            return
        chat_id: int = update.payload.get("chat", {}).get("id", 0)
        found = Acknowledged(update_id=update.id, chat_id=chat_id, at=delivery.at, line=line)
        self.acknowledged.setdefault(update.id, found)
        if one is not None and one.acknowledged_at is None:
            one.acknowledged_at = delivery.at

    def note_event(self, event: Mapping[str, Any]) -> None:
        """Record an event of the chat page. An answer contains its line."""
        if event["type"] not in {"message", "edit"} or "reply_markup" in event["message"]:
            return
        message = event["message"]
        found = LINE.findall(message.get("text", ""))
        if message.get("from", {}).get("id") != BOT_ID or not found:
            return
        self.answers_seen += 1
        one = self._by_line.get(found[-1])
        if one is None or one.answered_at is not None:
            return
        waiting = self._waiting[one.place.name]
        while waiting:
            answered = waiting.pop(0)
            answered.answered_at = time.time()
            if answered is one:
                break


@asynccontextmanager
async def open_chat_load(system: System, *, private: int, groups: int = 0) -> AsyncGenerator[ChatLoad]:
    """Open this many private chats and forums. Only events during the block are recorded.

    A forum has a person in General and one in each of two topics.
    """
    simulation = system.simulator.simulation
    places = [private_place(simulation, number) for number in range(private)]
    for number in range(groups):
        places += group_places(simulation, number)
    crowd = ChatLoad(simulation=simulation, places=places)
    simulation.queue.on_delivery = crowd.note_delivery
    async with reading_events(simulation, crowd.note_event):
        try:
            yield crowd
        finally:
            simulation.queue.on_delivery = None


def private_place(simulation: Simulation, number: int) -> Place:
    """Return a new person's private chat."""
    person = add_person(simulation, Newcomer(first_name=f"Person {number}"))
    return Place(chat_id=person.id, writer_id=person.id)


def group_places(simulation: Simulation, number: int) -> list[Place]:
    """Return the places of a new forum with three people:

    one in General, the others in a topic each. They mention the bot.
    """
    members = [add_person(simulation, Newcomer(first_name=f"Member {number} {at}")).id for at in range(3)]
    gathering = Gathering(
        title=f"Group {number}",
        type="supergroup",
        is_forum=True,
        members=tuple(members),
        topics=("One", "Two"),
    )
    chat = add_chat(simulation, gathering)
    mention = f"@{simulation.config.bot_username}"
    return [
        Place(chat_id=chat.id, writer_id=member, thread_id=topic.thread_id, mention=mention)
        for member, topic in zip(members, chat.topics, strict=False)
    ]


def context_of(place: Place, system: System) -> ContextRef:
    """Return the context of a place."""
    return system.context(place.chat_id, place.thread_id)


def partition_of_chat(chat_id: int, system: System) -> int:
    """Return the partition of a chat's updates."""
    return partition_of(chat_id, system.partitions)


def _line_of(update: Update) -> str:
    found = LINE.search(update.payload.get("text", "")) if update.kind == "message" else None
    return found[0] if found else ""


@dataclass(slots=True)
class BotMessages:
    """The bot's messages in each chat, in the order of their arrival."""

    by_chat: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    count: int = 0

    def take_in(self, event: Mapping[str, Any]) -> None:
        """Note an event of the chat page."""
        if event["type"] == "message" and event["message"].get("from", {}).get("id") == BOT_ID:
            self.by_chat[event["message"]["chat"]["id"]].append(event["message"].get("text", ""))
            self.count += 1


@asynccontextmanager
async def collect_bot_messages(simulator: Rig) -> AsyncGenerator[BotMessages]:
    """Collect the bot's messages while the block runs."""
    heard = BotMessages()
    async with reading_events(simulator.simulation, heard.take_in):
        yield heard


@asynccontextmanager
async def reading_events(simulation: Simulation, take_in: Any) -> AsyncGenerator[None]:
    """Pass each event of the chat page on while the block runs. Questions of /reset are confirmed."""

    def confirm_and_take_in(body: Mapping[str, Any]) -> None:
        confirm_reset(simulation, body)
        take_in(body)

    events = simulation.feed.read(None)
    first = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0)  # its place in the feed is taken: nothing is missed from here on
    task = asyncio.create_task(_hand_on(first, events, confirm_and_take_in), name="reading-events")
    try:
        yield
    finally:
        task.cancel()
        first.cancel()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError), ended


async def _hand_on(
    first: "asyncio.Future[Event | None]", events: AsyncIterator[Event | None], take_in: Any
) -> None:
    _hand(await first, take_in)
    async for event in events:
        _hand(event, take_in)


def _hand(event: Event | None, take_in: Any) -> None:
    if event is not None:
        take_in(event.body)


async def gather_people(simulator: Rig, count: int) -> list[int]:
    """Create people and return the ids of their private chats."""
    return [private_place(simulator.simulation, number).chat_id for number in range(count)]


def plan_lines(chats: Sequence[int], *, lines_each: int, waves: int, random: Random) -> Plan:
    """Return lines for each chat, a burst of at least one for each wave. Every line is unique."""
    plan: dict[int, Sequence[Sequence[str]]] = {}
    for chat in chats:
        lines = [f"line {number} of {chat}" for number in range(lines_each)]
        cuts = [0, *sorted(random.sample(range(1, lines_each), waves - 1)), lines_each]
        plan[chat] = [lines[begin:end] for begin, end in pairwise(cuts)]
    return plan


async def write_wave(simulator: Rig, heard: BotMessages, plan: Plan, number: int) -> None:
    """Write the burst of this wave in all chats at the same time. Return when all are answered."""
    async with asyncio.TaskGroup() as writing:
        for chat, bursts in plan.items():
            writing.create_task(_write(simulator, heard, chat, bursts[number]), name=f"writing-{chat}")


async def _write(simulator: Rig, heard: BotMessages, chat: int, burst: Sequence[str]) -> None:
    for line in burst:
        await simulator.say(chat, line)
    await until(
        lambda: any(text.endswith(burst[-1]) for text in heard.by_chat[chat]),
        within_s=ANSWERED_WITHIN_S,
        what=f"an answer to {burst[-1]!r}",
    )


def confirm_reset(simulation: Simulation, event: Mapping[str, Any]) -> None:
    """Press the button under the question of a /reset as its asker."""
    if event["type"] != "message" or event["message"].get("from", {}).get("id") != BOT_ID:
        return
    message = event["message"]
    for row in message.get("reply_markup", {}).get("inline_keyboard", []):
        for button in row:
            word, *about = button["callback_data"].split(":")
            if word == "reset":
                press = ButtonPress(
                    chat_id=message["chat"]["id"],
                    from_id=int(about[0]),
                    message_id=message["message_id"],
                    data=button["callback_data"],
                )
                press_button(simulation, press)
