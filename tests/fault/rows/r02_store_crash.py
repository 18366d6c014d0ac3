"""R2: the store is killed under load, and sometimes its guardian with it."""

import asyncio
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.fault.crash_load import crash_crowd, moment_of, plan_moments, quiet, write_all
from tests.fault.crowd import Crowd
from tests.fault.judging import Verdict, judge
from tests.fault.program import until
from tests.fault.scorecard import Bench, Row, Score
from tests.fault.system import System, running_system
from tests.fault.witnessed_model import WitnessedModel

BACK_WITHIN_S = 60.0
PROCESSES = ("serve", "serve", "work", "work")
_WITH_GUARDIAN = 5
"""Every so-and-so-manieth kill is of the guardian too."""
_IN_FLIGHT_S = 0.2
"""A 200 that is on its way when the store dies is of a write that was on the disk before."""


@dataclass(slots=True)
class Outages:
    """When the store was dead: from its kill until its next process was there (Unix seconds)."""

    spans: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    guardians: int = 0

    def covers(self, at: float) -> bool:
        """Whether the store was surely dead then."""
        return any(killed + _IN_FLIGHT_S < at < born for killed, born in self.spans)


async def run(bench: Bench) -> Score:
    """Write, kill the store, wait until all is quiet, and judge."""
    score, outages = Score(), Outages()
    async with (
        running_system(bench.directory, WitnessedModel(), through={"webhook"}) as system,
        crash_crowd(system, bench) as crowd,
    ):
        await system.start(*PROCESSES)
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(write_all(bench, crowd), name="writing")
            await _kill(bench, system, crowd, outages)
            await writing
        await quiet(system, crowd)
        verdict = await judge(system, crowd)
        ended = sum(program.process.returncode is not None for program in system.programs)
        score.exactly("processes of ours that ended with the store", ended, 0)
        _score(score, crowd, outages, verdict, kills=bench.pick(4, 100))
    return score


async def _kill(bench: Bench, system: System, crowd: Crowd, outages: Outages) -> None:
    random = bench.random
    for number, moment in enumerate(plan_moments(bench, random, bench.pick(4, 100)), start=1):
        await moment_of(crowd, moment)
        await _kill_store(system, outages, with_guardian=number % _WITH_GUARDIAN == 2)
        if number % 10 == 0:
            bench.say(f"{number} kills, {len(crowd.written):,} lines, {crowd.waiting} wait for their answers")


async def _kill_store(system: System, outages: Outages, *, with_guardian: bool) -> None:
    """Kill -9; returns when the next server is there, which may not answer yet."""
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


def parent_of(pid: int) -> int:
    """The process that started this one: the guardian of a server."""
    _, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    return int(rest.split()[1])


def _score(score: Score, crowd: Crowd, outages: Outages, verdict: Verdict, *, kills: int) -> None:
    verdict.hold(score)
    meanwhile = [one for one in crowd.acknowledged.values() if outages.covers(one.at)]
    without = set(verdict.lost) & {one.update_id for one in meanwhile}
    score.exactly("200s while the store was down, without a record", len(without), 0)
    score.at_most("copies of one answer beyond the first", max(verdict.answers_twice.values(), default=0), 1)
    score.at_least("kills of the store", len(outages.spans), kills)
    score.tell("kills of its guardian with it", outages.guardians)
    score.tell("200s while the store was down, of writes before that", len(meanwhile))
    score.tell("tries that Telegram had to repeat", crowd.refused)
    score.tell("store dead, s", sum(born - killed for killed, born in outages.spans))
    score.tell("answers seen twice", verdict.answers_twice.total())


ROW = Row(
    name="R2",
    title="store crash",
    load="20,000 updates in 200 chats and topics",
    fault="100 kill -9 of the embedded Valkey, every fifth of its guardian too",
    hold="0 lost; 0 × 200 while it was down",
    run=run,
)
