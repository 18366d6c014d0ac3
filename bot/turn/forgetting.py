"""Erases messages with everything about them, for /forget in the chat and for the memory page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.updates import quotes_message
from bot.turn.store import TurnStore
from memory.artifacts.store import drop_unnamed
from memory.erasure import ErasureReceipt, delete_and_prove
from memory.history.heard import HeardLine
from memory.history.message import Message
from memory.history.redis_history import RedisHistory, RedisTalk
from memory.history.store import Deletion, RecordCounts
from memory.history.talk import score_of
from memory.keys import ContextRef, context_key
from memory.recall.recall import Recall
from memory.redis.client import RedisClient


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramNumber:
    """A message's id in its chat. `is_moved`: of the supergroup that the chat has become, not of the group before."""

    id: int
    is_moved: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenMessages:
    """What an erasure has done."""

    receipt: ErasureReceipt
    deletion: Deletion
    has_letters: bool
    """True if dead letters of the messages were erased too."""
    overheard: tuple[int, ...] = ()
    """Telegram ids of the messages that were erased from the talk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedErasures:
    """The messages that somebody wants to be forgotten, by their Telegram ids and their ids in the history."""

    telegram_ids: frozenset[int] = frozenset()
    message_ids: frozenset[str] = frozenset()

    def has(self, line: HeardLine) -> bool:
        """Return True if this line is one of the messages."""
        return line.message_id in self.message_ids or line.telegram_id in self.telegram_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Erases messages of one context from all its records. Every method raises the store's errors."""

    redis: RedisClient
    store: TurnStore
    history: RedisHistory
    talk: RedisTalk

    async def dead_letters(self, ref: ContextRef, telegram_ids: Collection[int]) -> list[WaitingUpdate]:
        """Return the dead letters of these messages, of their edits, and of messages that quote them."""
        letters = [parse_waiting(payload) for payload in (await self.store.dead_letters(ref)).values()]
        return [
            letter
            for letter in letters
            if any(
                letter.message.message_id == wanted or quotes_message(letter.message, wanted)
                for wanted in telegram_ids
            )
        ]

    async def waiting(self, ref: ContextRef) -> WantedErasures:
        """Return the messages that a /forget in the chat's line will erase, if its sender may."""
        telegram_ids: set[int] = set()
        message_ids: set[str] = set()
        for number in await self.redis.call("ZRANGE", context_key(ref, "box"), 0, -1):
            payload = await self.store.payload_of(ref, int(number))
            update = parse_waiting(payload) if payload else None
            if update is not None and update.message.reply_to and _is_forget(update):
                telegram_id = update.message.reply_to.message_id
                found = await self.history.find_by_telegram(ref, telegram_id)
                telegram_ids.add(telegram_id)
                message_ids |= {found} if found else set()
        return WantedErasures(telegram_ids=frozenset(telegram_ids), message_ids=frozenset(message_ids))

    async def numbers_of(
        self, ref: ContextRef, messages: Sequence[Message], *, is_moved: bool
    ) -> list[TelegramNumber]:
        """Return the Telegram ids of stored messages. `is_moved`: the chat has become a supergroup.

        The store's index has the ids in the present chat. Messages of the group before have their old ones.
        """
        if not messages:
            return []
        key = context_key(ref, "telegram")
        shown = await self.redis.call("HMGET", key, *[message.id for message in messages])
        numbers: list[TelegramNumber] = []
        for message, present in zip(messages, shown, strict=True):
            if present:
                numbers += [TelegramNumber(id=int(each), is_moved=is_moved) for each in str(present).split()]
            elif message.telegram_message_id is not None:
                numbers.append(TelegramNumber(id=message.telegram_message_id, is_moved=False))
        return numbers

    async def erase(
        self,
        ref: ContextRef,
        ids: Collection[str],
        *,
        epoch: int,
        recall: Recall | None,
        numbers: Collection[TelegramNumber],
        spares_running: bool = False,
    ) -> ForgottenMessages:
        """Erase the messages with these ids, and what mentions them: dead letters, talk, quotations, artifacts.

        `numbers` are their ids in Telegram; without `ids` they are messages that the history does not have. Artifacts
        that no turn names are erased too. `spares_running`, outside the chat's line, keeps them while a turn may be
        storing one. Raises Forgotten after a reset.
        """
        letters = await self.dead_letters(ref, {number.id for number in numbers})
        if letters:
            await self.store.forget_updates(ref, [letter.update_id for letter in letters])
        lines = {
            number.id: await self.talk.forget(ref, score_of(number.id, is_moved=number.is_moved))
            for number in numbers
        }
        deletion, receipt = await delete_and_prove(
            ref,
            ids,
            epoch=epoch,
            store=self.history,
            recall=recall,
            quoted=() if ids else [number.id for number in numbers],
        )
        unnamed = await drop_unnamed(self.redis, ref, epoch=epoch, spares_running=spares_running)
        erased = receipt.erased + RecordCounts(talk=sum(lines.values()), artifacts=unnamed)
        return ForgottenMessages(
            receipt=replace(receipt, erased=erased),
            deletion=deletion,
            has_letters=bool(letters),
            overheard=tuple(each for each, count in lines.items() if count),
        )


def _is_forget(update: WaitingUpdate) -> bool:
    command = update.admission.command
    return command is not None and command.name == "forget"
