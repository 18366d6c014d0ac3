"""R7: resets of every kind at any moment. No erased data remains anywhere."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from random import Random
from typing import Any, Literal, get_args

from chaos.card import Bench, Row, Score
from chaos.rig.chat_driver import ChatDriver, driving_chats
from chaos.rig.chat_load import Place
from chaos.rig.chat_places import ChatPlaces, make_chat_places
from chaos.rig.evidence import settled
from chaos.rig.program import Program, patiently, until, until_it_is
from chaos.rig.reset_checks import WORD, Forgotten, HoldingModel, Late, word
from chaos.rig.store_scan import file_words, points, redis_words
from chaos.rig.system import BOT_ID, System, running_system
from memory import keys
from simulator.api.faults import Fault
from tests.scripted_embeddings import Embeddings
from tests.story.index_points import message_id_of

Way = Literal["chat", "operator", "console", "forget", "all"]
Victim = Literal["work", "serve", "valkey", "index"]

BACKGROUND_WORK: Sequence[Late | None] = (None, "indexer", "summariser")
"""Late work for a command in the same context, which waits for the running turn there."""
ANY_WORK: Sequence[Late | None] = ("turn", "delivery", "tool", *BACKGROUND_WORK)

OPERATOR = Place(chat_id=1001, writer_id=1001)
LINES = 3
FILES_WITHIN_S = 60.0
ANSWERED_WITHIN_S = 90.0
"""Telegram tries an update whose webhook is dead after 0, 2, 6, 14 and 30 s: two kills may make it wait for so long."""
REACHED_WITHIN_S = 6.0
"""Time in which delayed work must start, or the reset begins without it. Compressions start every two seconds."""
PROMPTS_AFTER = 20
LONG_LINE = "the leaves of it turn to the window in the morning and back in the evening " * 30
_PROVEN, _INDEX_AWAY = "I checked: ", "isn't responding"
_NOTHING = "nothing to erase"
"""The wrong receipt: a reset that a kill interrupted has to repeat the counts of its first try."""
_RECEIPT = f"erased everything|{_NOTHING}"
_FILE_WORD = re.compile(WORD.pattern.encode())
_MESSAGE_ID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round: its messages, place, kind of reset, late work, and killed process."""

    number: int
    place: int
    way: Way
    late: Late | None = None
    kill: Victim | None = None

    def word(self, at: int) -> str:
        """Return the word of the line at this position."""
        return word(self.number * LINES + at)

    @property
    def words(self) -> list[str]:
        """Return all words of the round."""
        return [self.word(at) for at in range(LINES)]

    def tag(self, at: int) -> str:
        """Return the tag that identifies the answer to this line."""
        return f"t{self.number}x{at}"


def plan_rounds(
    random: Random, households: Sequence[ChatPlaces], *, resets: int, kills: int, consoles: int
) -> list[list[Round]]:
    """Plan the rounds of each chat, the same for the same seed.

    The console, which takes seconds, is used rarely.
    """
    planned: list[list[Round]] = [[] for _ in households]
    background, any_work = cycle(BACKGROUND_WORK), cycle(ANY_WORK)
    victims = dict(zip(random.sample(range(resets), kills), cycle(get_args(Victim)), strict=False))
    private = [each for each in range(resets) if len(households[each % len(households)].places) == 1]
    by_console = set(random.sample([each for each in private if each not in victims], consoles))
    for number in range(resets):
        at = number % len(households)
        is_group = len(households[at].places) > 1
        ways: list[Way] = ["chat", "all" if is_group else "operator"]
        if number not in victims:
            ways.append("forget")
        way: Way = "console" if number in by_console else random.choice(ways)
        places = range(len(households[at].places))
        place = random.choice(places[1:] if way == "all" else places)
        late = next(background if way in {"chat", "forget"} else any_work)
        planned[at].append(Round(number=number, place=place, way=way, late=late, kill=victims.get(number)))
    return planned


