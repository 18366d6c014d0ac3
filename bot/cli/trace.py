"""`trace`: the life of an update, step by step, or of several in a table; never their texts."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.chats import chat_ref
from bot.cli.failures import FAILED, CommandFailed, print_error
from bot.cli.output import Cell, count, print_facts, print_json, print_line, print_table, to_minute
from bot.cli.queue import chat_cells, no_record, open_inbox
from bot.cli.session import AsJson, ChatName, finish, load_quietly, open_stores, parse_chat

if TYPE_CHECKING:
    from bot.page.documents import Document
    from bot.settings import Settings

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
    traced: list[Document] = []
    missing: list[int] = []
    async with open_stores(settings) as stores:
        inbox = open_inbox(settings, stores)
        if chat is not None:
            newest = await inbox.inspection.find_newest(await chat_ref(settings, stores, chat))
            if newest is None:
                raise CommandFailed(f"No update of chat {chat} has a record: none came in the last 48 hours.")
            update_ids = [newest]
        for update_id in update_ids:
            if found := await inbox.trace(update_id):
                traced.append(found)
            else:
                missing.append(update_id)
    is_one = len(update_ids) == 1
    if traced and as_json:
        print_json(traced[0] if is_one else traced)
    elif traced and is_one:
        print_facts(_facts(traced[0]))
        _print_steps(traced[0]["turn"])
        _print_parts(traced[0]["sends"])
    elif traced:
        _print_states(traced)
    for update_id in missing:
        print_error(no_record(update_id))
    return FAILED if missing else 0


def _facts(trace: "Document") -> list[tuple[str, str]]:
    """Return the facts in the order of time."""
    state, door = _STATES.get(trace["state"]), trace["door"]
    repeats = f", and {count(trace['redelivered'], 'time')} again" if trace["redelivered"] else ""
    received = f"{to_minute(trace['received_at'])} UTC" + (f" by {door}" if door else "") + repeats
    facts: list[tuple[str, str | None]] = [
        ("update", str(trace["update_id"])),
        ("state", f"{trace['state']}: {state}" if state else trace["state"]),
        ("reason", trace["reason"]),
        ("chat", " · ".join(chat_cells(trace))),
        ("received", received),
        ("gated", trace["action"] and f"{trace['action']} ({trace['why']})"),
        *_attempt_facts(trace),
        *_turn_facts(trace["turn"]),
        *_end_facts(trace),
    ]
    return [(name, value) for name, value in facts if value]


def _attempt_facts(trace: "Document") -> list[tuple[str, str | None]]:
    begun, attempts, turn_of = _after(trace, "begun_at"), trace["attempts"], trace["answered_with"]
    return [
        ("attempts", str(attempts) if attempts and begun is None else None),
        ("begun", begun and f"{begun}, attempt {attempts}, by {trace['worker'] or ''}"),
        ("finished so far", ", ".join(trace["steps_so_far"])),
        ("answered with", None if turn_of is None else f"update {turn_of}, which has the turn below"),
    ]


def _turn_facts(turn: "Document | None") -> list[tuple[str, str | None]]:
    if turn is None:
        return []
    money = "" if turn["cost"] is None else f", {turn['cost']:.6f} at the prices of MODELS"
    return [
        ("cost", f"{_tokens(turn)} tokens{money}"),
        ("recalled", None if turn["recalled"] is None else _memories(turn["recalled"], turn["facts"])),
        ("files", str(turn["files"]) if turn["files"] else None),
        ("afterwards", "the conversation is compressed" if turn["compresses"] else None),
    ]


def _tokens(used: "Document") -> str:
    return f"{used['prompt_tokens']:,} + {used['completion_tokens']:,}"


def _memories(messages: int, facts: int) -> str:
    return count(messages, "message") + (f" and {count(facts, 'fact')}" if facts else "")


def _end_facts(trace: "Document") -> list[tuple[str, str | None]]:
    update_id, ahead, finished = trace["update_id"], trace["ahead"], _after(trace, "finished_at")
    retry = f"set aside: `mnemogram queue retry {update_id}`, or `queue drop`"
    line = f"after {count(ahead, 'other')}" if ahead else "first"
    sent = ", ".join(map(str, trace["sent_message_ids"]))
    return [
        ("committed", _after(trace, "committed_at")),
        ("finished", finished and f"{to_minute(trace['finished_at'])} UTC, {finished}"),
        ("now", retry if trace["is_dead_letter"] else None),
        ("in its line", None if ahead is None else line),
        ("sent", sent and f"Telegram message {sent}"),
    ]


def _after(trace: "Document", field: str) -> str | None:
    seconds = _seconds(trace["received_at"] or trace[field], trace[field])
    return None if seconds is None else f"after {max(0.0, seconds):.1f} s"


def _seconds(begin: str | None, end: str | None) -> float | None:
    if begin is None or end is None:
        return None
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def _print_steps(turn: "Document | None") -> None:
    if turn is None or not turn["steps"]:
        return
    rows: list[tuple[Cell, ...]] = [
        (
            *("· " * step["within_delegations"] + step["kind"], step["name"], step["outcome"]),
            *(step["seconds"], _tokens(step) if step["kind"] == "model" else ""),
        )
        for step in turn["steps"]
    ]
    print_table(["step", "of", "outcome", ">seconds", ">tokens"], rows, wide=("of", "outcome"))
    if turn["more_steps"]:
        print_line(f"and {count(turn['more_steps'], 'more step')}.")


def _print_parts(parts: "Sequence[Document]") -> None:
    rows: list[tuple[Cell, ...]] = []
    for part in parts:
        message = None if part["message_id"] is None else str(part["message_id"])
        counts = part["repeats"], part["refusals"], float(part["waited_s"])
        rows.append((part["part"], part["kind"], part["outcome"], message, *counts))
    if rows:
        print_table([">part", "kind", "outcome", ">message", ">repeats", ">refusals", ">waited s"], rows)


def _print_states(traced: "Sequence[Document]") -> None:
    rows: list[tuple[Cell, ...]] = []
    for trace in traced:
        received = trace["received_at"]
        took = _seconds(received, trace["finished_at"])
        state = trace["state"], trace["reason"]
        rows.append((str(trace["update_id"]), chat_cells(trace)[0], *state, to_minute(received), took))
    columns = [">update", ">chat", "state", "reason", "received (UTC)", ">took s"]
    print_table(columns, rows, wide=("reason",))
