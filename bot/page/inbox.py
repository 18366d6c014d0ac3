"""The life of an update as a document, for the console and the operators' page; never its text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.inbox.inspection import InboxInspection, UpdateRecord
from bot.turn.commit import TurnTrace
from bot.turn.outbox import SentPart
from memory.codec import parse_json

_MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """An update with the turn and the parts of its answer."""

    record: UpdateRecord
    turn: TurnTrace | None
    """Updates that are answered together have one turn, in the record of the first of them."""
    parts: Sequence[SentPart]


async def load_trace(inspection: InboxInspection, update_id: int) -> Trace | None:
    """Return the trace of an update, or None without a record. Raises StoreUnavailable."""
    record = await inspection.find(update_id)
    if record is None:
        return None
    head = (record if record.turn_of is None else await inspection.find(record.turn_of)) or record
    return Trace(
        record=record,
        turn=parse_json(TurnTrace, head.turn) if head.turn else None,
        parts=[parse_json(SentPart, line) for _, line in sorted(head.parts.items())],
    )


def gate_of(record: UpdateRecord) -> tuple[str | None, str | None, str | None]:
    """Return the entry, its decision and the reason. All are None if no decision was recorded."""
    words = record.gate.split()
    return (words[0], words[1], words[2]) if len(words) == 3 else (None, None, None)


def trace_document(trace: Trace, chat: Mapping[str, object]) -> dict[str, object]:
    """Return the document that `mnemogram trace --json` prints. `chat` has the fields that name its chat."""
    record = trace.record
    return {
        "update_id": record.update_id,
        "state": record.state,
        "reason": record.reason,
        **chat,
        "received_at": iso(record.times.received),
        **dict(zip(("door", "action", "why"), gate_of(record), strict=True)),
        "redelivered": record.redelivered,
        "attempts": record.attempts,
        "begun_at": iso(record.times.begun),
        "worker": record.worker or None,
        "steps_so_far": list(record.steps),
        "answered_with": record.turn_of,
        "committed_at": iso(record.times.committed),
        "turn": _turn_document(trace.turn),
        "sends": [_part_document(part) for part in trace.parts],
        "sent_message_ids": list(record.sent),
        "finished_at": iso(record.times.finished),
        "ahead": record.ahead,
        "is_dead_letter": record.is_dead_letter,
    }


def _turn_document(turn: TurnTrace | None) -> dict[str, object] | None:
    if turn is None:
        return None
    return {
        "steps": [
            {
                "kind": step.kind,
                "name": step.name,
                "outcome": step.outcome,
                "seconds": step.seconds,
                "prompt_tokens": step.usage.prompt_tokens,
                "completion_tokens": step.usage.completion_tokens,
                "within_delegations": step.depth,
            }
            for step in turn.steps
        ],
        "more_steps": turn.more_steps,
        "recalled": turn.recalled,
        "facts": turn.facts,
        "files": turn.files,
        "prompt_tokens": turn.usage.prompt_tokens,
        "completion_tokens": turn.usage.completion_tokens,
        "cost": None if turn.micros is None else turn.micros / _MICROS,
        "compresses": turn.compresses,
    }


def _part_document(part: SentPart) -> dict[str, object]:
    return {
        "part": part.number,
        "kind": part.kind,
        "outcome": part.outcome,
        "at": iso(part.at),
        "message_id": part.telegram_id,
        "repeats": part.repeats,
        "refusals": part.refusals,
        "waited_s": part.waited_s,
    }


def iso(seconds: float | None) -> str | None:
    """Return a time for machines: ISO 8601 in UTC, with milliseconds."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
