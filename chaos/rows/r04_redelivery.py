"""R4: each update arrives one to five times: at once, after a restart of everything, and 23 hours later."""

import asyncio
from collections import Counter

from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import ChatLoad, open_chat_load
from chaos.rig.evidence import settled, update_records
from chaos.rig.program import Program, until, until_it_is
from chaos.rig.recording_model import RecordingModel
from chaos.rig.redelivery_proxy import RedeliveryProxy, open_redelivery_proxy
from chaos.rig.system import System, free_port, running_system
from chaos.rig.verdict import judge
from memory.redis.client import RedisClient
from tests.stores import all_keys

LATER_S = 23 * 3600
ENDS_WITHIN_S = 25.0
ANSWERED_WITHIN_S = 120.0


async def run(bench: Bench) -> Score:
    """Write with a restart in each part.

    Then repeat every update: at once, and after a restart of the store, 23 h later.
    """
    score, model = Score(), RecordingModel()
    async with (
        open_redelivery_proxy(bench.random) as multiplier,
        running_system(bench.directory, model, WEBHOOK_URL=multiplier.url) as system,
        open_chat_load(system, private=bench.pick(16, 90), groups=bench.pick(1, 3)) as crowd,
    ):
        again = Counter[int]()
        programs = await _start(system, multiplier)
        for part in range(bench.pick(1, 2)):
            programs = await _write_through_a_restart(bench, system, crowd, multiplier, programs)
            again += await multiplier.post_all_again()
            bench.say(
                f"part {part + 1}: {len(multiplier.bodies):,} updates, {multiplier.outcomes.total():,} deliveries"
            )
        await _end(multiplier, programs)
        await _restart_store(system)
        await _let_pass(system.redis, LATER_S)
        await _start(system, multiplier)
        again += await multiplier.post_all_again()
        await settled(system.redis, within_s=ANSWERED_WITHIN_S)
        await _score(
            score, system, crowd, model, multiplier=multiplier, again=again, lines=bench.pick(80, 3_000)
        )
    return score


async def _start(system: System, multiplier: RedeliveryProxy) -> list[Program]:
    """Start two `serve` on their own ports, and two `work`."""
    serves = [program for port in (free_port(), free_port()) for program in await _serve(system, port)]
    multiplier.ports[:] = [program.port for program in serves]
    return [*serves, *await system.start("work", "work")]


async def _serve(system: System, port: int) -> list[Program]:
    return await system.start("serve", HTTP_PORT=str(port))


async def _end(multiplier: RedeliveryProxy, programs: list[Program]) -> None:
    multiplier.ports.clear()
    await asyncio.gather(*(program.end(within_s=ENDS_WITHIN_S) for program in programs))


async def _write_through_a_restart(
    bench: Bench, system: System, crowd: ChatLoad, multiplier: RedeliveryProxy, programs: list[Program]
) -> list[Program]:
    """Write a part of the lines while every process is replaced. Return the new ones."""
    lines = bench.pick(80, 1_500)
    async with asyncio.TaskGroup() as group:
        steady = crowd.write_steadily(
            lines,
            per_second=bench.pick(40, 60),
            random=bench.random,
            burst=2,
            at_most_waiting=2 * len(crowd.places),
        )
        wanted = len(crowd.written) + lines // 2
        writing = group.create_task(steady, name="writing")
        await until(lambda: len(crowd.written) >= wanted, within_s=ANSWERED_WITHIN_S, what="the middle of it")
        await _end(multiplier, programs)
        programs = await _start(system, multiplier)
        await writing
    await crowd.until_answered(within_s=ANSWERED_WITHIN_S)
    return programs


async def _restart_store(system: System) -> None:
    """Kill the store. Return when the next one answers."""
    pid = system.server_pid("valkey")
    await until(lambda: system.kill_server("valkey"), within_s=30, what="a store to kill")
    await until(lambda: system.server_pid("valkey") not in {0, pid}, within_s=30, what="another store")
    await until_it_is(True, system.redis.is_alive, within_s=30)


async def _let_pass(redis: RedisClient, seconds: int) -> None:
    """Shorten every TTL of the store by this time, because its clock cannot be moved."""
    for key in await all_keys(redis):
        left = int(await redis.call("TTL", key))
        if left >= 0:
            await redis.call(*(("EXPIRE", key, left - seconds) if left > seconds else ("DEL", key)))


async def _score(
    score: Score,
    system: System,
    crowd: ChatLoad,
    model: RecordingModel,
    *,
    multiplier: RedeliveryProxy,
    again: Counter[int],
    lines: int,
) -> None:
    verdict = await judge(system, crowd)
    verdict.hold(score, lines=lines)
    steps = Counter((call.line, call.step) for call in model.asked)
    score.exactly("answers twice", verdict.answers_twice.total(), 0)
    score.exactly("model calls for a step beyond the first", steps.total() - len(steps), 0)
    score.exactly(
        "surplus records of an update", len(await update_records(system.redis)) - verdict.acknowledged, 0
    )
    score.exactly("repetitions that were refused", again.total() - again[200], 0)
    score.exactly(
        "updates accepted more than once", sum(times > 1 for times in multiplier.accepted.values()), 0
    )
    score.at_least(
        "deliveries of an update, on average", multiplier.outcomes.total() / len(multiplier.bodies), 3
    )
    score.note("deliveries", f"{multiplier.outcomes.total():,} of {len(multiplier.bodies):,} updates")
    score.note(
        "outcomes of the deliveries",
        ", ".join(f"{n:,} {what}" for what, n in multiplier.outcomes.most_common()),
    )


ROW = Row(
    name="R4",
    title="redelivery",
    load="{80|3,000} updates, each 1–5 times to two `serve` at the same time, and all of them "
    "four {|to six }times more",
    fault="restart of every process during the deliveries{|, twice}; restart of the store; "
    "23 h later (all TTLs shortened)",
    hold="one turn, one entry, one answer",
    run=run,
)
