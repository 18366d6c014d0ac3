"""What a person reads on the page: contexts, messages, search, the summary, artifacts."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.routing import Route

from bot.page.access import ChatAccess, PageContext
from bot.page.api import RateLimit, admit, api_route, whole_number
from bot.page.documents import context_document, message_document, receipt_document, why_document
from bot.page.visitors import PageError, Visitor
from bot.transport.gating import BotIdentity
from bot.transport.words import Words, words_for
from bot.turn.answer_receipt import have_receipts, load_receipts
from bot.turn.media import DOCUMENT_READER
from memory.artifacts.store import ArtifactGone, ContextArtifacts
from memory.chat_history import ChatHistory
from memory.codec import parse_json, parse_object
from memory.errors import RecallUnavailable
from memory.facts.redis_facts import RedisFacts
from memory.history.ledger import LedgerTurn
from memory.history.message import Message
from memory.history.redis_history import RedisHistory, load_snapshot, parse_snapshot, recent_messages
from memory.history.selectors import TokenCounter
from memory.history.store import HistorySnapshot
from memory.history.summary import Summary, render_summary
from memory.keys import context_key
from memory.recall.excerpts import matched_words
from memory.recall.recall import Recall
from memory.redis.client import RedisClient
from memory.redis.lua import named

PAGE_LIMIT = 200
DEFAULT_PAGE = 50
HITS_LIMIT = 50
DEFAULT_HITS = 20
LONGEST_QUESTION = 1_000
"""Characters of a search."""
ARTIFACTS_LIMIT = 100
PREVIEW = 300
"""Characters of an artifact's preview."""
TURNS_READ = 500
"""The newest turns with tools, among which the messages of documents are looked for."""
_LARGEST_SEQUENCE = 1 << 53

