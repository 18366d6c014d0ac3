"""What a run did, step by step, with times and tokens and without a word of what was said: for `mnemogram trace`."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from bot.agent.model import Usage

StepKind = Literal["model", "tool", "delegation", "transfer", "digest"]
UNKNOWN = "unknown"
"""In the place of a name that only the model has made up: it may be anything that was said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNote:
    """One step. `name` is an agent's (of a model's call) or a tool's; `outcome` is ok, error, replayed (it was done before
    a crash), or the name of the error that ended it; `depth` how many delegations it was within. `usage` is that of a
    call of the model that gave a reply.
    """

    kind: StepKind
    name: str
    outcome: str
    seconds: float
    usage: Usage = field(default_factory=Usage)
    depth: int = 0


@dataclass(slots=True, kw_only=True)
class Noting:
    """A step that goes on: what it will have been."""

    outcome: str = "ok"
    usage: Usage = field(default_factory=Usage)


@contextmanager
def noted(notes: list[StepNote], kind: StepKind, name: str, *, depth: int = 0) -> Generator[Noting]:
    """Note the step when it is over; one that is ended by an error or a cancellation by the name of that."""
    noting, began = Noting(), time.perf_counter()
    try:
        yield noting
    except BaseException as error:
        noting.outcome = type(error).__name__
        raise
    finally:
        notes.append(
            StepNote(
                kind=kind,
                name=name,
                outcome=noting.outcome,
                seconds=time.perf_counter() - began,
                usage=noting.usage,
                depth=depth,
            )
        )
