"""Finds the answers that used deleted messages, and keeps the questions whether they are forgotten too."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.turn.answer_receipt import load_receipts
from bot.turn.store import UPDATES_AT_MOST
from memory.codec import dump_json, parse_json
from memory.erasure import LaterUse
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, sequence_of
from memory.history.redis_history import RedisHistory
from memory.history.store import Deletion
from memory.keys import ContextRef, context_key
from memory.redis.client import Command, RedisClient

OFFERS_AT_MOST = 10
"""Buttons of one chat or topic that can still be pressed, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A button under a receipt that forgets answers too. It has their sequences, because an id would name them."""

    update_id: int
    """The update that forgot the messages; the button has it too."""
    answers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterUses:
    """Finds the later use of messages. Every method raises the store's errors."""

    redis: RedisClient
    history: RedisHistory

    async def find(
        self,
        ref: ContextRef,
        deletion: Deletion,
        erased: Collection[Message],
        *,
        overheard: Collection[int] = (),
    ) -> LaterUse:
        """Return the answers that used deleted messages, by their receipts, and what rests on these answers.

        `erased` are the messages as they were. The answer right after a message counts also without a receipt.
        `overheard` are Telegram ids of messages that were erased from the talk.
        """
        listed: list[str] = await self.redis.call("ZRANGE", context_key(ref, "receipts"), 0, -1)
        receipts = await load_receipts(self.redis, ref, listed)
        changed = (*deletion.sequences, *deletion.quoting)
        ids = {*deletion.message_ids, *await self._ids_at(ref, deletion.quoting)}
        answers = {
            place
            for each, place in (await self._places(ref, list(receipts))).items()
            if place in deletion.turn_ends
            or not set(deletion.fact_ids).isdisjoint((*receipts[each].facts, *receipts[each].standing))
            or receipts[each].used(ids, changed, answer=place)
            or receipts[each].heard(overheard)
        }
        for message in erased:
            own = await self._answer_to(ref, message)
            answers |= {sequence_of(own)} if own and own.id not in receipts else set()
        return await self._with_rest(ref, sorted(answers)) if answers else LaterUse()

    async def messages_at(self, ref: ContextRef, sequences: Collection[int]) -> list[Message]:
        """Return the messages with these sequences that exist."""
        return list((await self.history.get(ref, await self._ids_at(ref, sequences))).values())

    async def offers(self, ref: ContextRef) -> tuple[Offer, ...]:
        """Return the buttons of the context that can still be pressed, oldest first."""
        return parse_offers(await self.redis.call("HGET", context_key(ref, "meta"), "offers"))

    async def _places(self, ref: ContextRef, ids: Sequence[str]) -> dict[str, int]:
        """Return the sequences of the messages that exist, by their ids."""
        order = context_key(ref, "order")
        found = await self.redis.calls([("ZSCORE", order, each) for each in ids]) if ids else []
        return {each: int(float(at)) for each, at in zip(ids, found, strict=True) if at is not None}

    async def _ids_at(self, ref: ContextRef, sequences: Collection[int]) -> list[str]:
        order = context_key(ref, "order")
        reads: list[Command] = [("ZRANGEBYSCORE", order, each, each) for each in sequences]
        return [each for found in (await self.redis.calls(reads) if reads else []) for each in found]

    async def _answer_to(self, ref: ContextRef, message: Message) -> Message | None:
        """Return the answer right after a person's message and those that were answered with it, or None."""
        if message.role != "user":
            return None
        later = await self.history.page(
            ref, after_sequence=message.sequence, limit=UPDATES_AT_MOST, whole=True
        )
        return next((each for each in later if each.role == "assistant"), None)

    async def _with_rest(self, ref: ContextRef, answers: Sequence[int]) -> LaterUse:
        """Count the summaries that tell these answers, and the stored results of their turns."""
        ledger, lineage, meta = (context_key(ref, name) for name in ("ledger", "lineage", "meta"))
        start = int(await self.redis.call("HGET", meta, "conversation_start") or 0)
        told = [each for each in answers if each >= start]
        summaries = int(await self.redis.call("ZCOUNT", lineage, told[0], "+inf")) if told else 0
        turns = await self.redis.calls([("ZRANGEBYSCORE", ledger, each, each) for each in answers])
        calls = [entry for lines in turns for line in lines for entry in parse_json(LedgerTurn, line).entries]
        artifacts = {entry.artifact_id for entry in calls if entry.artifact_id}
        reads: list[Command] = [("EXISTS", context_key(ref, "artifact", each)) for each in artifacts]
        live = await self.redis.calls(reads) if reads else []
        return LaterUse(answers=tuple(answers), summaries=summaries, artifacts=sum(map(int, live)))


def dump_offers(offers: Sequence[Offer]) -> str:
    """Return the newest offers as the store keeps them; "" if there are none."""
    return dump_json(tuple[Offer, ...], tuple(offers[-OFFERS_AT_MOST:])) if offers else ""


def parse_offers(line: str | None) -> tuple[Offer, ...]:
    """Return the offers that `dump_offers` wrote."""
    return parse_json(tuple[Offer, ...], line) if line else ()
