"""The scorecard: its rows, what a run of one measured, and whether the numbers hold."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal, cast

Size = Literal["short", "long"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where and how big a row runs. `directory` is empty at first and the row's own; `say` is told how far it is."""

    directory: Path
    size: Size
    seed: int
    say: Callable[[str], None]

    @property
    def random(self) -> Random:
        """Chance, the same for the same seed; anew with each use."""
        return Random(self.seed)

    def pick(self, short: int, long: int) -> int:
        """The number for this size."""
        return long if self.size == "long" else short


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A number that must hold: what was measured, and what it may be.

    `is_timed`: it depends on how fast the machine is and what else it does, so no test fails by it.
    """

    what: str
    measured: float
    wanted: str
    holds: bool
    is_timed: bool = False


@dataclass(slots=True)
class Score:
    """What a row measured, as it finds it out: `checks` must hold, `told` is to be known."""

    checks: list[Check] = field(default_factory=list[Check])
    told: dict[str, str] = field(default_factory=dict[str, str])

    def at_most(self, what: str, measured: float, bound: float, *, is_timed: bool = False) -> None:
        """Hold a number to a bound from above."""
        check = Check(
            what=what, measured=measured, wanted=f"≤ {bound:,g}", holds=measured <= bound, is_timed=is_timed
        )
        self.checks.append(check)

    def exactly(self, what: str, measured: float, wanted: float) -> None:
        """Hold a number to one value."""
        check = Check(what=what, measured=measured, wanted=f"= {wanted:,g}", holds=measured == wanted)
        self.checks.append(check)

    def at_least(self, what: str, measured: float, bound: float, *, is_timed: bool = False) -> None:
        """Hold a number to a bound from below."""
        check = Check(
            what=what, measured=measured, wanted=f"≥ {bound:,g}", holds=measured >= bound, is_timed=is_timed
        )
        self.checks.append(check)

    def tell(self, what: str, figure: str | float) -> None:
        """A figure that is printed and held to nothing: the load as it was, the faults that fell."""
        self.told[what] = figure if isinstance(figure, str) else f"{figure:,.6g}"

    @property
    def holds(self) -> bool:
        """Whether something was checked, and all of it holds."""
        return bool(self.checks) and all(check.holds for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the scorecard. `run` raises only where the rig itself fails: what does not hold is in the score.

    `load` says what the long form is, `fault` what is done to it, `hold` the numbers to hold.
    """

    name: str
    title: str
    load: str
    fault: str
    hold: str
    run: Callable[[Bench], Awaitable[Score]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a run of a row came to; `failure` is what the rig died of, if it did. Seconds."""

    name: str
    size: Size
    seed: int
    seconds: float
    score: Score
    failure: str = ""

    @property
    def holds(self) -> bool:
        """Whether the row ran to its end and every number holds."""
        return not self.failure and self.score.holds


async def run_row(row: Row, bench: Bench) -> Result:
    """Run a row to its end, whatever becomes of it."""
    begun = time.monotonic()
    score, failure = Score(), ""
    try:
        score = await row.run(bench)
    except Exception as error:  # noqa: BLE001 - one row that dies must not take the scorecard with it
        failure = _told(error)
    return Result(
        name=row.name,
        size=bench.size,
        seed=bench.seed,
        seconds=time.monotonic() - begun,
        score=score,
        failure=failure,
    )


def _told(error: Exception) -> str:
    """An error in a line; of a group its first."""
    if isinstance(error, ExceptionGroup):
        return _told(cast("ExceptionGroup[Exception]", error).exceptions[0])
    return f"{type(error).__name__}: {error}"


def broken(result: Result, *, minds_time: bool = True) -> Sequence[str]:
    """What does not hold, a line each; without what depends on the machine, if that is not minded."""
    lines = [
        f"{result.name} {check.what}: {check.measured:,g}, wanted {check.wanted}"
        for check in result.score.checks
        if not check.holds and (minds_time or not check.is_timed)
    ]
    return [f"{result.name} failed: {result.failure}", *lines] if result.failure else lines
