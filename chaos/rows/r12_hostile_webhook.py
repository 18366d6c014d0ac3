"""R12: hostile traffic to the webhook: junk, floods, endless and slow requests beside Telegram's updates."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from bot.settings import WEBHOOK_PATH
from chaos.card import Bench, Row, Score
from chaos.rig.chat_load import gather_people
from chaos.rig.evidence import update_ids
from chaos.rig.hostile_traffic import Order, TrafficCounts, read_tally
from chaos.rig.measures import percentile, processor_s, resident_mb, sampling
from chaos.rig.program import Program
from chaos.rig.system import SECRET, System, running_system
from chaos.rig.webhook_client import WebhookClient, open_webhook_client
from tests.scripted_script import echo

SHARE = 0.25
"""The rate of the small junk, as a share of what `serve` refuses beforehand. The rig and the sender need the rest."""
MEASURED_FOR_S = 3.0
_WITHOUT_LIMIT = 1_000_000
VALID_PER_SECOND = 50
_ROOT = Path(__file__).parents[2]


async def run(bench: Bench) -> Score:
    """Post valid updates, first alone and then beside junk at a rate that this machine can refuse."""
    score, seconds = Score(), bench.pick(8, 60)
    async with running_system(bench.directory, echo) as system:
        (serve,) = await system.start("serve")
        port = int(system.environment["HTTP_PORT"])
        chats = await gather_people(system.simulator, 50)
        async with open_webhook_client([port], secret=SECRET) as lanes:
            await _write(lanes, chats, seconds=bench.pick(2, 10))
            score.note("valid acknowledgements alone, p99 (ms)", 1000 * percentile(lanes.latencies, 0.99))
            lanes.latencies.clear()
            can_refuse = await _measure_refusals(score, bench, serve)
            per_second = int(SHARE * can_refuse)
            score.load = _load(
                f"{per_second:,} junk requests/s ({SHARE:.0%} of the {can_refuse:,.0f} that were refused before)",
                seconds,
            )
            bench.say(score.load)
            before = resident_mb(serve.process.pid)
            pids = {"serve": serve.process.pid}
            async with sampling(lambda: pids, every_s=0.2, size=resident_mb) as sizes:
                junk = asyncio.create_task(_send_junk(_order(bench, port, seconds, per_second)), name="junk")
                await _write(lanes, chats, seconds=seconds)
                tally = await junk
            largest = max(size for samples in sizes.samples.values() for _, size in samples)
            await _judge(score, bench, system, lanes, tally)
            _judge_times(score, lanes, tally, per_second=per_second)
        score.at_most("growth of serve's resident set (MB)", largest - before, 50)
    return score


async def _write(lanes: WebhookClient, chats: Sequence[int], *, seconds: float) -> None:
    """Write at a steady rate. Return when everything was acknowledged, or a little later."""
    loop = asyncio.get_running_loop()
    begun, done = loop.time(), 0
    while done < seconds * VALID_PER_SECOND:
        while done < (loop.time() - begun) * VALID_PER_SECOND:
            lanes.write(chats[done % len(chats)], f"line {done}")
            done += 1
        await asyncio.sleep(0.005)
    for _ in range(500):
        if not lanes.waiting:
            return
        await asyncio.sleep(0.02)


async def _measure_refusals(score: Score, bench: Bench, serve: Program) -> float:
    """Return the number of small junk requests that `serve` refuses in a second if it gets as many as it can."""
    order = replace(_order(bench, serve.port, MEASURED_FOR_S, _WITHOUT_LIMIT), big=0, slow=0, idle=0)
    before_s = processor_s(serve.process.pid)
    tally = await _send_junk(order)
    refused, used_s = tally.answers.total(), processor_s(serve.process.pid) - before_s
    score.note("processor time of a refusal (µs)", 1_000_000 * used_s / refused)
    score.note("refusals that a core of its own could do (1/s)", refused / used_s)
    return refused / tally.seconds


def _order(bench: Bench, port: int, seconds: float, per_second: int) -> Order:
    return Order(
        port=port,
        path=WEBHOOK_PATH,
        secret=SECRET,
        seconds=seconds,
        per_second=per_second,
        big=4,
        slow=bench.pick(200, 400),
        idle=bench.pick(300, 2000),
        seed=bench.seed,
    )


async def _send_junk(order: Order) -> TrafficCounts:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chaos.rig.hostile_traffic", json.dumps(asdict(order))),
        cwd=_ROOT,
        stdout=subprocess.PIPE,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), timeout=order.seconds + 30)
    finally:
        if process.returncode is None:
            process.kill()
    return read_tally(out)


async def _judge(
    score: Score, bench: Bench, system: System, lanes: WebhookClient, tally: TrafficCounts
) -> None:
    answers, others = tally.answers, tally.others
    stored = set(await update_ids(system.redis))
    valid = {one.update_id for one in lanes.acknowledged}
    score.exactly(
        "junk that was answered with a 2xx", sum(_of_class(each, "2") for each in (answers, others)), 0
    )
    score.exactly(
        "junk that was answered with a 5xx", sum(_of_class(each, "5") for each in (answers, others)), 0
    )
    score.at_least("small junk requests answered", answers.total(), bench.pick(1_000, 20_000))
    kinds = {what.rpartition(":")[0] for what in others}
    score.at_least("kinds of other junk that were refused or cut off", len(kinds), bench.pick(4, 8))
    score.exactly("records of invalid updates", len(stored - valid), 0)
    score.exactly("valid updates without a record", len(valid - stored), 0)
    score.exactly("valid updates that were not acknowledged", lanes.waiting, 0)
    score.note("small junk requests by status", _listed(answers))
    score.note("small junk requests sent", tally.sent)
    score.note("reconnections of their 16 connections", tally.reconnections)
    score.note("other junk by kind and response", _listed(others))
    score.note("a slow or idle connection was open for at most (s)", tally.longest_open_s)
    score.note("MB of bodies that were refused", tally.megabytes)


def _judge_times(score: Score, lanes: WebhookClient, tally: TrafficCounts, *, per_second: int) -> None:
    refused = tally.answers.total() / tally.seconds
    score.at_least("small junk requests refused (1/s)", refused, per_second * 0.98, is_timed=True)
    p50_ms, p99_ms = (1000 * percentile(lanes.latencies, share) for share in (0.5, 0.99))
    score.at_most("valid acknowledgements during the junk, p99 (ms)", p99_ms, 200, is_timed=True)
    score.note("valid acknowledgements during the junk, p50 (ms)", p50_ms)


def _load(junk: str, seconds: str | float) -> str:
    return f"{junk} for {seconds} s, together with {VALID_PER_SECOND} valid updates/s"


def _of_class(counted: Counter[str], first: str) -> int:
    return sum(count for what, count in counted.items() if what.rpartition(" ")[2].startswith(first))


def _listed(counted: Counter[str]) -> str:
    return ", ".join(f"{what} × {count:,}" for what, count in sorted(counted.items()))


ROW = Row(
    name="R12",
    title="hostile webhook",
    load=_load(f"junk requests at {SHARE:.0%} of the rate that `serve` refuses beforehand", "{8|60}"),
    fault="bad, missing, non-ASCII secrets; 100 MB bodies; one byte a second; silent connections; broken JSON",
    hold="100 % refused; valid acknowledgement p99 ≤ 200 ms; RSS + < 50 MB",
    run=run,
)