@dataclass(slots=True, kw_only=True)
class ResetRun:
    """The state of a run: the writers, erased words, and receipts."""

    bench: Bench
    system: System
    talk: ChatDriver
    model: HoldingModel
    workers: list[Program]
    serving: Program
    ids: Forgotten = field(default_factory=Forgotten)
    erasures: Counter[str] = field(default_factory=Counter[str])
    held: Counter[str] = field(default_factory=Counter[str])
    kills: Counter[str] = field(default_factory=Counter[str])
    receipts: Counter[str] = field(default_factory=Counter[str])
    points: int = 0
    console: asyncio.Lock = field(default_factory=asyncio.Lock)
    killing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One kill at a time: there is one `serve`, and a killed process is restarted before the next kill."""

    async def live(self, home: ChatPlaces, rounds: Sequence[Round]) -> None:
        """Run the rounds one after the other."""
        for each in rounds:
            await self.erase_during_work(home, each)
            done = self.erasures.total()
            if done % self.bench.pick(6, 100) == 0:
                self.bench.say(
                    f"{done:,} erasures, {self.kills.total()} kills, {self.model.requests:,} prompts"
                )
                await self.scan_the_store()

    async def erase_during_work(self, home: ChatPlaces, plan: Round) -> None:
        """Write words, delay some work on them, erase everything, and release the work."""
        place = home.places[plan.place]
        places = home.places if plan.way == "all" else [place]
        telegram_ids = [await self.write(each, plan, 0) for each in places[:-1]] if plan.way == "all" else []
        telegram_ids += [await self.write(place, plan, at) for at in range(LINES - 1)]
        telegram_ids.append(await self.write_last(place, plan))
        said = plan.words if plan.way == "forget" else ()
        erased = [each for one in places for each in await self.message_ids(one, said)]
        dying = asyncio.create_task(self.kill(plan.kill), name=f"kill-{plan.kill}")
        await self.erase(home, plan, telegram_ids)
        self.model.forgotten.forget(*plan.words)
        self.ids.forget(*erased)
        self.model.let_go(plan.words)
        await dying
        self.erasures[plan.way] += 1

    async def write(self, place: Place, plan: Round, at: int) -> int:
        """Write a word, wait for the answer, and return the id of the message."""
        manner = "quiet" if plan.way == "forget" else "keep"
        answer = asyncio.create_task(self.talk.wait_for(place, plan.tag(at), within_s=ANSWERED_WITHIN_S))
        await asyncio.sleep(0)
        more = LONG_LINE if plan.late == "summariser" and at == LINES - 1 else ""
        said = self.talk.send(place, f"{plan.tag(at)} {manner} that my plant is a {plan.word(at)} {more}")
        await answer
        return said

    async def write_last(self, place: Place, plan: Round) -> int:
        """Write the last line and delay some work on it. Return when that waits."""
        at = LINES - 1
        if plan.late == "delivery":
            return await self.write_and_delay_the_answer(place, plan)
        if plan.late is not None:
            self.model.hold(plan.late, plan.words if plan.late == "summariser" else plan.words[at:])
        if plan.late in {"turn", "tool"}:
            manner = "hold" if plan.late == "turn" else "search"
            said = self.talk.send(place, f"{plan.tag(at)} {manner} {plan.word(at)}")
            is_held = await self.model.reached(plan.word(at), within_s=ANSWERED_WITHIN_S)
        else:
            said = await self.write(place, plan, at)
            is_held = plan.late is not None and await self.model.reached(
                plan.word(at), within_s=REACHED_WITHIN_S
            )
        if is_held:
            self.held[plan.late or ""] += 1
        return said

    async def write_and_delay_the_answer(self, place: Place, plan: Round) -> int:
        """Write a line whose answer Telegram delays. It is in the outbox on return."""
        wait = Fault(error="429", chat_id=place.chat_id, method="sendmessage", retry_after=4)
        self.talk.simulation.faults.order(wait)
        said = self.talk.send(place, f"{plan.tag(LINES - 1)} keep that it is a {plan.word(LINES - 1)}")
        outbox = keys.context_key(self.system.context(place.chat_id, place.thread_id), "outbox")
        await until_it_is(1, partial(self.system.redis.call, "EXISTS", outbox), within_s=ANSWERED_WITHIN_S)
        self.held["delivery"] += 1
        return said

    async def erase(self, home: ChatPlaces, plan: Round, telegram_ids: Sequence[int]) -> None:
        """Erase in the planned way and wait for the receipt."""
        place = home.places[plan.place]
        match plan.way:
            case "chat":
                self.read_receipt(await self.ask(place, "/reset", _RECEIPT), plan)
            case "all":
                self.read_receipt(await self.ask(home.places[0], "/reset all", _RECEIPT), plan)
            case "operator":
                receipt = await self.ask(
                    OPERATOR, f"/reset {place.chat_id}", f"chat {place.chat_id}|{_NOTHING}"
                )
                self.read_receipt(receipt, plan)
            case "console":
                self.note_left(await self.reset_by_console(place), plan)
            case "forget":
                for message in telegram_ids:
                    self.read_receipt(await self.ask(place, "/forget", "orgotten", reply_to=message), plan)
                    await self.until_idle(place)

    async def until_idle(self, place: Place) -> None:
        """Wait until the chat is idle.

        A kill inside a send may repeat the receipt, which must not be taken for the next one.
        """
        ref = self.system.context(place.chat_id, place.thread_id)
        reads = [
            ("HEXISTS", keys.partition_key(ref.partition, "active"), ref.context_id),
            ("ZCARD", keys.context_key(ref, "box")),
        ]
        await until_it_is([0, 0], partial(self.system.redis.calls, reads), within_s=ANSWERED_WITHIN_S)

    async def ask(self, place: Place, text: str, words: str, *, reply_to: int | None = None) -> str:
        """Send a command and wait for the receipt."""
        return await self.talk.ask(place, text, words=words, within_s=ANSWERED_WITHIN_S, reply_to=reply_to)

    async def reset_by_console(self, place: Place) -> list[str]:
        """Reset by the console and return the remaining counts of its receipt.

        Repeat it if the store was down.
        """
        for _ in range(3):
            async with self.console:
                ended = await self.system.console("reset", str(place.chat_id), "--yes", "--json")
            if ended.out:
                receipt: dict[str, Any] = json.loads(ended.out)
                return [str(receipt[name]) for name in ("messages_left", "vectors_left", "others_left")]
        return ["no receipt"]

    def read_receipt(self, receipt: str, plan: Round) -> None:
        """Read in the first line of a receipt what is left: nothing, or what the index did not tell."""
        if _NOTHING in receipt:
            self.receipts[_NOTHING] += 1
            return
        verdict = receipt.partition("\n")[0]
        is_known = verdict.startswith((_PROVEN, "My search "))
        self.note_left(["0", "?" if _INDEX_AWAY in verdict else "0", "0"] if is_known else [verdict], plan)

    def note_left(self, left: Sequence[str], plan: Round) -> None:
        """Count a receipt by its result: nothing left, or, after a kill only, no answer of the index."""
        if set(left) == {"0"}:
            self.receipts["nothing left"] += 1
        elif self.kills.total() and left[0] == left[-1] == "0" and not left[1].isdigit():
            self.receipts["index away"] += 1
        elif plan.kill is not None:
            self.receipts["in doubt after a kill"] += 1
        else:
            self.receipts["something left"] += 1
            self.bench.say(f"left, of {plan}: {left}")

    async def kill(self, victim: Victim | None) -> None:
        """Kill a process with SIGKILL. Ours are restarted at once, a store by its guardian."""
        if victim is None:
            return
        async with self.killing:
            self.kills[victim] += 1
            match victim:
                case "work":
                    dying = self.workers.pop(0)
                    await dying.kill()
                    self.workers += await self.system.start("work")
                case "serve":
                    await self.serving.kill()
                    (self.serving,) = await self.system.start("serve")
                case _:
                    await until(
                        lambda: self.system.kill_server(victim),
                        within_s=ANSWERED_WITHIN_S,
                        what="a store to kill",
                    )

    async def message_ids(self, place: Place, words: Sequence[str] = ()) -> list[str]:
        """Return the ids of the stored messages there; with `words` only those that contain one."""
        ref = self.system.context(place.chat_id, place.thread_id)
        read = partial(self.system.redis.call, "HGETALL", keys.context_key(ref, "messages"))
        kept: dict[str, str] = await patiently(read)
        return [name for name, said in kept.items() if not words or any(each in said for each in words)]

    async def scan_the_store(self) -> None:
        """Search every key for erased words."""
        before = time.time()
        found = await patiently(partial(redis_words, self.system.redis, WORD))
        for each, places in found.items():
            self.model.forgotten.look(f"the store: {', '.join(sorted(places))}", each, before=before)

    async def name_erased_messages(self) -> set[str]:
        """Return the keys that name an erased message.

        Receipts of other answers do as long as these exist, without its text.
        """
        found = await patiently(
            partial(redis_words, self.system.redis, re.compile(_MESSAGE_ID.pattern.decode()))
        )
        named = set[str]().union(*(found.get(each, set()) for each in self.ids.since))
        return {key for key in named if ":receipt:" not in key or key.rpartition(":")[2] in self.ids.since}

    async def scan_the_index(self) -> None:
        """Search every point for erased words and for erased messages."""
        before = time.time()
        found = await points(self.system.index)
        self.points += len(found)
        for point in found:
            self.model.forgotten.look("the index", repr(point))
            message_id = message_id_of(point["payload"])
            if self.ids.since.get(message_id, before) < before:
                self.ids.seen.append(f"{message_id} in the index")

    def scan_the_chats(self) -> None:
        """Search the chats for words after their erasure. Telegram's dates are whole seconds."""
        world = self.talk.simulation.world
        for chat in world.chats:
            for message in world.newest(chat, 100_000):
                if message.sender_id == BOT_ID:
                    self.model.forgotten.look(f"chat {chat}", message.text, before=message.date - 1)

    def scan_the_logs(self) -> None:
        """Search the logs for any word."""
        logs = [*self.system.directory.glob("*.log"), *self.system.data_dir.glob("*/log")]
        self.model.forgotten.seen += [f"{each} in a log" for each in file_words(logs, _FILE_WORD)]

    async def in_files(self, *, older_s: float = 0.0) -> dict[str, set[str]]:
        """Return data that was erased at least this long ago and is still in the stores' files."""
        before = time.time() - older_s
        known = self.model.forgotten.since | self.ids.since
        folders = [self.system.data_dir]
        found = await asyncio.to_thread(file_words, folders, _FILE_WORD)
        # The store's receipts of answers may name a forgotten message, without a word of it.
        found |= await asyncio.to_thread(file_words, [self.system.data_dir / "index"], _MESSAGE_ID)
        return {each: files for each, files in found.items() if known.get(each, before) < before}

    async def watch_files(self) -> None:
        """Search the files repeatedly for data that must be gone by now."""
        while True:
            await asyncio.sleep(self.bench.pick(5, 20))
            for each, files in (await self.in_files(older_s=FILES_WITHIN_S)).items():
                self.model.forgotten.seen.append(f"{each} in {', '.join(sorted(files))} after a minute")

    async def until_files_are_clean(self) -> tuple[float, int]:
        """Return the seconds from the last erasure until the files are clean, and the remaining matches after 90 s."""
        last = max([*self.model.forgotten.since.values(), *self.ids.since.values()])
        while left := await self.in_files():
            if time.time() - last > 90:
                self.bench.say(f"in files: {[(each, *files) for each, files in left.items()][:5]}")
                break
            await asyncio.sleep(0.3)
        return time.time() - last, len(left)


