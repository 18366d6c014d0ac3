"""What a turn did, as the record of its first update keeps it: steps, tokens, money; never what was said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from bot.agent.context import AgentContext, StepKind, StepNote
from bot.agent.model import Usage

STEPS_AT_MOST = 60
"""Of a longer run the first so many are kept: about 3 kB."""
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTrace:
    """What a turn did. `recalled` is None where its memory was not searched; `micros` is the cost in millionths, None where
    no price is known. `files` are the files that were read, `more_steps` those that are not told.
    """

    steps: Sequence[StepNote] = ()
    more_steps: int = 0
    recalled: int | None = None
    files: int = 0
    usage: Usage = field(default_factory=Usage)
    micros: int | None = None
    compresses: bool = False


def trace_of(
    context: AgentContext, *, usage: Usage, micros: int | None, files: int, compresses: bool
) -> TurnTrace:
    """What the run in this context did."""
    notes, recalled = context.record.notes, context.thinking.recalled
    return TurnTrace(
        steps=tuple(notes[:STEPS_AT_MOST]),
        more_steps=max(0, len(notes) - STEPS_AT_MOST),
        recalled=None if recalled is None else len(recalled),
        files=files,
        usage=usage,
        micros=micros,
        compresses=compresses,
    )


def dump_trace(trace: TurnTrace) -> str:
    """The trace as one line of ASCII JSON."""
    fields = {
        "steps": [_dump_step(step) for step in trace.steps],
        "more": trace.more_steps,
        "recalled": trace.recalled,
        "files": trace.files,
        "tokens": [trace.usage.prompt_tokens, trace.usage.completion_tokens],
        "micros": trace.micros,
        "compresses": trace.compresses,
    }
    return json.dumps(fields, separators=(",", ":"))


def parse_trace(line: str) -> TurnTrace | None:
    """The inverse of `dump_trace`; None for no line, and for one of another version."""
    try:
        fields = cast("dict[str, Any]", json.loads(line))
        return TurnTrace(
            steps=tuple(_parse_step(step) for step in fields["steps"]),
            more_steps=fields["more"],
            recalled=fields["recalled"],
            files=fields["files"],
            usage=Usage(prompt_tokens=fields["tokens"][0], completion_tokens=fields["tokens"][1]),
            micros=fields["micros"],
            compresses=fields["compresses"],
        )
    except (ValueError, KeyError, TypeError, IndexError):
        return None


def _dump_step(step: StepNote) -> list[object]:
    tokens = [step.usage.prompt_tokens, step.usage.completion_tokens]
    name = step.name[:_LONGEST_NAME]
    return [step.kind, name, step.outcome, round(step.seconds, 3), step.depth, *tokens]


def _parse_step(fields: Sequence[Any]) -> StepNote:
    kind, name, outcome, seconds, depth, prompt_tokens, completion_tokens = fields
    return StepNote(
        kind=cast("StepKind", kind),
        name=name,
        outcome=outcome,
        seconds=seconds,
        depth=depth,
        usage=Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens),
    )
