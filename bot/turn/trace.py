"""Records of a turn for operators: its steps, tokens, money and sends, but never a text of the chat."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.agent.context import AgentContext, StepNote
from bot.agent.model import Usage

STEPS_AT_MOST = 60
"""The steps that are kept of a longer run, about 3 kB."""
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTrace:
    """Steps and costs of a turn, kept in the record of its first update."""

    steps: Sequence[StepNote] = ()
    more_steps: int = 0
    """Steps that were left out."""
    recalled: int | None = None
    """Messages found in memory; None if memory was not searched."""
    files: int = 0
    """Files that were read."""
    usage: Usage = field(default_factory=Usage)
    micros: int | None = None
    """The cost in millionths; None if no price is known."""
    compresses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPart:
    """One part of the reply, kept in the record of the turn's first update (sent.lua)."""

    number: int
    kind: str
    outcome: str
    repeats: int = 0
    """Sends that were repeated because their outcome was unknown."""
    refusals: int = 0
    waited_s: float = 0.0
    at: float = 0.0
    """Unix seconds."""
    telegram_id: int | None = None
    """The message that shows the part; None if there is none."""


def trace_of(
    context: AgentContext, *, usage: Usage, micros: int | None, files: int, compresses: bool
) -> TurnTrace:
    """Return the trace of the run in this context."""
    notes, recalled = context.record.notes, context.thinking.recalled
    return TurnTrace(
        steps=tuple(
            replace(note, name=note.name[:_LONGEST_NAME], seconds=round(note.seconds, 3))
            for note in notes[:STEPS_AT_MOST]
        ),
        more_steps=max(0, len(notes) - STEPS_AT_MOST),
        recalled=None if recalled is None else len(recalled),
        files=files,
        usage=usage,
        micros=micros,
        compresses=compresses,
    )
