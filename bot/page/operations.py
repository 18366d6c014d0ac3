"""The operators' API: the present state, series, chats, traces, dead letters, invitations, settings, checks."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import cast
from urllib.parse import urlsplit

import structlog
from pydantic import SecretStr
from starlette.requests import Request
from starlette.routing import Route

from bot.addresses import NEXT_ADDRESS
from bot.inbox.inspection import InboxInspection
from bot.inbox.redis_inbox import RedisInbox
from bot.observe.logs import MASK, mask
from bot.observe.series import FINE_HOURS, HOURS_AT_MOST, CounterReader
from bot.page.api import Handler, Method, api_route, whole_number
from bot.page.chats import ChatList
from bot.page.documents import Document
from bot.page.inbox import InboxDocuments
from bot.page.visitors import PageError, Visitor
from bot.settings import Settings, UsageLimits
from bot.transport.people import Guests
from bot.turn.costs import CostReader, Used, last_months
from bot.turn.forget_person import ForgetJobs, describe_counts
from bot.turn.person import Person
from memory import keys
from memory.errors import MemoryFailure, RecallTimedOut
from memory.redis.client import RedisClient

log = structlog.get_logger()

DEAD_LETTERS_AT_MOST = 200
CONTEXTS_COUNTED = 500
"""With more waiting contexts than this their updates are not counted: that would hold up the store."""
_PROBE_S = 1.0
_NOW_S, _CHATS_S, _CHECKS_S = 2.0, 10.0, 20.0
"""Seconds for which an answer is kept, so that many open pages cost as much as one."""
_DIGITS = 19

Examine = Callable[[], Awaitable[Sequence[Document]]]
"""Run the doctor's checks. Each finding has name, state (ok, warning, problem), text and hint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """What operators see and do. Its routes refuse everybody else."""

    redis: RedisClient
    inbox: RedisInbox
    inspection: InboxInspection
    counters: CounterReader
    chats: ChatList
    costs: CostReader
    guests: Guests
    probe_index: Callable[[], Awaitable[object]]
    """Ask the index for anything. Raises MemoryFailure."""
    settings: Settings
    examine: Examine
    forget_jobs: ForgetJobs
    partitions: int
    version: str

    def routes(self) -> list[Route]:
        """Return the routes under `operations/`."""
        people = ForgottenPeople(jobs=self.forget_jobs)
        retry = partial(_settle, self.inspection.retry, "dead_letter_retried")
        drop = partial(_settle, self.inspection.drop, "dead_letter_dropped")
        return [
            for_operators("now", _Recent(self._load_now, for_s=_NOW_S).show),
            for_operators("series", self._show_series),
            for_operators("chats", _Recent(self._load_chats, for_s=_CHATS_S).show),
            for_operators("costs", self._show_costs),
            for_operators("updates/{id}", self._show_update),
            for_operators("dead-letters", self._show_dead_letters),
            for_operators("dead-letters/{id}/retry", retry, "POST"),
            for_operators("dead-letters/{id}/drop", drop, "POST"),
            for_operators("people/{id}", people.show),
            for_operators("people/{id}/forget", people.forget, "POST"),
            for_operators("invitations", self._show_invitations),
            for_operators("settings", self._show_settings),
            for_operators("doctor", _Recent(self._load_checks, for_s=_CHECKS_S).show),
        ]

    async def _load_now(self) -> Document:
        """Return the present state. Raises StoreUnavailable without Redis, of which all else is read."""
        began = time.perf_counter()
        await self.redis.call("PING")
        redis_s = time.perf_counter() - began
        index, waiting, numbers = await asyncio.gather(
            self._probe_index(), self._count_waiting(), self._count_by_partition()
        )
        hour, day = await self.counters.refusals()
        return {
            "at": time.time(),
            "version": self.version,
            "messages_per_minute": round(await self.counters.messages_per_minute(), 2),
            "waiting": waiting,
            "workers": [asdict(worker) for worker in await self.counters.workers()],
            "refusals_429": {"hour": hour, "day": day},
            "expired": await self.counters.expired(),
            **numbers,
            "stores": [self._store("redis", redis_s), index],
        }

    async def _load_chats(self) -> Document:
        return {"chats": await self.chats.by_use()}

    async def _load_checks(self) -> Document:
        return {"checks": await self.examine()}

    async def _probe_index(self) -> Document:
        began = time.perf_counter()
        try:
            async with asyncio.timeout(_PROBE_S):
                await self.probe_index()
        except (RecallTimedOut, TimeoutError):
            return self._store("qdrant", None, note="It does not answer in time.")
        except MemoryFailure as failure:
            return self._store("qdrant", None, note=f"{failure}.")
        return self._store("qdrant", time.perf_counter() - began)

    def _store(self, name: str, seconds: float | None, *, note: str = "") -> Document:
        """Return the state of a store that has answered within these seconds, or None."""
        address = self.settings.redis_url if name == "redis" else self.settings.qdrant_url
        ms = None if seconds is None else _ms(seconds)
        return {"name": name, "is_embedded": address is None, "is_up": ms is not None, "ms": ms, "note": note}

    async def _count_waiting(self) -> Document:
        """Return contexts with work, their updates (None if they are many), and the age of the oldest entry."""
        depths = [await self.inbox.depth(partition) for partition in range(self.partitions)]
        contexts = sum(depth for depth, _ in depths)
        oldest_s = max((age for depth, age in depths if depth), default=None)
        updates: int | None = None
        if contexts <= CONTEXTS_COUNTED:
            waiting = await self.inspection.waiting()
            updates = sum(each.updates + each.delivering for each in waiting)
            contexts = len(waiting)
        return {"contexts": contexts, "updates": updates, "oldest_s": oldest_s}

    async def _count_by_partition(self) -> dict[str, int]:
        dead = [
            int(await self.redis.call("ZCARD", keys.partition_key(partition, "dead")))
            for partition in range(self.partitions)
        ]
        return {"dead_letters": sum(dead), "index_work": await self.inspection.index_work()}

    async def _show_series(self, _: Visitor, request: Request) -> Document:
        hours = whole_number(request, "hours", most=HOURS_AT_MOST, default=FINE_HOURS) or FINE_HOURS
        series = await self.counters.series(hours)
        points = [asdict(point) for point in series.points]
        return {"step_s": series.step_s, "from": points[0]["at"], "points": points}

    async def _show_costs(self, _: Visitor, request: Request) -> Document:
        months = await self.costs.months()
        month = request.query_params.get("month", months[0])
        if month not in last_months(self.costs.clock()):
            raise PageError("bad_request", "A month is one of the last 13, such as 2026-11.")
        costs = await self.costs.read(month)
        names = await self.costs.names(costs)

        def rows(owners: Mapping[int, Used]) -> list[Document]:
            return [{"id": id, "title": names.get(id, ""), **asdict(used)} for id, used in owners.items()]

        return {
            "month": month,
            "months": months,
            "total": asdict(costs.total),
            "memory": asdict(costs.memory),
            "people": rows(costs.people),
            "chats": rows(costs.chats),
            "budget": self.settings.of(UsageLimits).money_per_month,
            "has_prices": any(each.input_price or each.output_price for each in self.settings.models),
        }

    async def _show_update(self, _: Visitor, request: Request) -> Document:
        trace = await self._documents.trace(_update_id(request))
        if trace is None:
            raise PageError(
                "not_found", "This update never arrived, or it was finished more than 48 hours ago."
            )
        return trace

    async def _show_dead_letters(self, _: Visitor, __: Request) -> Document:
        return {"dead_letters": await self._documents.dead_letters(at_most=DEAD_LETTERS_AT_MOST)}

    @property
    def _documents(self) -> InboxDocuments:
        return InboxDocuments(inspection=self.inspection, chats=self.chats)

    async def _show_invitations(self, _: Visitor, __: Request) -> Document:
        guests = [asdict(guest) for guest in await self.guests.list()]
        return {"guests": guests, "open": await self.guests.count_open()}

    async def _show_settings(self, _: Visitor, __: Request) -> Document:
        return {"settings": list_settings(self.settings)}


