"""What `mnemogram queue` prints, and what it does with a dead letter."""

from collections.abc import Sequence
from typing import Literal

from bot.app.stores import open_stores
from bot.cli.failures import FAILED, print_error
from bot.cli.inbox_words import Known, chat_cells, chat_document, known_by_ref, not_found, open_inspection
from bot.cli.output import (
    age,
    count,
    print_json,
    print_line,
    print_table,
)
from bot.inbox.inspection import DeadLetter, InboxInspection, WaitingContext
from bot.settings import Settings


async def print_queue(settings: Settings, *, as_json: bool) -> None:
    """Print what waits and the dead letters."""
    async with open_stores(settings) as stores:
        inspection = open_inspection(stores)
        waiting, dead = await inspection.waiting(), await inspection.dead_letters()
        index_work = await inspection.index_work()
        known = await known_by_ref(settings, stores)
    updates = sum(context.updates + context.delivering for context in waiting)
    oldest = max((context.oldest_s for context in waiting if context.oldest_s is not None), default=None)
    if as_json:
        print_json(
            {
                "updates": updates,
                "chats": len(waiting),
                "oldest_s": oldest,
                "index_work": index_work,
                "waiting": [_waiting_document(context, known) for context in waiting],
                "dead": [_dead_document(letter, known) for letter in dead],
            }
        )
        return
    if not waiting:
        print_line("Nothing waits: every update that came in is finished.")
    else:
        print_line(
            f"{count(updates, 'update')} in {count(len(waiting), 'chat')}, the oldest for {age(oldest)}."
        )
        _print_waiting(waiting, known)
    if index_work:
        print_line(f"{count(index_work, 'change')} wait for the search index; the workers write them.")
    if not dead:
        print_line("No dead letters.")
    else:
        print_line(f"{count(len(dead), 'dead letter')}:", style="bold red")
        _print_dead(dead, known)
        print_line(
            "`mnemogram queue retry UPDATE_ID` tries one again (`--all`: all), `queue drop UPDATE_ID` gives it up."
        )


async def settle_dead_letters(
    settings: Settings, update_ids: Sequence[int] | None, *, verb: Literal["retry", "drop"]
) -> int:
    """Retry or drop these dead letters, or all for None; the exit status. One that is none is told, and the others go on."""
    problems: list[str] = []
    async with open_stores(settings) as stores:
        inspection = open_inspection(stores)
        if update_ids is None:
            update_ids = [letter.update_id for letter in await inspection.dead_letters()]
        for update_id in update_ids:
            problem = await _settle(inspection, update_id, verb=verb)
            problems += [problem] if problem else []
    if not update_ids:
        print_line("No dead letters.")
    for problem in problems:
        print_error(problem)
    return FAILED if problems else 0


async def _settle(
    inspection: InboxInspection, update_id: int, *, verb: Literal["retry", "drop"]
) -> str | None:
    """Do it and say so; or why it cannot be done."""
    is_done = await (inspection.retry(update_id) if verb == "retry" else inspection.drop(update_id))
    if is_done:
        done = "waits again, first in its chat" if verb == "retry" else "is dropped for good"
        print_line(f"Update {update_id} {done}.")
        return None
    record = await inspection.find(update_id)
    if record is None:
        return not_found(update_id)
    return f"Update {update_id} is not a dead letter: its state is {record.state}."


def _waiting_document(context: WaitingContext, known: Known) -> dict[str, object]:
    return {
        **chat_document(context.ref, known),
        "updates": context.updates,
        "delivering": context.delivering,
        "parts": context.parts,
        "oldest_s": context.oldest_s,
        "worker": context.worker or None,
    }


def _dead_document(letter: DeadLetter, known: Known) -> dict[str, object]:
    return {
        "update_id": letter.update_id,
        **chat_document(letter.ref, known),
        "reason": letter.reason,
        "attempts": letter.attempts,
        "age_s": letter.age_s,
    }


def _print_waiting(waiting: list[WaitingContext], known: Known) -> None:
    print_table(
        [
            *(("chat", "right"), ("title", "left"), ("waiting", "right"), ("sending", "right")),
            *(("oldest", "right"), ("in work", "left")),
        ],
        [
            (
                *chat_cells(context.ref, known),
                f"{context.updates:,}",
                f"{context.delivering:,}",
                age(context.oldest_s),
                "yes" if context.worker else "no",
            )
            for context in waiting
        ],
        wide=("title",),
    )


def _print_dead(dead: list[DeadLetter], known: Known) -> None:
    print_table(
        [("update", "right"), ("chat", "right"), ("title", "left"), ("since", "right"), ("reason", "left")],
        [
            (str(letter.update_id), *chat_cells(letter.ref, known), age(letter.age_s), letter.reason)
            for letter in dead
        ],
        wide=("title", "reason"),
    )
