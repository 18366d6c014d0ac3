"""R1: the webhook and the workers are killed at random under load."""

import asyncio
import time
from collections.abc import Sequence
from random import Random

from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import ChatLoad
from chaos.rig.command_monitor import CommandMonitor, monitoring_commands
from chaos.rig.crash_load import crash_crowd, line_count, moment_of, plan_moments, quiet, write_all
from chaos.rig.evidence import (
    finished_steps,
    finished_tools,
    finished_twice,
    late_calls,
    late_effects,
    unexplained_repeats,
)
from chaos.rig.fleet import Fleet, Kill, Resumed, cut_twice, resumed_after
from chaos.rig.measures import percentile
from chaos.rig.program import Program, until
from chaos.rig.recording_model import RecordingModel
from chaos.rig.system import running_system
from chaos.rig.tool_effects import agents_with_effects, effects
from chaos.rig.verdict import A_DEAD_ONE_OF, Verdict, judge

RESUMED_WITHIN_S = 5.0
LEASE_S = "30"
"""The default: heartbeats find a dead worker, not its lease."""
PER_SECOND = 10
"""The rate that two cores can bear beside a kill every 7 s and the rig. At 14 a second a backlog grew."""
MOMENT_WITHIN_S = 60.0
AT_WORK_WITHIN_S = 10.0
PROCESSES = ("serve", "serve", "work", "work")


async def run(bench: Bench) -> Score:
    """Write, kill, wait until all is quiet, and check the results."""
    score, model = Score(), RecordingModel(tool="note_call")
    agents = agents_with_effects(bench.directory)
    async with (
        running_system(
            bench.directory, model, through={"webhook"}, AGENTS_FILE=agents, LEASE_S=LEASE_S
        ) as system,
        monitoring_commands(system.redis_socket) as witness,
        crash_crowd(system, bench) as crowd,
    ):
        async with asyncio.TaskGroup() as group:
            fleet = Fleet(system=system, group=group)
            await fleet.start(*PROCESSES)
            writing = group.create_task(
                write_all(bench, crowd, per_second=bench.pick(60, PER_SECOND)), name="writing"
            )
            await _kill(bench, fleet, crowd, witness)
            await writing
        await quiet(system, crowd)
        verdict = await judge(system, crowd)
        _score(score, bench, fleet, witness=witness, model=model, verdict=verdict)
    return score


async def _kill(bench: Bench, fleet: Fleet, crowd: ChatLoad, witness: CommandMonitor) -> None:
    """Kill at random moments of the load, every third time a webhook, otherwise a busy worker."""
    random = bench.random
    for number, moment in enumerate(plan_moments(bench, random, bench.pick(4, 300))):
        await moment_of(crowd, moment)
        if number % 3 == 0:
            await fleet.kill(await _any(fleet, "serve", random))
        else:
            await fleet.kill(await _pick_busy_worker(fleet, witness, random))
        if number % 20 == 19:
            bench.say(
                f"{number + 1} kills, {len(crowd.written):,} lines, {crowd.waiting} wait for their answers"
            )


async def _any(fleet: Fleet, command: str, random: Random) -> Program:
    await until(lambda: bool(fleet.running(command)), within_s=MOMENT_WITHIN_S, what=f"a {command} to kill")
    return random.choice(fleet.running(command))


async def _pick_busy_worker(fleet: Fleet, witness: CommandMonitor, random: Random) -> Program:
    """Return the worker that has just written a random step or commit; any worker if that does not happen."""
    written = random.choice([witness.recorded, witness.sendings])
    wanted, deadline = len(written) + random.randint(1, 10), time.monotonic() + AT_WORK_WITHIN_S
    while time.monotonic() < deadline:
        for one in written[wanted - 1 :]:
            if (found := fleet.of_pid(one.worker)) is not None:
                return found
        await asyncio.sleep(0.002)
    return await _any(fleet, "work", random)


