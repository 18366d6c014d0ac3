"""Numbers of a context's records, by the fields of `KeyKind.counted_as` (memory/keys.py)."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCounts:
    """Numbers of a context's records: those stored, those erased, or those that an erasure left."""

    messages: int = 0
    summaries: int = 0
    ledger_turns: int = 0
    artifacts: int = 0
    """Those that have not expired."""
    talk: int = 0
    quotes: int = 0
    """Messages that quote a deleted one."""
    people: int = 0
    sessions: int = 0
    answer_receipts: int = 0
    """Those that have not expired."""
    facts: int = 0
    reminders: int = 0

    @property
    def total(self) -> int:
        """Return the sum of all counts."""
        return sum(self.by_name().values())

    def by_name(self) -> dict[str, int]:
        """Return the counts by name, without the other fields of a subclass."""
        return {field.name: getattr(self, field.name) for field in fields(RecordCounts)}

    def __add__(self, other: "RecordCounts") -> "RecordCounts":
        added = other.by_name()
        return RecordCounts(**{name: number + added[name] for name, number in self.by_name().items()})
