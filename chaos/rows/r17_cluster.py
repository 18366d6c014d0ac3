"""R17: crashes, order and resets on a cluster of three masters, and lost masters."""

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import Acknowledged, ChatLoad, open_chat_load, partition_of_chat
from chaos.rig.evidence import settled
from chaos.rig.program import Program, until
from chaos.rig.store_scan import redis_words
from chaos.rig.system import LEASE_S, System, running_system
from chaos.rig.verdict import TERMINAL, judge, states_of
from memory.errors import StoreUnavailable
from memory.keys import partition_key
from memory.redis.client import Command, RedisClient
from tests.scripted_script import echo
from tests.valkey_cluster import ReplicatedCluster, replicated_cluster

PARTITIONS = 8
PER_SECOND = 40
WITHIN_S = 120.0
_CANARY = re.compile(r"canary-\d+")
_CROSSED = re.compile("CROSSSLOT|must map to the same|hash to the same slot")
"""As a node says it, and redis-py: of what it refuses to send, and of a node's refusal."""
_BATCH = 50
"""Raw writes that are acknowledged together, of so many bytes each; a lag is so many of them."""
_BYTES = 20_000
LAG = 1_200


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The setup of the row."""

    bench: Bench
    score: Score
    cluster: ReplicatedCluster
    system: System


@dataclass(slots=True, kw_only=True)
class Raw:
    """Direct writes to the lost master: those that it acknowledged, with `more` after each batch."""

    name: str
    more: Sequence[Command]
    acknowledged: list[str] = field(default_factory=list[str])
    lost: int = 0


async def run(bench: Bench) -> Score:
    """Run the suite on a whole cluster. Then lose one master after the other under load."""
    score = Score()
    async with (
        _a_cluster(bench) as cluster,
        running_system(
            bench.directory, echo, redis_url=cluster.url, PARTITIONS=str(PARTITIONS), STREAMING="false"
        ) as system,
    ):
        scene = Scene(bench=bench, score=score, cluster=cluster, system=system)
        _, *workers = await system.start("serve", "work", "work")
        bench.say("a crash, a stop and a restart of workers")
        await _lose_workers(scene, workers)
        bench.say("resets")
        await _reset(scene)
        crossed = await _cross_slots(scene)  # before masters are lost, and their counts with them
        for victim in range(bench.pick(1, cluster.masters)):
            bench.say(f"master {victim} is lost")
            await _fail_over(scene, victim)
        score.exactly("CROSSSLOT answers", max(crossed, await _cross_slots(scene)), 0)
        score.exactly("processes that ended", _ended(system.programs), 1)  # the worker that was killed
    return score


@asynccontextmanager
async def _a_cluster(bench: Bench) -> AsyncGenerator[ReplicatedCluster]:
    directory = bench.directory / "cluster"
    directory.mkdir()
    async with replicated_cluster(
        directory,
        appendfsync="always",
        maxmemory_policy="noeviction",
        cluster_node_timeout="1000",
        cluster_replica_validity_factor="0",
    ) as cluster:
        yield cluster


async def _lose_workers(scene: Scene, workers: Sequence[Program]) -> None:
    """Kill one worker and stop another past its lease under load.

    Nothing is lost, repeated or out of order.
    """
    system, bench = scene.system, scene.bench
    async with open_chat_load(system, private=24, groups=4) as crowd:
        writing = asyncio.create_task(
            crowd.write_steadily(
                bench.pick(90, 3_000),
                per_second=PER_SECOND,
                random=bench.random,
                burst=3,
                at_most_waiting=200,
            ),
            name="writing",
        )
        await until(lambda: crowd.answers_seen >= 20, within_s=WITHIN_S, what="answers")
        await workers[0].kill()
        await system.start("work")
        os.kill(workers[1].process.pid, signal.SIGSTOP)
        await asyncio.sleep(LEASE_S + 1)
        os.kill(workers[1].process.pid, signal.SIGCONT)
        await writing
        await crowd.give_up_waiting(within_s=WITHIN_S)
        await settled(system.redis, within_s=WITHIN_S)
        verdict = await judge(system, crowd)
        verdict.hold(scene.score, lines=bench.pick(90, 3_000))
        scene.score.exactly("lines without an answer", crowd.waiting, 0)
        scene.score.at_most(
            "copies of one answer beyond the first", max(verdict.answers_twice.values(), default=0), 1
        )


async def _reset(scene: Scene) -> None:
    """Reset chats during their talk. No node and no log has their words."""
    system = scene.system
    async with open_chat_load(system, private=scene.bench.pick(10, 100)) as crowd:
        for number, place in enumerate(crowd.places):
            crowd.write(place, more=f"and canary-{number}")
        await crowd.until_answered()
        before = await redis_words(system.redis, _CANARY)
        for number, place in enumerate(crowd.places):
            crowd.write(place, more=f"late canary-{number}")
            await system.simulator.say(place.chat_id, "/reset")
        await until(
            lambda: all(any("erased" in said for said in crowd.answers(place)) for place in crowd.places),
            within_s=WITHIN_S,
            what="a receipt in each chat",
        )
        await settled(system.redis, within_s=WITHIN_S)
        after = await redis_words(system.redis, _CANARY)
    logs = "".join(program.log.read_text() for program in system.programs)
    scene.score.at_least("canaries in the store before the resets", len(before), len(crowd.places))
    scene.score.exactly("canaries in the store after them", len(after), 0)
    scene.score.exactly("canaries in the logs", len(_CANARY.findall(logs)), 0)


async def _fail_over(scene: Scene, victim: int) -> None:
    """Kill a master under load. After the failover everything continues, and losses are counted."""
    system, cluster, bench = scene.system, scene.cluster, scene.bench
    async with open_chat_load(system, private=40) as crowd:
        writing = asyncio.create_task(
            crowd.write_steadily(1_000_000, per_second=PER_SECOND, random=bench.random, at_most_waiting=400),
            name="writing",
        )
        await until(
            lambda: crowd.answers_seen >= bench.pick(20, 500), within_s=WITHIN_S, what="answers before it"
        )
        tag = await _tag_on(cluster, victim)
        raw = [Raw(name="without WAIT", more=()), Raw(name="with WAIT", more=[("WAIT", 1, 1_000)])]
        raw_writing = [asyncio.create_task(_write_raw(cluster.nodes[victim], tag, each)) for each in raw]
        await until(
            lambda: all(len(each.acknowledged) >= 2 * _BATCH for each in raw),
            within_s=WITHIN_S,
            what="raw writes before it",
        )
        await _let_lag(cluster, victim, raw[0])
        lost_at = time.time()
        await cluster.lose_master(victim)
        took_over = time.time()
        await asyncio.gather(*raw_writing)
        seen = crowd.answers_seen
        await until(
            lambda: crowd.answers_seen >= seen + bench.pick(30, 500),
            within_s=WITHIN_S,
            what="answers after it",
        )
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await until(lambda: crowd.unacknowledged == 0, within_s=WITHIN_S, what="a 200 for every line")
        await settled(system.redis, within_s=WITHIN_S)
        await _count(scene, crowd, victim, lost_at=lost_at, took_over=took_over)
    for each in raw:
        each.lost = await _missing(cluster.nodes[cluster.masters + victim], each.acknowledged)
        scene.score.note(
            f"master {victim} lost: raw writes {each.name}, lost of acknowledged",
            f"{each.lost} of {len(each.acknowledged)}",
        )


async def _let_lag(cluster: ReplicatedCluster, victim: int, raw: Raw) -> None:
    """Stop the replica while more is written than the sockets hold, as on a slow link."""
    written = len(raw.acknowledged)
    cluster.servers[cluster.masters + victim].send_signal(signal.SIGSTOP)
    await until(lambda: len(raw.acknowledged) >= written + LAG, within_s=WITHIN_S, what="a lag")


async def _count(scene: Scene, crowd: ChatLoad, victim: int, *, lost_at: float, took_over: float) -> None:
    """Count the lost acknowledged updates and the unfinished ones, and measure the failover."""
    system, score, what = scene.system, scene.score, f"master {victim} lost"
    states = await states_of(system, {one.update_id: one.chat_id for one in crowd.acknowledged.values()})
    before = [one for one in crowd.acknowledged.values() if one.at < lost_at]
    gone = [number for number, state in states.items() if not state]
    score.note(
        f"{what}: acknowledged before the failover, gone after it",
        f"{sum(not states[one.update_id] for one in before)} of {len(before)}",
    )
    after = [one for one in crowd.acknowledged.values() if one.at >= took_over]
    score.exactly(
        f"{what}: acknowledged after the failover, gone", sum(not states[one.update_id] for one in after), 0
    )
    unfinished = [number for number, state in states.items() if state and state not in TERMINAL]
    score.exactly(f"{what}: updates without a terminal state", len(unfinished), 0)
    score.note(f"{what}: updates gone", len(gone))
    score.note(f"{what}: takeover", f"{took_over - lost_at:.1f} s")
    score.note(
        f"{what}: next 200 of its chats after the takeover",
        f"{await _next(scene, after, victim) - took_over:.1f} s",
    )
    answered = [one.answered_at for one in crowd.written if one.answered_at and one.answered_at > took_over]
    score.note(
        f"{what}: next answer after the takeover", f"{min(answered, default=float('inf')) - took_over:.1f} s"
    )


async def _next(scene: Scene, acknowledged: Sequence[Acknowledged], victim: int) -> float:
    """Return the time at which the first of these on that master was acknowledged."""
    partitions = {number for number in range(PARTITIONS) if await _master_of(scene.cluster, number) == victim}
    times = [one.at for one in acknowledged if partition_of_chat(one.chat_id, scene.system) in partitions]
    return min(times, default=float("inf"))


async def _tag_on(cluster: ReplicatedCluster, victim: int) -> str:
    """Return a key prefix that belongs to this master."""
    for number in count():
        key = f"{{raw{number}}}:"
        if cluster.master_of(int(await cluster.nodes[-1].call("CLUSTER", "KEYSLOT", key))) == victim:
            return key
    raise AssertionError


async def _master_of(cluster: ReplicatedCluster, partition: int) -> int:
    key = partition_key(partition, "ready")
    return cluster.master_of(int(await cluster.nodes[-1].call("CLUSTER", "KEYSLOT", key)))


async def _write_raw(node: RedisClient, tag: str, raw: Raw) -> None:
    """Write until the server is gone."""
    for number in count():
        names = [f"{tag}{raw.name}:{number}:{each}" for each in range(_BATCH)]
        writes: list[Command] = [("SET", name, "x" * _BYTES) for name in names]
        try:
            replies = await node.calls([*writes, *raw.more])
        except StoreUnavailable:
            return
        if not raw.more or int(replies[-1]) >= 1:
            raw.acknowledged += names


async def _missing(node: RedisClient, names: Sequence[str]) -> int:
    found = 0
    for at in range(0, len(names), 500):
        found += sum(await node.calls([("EXISTS", name) for name in names[at : at + 500]]))
    return len(names) - found


async def _cross_slots(scene: Scene) -> int:
    """Return the number of refusals of keys in several slots, by nodes and drivers."""
    logs = "".join(program.log.read_text() for program in scene.system.programs)
    refused = len(_CROSSED.findall(logs))
    for node, server in zip(scene.cluster.nodes, scene.cluster.servers, strict=True):
        if server.returncode is None:
            told = (await node.call("INFO", "errorstats")).get("errorstat_CROSSSLOT", {"count": 0})
            refused += int(told["count"])
    return refused


def _ended(programs: Sequence[Program]) -> int:
    return sum(program.process.returncode is not None for program in programs)


ROW = Row(
    name="R17",
    title="cluster",
    load="PARTITIONS=8 on 3 masters with a replica each: {90|3,000} updates, {10|100} resets, "
    "{some 100|4,500} updates in failovers",
    fault="kill -9 of one worker and SIGSTOP of another, resets during traffic; kill -9 of {one|each} master "
    "while its replica lags",
    hold="0 CROSSSLOT; for these crashes and resets the limits of R1, R5 and R7; losses of a failover are printed, "
    "with and without WAIT",
    run=run,
)