async def _settle(
    settle: Callable[[int], Awaitable[bool]], event: str, visitor: Visitor, request: Request
) -> Document:
    update_id = _update_id(request)
    is_done = await settle(update_id)
    log.info(event, update=update_id, by=visitor.user_id, is_done=is_done)
    return {"done": is_done}


class _Recent:
    """An answer that is loaded at most once at a time, and kept for a few seconds."""

    def __init__(self, load: Callable[[], Awaitable[Document]], *, for_s: float) -> None:
        self._load = load
        self._for_s = for_s
        self._loaded: tuple[Document, float] | None = None
        self._loading = asyncio.Lock()

    async def show(self, _: Visitor, __: Request) -> Document:
        async with self._loading:
            if self._loaded is None or time.monotonic() >= self._loaded[1]:
                value = await self._load()
                self._loaded = value, time.monotonic() + self._for_s
            return self._loaded[0]


def list_settings(settings: Settings) -> list[Document]:
    """Return the settings in effect, without secrets: a secret is "set" or "", and addresses have no passwords."""
    rows: list[Document] = []
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        rows.append(
            {
                "name": name.upper(),
                "value": _without_secrets(value, settings.secrets),
                "is_default": value == field.default,
                "description": field.description or "",
            }
        )
    return rows


def _without_secrets(value: object, secrets: Sequence[str]) -> str:
    """Return a setting's value as the environment has it, or as much of it as may be seen."""
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return "set"
    if isinstance(value, tuple):
        return ",".join(map(str, cast("tuple[object, ...]", value)))
    if isinstance(value, frozenset):
        return ",".join(map(str, sorted(cast("frozenset[int]", value))))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if "://" in text:
        text = ",".join(map(_without_credentials, NEXT_ADDRESS.split(text)))
    return mask(text, secrets)


