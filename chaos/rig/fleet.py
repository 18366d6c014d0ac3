"""The processes of a service under kills.

Each is replaced at once, and its claims at its death are recorded.
"""

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.inbox.records import GROUP
from chaos.rig.command_monitor import CommandMonitor, RecordedSend
from chaos.rig.evidence import IN_FLIGHT_S
from chaos.rig.program import Program
from chaos.rig.system import System
from memory import keys

_HELD = """
local held = {}
for _, entry in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 10000)) do
  if string.find(entry[2], ARGV[2], 1, true) then
    held[#held + 1] = redis.call('XRANGE', KEYS[1], entry[1], entry[1])[1][2][2]
  end
end
return held
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """A kill -9: its time (Unix seconds), its process, and the contexts that this had claimed."""

    at: float
    command: str
    pid: int
    held: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class Fleet:
    """The `serve` and `work` processes. `group` runs the restarts; at its end all of them are up again."""

    system: System
    group: asyncio.TaskGroup
    alive: list[Program] = field(default_factory=list[Program])
    kills: list[Kill] = field(default_factory=list[Kill])
    ready_at: dict[int, float] = field(default_factory=dict[int, float])
    """When each process of `work` was ready (Unix seconds), by its id."""

    async def start(self, *commands: str) -> None:
        """Start processes in parallel. Return when each is ready."""
        started = await self.system.start(*commands)
        self.alive += started
        self.ready_at |= {each.process.pid: time.time() for each in started if each.command == "work"}

    def running(self, command: str) -> list[Program]:
        """Return the processes that are ready."""
        return [program for program in self.alive if program.command == command]

    def of_pid(self, pid: int) -> Program | None:
        """Return the ready process with this id."""
        return next((program for program in self.alive if program.process.pid == pid), None)

    async def kill(self, program: Program) -> Kill:
        """Kill a process with -9 and start its replacement at once."""
        self.alive.remove(program)
        at = await program.kill()
        self._take_off(program)
        held = (
            await held_by(self.system, program.process.pid) if program.command == "work" else frozenset[str]()
        )
        kill = Kill(at=at, command=program.command, pid=program.process.pid, held=held)
        self.kills.append(kill)
        self.group.create_task(self.start(program.command), name=f"restart-{len(self.kills)}")
        return kill

    async def replace_oldest(self, command: str, *, within_s: float) -> int:
        """Replace the oldest process as a deploy does:

        a new one gets ready, then the old one gets no new connections and a SIGTERM. Return its exit
        status.
        """
        oldest = self.running(command)[0]
        await self.start(command)
        self._take_off(oldest)
        self.alive.remove(oldest)
        return await oldest.end(within_s=within_s)

    def _take_off(self, program: Program) -> None:
        """Remove it from the balancer."""
        if "webhook" in self.system.proxies and program.command == "serve":
            self.system.proxies["webhook"].places.remove(("127.0.0.1", program.port))


async def held_by(system: System, pid: int) -> frozenset[str]:
    """Return the contexts that this process has claimed."""
    held: set[str] = set()
    for partition in range(system.partitions):
        stream = keys.partition_key(partition, "ready")
        held.update(await system.redis.call("EVAL", _HELD, 1, stream, GROUP, f"-{pid}-"))
    return frozenset(held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The recovery of a context of a dead worker: seconds to its next step.

    `is_hit_again`: two workers died over it, so it runs alone after another lease. `is_watched`: another worker was
    ready before the kill and lived until the step. One that starts later has to watch the silence from its own start.
    """

    after_s: float
    is_hit_again: bool
    is_watched: bool


def resumed_after(
    kills: Sequence[Kill], witness: CommandMonitor, *, ready_at: Mapping[int, float]
) -> list[Resumed]:
    """Return the recovery of each context of each killed worker; contexts without one are left out.

    Becoming idle counts as a step. `ready_at` is when each worker was ready, by its process.
    """
    found: list[Resumed] = []
    died_at = {kill.pid: kill.at for kill in kills}
    for kill in kills:
        for context in kill.held:
            later = (at for at, worker in witness.steps[context] if at > kill.at and worker != kill.pid)
            if (at := next(later, None)) is not None:
                rested = max((rest for rest in witness.rests[context] if rest < kill.at), default=0.0)
                hits = sum(rested < other.at < at and context in other.held for other in kills)
                lived = any(
                    ready < kill.at and died_at.get(worker, math.inf) > at
                    for worker, ready in ready_at.items()
                )
                found.append(Resumed(after_s=at - kill.at, is_hit_again=hits > 1, is_watched=lived))
    return found


def cut_twice(kills: Sequence[Kill], sendings: Sequence[RecordedSend]) -> int:
    """Return the number of parts whose sends two deaths interrupted."""
    return sum(
        sum(
            each.begun_at - IN_FLIGHT_S < kill.at < (each.sent_at or math.inf)
            and each.context_id in kill.held
            for kill in kills
        )
        > 1
        for each in sendings
    )
