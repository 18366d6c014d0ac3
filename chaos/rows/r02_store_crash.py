"""R2: the store is killed under load, and sometimes its guardian with it."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import ChatLoad
from chaos.rig.crash_load import crash_crowd, line_count, moment_of, plan_moments, quiet, write_all
from chaos.rig.measures import parent_of
from chaos.rig.program import until
from chaos.rig.recording_model import RecordingModel
from chaos.rig.system import System, running_system
from chaos.rig.verdict import Verdict, fields_of, judge

BACK_WITHIN_S = 60.0
PROCESSES = ("serve", "serve", "work", "work")
_WITH_GUARDIAN = 5
"""Every so-and-so-manieth kill is of the guardian too."""
_IN_FLIGHT_S = 0.2
"""A 200 that is on its way when the store dies is of a write that was on the disk before."""


@dataclass(slots=True)
class Outages:
    """The outages of the store: from its kill until its next process (Unix seconds)."""

    spans: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    guardians: int = 0

    def death_before(self, at: float) -> float | None:
        """Return the time of the death of a store that was certainly dead then; None if it may have been alive."""
        return next((killed for killed, born in self.spans if killed + _IN_FLIGHT_S < at < born), None)


async def run(bench: Bench) -> Score:
    """Write, kill the store, wait until all is quiet, and check the results."""
    score, outages = Score(), Outages()
    async with (
        running_system(bench.directory, RecordingModel(), through={"webhook"}) as system,
        crash_crowd(system, bench) as crowd,
    ):
        await system.start(*PROCESSES)
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(
                write_all(bench, crowd, per_second=bench.pick(60, 120)), name="writing"
            )
            await _kill(bench, system, crowd, outages)
            await writing
        await quiet(system, crowd)
        verdict = await judge(system, crowd)
        ended = sum(program.process.returncode is not None for program in system.programs)
        score.exactly("our processes that ended with the store", ended, 0)
        verdict.hold(score, lines=line_count(bench))
        unstored = await _acknowledged_unstored(system, crowd, outages)
        score.exactly("200s for updates that arrived while the store was down", len(unstored), 0)
        _score(score, crowd, outages, verdict, kills=bench.pick(4, 100))
    return score


async def _kill(bench: Bench, system: System, crowd: ChatLoad, outages: Outages) -> None:
    random = bench.random
    for number, moment in enumerate(plan_moments(bench, random, bench.pick(4, 100)), start=1):
        await moment_of(crowd, moment)
        await _kill_store(system, outages, with_guardian=number % _WITH_GUARDIAN == 2)
        if number % 10 == 0:
            bench.say(f"{number} kills, {len(crowd.written):,} lines, {crowd.waiting} wait for their answers")


async def _kill_store(system: System, outages: Outages, *, with_guardian: bool) -> None:
    """Kill the store with -9. Return when the next server runs, possibly before it answers."""
    await until(lambda: system.server_pid("valkey") > 0, within_s=BACK_WITHIN_S, what="a store to kill")
    pid, lock = system.server_pid("valkey"), system.data_dir / "valkey" / "server.lock"
    victims = [parent_of(pid), pid] if with_guardian else [pid]
    killed = time.time()
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    await until(
        lambda: system.server_pid("valkey") not in {0, pid}, within_s=BACK_WITHIN_S, what="another server"
    )
    outages.spans.append((killed, lock.stat().st_mtime))
    outages.guardians += with_guardian


async def _acknowledged_unstored(system: System, crowd: ChatLoad, outages: Outages) -> Sequence[int]:
    """Return updates that arrived after the store's death and got a 200 before its return.

    A 200 may be on its way at the death; then its update arrived before.
    """
    deaths = {one.update_id: outages.death_before(one.at) for one in crowd.acknowledged.values()}
    chats = {one.update_id: one.chat_id for one in crowd.acknowledged.values() if deaths[one.update_id]}
    received = await fields_of(system, chats, "received_at")
    return [
        number
        for number, at in received.items()
        if not at or float(at) > (deaths[number] or 0.0) + _IN_FLIGHT_S
    ]


def _score(score: Score, crowd: ChatLoad, outages: Outages, verdict: Verdict, *, kills: int) -> None:
    meanwhile = [one for one in crowd.acknowledged.values() if outages.death_before(one.at) is not None]
    score.at_most("copies of one answer beyond the first", max(verdict.answers_twice.values(), default=0), 1)
    score.at_least("kills of the store", len(outages.spans), kills)
    score.note("kills of its guardian", outages.guardians)
    score.note("200s while the store was down, for updates stored before", len(meanwhile))
    score.note("tries that Telegram had to repeat", crowd.refused)
    score.note("store dead, s", sum(born - killed for killed, born in outages.spans))
    score.note("answers seen twice", verdict.answers_twice.total())


ROW = Row(
    name="R2",
    title="store crash",
    load="{200|20,000} updates in {23|200} chats and topics, {60|120} a second",
    fault="{4|100} kill -9 of the embedded Valkey{|, every fifth also of its guardian}",
    hold="0 lost; 0 × 200 while it was down",
    run=run,
)
