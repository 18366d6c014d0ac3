"""`trace`: the life of an update, step by step, or of several in a table; never their texts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.chats import chat_ref
from bot.cli.failures import FAILED, CommandFailed, print_error
from bot.cli.output import Cell, count, print_facts, print_json, print_line, print_table, utc
from bot.cli.queue import ChatsByRef, chat_cells, chats_by_ref, no_record, open_inspection
from bot.cli.session import AsJson, ChatName, finish, load_quietly, open_stores, parse_chat

if TYPE_CHECKING:
    from bot.inbox.inspection import UpdateRecord
    from bot.page.traces import Trace
    from bot.settings import Settings
    from bot.turn.commit import TurnTrace
    from bot.turn.outbox import SentPart

_MICROS = 1_000_000

_STATES = {
    "pending": "it waits for its turn",
    "delivering": "its answer is committed and being sent",
    "answered": "it was answered",
    "ignored": "it needed no answer",
    "refused": "its sender may not use the bot",
    "forgotten": "its chat was reset",
    "dead": "it was given up",
}


def trace(
    update_ids: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="UPDATE_ID", help="The updates' numbers at Telegram. Those of reminders are negative."
        ),
    ] = None,
    chat: Annotated[
        ChatName | None,
        typer.Option(parser=parse_chat, metavar="CHAT", help="With --last: a chat id, or chat_id/thread_id."),
    ] = None,
    last: Annotated[bool, typer.Option("--last", help="The newest update of the chat.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the life of an update step by step, or of several in a table. Texts are never printed."""
    if bool(update_ids) is (chat is not None) or last is not (chat is not None):
        raise typer.BadParameter("Name updates by their numbers, or one chat by --chat CHAT --last")
    settings = load_quietly()
    finish(settings, _print_traces(settings, update_ids or [], chat, as_json=as_json))


async def _print_traces(
    settings: "Settings", update_ids: Sequence[int], chat: ChatName | None, *, as_json: bool
) -> int:
    """Print the records that exist, report the missing ones, and return the exit status.

    With a chat, its newest update takes the place of the numbers.
    """
    from bot.page.traces import load_trace

    traced: list[Trace] = []
    missing: list[int] = []
    async with open_stores(settings) as stores:
        inspection = open_inspection(stores)
        if chat is not None:
            newest = await inspection.find_newest(await chat_ref(settings, stores, chat))
            if newest is None:
                raise CommandFailed(f"No update of chat {chat} has a record: none came in the last 48 hours.")
            update_ids = [newest]
        for update_id in update_ids:
            if found := await load_trace(inspection, update_id):
                traced.append(found)
            else:
                missing.append(update_id)
        chats = await chats_by_ref(settings, stores)
    _print_found(traced, chats, as_json=as_json, is_one=len(update_ids) == 1)
    for update_id in missing:
        print_error(no_record(update_id))
    return FAILED if missing else 0


def _print_found(traced: "Sequence[Trace]", chats: ChatsByRef, *, as_json: bool, is_one: bool) -> None:
    from bot.page.chats import chat_document
    from bot.page.traces import trace_document

    if traced and as_json:
        refs = [each.record.ref for each in traced]
        named = [chat_document(ref, chats.get(ref)) for ref in refs]
        documents = list(map(trace_document, traced, named))
        print_json(documents[0] if is_one else documents)
    elif traced and is_one:
        print_facts(_facts(traced[0], chats))
        _print_steps(traced[0].turn)
        _print_parts(traced[0].parts)
    elif traced:
        _print_states([each.record for each in traced], chats)


def _facts(traced: "Trace", chats: ChatsByRef) -> list[tuple[str, str]]:
    """Return the facts in the order of time."""
    from bot.page.traces import gate_of

    record = traced.record
    door, action, why = gate_of(record)
    state = _STATES.get(record.state)
    repeats = f", and {count(record.redelivered, 'time')} again" if record.redelivered else ""
    facts: list[tuple[str, str | None]] = [
        ("update", str(record.update_id)),
        ("state", f"{record.state}: {state}" if state else record.state),
        ("reason", record.reason),
        ("chat", " · ".join(chat_cells(record.ref, chats))),
        ("received", f"{utc(record.times.received)} UTC" + (f" by {door}" if door else "") + repeats),
        ("gated", action and f"{action} ({why})"),
        *_attempt_facts(record),
        *_turn_facts(traced.turn),
        *_end_facts(record),
    ]
    return [(name, value) for name, value in facts if value]


