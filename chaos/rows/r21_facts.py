"""R21:

kill -9 in the middle of an extraction of facts, with forgets, edits and resets during it. Facts and history match.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from random import Random
from typing import Literal

from chaos.card import Bench, Row, Score
from chaos.rig.chat_driver import ChatDriver, driving_chats
from chaos.rig.chat_load import Place, private_place
from chaos.rig.evidence import settled
from chaos.rig.program import Program, until, until_it_is
from chaos.rig.reading_model import ReadingModel
from chaos.rig.reset_checks import WORD, Forgotten, word
from chaos.rig.store_scan import points, redis_words
from chaos.rig.system import System, running_system
from chaos.rig.tcp_proxy import NONE, Faults
from memory import keys
from memory.facts.redis_facts import RedisFacts
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from simulator.api.people import Line, edit_line
from tests.story.index_points import message_id_of

Disturbance = Literal["nothing", "forget", "edit", "reset"]
Moment = Literal["before the save", "at any time"]

LINES = 3
READ_EVERY = 2
"""After every second round all messages are read, so that the next one erases some whose facts are stored."""
DISTURBANCES: Sequence[Disturbance] = ("forget", "edit", "nothing", "reset", "edit")
"""One of them in each chat and round."""
MOMENTS: Sequence[Moment] = ("before the save", "at any time")
PARTITIONS = 4
"""A worker has an extractor for each."""
OPERATOR = Place(chat_id=1001, writer_id=1001)
WITHIN_S = 60.0
IN_THE_PROXY_S = 0.15
"""Time for the reply of the model to reach the worker, whose way to the store swallows everything."""
SOON_S = 0.06
"""A save takes some milliseconds: a kill within this time hits it, or comes right before or after it."""


@dataclass(slots=True, kw_only=True)
class FactRun:
    """The state of a run: the chats with the words of their messages, and the worker."""

    bench: Bench
    system: System
    talk: ChatDriver
    model: ReadingModel
    places: Sequence[Place]
    worker: Program
    facts: RedisFacts
    random: Random
    numbers: Iterator[int] = field(default_factory=count)
    kept: dict[int, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """The words of each chat's messages that nobody has erased, with Telegram's number of the message."""
    erased_ids: set[str] = field(default_factory=set[str])
    disturbances: Counter[str] = field(default_factory=Counter[str])
    kills: Counter[str] = field(default_factory=Counter[str])

    async def play(self, number: int) -> None:
        """Write in every chat, disturb the extractions while the model answers, and kill the worker after that."""
        self.model.hold()
        async with asyncio.TaskGroup() as chats:
            for at, place in enumerate(self.places):
                disturbance = DISTURBANCES[(at + number) % len(DISTURBANCES)]
                chats.create_task(self.write_and_disturb(place, disturbance, at=(at + number) % LINES))
        await self.kill(MOMENTS[number % len(MOMENTS)])

    async def write_and_disturb(self, place: Place, disturbance: Disturbance, *, at: int) -> None:
        """Write some lines, start an extraction, and erase or change the line at this position during it."""
        words = [word(next(self.numbers)) for _ in range(LINES)]
        for each in words:
            self.kept[place.chat_id][each] = await self.write(place, each)
        await self.facts.hurry(self.system.context(place.chat_id))
        await until(lambda: self.model.waiting > 0, within_s=WITHIN_S, what="an extraction")
        # One of these lines, and the oldest one, which earlier rounds may have read.
        victims = {words[at], next(iter(self.kept[place.chat_id]))}
        if disturbance == "reset":
            await self.erase(place, self.kept[place.chat_id].copy())
        elif disturbance == "nothing":
            await self.write(place, "")
        for each in sorted(victims) if disturbance in {"forget", "edit"} else ():
            await self.change(place, each, disturbance)
        self.disturbances[disturbance] += 1

    async def change(self, place: Place, said: str, disturbance: Disturbance) -> None:
        """Forget the message with this word, or put another word into it."""
        telegram_id = self.kept[place.chat_id][said]
        if disturbance == "forget":
            await self.erase(place, {said: telegram_id})
            return
        changed = word(next(self.numbers))
        line = Line(chat_id=place.chat_id, from_id=place.writer_id, text=f"my plant is called {changed}")
        edit_line(self.talk.simulation, line, telegram_id)
        await self.write(place, "")  # the lines of a chat are in order, so the edit is over then
        self.note_erased(place, [said])
        self.kept[place.chat_id][changed] = telegram_id

    async def erase(self, place: Place, said: Mapping[str, int]) -> None:
        """Erase the message with this word by /forget, or all of them by a reset."""
        stored = {each: one.id for one in await self.messages(place) for each in WORD.findall(one.text)}
        if len(said) == 1:
            await self.ask(place, "/forget", "orgotten", reply_to=next(iter(said.values())))
        else:
            await self.ask(OPERATOR, f"/reset {place.chat_id}", f"chat {place.chat_id}")
        self.note_erased(place, said)
        self.erased_ids.update(stored[each] for each in said)

    async def write(self, place: Place, said: str) -> int:
        """Write a line with this word, wait for the answer, and return the id of the message."""
        tag = f"t{place.chat_id}x{next(self.numbers)}"
        answer = asyncio.create_task(self.talk.wait_for(place, tag, within_s=WITHIN_S))
        await asyncio.sleep(0)
        sent = self.talk.send(place, f"{tag} my plant is called {said}" if said else f"{tag} is it raining?")
        await answer
        return sent

    async def ask(self, place: Place, text: str, words: str, *, reply_to: int | None = None) -> None:
        """Send a command and wait for its receipt."""
        await self.talk.ask(place, text, words=words, within_s=WITHIN_S, reply_to=reply_to)

    def note_erased(self, place: Place, words: Iterable[str]) -> None:
        """Note that these words must not be seen from now on."""
        for each in list(words):
            del self.kept[place.chat_id][each]
            self.model.forgotten.forget(each)

    async def kill(self, moment: Moment) -> None:
        """Let the model answer, kill the worker at this moment of its extractions, and start another one."""
        way = self.system.proxies["redis"]
        self.kills[moment] += self.model.waiting
        if moment == "before the save":
            way.faults = Faults(blackhole=True)
        self.model.let_go()
        await asyncio.sleep(IN_THE_PROXY_S if moment == "before the save" else self.random.uniform(0, SOON_S))
        await self.worker.kill()
        way.faults = NONE
        way.reset_all()  # a connection that lost data stays silent
        (self.worker,) = await self.system.start("work")

    async def messages(self, place: Place) -> list[Message]:
        """Return every stored message of a chat."""
        history = RedisHistory(self.system.redis)
        return await history.page(self.system.context(place.chat_id), after_sequence=-1, limit=10_000)

    async def finish(self) -> None:
        """Wait until nothing is unread and every vector is written."""
        for place in self.places:
            await self.facts.hurry(self.system.context(place.chat_id))
        await until_it_is(0, self.count_unread, within_s=WITHIN_S)
        work = [("XLEN", keys.partition_key(number, "work")) for number in range(PARTITIONS)]
        await until_it_is([0] * PARTITIONS, partial(self.system.redis.calls, work), within_s=WITHIN_S)

    async def count_unread(self) -> int:
        """Return the number of messages of all chats that no extraction has read."""
        return sum([await self.facts.count_unread(self.system.context(each.chat_id)) for each in self.places])

    async def judge(self, score: Score) -> None:
        """Compare the facts of each chat with its messages, and search the stores for erased words."""
        total, orphans, copies, missing, strange = 0, 0, 0, 0, 0
        for place in self.places:
            page = await self.facts.list(self.system.context(place.chat_id), limit=10_000)
            ids = {each.id for each in await self.messages(place)}
            said = {each for fact in page.facts for each in WORD.findall(fact.statement)}
            read = {each for fact in page.facts for each in WORD.findall(fact.subject)}
            total += page.total
            orphans += sum(not ids.issuperset(fact.message_ids) for fact in page.facts)
            copies += sum(times - 1 for times in Counter(fact.statement for fact in page.facts).values())
            missing += len(self.kept[place.chat_id].keys() - read)
            strange += len(said - self.kept[place.chat_id].keys())
        before = time.time()
        for each, where in (await redis_words(self.system.redis, WORD)).items():
            self.model.forgotten.look(f"the store: {', '.join(sorted(where))}", each, before=before)
        found = await points(self.system.index)
        left = [point for point in found if message_id_of(point["payload"]) in self.erased_ids]
        for each in self.model.forgotten.seen[:10]:
            self.bench.say(each)
        score.exactly("facts that cite a message that does not exist", orphans, 0)
        score.exactly("facts that are there twice", copies, 0)
        score.exactly("messages that nobody has read for facts", missing, 0)
        score.exactly("facts of erased words or of another chat", strange, 0)
        score.exactly("erased words seen again (prompts, store)", len(self.model.forgotten.seen), 0)
        score.exactly("points of erased messages", len(left), 0)
        score.at_least("facts", total, self.bench.pick(10, 1_000))
        score.at_least("extractions that a kill cut", self.kills.total(), self.bench.pick(3, 80))
        score.note("kills", ", ".join(f"{count} {name}" for name, count in sorted(self.kills.items())))
        score.note(
            "during extractions", ", ".join(f"{n} {name}" for name, n in sorted(self.disturbances.items()))
        )
        score.note("requests for facts", self.model.extractions)


async def run(bench: Bench) -> Score:
    """Play the rounds, let the last worker finish, and compare facts with messages."""
    score, model = Score(), ReadingModel(forgotten=Forgotten())
    async with (
        running_system(
            bench.directory, model, through=["redis"], STREAMING="false", PARTITIONS=str(PARTITIONS)
        ) as system,
        driving_chats(system) as talk,
    ):
        _, worker = await system.start("serve", "work")
        places = [private_place(system.simulator.simulation, at) for at in range(bench.pick(6, 40))]
        facts = RedisFacts(system.redis, clock=time.time)
        playing = FactRun(
            bench=bench,
            random=bench.random,
            system=system,
            talk=talk,
            model=model,
            places=places,
            worker=worker,
            facts=facts,
        )
        for number in range(bench.pick(3, 40)):
            await playing.play(number)
            if number % READ_EVERY == 0:
                model.let_go()
                await playing.finish()
            bench.say(f"round {number}: {model.extractions} requests for facts")
        model.let_go()
        await playing.finish()
        await settled(system.redis)
        await playing.judge(score)
    return score


ROW = Row(
    name="R21",
    title="facts",
    load="{54|4,800} messages in {6|40} chats, each with a fact to extract; "
    "`/forget`, edits and resets during the extractions",
    fault="kill -9 of the worker in each of {3|40} rounds, "
    "between the model's reply and the save, or at any moment around it",
    hold="every fact cites existing messages, none is there twice, no message stays unread, and no erased word is seen",
    run=run,
)