def _without_credentials(url: str) -> str:
    address = urlsplit(url)
    host = address.netloc.rpartition("@")
    hidden = f"{MASK}@{host[2]}" if host[1] else host[2]
    query = f"?{MASK}" if address.query or address.fragment else ""
    return f"{address.scheme}://{hidden}{address.path}{query}"


def for_operators(path: str, handler: Handler, method: Method = "GET") -> Route:
    """Return the route of a handler that nobody but operators reaches."""

    async def check(visitor: Visitor, request: Request) -> Document:
        if not visitor.is_operator:
            raise PageError("forbidden", "This is for the operators of the bot.")
        return await handler(visitor, request)

    return api_route(f"operations/{path}", check, method)


def _update_id(request: Request) -> int:
    text = request.path_params["id"]
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > _DIGITS:
        raise PageError("bad_request", "An update's number has digits only.")
    return int(text)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenPeople:
    """The handlers, for operators only."""

    jobs: ForgetJobs

    async def show(self, _: Visitor, request: Request) -> Document:
        """Count what there is of a person by chat, or show the progress of their erasure, and its receipt."""
        person, jobs = _person_id(request), self.jobs
        id = await jobs.requests.id_of(person)
        job = await jobs.requests.find(id)
        chats = [] if job else describe_counts(await jobs.finder.count(person))
        progress = {"done": max(0, job.at), "of": len(job.refs)} if job else {"done": 0, "of": 0}
        receipt = None if job else await jobs.requests.find_receipt(id)
        return {"chats": chats, "is_running": job is not None, **progress, "receipt": receipt}

    async def forget(self, visitor: Visitor, request: Request) -> Document:
        """Record the request, which a worker does."""
        person = _person_id(request)
        await self.jobs.requests.begin(Person(id=person, until=self.jobs.clock()))
        log.info("person_to_be_forgotten", by=visitor.user_id)
        return {"done": True}


def _person_id(request: Request) -> int:
    text = request.path_params["id"]
    if not (text.isascii() and text.isdecimal()) or len(text) > _DIGITS or not int(text):
        raise PageError("bad_request", "The id of a person is a number above 0.")
    return int(text)
