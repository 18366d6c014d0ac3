"""The inbox as documents, for the console and the operators' page: waiting chats, dead letters, the life of an update.

No document has a text.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bot.inbox.inspection import DeadLetter, InboxInspection, WaitingContext
from bot.page.chats import ChatList, chat_document
from bot.times import iso
from bot.turn.commit import TurnTrace
from bot.turn.outbox import SentPart
from memory.codec import parse_json

_MICROS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxDocuments:
    """Documents that name their chats. Each method raises StoreUnavailable."""

    inspection: InboxInspection
    chats: ChatList

    async def waiting(self) -> dict[str, Any]:
        """Return the chats with something to do, the longest waiting first, and their sums."""
        found = await self.inspection.waiting()
        return {
            "updates": sum(each.updates + each.delivering for each in found),
            "chats": len(found),
            "oldest_s": max((each.oldest_s for each in found if each.oldest_s is not None), default=None),
            "waiting": await self._named(found),
        }

    async def dead_letters(self, *, at_most: int | None = None) -> list[dict[str, Any]]:
        """Return the newest dead letters (None: all)."""
        return await self._named((await self.inspection.dead_letters())[:at_most])

    async def trace(self, update_id: int) -> dict[str, Any] | None:
        """Return the life of an update, or None without a record.

        Updates that are answered together have one turn, in the record of the first of them.
        """
        record = await self.inspection.find(update_id)
        if record is None:
            return None
        head = (record if record.turn_of is None else await self.inspection.find(record.turn_of)) or record
        chats = await self.chats.find([record.ref])
        gate = record.gate.split()
        return {
            "update_id": record.update_id,
            "state": record.state,
            "reason": record.reason,
            **chat_document(record.ref, chats.get(record.ref)),
            "received_at": iso(record.times.received),
            **dict(zip(("door", "action", "why"), gate if len(gate) == 3 else [None] * 3, strict=True)),
            "redelivered": record.redelivered,
            "attempts": record.attempts,
            "begun_at": iso(record.times.begun),
            "worker": record.worker or None,
            "steps_so_far": list(record.steps),
            "answered_with": record.turn_of,
            "committed_at": iso(record.times.committed),
            "turn": _turn_document(parse_json(TurnTrace, head.turn)) if head.turn else None,
            "sends": [_part_document(parse_json(SentPart, line)) for _, line in sorted(head.parts.items())],
            "sent_message_ids": list(record.sent),
            "finished_at": iso(record.times.finished),
            "ahead": record.ahead,
            "is_dead_letter": record.is_dead_letter,
        }

    async def _named(self, entries: Sequence[WaitingContext] | Sequence[DeadLetter]) -> list[dict[str, Any]]:
        chats = await self.chats.find([each.ref for each in entries])
        documents = [{**chat_document(each.ref, chats.get(each.ref)), **asdict(each)} for each in entries]
        for document in documents:
            del document["ref"]
        return documents


def _turn_document(turn: TurnTrace) -> dict[str, object]:
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