def _score(
    score: Score,
    bench: Bench,
    fleet: Fleet,
    *,
    witness: CommandMonitor,
    model: RecordingModel,
    verdict: Verdict,
) -> None:
    verdict.hold(
        score,
        lines=line_count(bench),
        unknown_at_most=cut_twice(_worker_kills(fleet), witness.sendings),
        otherwise_at_most=line_count(bench) // A_DEAD_ONE_OF,
    )
    finished = finished_steps(model.asked, witness.recorded, witness.buried)
    ran, workers = effects(bench.directory), _worker_kills(fleet)
    again = sum(len(sending.repeated_at) for sending in witness.sendings)
    repeats = unexplained_repeats(witness.sendings, [kill.at for kill in workers])
    stalled = sum(program.times_said("claim_lost") for program in fleet.system.programs)
    score.at_most("sends repeated without a kill or an expired lease during them", len(repeats), stalled)
    score.at_most("copies of one answer beyond the first", max(verdict.answers_twice.values(), default=0), 1)
    score.at_most("answers seen twice after a kill during the send", verdict.answers_twice.total(), again)
    score.exactly("model calls for a step that had finished", len(late_calls(model.asked, finished)), 0)
    score.exactly("steps finished twice", len(finished_twice(finished)), 0)
    score.exactly(
        "tool runs after their result was journaled",
        len(late_effects(ran, finished_tools(witness.recorded))),
        0,
    )
    score.at_least("kills", len(fleet.kills), bench.pick(4, 300))
    resumed = resumed_after(workers, witness, ready_at=fleet.ready_at)
    _score_resumed(score, resumed, at_least=bench.pick(1, 100))
    # On a slow machine many lines of a chat wait for each other, and one turn answers them together.
    score.at_least("finished steps that were observed", len(finished), line_count(bench) // 10)
    score.at_least("sends that were observed", len(witness.sendings), line_count(bench) // 20)
    score.at_least("tool runs", sum(map(len, ran.values())), line_count(bench) // 20)
    score.note("turns given up with a dead letter", sum(map(len, witness.buried.values())))
    score.note("killed", f"{len(workers)} workers, {len(fleet.kills) - len(workers)} webhooks")
    score.note("contexts lost by living workers that were too slow", stalled)
    score.note("model calls", f"{len(model.asked):,} for {len(finished):,} finished steps")
    score.note("tool runs", f"{sum(map(len, ran.values())):,} of {len(ran):,} calls")
    score.note("sends cut by a kill", f"{again}, of which {verdict.answers_twice.total()} were seen twice")


def _score_resumed(score: Score, resumed: Sequence[Resumed], *, at_least: int) -> None:
    once = [each.after_s for each in resumed if each.is_watched and not each.is_hit_again]
    unwatched = [each.after_s for each in resumed if not (each.is_watched or each.is_hit_again)]
    again = [each.after_s for each in resumed if each.is_hit_again]
    score.at_least("contexts held at a worker's death", len(resumed), at_least)
    score.at_least("of these, taken over by a worker that lived meanwhile", len(once), at_least // 4)
    score.at_most(
        "longest time from a kill to the next step while another worker lives, s",
        max(once, default=0.0),
        RESUMED_WITHIN_S,
        is_timed=True,
    )
    for what, times in {
        "time to the next step while another worker lives": once,
        "time to the next step if the other worker died or was starting too": unwatched,
        "time to the next step of updates hit by two kills in a row, which then run alone": again,
    }.items():
        middle, last = percentile(times, 0.5), percentile(times, 0.99)
        longest = max(times, default=0.0)
        score.note(
            f"{what}, s: p50, p99, longest", f"{middle:.1f}, {last:.1f}, {longest:.1f}, {len(times):,} in all"
        )


def _worker_kills(fleet: Fleet) -> list[Kill]:
    return [kill for kill in fleet.kills if kill.command == "work"]


ROW = Row(
    name="R1",
    title="service crash",
    load="{200|20,000} updates in {23|200} chats and topics, {60|10} a second",
    fault="{4|300} random kill -9 of `serve` (two) and `work` (two), each restarted at once",
    hold="0 acknowledged without terminal state; duplicates only if a kill fell inside a send, ≤ 1 each; "
    "finished steps never run again; resume ≤ 5 s while another worker lives; dead letters ≤ 0.5 %",
    run=run,
)
