"""The form of the ledger at rest: a line for each turn, `first_sequence artifact,ids entries`."""

from collections.abc import Sequence

from memory.history.ledger import LedgerEntry, LedgerTurn, dump_entries, parse_entries


def dump_ledger_turn(turn: LedgerTurn) -> str:
    """The turn as one line of ASCII; its last sequence stays with the store's index."""
    return f"{turn.first_sequence} {dump_called(turn.entries)}"


def parse_ledger_turn(line: str, *, last_sequence: int) -> LedgerTurn:
    """The inverse of `dump_ledger_turn`; raises ValueError or TypeError on a line that is not one."""
    first, _artifacts, entries = line.split(" ", 2)
    return LedgerTurn(
        first_sequence=int(first),
        last_sequence=last_sequence,
        entries=parse_entries(entries),
    )


def dump_called(entries: Sequence[LedgerEntry]) -> str:
    """The line without its first sequence, which the commit adds; empty for no entries.

    The artifacts stand before the JSON, each once, so that a script finds them without decoding it.
    """
    if not entries:
        return ""
    artifacts = dict.fromkeys(entry.artifact_id for entry in entries if entry.artifact_id)
    return f"{','.join(artifacts)} {dump_entries(entries)}"
