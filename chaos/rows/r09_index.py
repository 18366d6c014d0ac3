"""R9:

a tenth of the requests to the index fails, and it is killed. Everyone is answered, and the vectors catch up.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence

import httpx

from chaos.card import Bench, Row, Score
from chaos.rig.dialogue import Dialogues, dialogues
from chaos.rig.evidence import ECHO
from chaos.rig.index_proxy import IndexFaults, IndexProxy, proxied_index
from chaos.rig.measures import percentile
from chaos.rig.program import until
from chaos.rig.system import System, running_system
from memory.history.message import is_indexed
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, partition_key
from memory.recall.qdrant.points import point_id, scope_of
from tests.scripted_script import echo
from tests.story.index_points import every_point, message_id_of

EVERY = 10
WORKERS = 2
HEALED_WITHIN_S = 60.0
GIVEN_UP_AFTER_S = 60.0

SAME_TIME_S = 0.001
"""Allowed difference of two times. Rounded to it, some of 20,000 differed in their last digit."""

Facts = tuple[float, tuple[object, ...]]
"""Facts of the index about a message: its time; its scope, role, place and writer."""


async def run(bench: Bench) -> Score:
    """Let many people talk with recall while the index fails. Then compare it with the history."""
    score = Score()
    chats, lines = bench.pick(40, 200), bench.pick(4, 50)
    async with (
        running_system(bench.directory, echo, STREAMING="false", seed=bench.seed) as system,
        proxied_index(system.index.url) as proxy,
        dialogues(system, chats=chats) as talk,
    ):
        proxy.keeps_searches = False
        way = {"QDRANT_URL": proxy.url, "QDRANT_API_KEY": system.index.api_key}
        await system.start("serve", *["work"] * WORKERS, **way)
        slow_s = bench.pick(3, 8)  # a client waits 6 s
        proxy.fail(IndexFaults(every=EVERY, slow_s=slow_s, seed=bench.seed))
        bench.say(f"{chats * lines:,} turns")
        async with asyncio.TaskGroup() as group:
            group.create_task(kill_index(system, talk, after=chats * lines // 2, bench=bench))
            group.create_task(talk.hold(lines, within_s=GIVEN_UP_AFTER_S))
        proxy.fail(None)
        bench.say("healed")
        await judge(score, system, talk, proxy)
    return score


async def kill_index(system: System, talk: Dialogues, *, after: int, bench: Bench) -> None:
    """Kill the index with SIGKILL after this many lines. Its guardian restarts it."""
    await until(lambda: len(talk.exchanges) >= after, within_s=3600, look_again_s=0.05)
    await until(lambda: system.kill_server("index"), within_s=30, what="an index to kill")
    bench.say("the index was killed")


async def judge(score: Score, system: System, talk: Dialogues, proxy: IndexProxy) -> None:
    """Check the answers, and when the index matches the history."""
    began = time.monotonic()
    asked, said = len(talk.exchanges), sum(one.text == ECHO + one.line for one in talk.exchanges)
    refs = [system.context(chat) for chat in talk.chats]
    wrong = await wait_until_equal(system, refs)
    healed_s = time.monotonic() - began
    wanted = await told_by_history(system, refs)
    score.exactly("turns answered", said, asked)
    score.exactly("points that are missing, wrong or too many", len(wrong), 0)
    if wrong:
        score.note("the first of them", "; ".join(wrong[:4]))
    score.at_most(
        "s after the last fault until vectors equal the history", healed_s, HEALED_WITHIN_S, is_timed=True
    )
    score.at_least("messages in the history", len(wanted), 2 * asked)
    # Recall pauses after two timeouts, so turns go on without searches while the index is away.
    score.at_least("searches, faults included", proxy.asked, asked // 8, is_timed=True)
    waits = [one.waited_s for one in talk.exchanges]
    failed = proxy.failed.total() / max(proxy.requests, 1)
    score.at_least("share of the requests to the index that failed", failed, 0.6 / EVERY)
    score.note("turns", f"{asked:,}, with {proxy.requests:,} requests to the index meanwhile")
    score.note("faults", ", ".join(f"{kind} {count:,}" for kind, count in sorted(proxy.failed.items())))
    score.note(
        "wait for an answer, s", f"p50 {percentile(waits, 0.5):.2f}, p99 {percentile(waits, 0.99):.2f}"
    )


async def wait_until_equal(system: System, refs: Sequence[ContextRef]) -> list[str]:
    """Wait until index and history match. Return the differences after HEALED_WITHIN_S."""
    deadline = time.monotonic() + HEALED_WITHIN_S
    while True:
        differing = await differences(system, refs)
        if not differing or time.monotonic() > deadline:
            return differing
        await asyncio.sleep(0.5)


async def differences(system: System, refs: Sequence[ContextRef]) -> list[str]:
    """Return points that only one of both has or that differ. Waiting work counts as one."""
    if await system.redis.call("XLEN", partition_key(0, "work")):
        return ["work waits"]
    wanted = await told_by_history(system, refs)
    try:
        found = [(str(point["id"]), facts_of(point["payload"])) async for point in every_point(system.index)]
    except httpx.TransportError:
        return ["the index is away"]
    there = dict(found)
    return [
        *(f"missing: {point}" for point in wanted.keys() - there.keys()),
        *(f"too many: {point}" for point in there.keys() - wanted.keys()),
        *(
            f"wrong: {there[point]} for {facts}"
            for point, facts in wanted.items()
            if is_other(facts, there.get(point))
        ),
        *(f"twice: {point}" for point in twice(point for point, _ in found)),
    ]


def is_other(wanted: Facts, found: Facts | None) -> bool:
    """Return True if the index has other facts about a message."""
    return found is not None and (found[1] != wanted[1] or abs(found[0] - wanted[0]) > SAME_TIME_S)


async def told_by_history(system: System, refs: Sequence[ContextRef]) -> dict[str, Facts]:
    """Return each message that recall can find, by its point id."""
    store, told = RedisHistory(system.redis), dict[str, Facts]()
    for ref in refs:
        epoch = (await store.load(ref, limit=0)).epoch
        for message in await store.page(ref, after_sequence=-1, limit=100_000, whole=True):
            if is_indexed(message):
                sender = message.sender.id if message.sender else None
                place = (message.id, ref.context_id, epoch, scope_of(ref.context_id, epoch))
                facts = (message.sent_at, (*place, message.role, message.sequence, sender))
                told[point_id(ref.context_id, message.id)] = facts
    return told


def facts_of(payload: dict[str, object]) -> Facts:
    """Return the facts of a point."""
    names = ("context", "epoch", "scope", "role", "sequence", "sender_id")
    others = (payload.get(name) for name in names)
    return float(str(payload["sent_at"])), (message_id_of(payload), *others)


def twice(points: Iterable[str]) -> list[str]:
    """Return the points in more than one collection."""
    seen: set[str] = set()
    return [point for point in points if point in seen or seen.add(point)]


ROW = Row(
    name="R9",
    title="Qdrant",
    load="{160|10,000} turns with recall in {40|200} chats",
    fault="10 % of the requests to the index are not answered, slow (up to {3|8} s) or answered 500; one kill -9 of it",
    hold="100 % answered; vectors equal the history within 60 s after the last fault",
    run=run,
)
