"""Resets: erase contexts in Redis behind a new epoch, erase their vectors, and read both back."""

from dataclasses import dataclass, replace
from typing import Literal

from bot.inbox.inspection import InboxInspection
from bot.inbox.records import Claim
from bot.transport.ingest import parse_waiting, telegram_ref
from bot.transport.migrations import Migrations
from bot.turn.store import TurnStore
from memory.erasure import ErasureReceipt, count_vectors, prove_erased
from memory.history import contexts
from memory.history.store import Erasure, HistoryStore
from memory.keys import ContextRef, partition_of
from memory.recall.recall import Recall
from memory.redis.client import RedisClient
from memory.redis.server_files import load_unclean


class Eraser:
    """Resets contexts, for the chat's /reset, the console and the memory page.

    Without `recall`, because the index is away, the receipt does not count vectors; the queued work erases them.
    """

    def __init__(
        self, redis: RedisClient, store: TurnStore, history: HistoryStore, recall: Recall | None
    ) -> None:
        self._redis = redis
        self._store = store
        self._history = history
        self._recall = recall

    async def reset(
        self, ref: ContextRef, *, update_id: int | None = None, grave: Literal["reset", "replaced"] = "reset"
    ) -> ErasureReceipt:
        """Erase everything of a context, including its running turn and its waiting updates.

        `update_id` is the update of another chat that asks for it. If a worker dies and the update runs again,
        nothing more is erased, and the receipt has the counts of the first run. After "replaced" an older file of the
        context may be imported.
        """
        vectors = await count_vectors(ref, self._recall)
        erased = await self._store.reset(ref, vectors=vectors, asked_by=update_id, grave=grave)
        return await self.finish(ref, erased)

    async def reset_own(self, claim: Claim, update_id: int, *, others: str) -> Erasure:
        """Erase the context of the update that asks for it. That update and later ones stay. `finish` comes next.

        `others` is the receipt of other contexts that were erased before, for a try that is interrupted.
        """
        vectors = await count_vectors(claim.ref, self._recall)
        return await self._store.reset(
            claim.ref, vectors=vectors, answering=(claim, update_id), others=others
        )

    async def finish(self, ref: ContextRef, erased: Erasure) -> ErasureReceipt:
        """Erase the vectors of earlier epochs, and read both stores back.

        If the index does not answer, `vectors_left` is None. The reset has queued the work, and the indexer does
        it when the index answers.
        """
        receipt = await prove_erased(ref, erased, store=self._history, recall=self._recall)
        return replace(receipt, unclean=tuple(await load_unclean(self._redis)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatContexts:
    """Finds the contexts of a chat: its own and those of its topics."""

    redis: RedisClient
    inspection: InboxInspection
    migrations: Migrations
    bot_id: int
    partitions: int

    async def find(self, chat_id: int) -> list[ContextRef]:
        """Return the chat's own context first, known or not, then those of its topics. Accepts old group ids.

        A context is registered by its first answer or line of talk. Before that its messages wait in its box or
        are dead letters; such contexts are found too.
        """
        chat_id = await self.migrations.resolve(chat_id)
        own = telegram_ref(self.bot_id, chat_id, None, partitions=self.partitions)
        partition = partition_of(chat_id, self.partitions)  # all topics of a chat share it
        registered = [
            context.ref
            async for context in contexts.scan_contexts(self.redis, partition, name="chat_id", value=chat_id)
            if context.keys.get("bot_id") == self.bot_id
        ]
        unanswered = [
            ref
            for ref, payload in await self.inspection.unanswered(partition)
            if parse_waiting(payload).anchor_id == chat_id
        ]
        return list(dict.fromkeys([own, *registered, *unanswered]))
