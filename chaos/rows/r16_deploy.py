"""R16: a deploy replaces every process under a steady load."""

import asyncio
from collections.abc import Sequence

from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import ChatLoad, open_chat_load
from chaos.rig.crash_load import quiet
from chaos.rig.fleet import Fleet
from chaos.rig.recording_model import RecordingModel
from chaos.rig.system import running_system
from chaos.rig.verdict import judge

ENDS_WITHIN_S = 20.0
ANSWERED_WITHIN_S = 60.0
MORE_WAIT_S = 2.0
LONGEST_MORE_S = 5.0
"""As long as after the death of a worker."""
LEASE_S = "30"
PROCESSES = ("serve", "serve", "work", "work")
_CHUNK_DELAY_S = 0.03
"""Between two pieces of an answer, so that there are turns under way whenever a worker is told to end."""


async def run(bench: Bench) -> Score:
    """Run the same load twice, the second time with rolling restarts, and compare."""
    score, model = Score(), RecordingModel(chunk_delay_s=_CHUNK_DELAY_S)

    async with (
        running_system(bench.directory, model, through={"webhook"}, LEASE_S=LEASE_S) as system,
        open_chat_load(system, private=bench.pick(24, 60), groups=bench.pick(2, 4)) as crowd,
        asyncio.TaskGroup() as group,
    ):
        fleet = Fleet(system=system, group=group)
        await fleet.start(*PROCESSES)
        calm = await _load(bench, crowd)
        bench.say(f"calm: p99 {_p99(calm):.2f} s")
        deploying = group.create_task(_deploy(fleet, rounds=bench.pick(1, 8)), name="deploying")
        rolling = await _load(bench, crowd, until_done=deploying)
        statuses = await deploying
        await quiet(system, crowd)
        verdict = await judge(system, crowd)
        verdict.hold(score, lines=bench.pick(60, 1_200))
        asked = [(call.line, call.step) for call in model.asked]
        score.exactly("answers twice", verdict.answers_twice.total(), 0)
        score.exactly("model calls for a step beyond the first", len(asked) - len(set(asked)), 0)
        score.exactly("processes with a wrong exit status", sum(status != 0 for status in statuses), 0)
        score.at_most("added wait at p99, s", _p99(rolling) - _p99(calm), MORE_WAIT_S, is_timed=True)
        score.at_most(
            "longest wait beyond the longest without a deploy, s",
            rolling[-1] - calm[-1],
            LONGEST_MORE_S,
            is_timed=True,
        )
        score.note("processes replaced", len(statuses))
        score.note("wait without a deploy", _waits(calm))
        score.note("wait during the deploy", _waits(rolling))
        score.note("tries that Telegram had to repeat", crowd.refused)
    return score


async def _load(
    bench: Bench, crowd: ChatLoad, *, until_done: "asyncio.Task[list[int]] | None" = None
) -> Sequence[float]:
    """Write at a steady rate for this time and until a task has ended. Return the sorted waits."""
    first, piece = len(crowd.written), bench.pick(30, 600)
    while True:
        await crowd.write_steadily(piece, per_second=bench.pick(8, 12), random=bench.random)
        if until_done is None or until_done.done():
            break
    await crowd.give_up_waiting(within_s=ANSWERED_WITHIN_S)
    return sorted(one.answered_at - one.at for one in crowd.written[first:] if one.answered_at is not None)


async def _deploy(fleet: Fleet, *, rounds: int) -> list[int]:
    """Replace the processes one after the other. The new one is ready before the old one is stopped."""
    return [
        await fleet.replace_oldest(command, within_s=ENDS_WITHIN_S)
        for _ in range(rounds)
        for command in PROCESSES
    ]


def _p99(waits: Sequence[float]) -> float:
    return waits[len(waits) * 99 // 100]


def _waits(waits: Sequence[float]) -> str:
    median = waits[len(waits) // 2]
    return f"p50 {median:.2f} s, p99 {_p99(waits):.2f} s, longest {waits[-1]:.2f} s, {len(waits):,} lines"


ROW = Row(
    name="R16",
    title="shutdown and deploy",
    load="{8|12} lines a second in {30|72} chats and topics, {4|50} s without a deploy and then until the deploy ends",
    fault="rolling restart of each of two `serve` and two `work` by SIGTERM{|, eight times}",
    hold="0 lost, 0 twice, added wait p99 ≤ 2 s, longest ≤ 5 s",
    run=run,
)
