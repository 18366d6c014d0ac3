"""Facts on the page: people read what is kept about whom, delete it, and correct it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import structlog
from starlette.requests import Request
from starlette.routing import Route

from bot.page.access import ChatAccess, PageContext
from bot.page.api import RateLimit, admit, api_route, read_object, whole_number
from bot.page.documents import Document, erasure_document
from bot.page.erasures import honest, open_or_none
from bot.page.memories import OpenRecall
from bot.page.visitors import PageError, Visitor
from bot.transport.texts import forgotten_text
from bot.transport.words import words_for
from memory.characters import one_line, well_formed
from memory.errors import Forgotten
from memory.facts.context_facts import erase_facts
from memory.facts.redis_facts import RedisFacts, are_extracted
from memory.history.fact import LONGEST_STATEMENT, Fact
from memory.history.redis_history import RedisHistory

log = structlog.get_logger()

PAGE_LIMIT = 200
DEFAULT_PAGE = 50
_LARGEST_OFFSET = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPages:
    """The requests about facts. Changes do not wait for the chat's line.

    A turn that runs meanwhile may still answer with the facts that it has read.
    """

    access: ChatAccess
    history: RedisHistory
    facts: RedisFacts
    open_recall: OpenRecall
    is_offered: bool
    """True if this bot extracts facts at all."""
    changes: RateLimit

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            api_route("contexts/{id}/facts", self.list_facts),
            api_route("contexts/{id}/facts/{fact_id}", self.delete, "DELETE"),
            api_route("contexts/{id}/facts/{fact_id}", self.correct, "POST"),
        ]

    async def list_facts(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Return a page of facts, standing wishes first, with the number of messages that are still unread.

        `is_on` says whether facts are extracted in this context now.
        """
        offset = whole_number(request, "offset", most=_LARGEST_OFFSET, default=0) or 0
        limit = max(1, whole_number(request, "limit", most=PAGE_LIMIT, default=DEFAULT_PAGE) or 0)
        context = await self.access.find(visitor, request.path_params["id"])
        ref = context.ref
        page, choices, unread, snapshot = await asyncio.gather(
            self.facts.list(ref, limit=limit, offset=offset),
            self.facts.choices(ref),
            self.facts.count_unread(ref),
            self.history.load(ref, limit=0),
        )
        return {
            "facts": [_describe(fact, visitor, context, snapshot.people) for fact in page.facts],
            "total": page.total,
            "unread": unread,
            "is_on": self.is_offered and are_extracted(choices, is_group=not context.is_private),
            "is_offered": self.is_offered,
        }

    async def delete(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Erase a fact everywhere and return the receipt; null if it was gone."""
        context = await self.access.find(visitor, request.path_params["id"])
        admit(self.changes, visitor.key)
        ref, epoch = context.ref, (await self.history.load(context.ref, limit=0)).epoch
        fact = await self._find(visitor, context, request.path_params["fact_id"])
        recall, done = None, None
        if fact is not None:
            recall = await open_or_none(self.open_recall)
            with suppress(Forgotten):
                done = await erase_facts(ref, [fact.id], epoch=epoch, facts=self.facts, recall=recall)
        if done is None or not done.erased.facts:
            return {"receipt": None}
        receipt = honest(done, recall)
        log.info("page_deleted_fact", context=ref.context_id, is_proven=receipt.is_proven)
        text = forgotten_text(words_for(visitor.language), receipt, key="forgotten-fact")
        return {"receipt": erasure_document(receipt, text)}

    async def correct(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Replace the statement of a fact and return the fact; null if it was gone."""
        statement = _statement(await read_object(request))
        context = await self.access.find(visitor, request.path_params["id"])
        admit(self.changes, visitor.key)
        snapshot = await self.history.load(context.ref, limit=0)
        fact = await self._find(visitor, context, request.path_params["fact_id"])
        corrected = None
        if fact is not None:
            with suppress(Forgotten):
                corrected = await self.facts.correct(
                    context.ref, fact.id, statement, epoch=snapshot.epoch, by=visitor.user_id
                )
        if corrected is None:
            return {"fact": None}
        log.info("page_corrected_fact", context=context.ref.context_id)
        return {"fact": _describe(corrected, visitor, context, snapshot.people)}

    async def _find(self, visitor: Visitor, context: PageContext, fact_id: str) -> Fact | None:
        """Return the fact; None if it does not exist. Raises PageError if the visitor may not change it."""
        fact = (await self.facts.get(context.ref, [fact_id])).get(fact_id)
        if fact is not None and not may_change(fact, visitor, context):
            raise PageError("forbidden", "You may change facts only if they are about you or told by you.")
        return fact


def may_change(fact: Fact, visitor: Visitor, context: PageContext) -> bool:
    """Return True if the fact is about the visitor or told by them, or if they may forget everything here."""
    is_theirs = visitor.user_id is not None and visitor.user_id in (fact.subject_id, fact.said_by)
    return is_theirs or context.rights.may_forget_all


def _describe(fact: Fact, visitor: Visitor, context: PageContext, people: Mapping[int, str]) -> Document:
    """Return the document of a fact. `people` are the names of the context's people."""
    sayer = None if fact.said_by is None else {"id": fact.said_by, "name": people.get(fact.said_by, "")}
    is_me = fact.subject_id is not None and fact.subject_id == visitor.user_id
    document = asdict(fact) | {"is_person": fact.subject_id is not None, "is_me": is_me, "said_by": sayer}
    del document["closed_by"]
    return document | {"may_change": may_change(fact, visitor, context)}


def _statement(body: Mapping[str, Any]) -> str:
    """Return the statement of a request, on one line. Raises PageError."""
    given: object = body.get("statement")
    statement = one_line(given) if isinstance(given, str) and well_formed(given) == given else ""
    if not 0 < len(statement) <= LONGEST_STATEMENT:
        raise PageError("bad_request", f"A statement has 1 to {LONGEST_STATEMENT} characters.")
    return statement