async def run(bench: Bench) -> Score:
    """Write and erase in all chats in parallel. Then search every place for the erased words."""
    score, random, model = Score(), bench.random, HoldingModel(forgotten=Forgotten())
    async with _running(bench, model) as system, driving_chats(system) as talk:
        system.model.embeddings = Embeddings(gate=model.gate)
        serving, *workers = await system.start("serve", "work", "work")
        erasing = ResetRun(
            bench=bench, system=system, talk=talk, model=model, workers=workers, serving=serving
        )
        homes = make_chat_places(system, private=bench.pick(6, 40), groups=bench.pick(2, 10))
        resets = bench.pick(16, 2_000)
        planned = plan_rounds(
            random, homes, resets=resets, kills=bench.pick(4, 80), consoles=bench.pick(1, 40)
        )
        await _show_that_words_are_found(erasing, homes[0], score)
        watching = asyncio.create_task(erasing.watch_files(), name="watching-files")
        try:
            async with asyncio.TaskGroup() as living:
                for home, rounds in zip(homes, planned, strict=True):
                    living.create_task(erasing.live(home, rounds))
            sample = random.sample(homes, bench.pick(1, 10))
            await _ask_on(erasing, sample)
        finally:
            watching.cancel()
            (ended,) = await asyncio.gather(watching, return_exceptions=True)
        if not isinstance(ended, asyncio.CancelledError):
            raise RuntimeError(f"the watch of the files ended: {ended!r}")
        await settled(system.redis)
        await until_it_is(
            0, partial(system.redis.call, "XLEN", keys.partition_key(0, "work")), within_s=FILES_WITHIN_S
        )
        await erasing.scan_the_store()
        named = await erasing.name_erased_messages()
        score.exactly("keys that name an erased message, except receipts of other answers", len(named), 0)
        if named:
            score.note("the first of them", min(named))
        await erasing.scan_the_index()
        erasing.scan_the_logs()
        erasing.scan_the_chats()
        bench.say("the files")
        cleaned_s, left = await erasing.until_files_are_clean()
        score.exactly("erased words and ids that stay in the files", left, 0)
        score.at_most(
            "seconds from the last erasure until the files contain nothing erased",
            cleaned_s,
            FILES_WITHIN_S,
            is_timed=True,
        )
    _judge(erasing, score)
    return score


