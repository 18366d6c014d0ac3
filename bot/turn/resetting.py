"""Resets a context: erase it in Redis behind a new epoch, erase its vectors, read both back."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from bot.inbox.records import Claim
from bot.turn.turn_store import Erased, TurnStore
from memory.forgetting import ErasureReceipt, count_vectors, prove_erased
from memory.history import store as history_store
from memory.history.store import HistoryStore
from memory.keys import ContextRef
from memory.recall.recall import Recall


class Resetting:
    """Used by the chat's /reset and by the console alike."""

    def __init__(self, store: TurnStore, history: HistoryStore, recall: Recall) -> None:
        self._store = store
        self._history = history
        self._recall = recall

    async def reset(self, ref: ContextRef) -> ErasureReceipt:
        """Erase everything of a context, a running turn and what waits included."""
        vectors = await count_vectors(ref, self._recall)
        return await self.finish(ref, await self._store.reset(ref, vectors=vectors))

    async def reset_own(self, claim: Claim, update_id: int, *, others: str) -> Erased:
        """Erase the context in which this /reset was said; it and what came after it stay. `finish` comes next.

        `others` is the receipt of what it erased elsewhere, kept for an interrupted answer.
        """
        vectors = await count_vectors(claim.ref, self._recall)
        return await self._store.reset(
            claim.ref, vectors=vectors, answering=(claim, update_id), others=others
        )

    async def finish(self, ref: ContextRef, erased: Erased) -> ErasureReceipt:
        """Erase the vectors of the epochs before, and read both stores back.

        If the index cannot be asked now, `vectors_left` is None; the reset has queued the work, and the
        indexer does it as soon as the index answers.
        """
        return await prove_erased(
            ref,
            history_store.Erased(
                epoch=erased.epoch,
                messages=erased.messages,
                summaries=erased.summaries,
                ledger_turns=erased.ledger_turns,
                artifacts=erased.artifacts,
                heard=erased.heard,
            ),
            store=self._history,
            recall=self._recall,
            vectors_before=erased.vectors,
            updates_forgotten=erased.updates,
        )


def sum_receipts(receipts: Sequence[ErasureReceipt]) -> ErasureReceipt:
    """One receipt for several contexts; not proven unless each is."""
    left = [receipt.vectors_left for receipt in receipts]
    return ErasureReceipt(
        messages_erased=sum(receipt.messages_erased for receipt in receipts),
        vectors_erased=sum(receipt.vectors_erased for receipt in receipts),
        updates_forgotten=sum(receipt.updates_forgotten for receipt in receipts),
        summaries_erased=sum(receipt.summaries_erased for receipt in receipts),
        ledger_turns_erased=sum(receipt.ledger_turns_erased for receipt in receipts),
        artifacts_erased=sum(receipt.artifacts_erased for receipt in receipts),
        heard_erased=sum(receipt.heard_erased for receipt in receipts),
        messages_left=sum(receipt.messages_left for receipt in receipts),
        vectors_left=None if None in left else sum(count or 0 for count in left),
        others_left=sum(receipt.others_left for receipt in receipts),
    )


def dump_receipt(receipt: ErasureReceipt) -> str:
    """A receipt as one line of JSON."""
    return json.dumps(asdict(receipt))


def parse_receipt(line: str) -> ErasureReceipt:
    """The inverse of `dump_receipt`."""
    return ErasureReceipt(**json.loads(line))