OpenRecall: TypeAlias = Callable[[], Awaitable[Recall]]
"""Open the index and the embedder at the first call. Raises RecallUnavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPages:
    """The reading requests. Each is checked against the visitor's chats, and reads one page only."""

    access: ChatAccess
    redis: RedisClient
    history: RedisHistory
    facts: RedisFacts
    open_recall: OpenRecall
    bot: BotIdentity
    version: str
    tokenizer: TokenCounter
    artifact_ttl_s: int
    lists: RateLimit
    searches: RateLimit
    lines: Callable[[Words, HistorySnapshot], Sequence[str]]
    """What the features say about a chat, in the visitor's language."""
    clock: Callable[[], float]

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            api_route("contexts", self.list_contexts),
            api_route("contexts/{id}/messages", self.list_messages),
            api_route("contexts/{id}/search", self.search),
            api_route("contexts/{id}/summary", self.show_summary),
            api_route("contexts/{id}/artifacts", self.list_artifacts),
            api_route("contexts/{id}/receipts/{message_id}", self.show_receipt),
        ]

    async def list_contexts(self, visitor: Visitor, _: Request) -> Mapping[str, Any]:
        """Return the visitor, the bot, and the contexts of the visitor's chats."""
        admit(self.lists, visitor.key)
        contexts, current = await self.access.list_contexts(visitor)
        present = await self.access.migrations.present_ids() if visitor.place else {}
        replies = await self.redis.run_all([load_snapshot(context.ref, limit=0) for context in contexts])
        recent = recent_messages()
        return {
            "me": {
                "id": visitor.user_id,
                "name": visitor.name,
                "language": visitor.language,
                "is_operator": visitor.is_operator,
            },
            "bot": {
                "id": self.bot.id,
                "name": self.bot.name or self.bot.username,
                "username": self.bot.username,
                "version": self.version,
            },
            "current": current,
            "contexts": [
                context_document(
                    context,
                    snapshot := parse_snapshot(named(reply), recent),
                    chat_id=present.get(context.anchor_id, context.anchor_id),
                    visitor=visitor,
                    lines=self.lines(words_for(visitor.language), snapshot),
                )
                for context, reply in zip(contexts, replies, strict=True)
            ],
        }

    async def list_messages(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Return a page of messages, newest first.

        It has the newest, or those `before` or `after` a sequence, or those `around` the id of a message. The page is
        empty if that message does not exist.
        """
        before = whole_number(request, "before", most=_LARGEST_SEQUENCE, is_signed=True)
        after = whole_number(request, "after", most=_LARGEST_SEQUENCE, is_signed=True)
        limit = max(1, whole_number(request, "limit", most=PAGE_LIMIT, default=DEFAULT_PAGE) or 0)
        context = await self.access.find(visitor, request.path_params["id"])
        if "around" in request.query_params:
            found = await self.history.get(context.ref, [request.query_params["around"]])
            if not found:
                return {"messages": [], "has_more": False}
            (middle,) = found.values()
            before, after = (middle.sequence or 0) + limit // 2 + 1, None
        messages, has_more = await self._read_page(context, before=before, after=after, limit=limit)
        return {"messages": await self.describe(visitor, context, messages), "has_more": has_more}

    async def search(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Return the messages that match a question, best first. Without the index nothing is searchable."""
        question = request.query_params.get("q", "")
        limit = whole_number(request, "k", most=HITS_LIMIT, default=DEFAULT_HITS) or 0
        if len(question) > LONGEST_QUESTION:
            raise PageError("bad_request", f"A search has at most {LONGEST_QUESTION} characters.")
        context = await self.access.find(visitor, request.path_params["id"])
        admit(self.searches, visitor.key)
        try:
            history = await self._open_history(context, await self.open_recall())
            hits = await history.search(
                question, limit, asker_id=visitor.user_id, is_deliberate=True, is_floored=False
            )
        except RecallUnavailable:
            return {"hits": [], "is_searchable": False}
        documents = await self.describe(visitor, context, [hit.message for hit in hits])
        return {
            "hits": [
                {
                    "message": document,
                    "score": hit.score,
                    "is_likely": hit.is_likely,
                    "why": why_document(hit.reasons, matched_words(question, hit.message.text)),
                }
                for document, hit in zip(documents, hits, strict=True)
            ],
            "is_searchable": True,
        }

    async def show_summary(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Return the summary that the prompts of the current conversation contain, or null."""
        context = await self.access.find(visitor, request.path_params["id"])
        snapshot = await self.history.load(context.ref, limit=0)
        if snapshot.summary is None:
            return {"summary": None}
        first_at, last_at = await self._covered_times(context, snapshot.summary)
        return {
            "summary": {
                "text": render_summary(snapshot.summary.text),
                "messages": snapshot.summary_state.covered_count,
                "first_at": first_at,
                "last_at": last_at,
                "made_at": snapshot.summary.created_at,
            }
        }

    async def list_artifacts(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Return the stored documents and results of tools with their first characters.

        A document has its name and the message that it came with, if they are known. The rest have null there.
        """
        context = await self.access.find(visitor, request.path_params["id"])
        artifacts = ContextArtifacts(
            self.redis, context.ref, epoch=lambda: 0, clock=self.clock, ttl_s=0, keep_beyond=0
        )
        found = await artifacts.newest(ARTIFACTS_LIMIT)
        sources = await self._sources(context, {each.id for each in found if each.tool == DOCUMENT_READER})
        messages = await self.describe(visitor, context, [message for _, message in sources.values()])
        by_id = {document["id"]: document for document in messages}
        return {
            "artifacts": [
                {
                    "id": artifact.id,
                    "tool": artifact.tool,
                    "is_document": artifact.tool == DOCUMENT_READER,
                    "name": sources[artifact.id][0] if artifact.id in sources else None,
                    "message": by_id[sources[artifact.id][1].id] if artifact.id in sources else None,
                    "size": artifact.length,
                    "made_at": artifact.ends_at - self.artifact_ttl_s,
                    "expires_at": artifact.ends_at,
                    "preview": await _preview(artifacts, artifact.id),
                }
                for artifact in found
            ]
        }

    async def show_receipt(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Return the receipt of an answer, or null. Messages and facts that were forgotten since are null in it."""
        message_id = request.path_params["message_id"]
        context = await self.access.find(visitor, request.path_params["id"])
        found = await load_receipts(self.redis, context.ref, [message_id])
        if message_id not in found:
            return {"receipt": None}
        receipt = found[message_id]
        shown = await self.history.get(
            context.ref, [message_id, *[each.message_id for each in receipt.recalled]]
        )
        question = await self._question_of(context, shown.pop(message_id, None))
        documents = await self.describe(visitor, context, list(shown.values()))
        return {
            "receipt": receipt_document(
                receipt,
                {document["id"]: document for document in documents},
                {each.id: matched_words(question, each.text) for each in shown.values()},
                await self.facts.get(context.ref, (*receipt.standing, *receipt.facts)),
                excerpts={
                    each.message_id: each.tell(shown[each.message_id], at=receipt.at).text
                    for each in receipt.recalled
                    if each.excerpt and each.excerpt.text and each.message_id in shown
                },
            )
        }

    async def describe(
        self, visitor: Visitor, context: PageContext, messages: Sequence[Message]
    ) -> list[Mapping[str, Any]]:
        """Return the documents of messages."""
        answers = [message.id for message in messages if message.role == "assistant"]
        receipts = await have_receipts(self.redis, context.ref, answers)
        return [
            message_document(message, visitor=visitor, context=context, has_receipt=message.id in receipts)
            for message in messages
        ]

    async def _sources(self, context: PageContext, wanted: Collection[str]) -> dict[str, tuple[str, Message]]:
        """Return the name and the message of documents by the ids of their artifacts, as the newest turns tell."""
        ledger = context_key(context.ref, "ledger")
        newest = ("ZRANGE", ledger, 0, TURNS_READ - 1, "REV")
        lines: list[str] = await self.redis.call(*newest) if wanted else []
        sources: dict[str, tuple[str, Message]] = {}
        for turn in [parse_json(LedgerTurn, line) for line in lines]:
            documents = {each.artifact_id: each for each in turn.entries if each.artifact_id in wanted}
            if not documents:
                continue
            messages = await self.history.page(
                context.ref,
                after_sequence=turn.first_sequence - 1,
                limit=turn.last_sequence - turn.first_sequence + 1,
                whole=True,
            )
            for artifact_id, entry in documents.items():
                holders = [each for each in messages if artifact_id in each.note] or messages
                if holders:
                    name = str((parse_object(entry.input) or {}).get("file_name", ""))
                    sources[artifact_id] = name, holders[0]
        return sources

    async def _question_of(self, context: PageContext, answer: Message | None) -> str:
        """Return the text that an answer follows; "" if it was forgotten."""
        if answer is None:
            return ""
        before = await self.history.page(context.ref, before_sequence=answer.sequence, limit=1, whole=True)
        return before[0].text if before and before[0].role == "user" else ""

    async def _read_page(
        self, context: PageContext, *, before: int | None, after: int | None, limit: int
    ) -> tuple[list[Message], bool]:
        """Return up to `limit` messages, newest first, and whether there are more in the direction of reading."""
        found: list[Message] = []
        while len(found) <= limit:
            page = await self.history.page(
                context.ref,
                before_sequence=None if after is not None else before,
                after_sequence=after,
                limit=limit + 1 - len(found),
                whole=True,
            )
            if not page:
                break
            found += page
            before = before if after is not None else page[-1].sequence
            after = page[-1].sequence if after is not None else None
        messages = found[:limit]
        return (messages if after is None else messages[::-1]), len(found) > limit

    async def _open_history(self, context: PageContext, recall: Recall) -> ChatHistory:
        snapshot = await self.history.load(context.ref, limit=0)
        return ChatHistory(
            ref=context.ref,
            epoch=snapshot.epoch,
            store=self.history,
            recall=recall,
            tokenizer=self.tokenizer,
            clock=self.clock,
            new_id=lambda: "",
        )

    async def _covered_times(
        self, context: PageContext, summary: Summary
    ) -> tuple[float | None, float | None]:
        """Return the times of the first and the last message that the summary covers, if they still exist."""
        first = await self.history.page(
            context.ref, after_sequence=summary.conversation_start - 1, limit=1, whole=True
        )
        last = await self.history.page(
            context.ref, before_sequence=summary.upto_sequence + 1, limit=1, whole=True
        )
        return (first[0].sent_at if first else None), (last[0].sent_at if last else None)


async def _preview(artifacts: ContextArtifacts, artifact_id: str) -> str:
    try:
        return await artifacts.read(artifact_id, start=0, length=PREVIEW)
    except ArtifactGone:  # it has expired since
        return ""