def _running(bench: Bench, model: HoldingModel) -> AbstractAsyncContextManager[System]:
    return running_system(
        bench.directory,
        model,
        OPENAI_EMBEDDING_MODEL="scripted-embedding",
        options={"compression_tokens": 500},
        STREAMING="false",
    )


async def _show_that_words_are_found(erasing: ResetRun, home: ChatPlaces, score: Score) -> None:
    """Check that the search finds words before they are erased."""
    before = Round(number=300_000_000, place=0, way="chat")
    await erasing.write(home.places[0], before, 0)
    await erasing.system.redis.call("WAITAOF", 1, 0, 1000)
    stored = before.word(0) in await redis_words(erasing.system.redis, WORD)
    in_files = before.word(0) in file_words([erasing.system.data_dir], _FILE_WORD)
    ids = set(await erasing.message_ids(home.places[0]))
    await until(
        lambda: not ids.isdisjoint(file_words([erasing.system.data_dir / "index"], _MESSAGE_ID)),
        within_s=ANSWERED_WITHIN_S,
        what="a message id in the files of the index",
        look_again_s=0.2,
    )
    score.exactly("places that contain a word before it is erased (store, files)", stored + in_files, 2)
    erasing.ids.forget(*await erasing.message_ids(home.places[0]))
    erasing.read_receipt(await erasing.ask(home.places[0], "/reset", _RECEIPT), before)
    erasing.model.forgotten.forget(before.word(0))


