"""The scorecard: its rows, the measurements of a run, and their limits."""

import os
import platform
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal, cast

Size = Literal["short", "long"]
_EITHER = re.compile(r"\{([^{|}]*)\|([^{|}]*)\}")


def at_size(text: str, size: Size) -> str:
    """Return the text of one form: `{4|300} kills` has the words of the short and of the long one."""
    return _EITHER.sub(lambda found: found[2 if size == "long" else 1], text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The directory and size of a run. `directory` is empty at first; `say` prints progress."""

    directory: Path
    size: Size
    seed: int
    say: Callable[[str], None]

    @property
    def random(self) -> Random:
        """Return a random generator that starts with the seed at each use."""
        return Random(self.seed)

    def pick(self, short: int, long: int) -> int:
        """Return the number for this size."""
        return long if self.size == "long" else short


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A number with its limit."""

    label: str
    measured: float
    # Such as "≤ 5".
    limit: str
    holds: bool
    # True if the number depends on the machine's speed. It is no bound of the short form.
    is_timed: bool = False


@dataclass(slots=True)
class Score:
    """The measurements of a row. `checks` must hold, `notes` are information. `load`: what the machine could take."""

    checks: list[Check] = field(default_factory=list[Check])
    notes: dict[str, str] = field(default_factory=dict[str, str])
    load: str = ""

    def at_most(self, label: str, measured: float, bound: float, *, is_timed: bool = False) -> None:
        """Check a number against a maximum."""
        check = Check(
            label=label, measured=measured, limit=f"≤ {bound:,g}", holds=measured <= bound, is_timed=is_timed
        )
        self.checks.append(check)

    def exactly(self, label: str, measured: float, value: float) -> None:
        """Check a number against one value."""
        check = Check(label=label, measured=measured, limit=f"= {value:,g}", holds=measured == value)
        self.checks.append(check)

    def at_least(self, label: str, measured: float, bound: float, *, is_timed: bool = False) -> None:
        """Check a number against a minimum."""
        check = Check(
            label=label, measured=measured, limit=f"≥ {bound:,g}", holds=measured >= bound, is_timed=is_timed
        )
        self.checks.append(check)

    def note(self, label: str, figure: str | float) -> None:
        """Print a figure without a limit, such as the load or the number of faults."""
        self.notes[label] = figure if isinstance(figure, str) else f"{figure:,.6g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the scorecard.

    `run` raises only if the rig fails; broken limits are in the score. `load` and `fault` are described for both
    forms (`at_size`), `hold` has the limits.
    """

    name: str
    title: str
    load: str
    fault: str
    hold: str
    run: Callable[[Bench], Awaitable[Score]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a run. `failure` is the error of the rig, if any. Times are in seconds."""

    name: str
    size: Size
    seed: int
    seconds: float
    score: Score
    failure: str = ""
    # The load and the faults of this form.
    load: str
    fault: str
    # The date of the start (UTC), and the machine.
    date: str
    machine: str

    @property
    def holds(self) -> bool:
        """Return True if the row ran to its end and every limit of its form holds."""
        return bool(self.score.checks) and not broken(self)

    def judges(self, check: Check) -> bool:
        """Return True if this form must keep the limit. The short form only prints times."""
        return self.size == "long" or not check.is_timed


async def run_row(row: Row, bench: Bench) -> Result:
    """Run a row to its end and catch every error."""
    begun, date, machine = time.monotonic(), time.strftime("%Y-%m-%d", time.gmtime()), describe_machine()
    score, failure = Score(), ""
    try:
        score = await row.run(bench)
    except Exception as error:  # noqa: BLE001 - one row that dies must not take the scorecard with it
        failure = _describe(error)
    return Result(
        name=row.name,
        size=bench.size,
        seed=bench.seed,
        seconds=time.monotonic() - begun,
        score=score,
        failure=failure,
        load=score.load or at_size(row.load, bench.size),
        fault=at_size(row.fault, bench.size),
        date=date,
        machine=machine,
    )


def describe_machine() -> str:
    """Return the cores, the memory, the Python, and the load by others before a row."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    load, _, _ = os.getloadavg()
    return f"{os.cpu_count()} cores, {memory_gb:.0f} GB, Python {platform.python_version()}, load {load:.1f} before"


def _describe(error: Exception) -> str:
    """Return an error in one line; for a group its first error."""
    if isinstance(error, ExceptionGroup):
        return _describe(cast("ExceptionGroup[Exception]", error).exceptions[0])
    return f"{type(error).__name__}: {error}"


def broken(result: Result) -> Sequence[str]:
    """Return a line for each broken limit of the form that was run."""
    lines = [
        f"{result.name} {check.label}: {check.measured:,g}, limit {check.limit}"
        for check in result.score.checks
        if not check.holds and result.judges(check)
    ]
    return [f"{result.name} failed: {result.failure}", *lines] if result.failure else lines