def _attempt_facts(record: "UpdateRecord") -> list[tuple[str, str | None]]:
    begun, attempts, turn_of = record.times.begun, record.attempts, record.turn_of
    return [
        ("attempts", str(attempts) if attempts and begun is None else None),
        ("begun", f"{_after(record, begun)}, attempt {attempts}, by {record.worker}" if begun else None),
        ("finished so far", ", ".join(record.steps)),
        ("answered with", None if turn_of is None else f"update {turn_of}, which has the turn below"),
    ]


def _turn_facts(turn: "TurnTrace | None") -> list[tuple[str, str | None]]:
    if turn is None:
        return []
    tokens = f"{turn.usage.prompt_tokens:,} + {turn.usage.completion_tokens:,} tokens"
    money = "" if turn.micros is None else f", {turn.micros / _MICROS:.6f} at the prices of MODELS"
    return [
        ("cost", tokens + money),
        ("recalled", None if turn.recalled is None else _memories(turn.recalled, turn.facts)),
        ("files", str(turn.files) if turn.files else None),
        ("afterwards", "the conversation is compressed" if turn.compresses else None),
    ]


def _memories(messages: int, facts: int) -> str:
    return count(messages, "message") + (f" and {count(facts, 'fact')}" if facts else "")


def _end_facts(record: "UpdateRecord") -> list[tuple[str, str | None]]:
    times, ahead = record.times, record.ahead
    retry = f"set aside: `mnemogram queue retry {record.update_id}`, or `queue drop`"
    finished = f"{utc(times.finished)} UTC, {_after(record, times.finished)}" if times.finished else None
    line = f"after {count(ahead, 'other')}" if ahead else "first"
    return [
        ("committed", _after(record, times.committed)),
        ("finished", finished),
        ("now", retry if record.is_dead_letter else None),
        ("in its line", None if ahead is None else line),
        ("sent", "Telegram message " + ", ".join(map(str, record.sent)) if record.sent else None),
    ]


def _after(record: "UpdateRecord", at: float | None) -> str | None:
    return None if at is None else f"after {max(0.0, at - (record.times.received or at)):.1f} s"


def _print_steps(turn: "TurnTrace | None") -> None:
    if turn is None or not turn.steps:
        return
    rows: list[tuple[Cell, ...]] = []
    for step in turn.steps:
        tokens = f"{step.usage.prompt_tokens:,} + {step.usage.completion_tokens:,}"
        kind = "· " * step.depth + step.kind
        rows.append((kind, step.name, step.outcome, step.seconds, tokens if step.kind == "model" else ""))
    print_table(["step", "of", "outcome", ">seconds", ">tokens"], rows, wide=("of", "outcome"))
    if turn.more_steps:
        print_line(f"and {count(turn.more_steps, 'more step')}.")


def _print_parts(parts: "Sequence[SentPart]") -> None:
    rows: list[tuple[Cell, ...]] = []
    for part in parts:
        message = None if part.telegram_id is None else str(part.telegram_id)
        waited = float(part.waited_s)
        rows.append((part.number, part.kind, part.outcome, message, part.repeats, part.refusals, waited))
    if rows:
        print_table([">part", "kind", "outcome", ">message", ">repeats", ">refusals", ">waited s"], rows)


def _print_states(records: "Sequence[UpdateRecord]", chats: ChatsByRef) -> None:
    rows: list[tuple[Cell, ...]] = []
    for record in records:
        received, finished = record.times.received, record.times.finished
        took = None if received is None or finished is None else finished - received
        name, _ = chat_cells(record.ref, chats)
        rows.append((str(record.update_id), name, record.state, record.reason, utc(received), took))
    columns = [">update", ">chat", "state", "reason", "received (UTC)", ">took s"]
    print_table(columns, rows, wide=("reason",))
