"""What `mnemogram trace` prints: what became of one update."""

from bot.cli.failures import CommandFailed
from bot.cli.inbox_words import Known, chat_cells, chat_document, known_by_ref, not_found, open_inspection
from bot.cli.output import count, iso, print_facts, print_json, utc
from bot.inbox.inspection import UpdateRecord
from bot.settings import Settings
from bot.stores import open_stores

_STATES = {
    "pending": "it waits for its turn",
    "delivering": "its answer is committed and being sent",
    "answered": "it was answered",
    "ignored": "nothing was to be answered",
    "refused": "its sender may not use the bot",
    "forgotten": "its chat was reset",
    "dead": "it was given up",
}


async def print_trace(settings: Settings, update_id: int, *, as_json: bool) -> None:
    """Print what became of an update. Raises CommandFailed where there is no record of it."""
    async with open_stores(settings) as stores:
        record = await open_inspection(stores).find(update_id)
        known = await known_by_ref(settings, stores)
    if record is None:
        raise CommandFailed(not_found(update_id))
    if as_json:
        print_json(_record_document(record, known))
    else:
        print_facts(_record_facts(record, known))


def _record_document(record: UpdateRecord, known: Known) -> dict[str, object]:
    return {
        "update_id": record.update_id,
        "state": record.state,
        "reason": record.reason,
        **chat_document(record.ref, known),
        "received_at": iso(record.received_at),
        "finished_at": iso(record.finished_at),
        "attempts": record.attempts,
        "sent_message_ids": list(record.sent),
        "ahead": record.ahead,
        "is_dead_letter": record.is_dead_letter,
    }


def _record_facts(record: UpdateRecord, known: Known) -> list[tuple[str, str]]:
    said = _STATES.get(record.state, "")
    facts = [
        ("update", str(record.update_id)),
        ("state", f"{record.state}: {said}" if said else record.state),
        *([("reason", record.reason)] if record.reason else []),
        ("chat", " · ".join(chat_cells(record.ref, known))),
        ("received", f"{utc(record.received_at)} UTC"),
    ]
    if record.finished_at is not None:
        took = record.finished_at - (record.received_at or record.finished_at)
        facts.append(("finished", f"{utc(record.finished_at)} UTC, after {took:.1f} s"))
    if record.is_dead_letter:
        facts.append(("now", f"set aside: `mnemogram queue retry {record.update_id}`, or `queue drop`"))
    if record.ahead is not None:
        facts.append(
            ("in its line", "first" if not record.ahead else f"after {count(record.ahead, 'other')}")
        )
    if record.attempts:
        facts.append(("attempts", str(record.attempts)))
    if record.sent:
        facts.append(("sent", "Telegram message " + ", ".join(map(str, record.sent))))
    return facts
