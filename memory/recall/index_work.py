"""What the entries of the work stream ask for: sorted into erasures, drops and messages to index, each once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from memory.keys import ContextRef


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkEntry:
    """An entry of the stream as it was written; no fields where it was deleted meanwhile."""

    id: str
    fields: Mapping[str, str]

    @property
    def build(self) -> str:
        """The build of the walk that queued it, "" of any other work."""
        return self.fields.get("build", "")

    @property
    def erases(self) -> bool:
        """Whether it asks for something to be erased, which needs no embedder."""
        return self.fields.get("op") in {"erase", "drop"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A message in the epoch that it was written in."""

    ref: ContextRef
    epoch: int
    message_id: str


@dataclass(slots=True, kw_only=True)
class WorkPlan:
    """A batch sorted: what to erase, drop and index (each once), and the entries that ask for it.

    `index` tells of each message the only space that a walk wants it in, "" for every space that is written.
    """

    erase: dict[ContextRef, int] = field(default_factory=dict[ContextRef, int])
    drop: dict[Target, None] = field(default_factory=dict[Target, None])
    index: dict[Target, str] = field(default_factory=dict[Target, str])
    erasing: list[WorkEntry] = field(default_factory=list[WorkEntry])
    indexing: list[WorkEntry] = field(default_factory=list[WorkEntry])
    unknown: int = 0


def plan_work(entries: Iterable[WorkEntry], partition: int) -> WorkPlan:
    """Sort a batch; entries that are not of our making are only finished."""
    plan = WorkPlan()
    for entry in entries:
        fields = entry.fields
        # Deleted, or not of our making.
        if not fields.get("context") or not fields.get("epoch", "").isdigit():
            plan.erasing.append(entry)
            plan.unknown += 1
            continue
        ref = ContextRef(context_id=fields["context"], partition=partition)
        epoch = int(fields["epoch"])
        if fields.get("op") == "erase":
            plan.erase[ref] = max(epoch, plan.erase.get(ref, 0))
            plan.erasing.append(entry)
            continue
        target = Target(ref=ref, epoch=epoch, message_id=fields.get("id", ""))
        if fields.get("op") == "drop":
            plan.drop[target] = None
            plan.erasing.append(entry)
        else:
            space = fields.get("space", "")
            plan.index[target] = space if plan.index.get(target, space) == space else ""
            plan.indexing.append(entry)
    return plan


def parse_entries(reply: Any) -> list[WorkEntry]:
    """The entries in the reply to XREADGROUP of one stream."""
    streams = cast(list[tuple[str, Any]], reply or [])
    return [entry for _, rows in streams for entry in parse_rows(rows)]


def parse_rows(reply: Any) -> list[WorkEntry]:
    """The entries in the reply to XRANGE."""
    rows = cast(list[tuple[str, dict[str, str] | None]], reply or [])
    return [WorkEntry(id=number, fields=fields or {}) for number, fields in rows]
