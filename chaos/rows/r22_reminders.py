"""R22: workers are killed while reminders are due. Each reminder is sent once, and none is lost."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import Place, private_place, reading_events
from chaos.rig.command_monitor import CommandMonitor, monitoring_commands
from chaos.rig.evidence import settled, whole_history
from chaos.rig.fleet import Fleet, cut_twice
from chaos.rig.measures import percentile
from chaos.rig.program import until_it_is
from chaos.rig.system import BOT_ID, System, running_system
from memory import keys
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder, reminder_id
from tests.scripted_script import echo

TEXT = re.compile(r"remind \d+ of \d+")
HOUR_S = 3600
WORKERS = 2
KINDS = 3
"""Every third reminder is a task of the agent, every third repeats each hour, the others are texts."""


@dataclass(slots=True, kw_only=True)
class ReminderRun:
    """A run: its chats, their reminders, and the times at which the bot's messages were first seen."""

    bench: Bench
    system: System
    places: Sequence[Place]
    due: dict[str, float] = field(default_factory=dict[str, float])
    """The date of each reminder, by its text."""
    seen_at: dict[str, float] = field(default_factory=dict[str, float])

    async def set_all(self, count: int, *, within_s: int) -> None:
        """Store reminders whose dates are within a time that begins soon."""
        begin = int(time.time()) + self.bench.pick(2, 30)
        for number in range(count):
            await self.set(number, float(begin + number * within_s // count))

    async def set(self, number: int, due_at: float) -> None:
        """Store one reminder."""
        place = self.places[number % len(self.places)]
        words, kind = f"remind {number} of {place.chat_id}", number % KINDS
        reminder = Reminder(
            id=reminder_id(words),
            text=words,
            runs_agent=kind == 1,
            due_at=due_at,
            zone="UTC",
            starts_at=f"{datetime.fromtimestamp(due_at, UTC):%Y-%m-%dT%H:%M:%S}",
            repeats="FREQ=HOURLY" if kind == 2 else "",
            person_id=place.writer_id,
            person_name="Somebody",
            chat_id=place.chat_id,
            chat_type="private",
            created_at=time.time(),
        )
        store = RedisReminders(self.system.redis, clock=time.time)
        assert await store.add(self.system.context(place.chat_id), reminder, epoch=0) == "added"
        self.due[words] = due_at

    def note_event(self, event: Mapping[str, Any]) -> None:
        """Note when a reminder is first seen."""
        if event["type"] == "message" and event["message"]["from"]["id"] == BOT_ID:
            for words in TEXT.findall(event["message"].get("text", "")):
                self.seen_at.setdefault(words, time.time())

    async def kill_until_over(self, fleet: Fleet, *, pause_s: float) -> None:
        """Kill one of two ready workers after each pause until every reminder was seen."""
        random, deadline = self.bench.random, time.monotonic() + self.bench.pick(60, 1_800)
        while len(self.seen_at) < len(self.due) and time.monotonic() < deadline:
            await asyncio.sleep(pause_s)
            workers = fleet.running("work")
            if len(fleet.kills) < self.bench.pick(3, 1_000) and len(workers) == WORKERS:
                await fleet.kill(random.choice(workers))
            self.bench.say(f"{len(self.seen_at):,} of {len(self.due):,} reminders, {len(fleet.kills)} kills")

    async def count_late(self) -> int:
        """Return the number of reminders that are due and not fired."""
        due = keys.partition_key(0, "due")
        return int(await self.system.redis.call("ZCOUNT", due, "-inf", time.time()))

    async def dates_ahead(self) -> dict[str, float]:
        """Return the dates that are scheduled, by the texts of their reminders."""
        store = RedisReminders(self.system.redis, clock=time.time)
        chats = [await store.list(self.system.context(place.chat_id)) for place in self.places]
        return {reminder.text: reminder.due_at for chat in chats for reminder in chat}

    async def judge(self, score: Score, fleet: Fleet, witness: CommandMonitor) -> None:
        """Count each reminder in its history and in its chat."""
        kept: Counter[str] = Counter()
        shown: Counter[str] = Counter()
        for place in self.places:
            for message in await whole_history(self.system.redis, self.system.context(place.chat_id)):
                is_task = any(_number(words) % KINDS == 1 for words in TEXT.findall(message.text))
                if message.role == "user" or not is_task:
                    kept.update(TEXT.findall(message.text))
            for sent in self.system.simulator.simulation.world.newest(place.chat_id, 10_000):
                shown.update(TEXT.findall(sent.text))
        next_dates = {words: at + HOUR_S for words, at in self.due.items() if _number(words) % KINDS == 2}
        again = sum(len(sending.repeated_at) for sending in witness.sendings)
        lost = [words for words in self.due if words not in shown]
        given_up = cut_twice(fleet.kills, witness.sendings)
        score.at_most("reminders that were lost, except sends that two kills cut", len(lost), given_up)
        score.exactly(
            "reminders that are not in the memory once", sum(kept[each] != 1 for each in self.due), 0
        )
        score.exactly("wrong dates ahead", len((await self.dates_ahead()).items() ^ next_dates.items()), 0)
        score.exactly("messages without a reminder", len(shown.keys() - self.due.keys()), 0)
        score.at_most("copies of one reminder beyond the first", max(shown.values(), default=1) - 1, 1)
        score.at_most("reminders seen twice after a kill during the send", shown.total() - len(shown), again)
        score.at_least("reminders", len(self.due), self.bench.pick(60, 10_000))
        score.at_least("kills of workers", len(fleet.kills), self.bench.pick(1, 20))
        late = sorted(self.seen_at[each] - at for each, at in self.due.items() if each in self.seen_at)
        score.note("seconds from the date to the message: p50, p99, longest", _seconds(late))
        score.note("sends cut by a kill", again)


def _number(words: str) -> int:
    return int(words.split()[1])


def _seconds(late: Sequence[float]) -> str:
    return ", ".join(
        f"{each:.1f}" for each in (percentile(late, 0.5), percentile(late, 0.99), max(late, default=0))
    )


async def run(bench: Bench) -> Score:
    """Set reminders, kill workers while they are due, let the last ones finish, and count."""
    score = Score()
    async with (
        running_system(bench.directory, echo, STREAMING="false") as system,
        monitoring_commands(system.redis_socket) as witness,
    ):
        places = [private_place(system.simulator.simulation, at) for at in range(bench.pick(10, 500))]
        playing = ReminderRun(bench=bench, system=system, places=places)
        async with reading_events(system.simulator.simulation, playing.note_event):
            async with asyncio.TaskGroup() as group:
                fleet = Fleet(system=system, group=group)
                await fleet.start(*["work"] * WORKERS)
                await playing.set_all(bench.pick(60, 10_000), within_s=bench.pick(6, 60))
                await playing.kill_until_over(fleet, pause_s=bench.pick(2, 10))
            await until_it_is(0, playing.count_late, within_s=60.0)
            await settled(system.redis)
        await playing.judge(score, fleet, witness)
    return score


ROW = Row(
    name="R22",
    title="reminders",
    load="{60|10,000} reminders of {10|500} chats, due within {6 s|one minute}: "
    "texts, tasks of the agent, and some that repeat",
    fault="kill -9 of one of two workers every {2 seconds, at most three|10 seconds until all are sent}",
    hold="each is in the memory once, none is lost, and one is seen twice only if a kill fell inside its send",
    run=run,
)
