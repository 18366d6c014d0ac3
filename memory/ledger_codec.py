"""The form of the ledger at rest: a line for each turn, `first_sequence artifact,ids entries`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from memory.ledger import LedgerEntry, LedgerTurn


def dump_ledger_turn(turn: LedgerTurn) -> str:
    """The turn as one line of ASCII; its last sequence stays with the store's index."""
    return f"{turn.first_sequence} {dump_entries(turn.entries)}"


def parse_ledger_turn(line: str, *, last_sequence: int) -> LedgerTurn:
    """The inverse of `dump_ledger_turn`; raises ValueError or TypeError on a line that is not one."""
    first, _artifacts, entries = line.split(" ", 2)
    found = cast(list[dict[str, Any]], json.loads(entries))
    return LedgerTurn(
        first_sequence=int(first),
        last_sequence=last_sequence,
        entries=tuple(LedgerEntry(**entry) for entry in found),
    )


def dump_entries(entries: Sequence[LedgerEntry]) -> str:
    """The line without its first sequence, which the commit adds; empty for no entries.

    The artifacts stand before the JSON, each once, so that a script finds them without decoding it.
    """
    if not entries:
        return ""
    artifacts = dict.fromkeys(entry.artifact_id for entry in entries if entry.artifact_id)
    found = [asdict(entry) for entry in entries]
    return f"{','.join(artifacts)} {json.dumps(found, separators=(',', ':'))}"
