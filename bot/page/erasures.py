"""What a person changes on the page: forget messages, reset a context, and have the export sent."""

import asyncio
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

import structlog
from starlette.requests import Request
from starlette.routing import Route

from bot.errors import ChatUnreachable, TelegramRefused
from bot.page.access import ChatAccess, PageContext
from bot.page.api import RateLimit, admit, api_route, read_object
from bot.page.documents import erasure_document, is_written_by
from bot.page.memories import OpenRecall
from bot.page.visitors import PageError, Visitor
from bot.times import iso
from bot.transport.forms import ChatPlace
from bot.transport.telegram_api import TelegramApi
from bot.transport.texts import forgotten_text, receipt_text
from bot.transport.words import words_for
from bot.turn.erasure import Eraser
from bot.turn.forgetting import Forgetting
from bot.turn.later_use import LaterUses
from memory.characters import well_formed
from memory.erasure import ErasureReceipt
from memory.errors import Forgotten, RecallUnavailable
from memory.history.contexts import find_context
from memory.recall.recall import Recall
from memory.redis.client import RedisClient
from memory.tombstones import load_reset_time
from memory.transfer.exporter import ChangedMeanwhile, ExportTooLarge, write_export
from memory.transfer.file import Header

log = structlog.get_logger()

MESSAGES_AT_ONCE = 100
_LONGEST_ID = 64
LARGEST_EXPORT = 50 * 1000 * 1000
"""Bytes of a file that a bot may send."""
EXPORTS_AT_ONCE = 2
"""Exports of a process at a time: each is held in memory until it is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChanges:
    """The changing requests. They do not wait for the chat's line: a running turn notices and begins again."""

    access: ChatAccess
    redis: RedisClient
    forgetting: Forgetting
    later_uses: LaterUses
    open_eraser: Callable[[Recall | None], Eraser]
    open_recall: OpenRecall
    telegram: TelegramApi
    version: str
    erasures: RateLimit
    exports: RateLimit
    clock: Callable[[], float]
    exporting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EXPORTS_AT_ONCE))

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            api_route("contexts/{id}/forget", self.forget, "POST"),
            api_route("contexts/{id}/reset", self.reset, "POST"),
            api_route("contexts/{id}/export", self.export, "POST"),
        ]

    async def forget(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Erase messages everywhere. `gone` are those that were not there, or that another window has just erased.

        `used_by` are the ids of answers that used them, and may repeat them: another request forgets these.
        Viewing gives no right to erase what others wrote: without `may_forget_all` a request with another's message
        erases nothing.
        """
        ids = _message_ids(await read_object(request))
        context = await self.access.find(visitor, request.path_params["id"])
        admit(self.erasures, visitor.key)
        ref, history = context.ref, self.forgetting.history
        epoch = (await history.load(ref, limit=0)).epoch
        found = await history.get(ref, ids)
        if not context.rights.may_forget_all and not all(
            is_written_by(message, visitor) for message in found.values()
        ):
            raise PageError("forbidden", "You may forget your own messages only.")
        recall = await open_or_none(self.open_recall)
        done = None
        if found:
            done = await self.forgetting.erase(
                ref,
                list(found),
                epoch=epoch,
                recall=recall,
                numbers=await self.forgetting.numbers_of(
                    ref, list(found.values()), is_moved=await self._is_moved(context)
                ),
                spares_running=True,
            )
        erased = set(done.deletion.sequences) if done else set[int]()
        gone = [each for each in ids if each not in found or found[each].sequence not in erased]
        if done is None or not erased:
            return {"receipt": None, "gone": gone, "used_by": []}
        receipt = honest(done.receipt, recall)
        log.info("page_forgot", context=ref.context_id, messages=len(erased), is_proven=receipt.is_proven)
        used = await self.later_uses.find(ref, done.deletion, list(found.values()), overheard=done.overheard)
        key = "forgotten" if len(erased) == 1 else "forgotten-several"
        text = forgotten_text(words_for(visitor.language), receipt, key=key, used=used)
        answers = (
            await self.later_uses.messages_at(ref, used.answers) if context.rights.may_forget_all else []
        )
        return {
            "receipt": erasure_document(receipt, text, used),
            "gone": gone,
            "used_by": [each.id for each in answers],
        }

    async def reset(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Erase everything of a context, as /reset does."""
        context = await self.access.find(visitor, request.path_params["id"])
        if not context.rights.may_reset:
            raise PageError("forbidden", "Only an administrator may erase this memory.")
        admit(self.erasures, visitor.key)
        recall = await open_or_none(self.open_recall)
        receipt = honest(await self.open_eraser(recall).reset(context.ref), recall)
        log.info("page_reset", context=context.ref.context_id, is_proven=receipt.is_proven)
        of = "chat" if context.thread_id is None else "topic"
        text = receipt_text(words_for(visitor.language), receipt, of=of)
        return {"receipt": erasure_document(receipt, text)}

    async def export(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Send the context's export into the person's private chat."""
        context = await self.access.find(visitor, request.path_params["id"])
        if not context.rights.may_export or visitor.user_id is None:
            raise PageError("forbidden", "You may not export this memory.")
        if self.exporting.locked():
            raise PageError("unavailable", "Other exports are running. Please try again in a moment.")
        admit(self.exports, visitor.key)
        async with self.exporting:
            return await self._send_export(visitor.user_id, context)

    async def _is_moved(self, context: PageContext) -> bool:
        """Return True for a group that has become a supergroup."""
        return not context.is_private and context.anchor_id in await self.access.migrations.present_ids()

    async def _send_export(self, user_id: int, context: PageContext) -> Mapping[str, Any]:
        content = await self._write_export(context)
        file_name = f"memory-{datetime.fromtimestamp(self.clock(), UTC):%Y-%m-%d}.jsonl"
        try:
            await self.telegram.send_file(ChatPlace(chat_id=user_id, thread_id=None), content, name=file_name)
        except (ChatUnreachable, TelegramRefused):
            raise PageError(
                "forbidden", "I may not write to you. Please press Start in our private chat, and try again."
            ) from None
        log.info("page_exported", context=context.ref.context_id, size=len(content))
        return {"sent": True, "file_name": file_name, "size": len(content)}

    async def _write_export(self, context: PageContext) -> bytes:
        ref, thread = context.ref, context.thread_id
        chat_id = (await self.access.migrations.present_ids()).get(context.anchor_id, context.anchor_id)
        entry = await find_context(self.redis, ref)
        header = Header(
            format=2,
            version=self.version,
            exported_at=iso(self.clock()) or "",
            chat=str(chat_id) if thread is None else f"{chat_id}/{thread}",
            title=context.title,
            context=ref.context_id,
            registered_at=entry.created_at if entry else None,
            reset_at=await load_reset_time(self.redis, ref),
        )
        file = io.BytesIO()
        stream = io.TextIOWrapper(file, encoding="ascii", newline="\n", write_through=True)
        try:
            await write_export(
                self.redis, ref, stream, header=header, clock=self.clock, largest=LARGEST_EXPORT
            )
        except (ChangedMeanwhile, Forgotten):
            raise PageError("unavailable", "The memory is changing. Please try again in a moment.") from None
        except ExportTooLarge:
            raise PageError(
                "bad_request", "This memory is too large for a file in Telegram. Please ask the operator."
            ) from None
        return file.getvalue()


async def open_or_none(open_recall: OpenRecall) -> Recall | None:
    """Return the index; None if it is away: the indexer does the queued work later."""
    try:
        return await open_recall()
    except RecallUnavailable:
        return None


def honest(receipt: ErasureReceipt, recall: Recall | None) -> ErasureReceipt:
    """Return the receipt; without the index nobody knows what it has left."""
    return receipt if recall is not None else replace(receipt, vectors_left=None)


def _message_ids(body: Mapping[str, Any]) -> list[str]:
    """Return the different ids of a request. Raises PageError."""
    given: Any = body.get("message_ids")
    items = cast("list[object]", given) if isinstance(given, list) else []
    ids = [
        each
        for each in items
        if isinstance(each, str) and 0 < len(each) <= _LONGEST_ID and well_formed(each) == each
    ]
    if not ids or len(ids) != len(items) or len(ids) > MESSAGES_AT_ONCE:
        raise PageError("bad_request", f"message_ids must be 1 to {MESSAGES_AT_ONCE} ids.")
    return list(dict.fromkeys(ids))
