"""R5:

many chats in bursts, and workers that sleep for too long. Each chat stays in order, with one writer at a
time.
"""

import asyncio
import os
import signal
from dataclasses import dataclass

from bot.inbox.worker import SILENT_S
from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import ANSWERED_WITHIN_S, ChatLoad, open_chat_load
from chaos.rig.command_monitor import CommandMonitor, monitoring_commands
from chaos.rig.evidence import settled
from chaos.rig.program import Program
from chaos.rig.recording_model import RecordingModel
from chaos.rig.system import running_system
from chaos.rig.verdict import A_DEAD_ONE_OF, judge

_LEASE_S = "30"
"""The default: heartbeats find a sleeping worker, not its lease."""
_CHUNK_DELAY_S = 0.05
"""Between two pieces of an answer, so that there is a turn under way in most contexts that are held."""


async def run(bench: Bench) -> Score:
    """Write in waves while workers are stopped and woken. Then check the writers and the order."""
    score, model = Score(), RecordingModel(chunk_delay_s=_CHUNK_DELAY_S)

    async with (
        running_system(bench.directory, model, STREAMING="false", LEASE_S=_LEASE_S) as system,
        monitoring_commands(system.redis_socket) as witness,
        open_chat_load(system, private=bench.pick(24, 440), groups=bench.pick(2, 20)) as crowd,
    ):
        _, *workers = await system.start("serve", *["work"] * bench.pick(3, 4))
        bench.say("all are ready")
        nights = _Nights(bench=bench, workers=workers, witness=witness)
        async with asyncio.TaskGroup() as group:
            putting_to_sleep = group.create_task(nights.run(), name="nights")
            for wave in range(bench.pick(2, 8)):
                await crowd.write_waves(1, lines=bench.pick(4, 5), within_s=2 * ANSWERED_WITHIN_S)
                bench.say(f"wave {wave + 1}: {len(crowd.written):,} lines, {nights.count} workers stopped")
            await nights.finish(crowd, bench.pick(2, 20))
            putting_to_sleep.cancel()
        await settled(system.redis, within_s=ANSWERED_WITHIN_S)
        lines = bench.pick(240, 20_000)
        (await judge(system, crowd)).hold(score, lines=lines, otherwise_at_most=lines // A_DEAD_ONE_OF)
    ownership = read_ownership(witness)
    score.exactly("writes by a worker that had lost the context", ownership.fenced, 0)
    score.at_least("workers stopped until they counted as dead", nights.count, bench.pick(2, 20))
    score.at_least("contexts taken over from a stopped worker", ownership.takeovers, bench.pick(1, 10))
    score.note(
        "contexts that resumed workers had lost", sum(worker.times_said("claim_lost") for worker in workers)
    )
    score.note("lines, chats and topics", f"{len(crowd.written):,} in {len(crowd.places)}")
    score.note("model calls, and their steps", f"{len(model.asked):,}, {len(_steps(model)):,}")
    return score


@dataclass(slots=True, kw_only=True)
class _Nights:
    """Stops busy workers for longer than SILENT_S, and wakes them."""

    bench: Bench
    workers: list[Program]
    witness: CommandMonitor
    count: int = 0

    async def run(self) -> None:
        """Stop and wake workers until cancelled. Sleeping ones are woken then."""
        random = self.bench.random
        while True:
            await asyncio.sleep(random.uniform(0.3, 1.5))
            sleeper = random.choice(self.workers).process.pid
            seen = len(self.witness.recorded)
            while not any(one.worker == sleeper for one in self.witness.recorded[seen:]):  # noqa: ASYNC110
                await asyncio.sleep(0.002)
            os.kill(sleeper, signal.SIGSTOP)
            try:
                await asyncio.sleep(SILENT_S * random.uniform(1.3, 2))
            finally:
                os.kill(sleeper, signal.SIGCONT)
            self.count += 1

    async def finish(self, crowd: ChatLoad, count: int) -> None:
        """Wait for this many stops. People write until then, because only busy workers are stopped."""
        while self.count < count:
            await crowd.write_waves(1, lines=1, within_s=2 * ANSWERED_WITHIN_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """The number of takeovers of contexts, and of writes under an outdated claim."""

    takeovers: int
    fenced: int


def read_ownership(witness: CommandMonitor) -> Ownership:
    """Return the ownership of contexts. Two concurrent turns of one would show as alternating claims."""
    takeovers = fenced = 0
    for claims in witness.claims.values():
        latest = claims[0]
        for claim in claims:
            fenced += claim < latest
            takeovers += claim > latest and claim[:2] == latest[:2]
            latest = max(latest, claim)
    return Ownership(takeovers=takeovers, fenced=fenced)


def _steps(model: RecordingModel) -> set[tuple[str, int]]:
    return {(call.line, call.step) for call in model.asked}


ROW = Row(
    name="R5",
    title="order, one writer",
    load="{30|500} chats and topics × {8|40} lines in bursts, {3|4} workers",
    fault="{2|20} times SIGSTOP of a worker that holds contexts, until it counts as dead, then SIGCONT",
    hold="100 % in order, never two turns of a context at once, 0 writes by a fenced worker; dead letters ≤ 0.5 %",
    run=run,
)
