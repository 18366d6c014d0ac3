"""What `mnemogram trace` prints: what became of updates."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.app.stores import open_stores
from bot.cli.failures import FAILED, print_error
from bot.cli.inbox_words import Known, chat_cells, chat_document, known_by_ref, not_found, open_inspection
from bot.cli.output import UNKNOWN, count, iso, print_facts, print_json, print_line, print_table, utc
from bot.inbox.inspection import UpdateRecord
from bot.settings import Settings
from bot.turn.limits import MICROS
from bot.turn.trace import SentPart, TurnTrace
from memory.codec import parse_json

_STATES = {
    "pending": "it waits for its turn",
    "delivering": "its answer is committed and being sent",
    "answered": "it was answered",
    "ignored": "nothing was to be answered",
    "refused": "its sender may not use the bot",
    "forgotten": "its chat was reset",
    "dead": "it was given up",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Traced:
    """An update, and the one that has its turn: itself, or the one with which it was answered."""

    record: UpdateRecord
    turn: TurnTrace | None
    sends: Sequence[SentPart]


async def print_traces(settings: Settings, update_ids: Sequence[int], *, as_json: bool) -> int:
    """Print what became of an update, or of several in a table; the exit status.

    One of which there is no record is told, and the others are shown.
    """
    traced: list[_Traced] = []
    missing: list[int] = []
    async with open_stores(settings) as stores:
        inspection = open_inspection(stores)
        for update_id in update_ids:
            record = await inspection.find(update_id)
            if record is None:
                missing.append(update_id)
                continue
            head = record if record.turn_of is None else await inspection.find(record.turn_of)
            traced.append(_traced(record, head or record))
        known = await known_by_ref(settings, stores)
    is_one = len(update_ids) == 1
    if traced and as_json:
        documents = [_document(each, known) for each in traced]
        print_json(documents[0] if is_one else documents)
    elif traced and is_one:
        print_facts(_facts(traced[0], known))
        _print_steps(traced[0].turn)
        _print_sends(traced[0].sends)
    elif traced:
        _print_states(traced, known)
    for update_id in missing:
        print_error(not_found(update_id))
    return FAILED if missing else 0


def _traced(record: UpdateRecord, head: UpdateRecord) -> _Traced:
    return _Traced(
        record=record,
        turn=parse_json(TurnTrace, head.turn) if head.turn else None,
        sends=[parse_json(SentPart, line) for _, line in sorted(head.parts.items())],
    )


def _document(traced: _Traced, known: Known) -> dict[str, object]:
    record = traced.record
    return {
        "update_id": record.update_id,
        "state": record.state,
        "reason": record.reason,
        **chat_document(record.ref, known),
        "received_at": iso(record.times.received),
        **dict(zip(("door", "action", "why"), _gate(record), strict=True)),
        "redelivered": record.redelivered,
        "attempts": record.attempts,
        "begun_at": iso(record.times.begun),
        "worker": record.worker or None,
        "steps_so_far": list(record.steps),
        "answered_with": record.turn_of,
        "committed_at": iso(record.times.committed),
        "turn": _turn_document(traced.turn),
        "sends": [_send_document(send) for send in traced.sends],
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
        "files": turn.files,
        "prompt_tokens": turn.usage.prompt_tokens,
        "completion_tokens": turn.usage.completion_tokens,
        "cost": None if turn.micros is None else turn.micros / MICROS,
        "compresses": turn.compresses,
    }


def _send_document(send: SentPart) -> dict[str, object]:
    return {
        "part": send.number,
        "kind": send.kind,
        "outcome": send.outcome,
        "at": iso(send.at),
        "message_id": send.telegram_id,
        "repeats": send.repeats,
        "refusals": send.refusals,
        "waited_s": send.waited_s,
    }


def _gate(record: UpdateRecord) -> tuple[str | None, str | None, str | None]:
    """The door, what it decided, and why; nothing of an update that an older version took in."""
    words = record.gate.split()
    return (words[0], words[1], words[2]) if len(words) == 3 else (None, None, None)


def _facts(traced: _Traced, known: Known) -> list[tuple[str, str]]:
    record = traced.record
    said = _STATES.get(record.state, "")
    door, action, why = _gate(record)
    twins = f", and {count(record.redelivered, 'time')} again" if record.redelivered else ""
    facts = [
        ("update", str(record.update_id)),
        ("state", f"{record.state}: {said}" if said else record.state),
        *([("reason", record.reason)] if record.reason else []),
        ("chat", " · ".join(chat_cells(record.ref, known))),
        ("received", f"{utc(record.times.received)} UTC" + (f" by {door}" if door else "") + twins),
        *([("gated", f"{action} ({why})")] if action else []),
    ]
    if record.times.begun is not None:
        facts.append(
            ("begun", f"{_after(record, record.times.begun)}, attempt {record.attempts}, by {record.worker}")
        )
    elif record.attempts:
        facts.append(("attempts", str(record.attempts)))
    if record.steps:
        facts.append(("finished so far", ", ".join(record.steps)))
    if record.turn_of is not None:
        facts.append(("answered with", f"update {record.turn_of}, whose turn this is"))
    facts += _turn_facts(traced.turn)
    if record.times.committed is not None:
        facts.append(("committed", _after(record, record.times.committed)))
    if record.times.finished is not None:
        facts.append(
            ("finished", f"{utc(record.times.finished)} UTC, {_after(record, record.times.finished)}")
        )
    if record.is_dead_letter:
        facts.append(("now", f"set aside: `mnemogram queue retry {record.update_id}`, or `queue drop`"))
    if record.ahead is not None:
        facts.append(
            ("in its line", "first" if not record.ahead else f"after {count(record.ahead, 'other')}")
        )
    if record.sent:
        facts.append(("sent", "Telegram message " + ", ".join(map(str, record.sent))))
    return facts


def _turn_facts(turn: TurnTrace | None) -> list[tuple[str, str]]:
    if turn is None:
        return []
    tokens = f"{turn.usage.prompt_tokens:,} + {turn.usage.completion_tokens:,} tokens"
    money = "" if turn.micros is None else f", {turn.micros / MICROS:.6f} at the set prices"
    facts = [("cost", tokens + money)]
    if turn.recalled is not None:
        facts.append(("recalled", count(turn.recalled, "message")))
    if turn.files:
        facts.append(("files", str(turn.files)))
    if turn.compresses:
        facts.append(("afterwards", "the conversation is compressed"))
    return facts


def _after(record: UpdateRecord, at: float) -> str:
    return f"after {max(0.0, at - (record.times.received or at)):.1f} s"


def _print_steps(turn: TurnTrace | None) -> None:
    if turn is None or not turn.steps:
        return
    print_table(
        [("step", "left"), ("of", "left"), ("outcome", "left"), ("seconds", "right"), ("tokens", "right")],
        [
            (
                "· " * step.depth + step.kind,
                step.name,
                step.outcome,
                f"{step.seconds:.2f}",
                f"{step.usage.prompt_tokens:,} + {step.usage.completion_tokens:,}"
                if step.kind == "model"
                else "",
            )
            for step in turn.steps
        ],
        wide=("of", "outcome"),
    )
    if turn.more_steps:
        print_line(f"and {count(turn.more_steps, 'further step')}.")


def _print_sends(sends: Sequence[SentPart]) -> None:
    if not sends:
        return
    print_table(
        [
            *(("part", "right"), ("kind", "left"), ("outcome", "left"), ("message", "right")),
            *(("repeats", "right"), ("refusals", "right"), ("waited s", "right")),
        ],
        [
            (
                str(send.number),
                send.kind,
                send.outcome,
                UNKNOWN if send.telegram_id is None else str(send.telegram_id),
                str(send.repeats),
                str(send.refusals),
                f"{send.waited_s:.1f}",
            )
            for send in sends
        ],
        wide=(),
    )


def _print_states(traced: Sequence[_Traced], known: Known) -> None:
    print_table(
        [
            *(("update", "right"), ("chat", "right"), ("state", "left"), ("reason", "left")),
            *(("received (UTC)", "left"), ("took s", "right")),
        ],
        [
            (
                str(each.record.update_id),
                chat_cells(each.record.ref, known)[0],
                each.record.state,
                each.record.reason,
                utc(each.record.times.received),
                UNKNOWN
                if each.record.times.finished is None or each.record.times.received is None
                else f"{each.record.times.finished - each.record.times.received:.1f}",
            )
            for each in traced
        ],
        wide=("reason",),
    )
