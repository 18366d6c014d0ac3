"""The processes of a service under kills: each is replaced at once, and what it held at its death is kept in mind."""

import asyncio
import math
from collections.abc import Sequence
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
    """A kill -9: when (Unix seconds), of what, and the contexts that it held."""

    at: float
    command: str
    pid: int
    held: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class Fleet:
    """`serve` and `work` processes. `group` runs the restarts: with its end all of them are up again."""

    system: System
    group: asyncio.TaskGroup
    alive: list[Program] = field(default_factory=list[Program])
    kills: list[Kill] = field(default_factory=list[Kill])

    async def start(self, *commands: str) -> None:
        """Start processes side by side; returns when each is ready."""
        self.alive += await self.system.start(*commands)

    def running(self, command: str) -> list[Program]:
        """The ready ones."""
        return [program for program in self.alive if program.command == command]

    def of_pid(self, pid: int) -> Program | None:
        """The ready one with this process id."""
        return next((program for program in self.alive if program.process.pid == pid), None)

    async def kill(self, program: Program) -> Kill:
        """Kill -9; another is started in its place at once."""
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
        """As a deploy does: a new one is ready, then the oldest gets nothing new any more and SIGTERM; its exit status."""
        oldest = self.running(command)[0]
        await self.start(command)
        self._take_off(oldest)
        self.alive.remove(oldest)
        return await oldest.end(within_s=within_s)

    def _take_off(self, program: Program) -> None:
        """No connection more for it from the balancer."""
        if "webhook" in self.system.proxies and program.command == "serve":
            self.system.proxies["webhook"].places.remove(("127.0.0.1", program.port))


async def held_by(system: System, pid: int) -> frozenset[str]:
    """The contexts that are claimed in the name of this process."""
    held: set[str] = set()
    for partition in range(system.partitions):
        stream = keys.partition_key(partition, "ready")
        held.update(await system.redis.call("EVAL", _HELD, 1, stream, GROUP, f"-{pid}-"))
    return frozenset(held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """Of a context that a dead worker held: seconds to its next step. `is_hit_again`: two workers died over it since it
    last rested: it is begun alone, and a lease begins anew.
    """

    after_s: float
    is_hit_again: bool


def resumed_after(kills: Sequence[Kill], witness: CommandMonitor) -> list[Resumed]:
    """For each kill and each context that the dead worker held, when it went on; what never went on is left out.

    A context for which nothing was left to do but to rest counts with that.
    """
    found: list[Resumed] = []
    for kill in kills:
        for context in kill.held:
            later = (at for at, worker in witness.steps[context] if at > kill.at and worker != kill.pid)
            if (at := next(later, None)) is not None:
                rested = max((rest for rest in witness.rests[context] if rest < kill.at), default=0.0)
                hits = sum(rested < other.at < at and context in other.held for other in kills)
                found.append(Resumed(after_s=at - kill.at, is_hit_again=hits > 1))
    return found


def cut_twice(kills: Sequence[Kill], sendings: Sequence[RecordedSend]) -> int:
    """How many parts were being sent at the deaths of two workers."""
    return sum(
        sum(
            each.begun_at - IN_FLIGHT_S < kill.at < (each.sent_at or math.inf)
            and each.context_id in kill.held
            for kill in kills
        )
        > 1
        for each in sendings
    )
