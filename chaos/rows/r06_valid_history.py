"""R6: for any history and any crash, every request is valid for the model."""

import asyncio
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from chaos.card import Bench, Row, Score
from chaos.rig.crashes.crash_points import FAULTS, Errand, Trials, open_trials, plan_all, plan_samples
from chaos.rig.crashes.verdict import What

_FULL = ("plain", "tools")
"""The kinds of turn with every fault at every await, in the long form."""
_ROOT = Path(__file__).parents[2]
_SUMMED_UP = re.compile(
    r"([\d,]+) generated: ([\d,]+) invalid requests, ([\d,]+) prompts over the window \(([\d,]+) wrong"
)


async def run(bench: Bench) -> Score:
    """Check generated histories, and histories after crashes."""
    score = Score()
    async with asyncio.TaskGroup() as group:
        # Beside each other in the short form: the stores and the first imports leave a core idle.
        generated = group.create_task(_generated(bench, score), name="generated")
        if bench.size == "long":
            await generated
        async with open_trials(bench.directory, say=bench.say) as trials:
            await trials.try_all(_planned(bench, trials.tried.awaits))
        await generated
    _tell(bench, trials, score)
    return score


def _planned(bench: Bench, awaits: Mapping[str, int]) -> list[Errand]:
    if bench.size == "short":
        return plan_samples(bench.random, awaits, more=_FULL, each=4)
    return plan_all(bench.random, awaits, full=_FULL, each=10)


async def _generated(bench: Bench, score: Score) -> None:
    """Assemble, repair and validate generated histories, some of them with broken steps."""
    wanted = bench.pick(300, 100_000)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "benchmarks/prompts_always_fit.py"),
        *("--count", str(wanted), "--seed", str(bench.seed), "--processes", str(bench.pick(1, 2))),
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    found = _SUMMED_UP.search(out.decode())
    assert found is not None, out.decode()
    generated, invalid, over, wrong = (int(number.replace(",", "")) for number in found.groups())
    score.exactly("histories generated", generated, wanted)
    score.exactly("invalid requests for them", invalid, 0)
    score.exactly("prompts over the window, wrong prompt records and repairs", over + wrong, 0)


def _tell(bench: Bench, trials: Trials, score: Score) -> None:
    tried = trials.tried
    found = Counter(finding.what for _, finding in tried.findings)
    for what in get_args(What):
        score.exactly(f"{what} after a crash", found[what], 0)
    score.at_least("crash points", tried.points, bench.pick(15, 1_500))
    for where, finding in tried.findings[:20]:
        bench.say(f"{where}: {finding.what}: {finding.told[:600]}")
    score.note("awaits of each kind", ", ".join(f"{name} {n}" for name, n in sorted(tried.awaits.items())))
    for fault in FAULTS:
        score.note(
            f"crash points: {fault}", sum(n for (_, which), n in tried.reached.items() if which == fault)
        )
    score.note("prompts of workers around a crash", tried.prompts)
    score.note("answers twice because the crash fell into the send", tried.within_a_send)


ROW = Row(
    name="R6",
    title="valid history",
    load="{300|100,000} generated histories; {any fault at 4 awaits|each fault at every await} of a turn and of a turn "
    "with tools; for 14 other kinds {any fault at one await|a kill at every await and each other fault at 10 awaits}",
    fault="kill, cancel, a lost reply or an outage of the store at an await; then another worker continues",
    hold="0 invalid requests; everything else as without the fault; "
    "an answer twice only if the fault fell inside a send",
    run=run,
)