async def _ask_on(erasing: ResetRun, homes: Sequence[ChatPlaces]) -> None:
    """Send this many more prompts in each of these chats. The model checks each."""

    async def ask(home: ChatPlaces, number: int) -> None:
        for at in range(PROMPTS_AFTER):
            tag = f"t{400_000_000 + number}x{at}"
            await erasing.talk.ask(
                home.places[0], f"{tag} what is my plant called?", words=tag, within_s=ANSWERED_WITHIN_S
            )

    async with asyncio.TaskGroup() as asking:
        for number, home in enumerate(homes):
            asking.create_task(ask(home, number))


def _judge(erasing: ResetRun, score: Score) -> None:
    forgotten, ids = erasing.model.forgotten, erasing.ids
    for each in [*forgotten.seen, *ids.seen][:10]:
        erasing.bench.say(each)
    score.exactly(
        "erased words seen again (prompts, store, vectors, chats, logs, files)", len(forgotten.seen), 0
    )
    score.exactly("vectors of erased messages", len(ids.seen), 0)
    score.exactly("receipts that say something is left", erasing.receipts["something left"], 0)
    score.exactly("receipts that say there was nothing to erase", erasing.receipts[_NOTHING], 0)
    score.at_least(
        "receipts that say nothing is left", erasing.receipts["nothing left"], erasing.bench.pick(8, 1_500)
    )
    score.note("erasures", _counts(erasing.erasures))
    score.at_least(
        "late work, delayed until after the erasure", erasing.held.total(), erasing.bench.pick(5, 700)
    )
    score.at_least("kinds of late work", len(erasing.held), erasing.bench.pick(4, 5))
    score.at_least("vectors checked at the end", erasing.points, 1)
    score.note("late work by kind", _counts(erasing.held))
    score.note("kill -9 during an erasure", _counts(erasing.kills))
    score.note("receipts", _counts(erasing.receipts))
    score.note("prompts checked", erasing.model.requests)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counter.items())) or "none"


ROW = Row(
    name="R7",
    title="reset",
    load="{16|2,000} erasures during traffic, in {8|50} chats and their topics: `/reset`, `/reset all`, resets by an "
    "operator and by the console, and `/forget` of each message",
    fault="a late turn, tool, delivery, indexer, summariser; {4|80} kill -9 of workers, webhook and stores meanwhile",
    hold="0 erased words in store, vectors, logs, journal, outbox and later prompts, and within 60 s in the files; "
    "the receipt equals what reading back finds",
    run=run,
)
