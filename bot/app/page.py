"""Builds the memory page's API from settings and open stores."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import structlog

from bot.agent.agents_file import Options
from bot.app.agents import counter_for
from bot.app.build import build_access, build_costs, build_inbox
from bot.app.erasures import build_forget_jobs
from bot.app.stores import IntakeStores, embedder_config, store_config
from bot.errors import ChatUnreachable, TelegramRefused
from bot.features import page_lines
from bot.features.facts.page import FactPages
from bot.features.parts import Outside, Stores
from bot.features.reminders.page import ReminderPages
from bot.observe.series import CounterReader
from bot.page.access import ChatAccess
from bot.page.api import PageApi, Rate, RateLimit
from bot.page.chats import ChatList
from bot.page.documents import Document
from bot.page.erasures import MemoryChanges
from bot.page.memories import MemoryPages
from bot.page.operations import Operations
from bot.page.visitors import Authentication, Dashboard, PageError
from bot.settings import PageViewers, Settings
from bot.transport.people import Administrators
from bot.transport.telegram_api import MEMBERS
from bot.turn.erasure import Eraser
from bot.turn.forget_person import ForgetJobs
from bot.turn.later_use import LaterUses
from memory.errors import MemoryFailure, RecallUnavailable, StoreUnavailable
from memory.recall.embedders.embedder import EmbeddingError
from memory.recall.recall import Recall
from memory.stores import MemoryStores, open_memory_stores, qdrant_place

log = structlog.get_logger()
T = TypeVar("T")

LISTS = Rate(per_second=1, burst=30)
"""Lists of one person's contexts: each looks through the registry of all contexts."""
SEARCHES = Rate(per_second=3, burst=9)
"""Searches of one person: each takes two requests to the index and some CPU."""
ERASURES = Rate(per_second=2, burst=40)
"""Erasures of one person: each takes several requests to the index."""
EXPORTS = Rate(per_second=1 / 60, burst=1)
"""Exports of one person."""
_REOPEN_AFTER_S = 5.0
"""Pause after a failure to open the index, so that requests do not wait for each other."""


@asynccontextmanager
async def open_page_api(
    settings: Settings,
    stores: IntakeStores | Stores,
    outside: Outside,
    options: Options,
    *,
    clock: Callable[[], float] = time.time,
    simulator_port: int | None = None,
) -> AsyncGenerator[PageApi]:
    """Open the API of the people and of the operators. What its searches open is closed with the block.

    `simulator_port` is for the doctor's checks.
    """
    async with AsyncExitStack() as stack:
        recall = LateRecall(settings, stores, stack)
        access = build_chat_access(settings, stores, outside, clock=clock)
        jobs = build_forget_jobs(settings, stores.redis, clock=clock)
        pages = MemoryPages(
            access=access,
            redis=stores.redis,
            history=jobs.eraser.forgetting.history,
            facts=jobs.eraser.facts,
            open_recall=recall.open,
            bot=outside.bot,
            version=version("mnemogram"),
            tokenizer=counter_for(settings.openai_model),
            artifact_ttl_s=options.artifact_ttl_s,
            lists=RateLimit(LISTS, clock=time.monotonic),
            searches=RateLimit(SEARCHES, clock=time.monotonic),
            lines=partial(page_lines, settings),
            clock=clock,
        )
        dashboard = Dashboard(stores.redis, clock=clock)
        operations = build_operations(settings, stores, jobs, stack, simulator_port=simulator_port)
        changes = _build_changes(pages, jobs, outside)
        facts, reminders = _build_lists(settings, pages, jobs, changes)
        yield PageApi(
            [*pages.routes(), *changes.routes(), *facts.routes(), *reminders.routes(), *operations.routes()],
            authentication=Authentication(
                token=settings.token,
                operator_ids=access.access.operator_ids,
                find_session=dashboard.has_session,
                clock=clock,
            ),
            open_session=dashboard.open_session,
            clock=time.monotonic,
        )


def build_chat_access(
    settings: Settings, stores: IntakeStores | Stores, outside: Outside, *, clock: Callable[[], float]
) -> ChatAccess:
    """Return the decisions about who sees which chat."""
    telegram = outside.telegram

    async def is_administrator(chat_id: int, user_id: int) -> bool:
        return bool(await _accepted(telegram.is_administrator(chat_id, user_id), chat_id))

    async def is_member(chat_id: int, user_id: int) -> bool:
        return await _accepted(telegram.member_status(chat_id, user_id), chat_id) in MEMBERS

    return ChatAccess(
        redis=stores.redis,
        bot_id=outside.bot.id,
        partitions=settings.partitions,
        access=build_access(settings),
        guests=stores.guests,
        migrations=stores.migrations,
        is_administrator=Administrators(is_administrator, clock=clock).includes,
        is_member=Administrators(is_member, clock=clock).includes,  # with the same cache
        viewers=settings.of(PageViewers),
    )


async def _accepted(question: Awaitable[T], chat_id: int) -> T | None:
    """Return Telegram's answer; None for a question that it refuses, because the bot or the person is not there.

    So a refusal is believed for a minute too, and a page that asks again and again does not exhaust the bot's calls.
    """
    try:
        return await question
    except (ChatUnreachable, TelegramRefused) as refusal:
        log.info("role_unknown", chat=chat_id, failure=type(refusal).__name__)
        return None


def _build_changes(pages: MemoryPages, jobs: ForgetJobs, outside: Outside) -> MemoryChanges:
    forgetting = jobs.eraser.forgetting
    redis, history = forgetting.redis, forgetting.history
    return MemoryChanges(
        access=pages.access,
        redis=redis,
        forgetting=forgetting,
        later_uses=LaterUses(redis=redis, history=history),
        open_eraser=partial(Eraser, redis, forgetting.store, history),
        open_recall=pages.open_recall,
        telegram=outside.telegram,
        version=pages.version,
        erasures=RateLimit(ERASURES, clock=time.monotonic),
        exports=RateLimit(EXPORTS, clock=time.monotonic),
        clock=pages.clock,
    )


def _build_lists(
    settings: Settings, pages: MemoryPages, jobs: ForgetJobs, changes: MemoryChanges
) -> tuple[FactPages, ReminderPages]:
    facts = FactPages(
        access=pages.access,
        history=pages.history,
        facts=pages.facts,
        open_recall=pages.open_recall,
        is_offered=settings.extracts_facts,
        changes=changes.erasures,
    )
    reminders = ReminderPages(
        access=pages.access, history=pages.history, reminders=jobs.eraser.reminders, changes=changes.erasures
    )
    return facts, reminders


class LateRecall:
    """The index and the embedder: those of the process, or opened at the first request that needs them.

    A process that only takes updates has no recall, and stays small until somebody searches on the page.
    """

    def __init__(self, settings: Settings, stores: IntakeStores | Stores, stack: AsyncExitStack) -> None:
        """The stack closes what is opened."""
        self._settings = settings
        self._redis = stores.redis
        self._stack = stack
        self._ready = stores.recall if isinstance(stores, Stores) else None
        self._opened: MemoryStores | None = None
        self._opening = asyncio.Lock()
        self._failed_at = -_REOPEN_AFTER_S

    async def open(self) -> Recall:
        """Return the open recall, which searches the space that serves now. Raises RecallUnavailable."""
        if self._ready is not None:
            return self._ready
        async with self._opening:
            if self._opened is None:
                if time.monotonic() < self._failed_at + _REOPEN_AFTER_S:
                    raise RecallUnavailable
                self._opened = await self._open()
        await self._opened.reindexer.follow()
        return self._opened.recall

    async def _open(self) -> MemoryStores:
        from memory.recall.qdrant.index import open_qdrant

        settings = self._settings
        opening = AsyncExitStack()  # the stores go on to open embedders in it
        try:
            url, api_key = await qdrant_place(store_config(settings), opening)
            qdrant = await opening.enter_async_context(
                open_qdrant(url, api_key=api_key, is_embedded=settings.qdrant_url is None)
            )
            stores = await open_memory_stores(
                self._redis, qdrant, embedder_config(settings), opening, partitions=settings.partitions
            )
        except BaseException as failure:
            await opening.aclose()
            if isinstance(failure, StoreUnavailable) or not isinstance(
                failure, MemoryFailure | EmbeddingError
            ):
                raise
            self._failed_at = time.monotonic()
            log.warning("page_index_not_opened", error=type(failure).__name__)
            raise RecallUnavailable from failure
        self._stack.push_async_callback(opening.aclose)
        return stores


if TYPE_CHECKING:
    from memory.recall.qdrant.index import QdrantIndex

_PROBE = "health"
_DOCTOR_S = 30.0
_STATES: Mapping[str, str] = MappingProxyType({"ok": "ok", "warn": "warning", "fail": "problem"})


def build_operations(
    settings: Settings,
    stores: IntakeStores | Stores,
    jobs: ForgetJobs,
    stack: AsyncExitStack,
    *,
    simulator_port: int | None,
) -> Operations:
    """Return the operators' part. The stack closes what its checks open."""
    redis, partitions = stores.redis, settings.partitions
    return Operations(
        redis=redis,
        inbox=build_inbox(settings, redis, clock=time.time),
        inspection=jobs.finder.inspection,
        counters=CounterReader(redis, partitions=partitions, clock=time.time),
        chats=ChatList(
            redis, stores.migrations, bot_id=settings.bot_id, partitions=partitions, clock=time.time
        ),
        costs=build_costs(settings, redis, clock=time.time),
        guests=stores.guests,
        probe_index=IndexProbe(settings, stores, stack).run,
        settings=settings,
        forget_jobs=jobs,
        examine=partial(examine, settings, simulator_port=simulator_port),
        partitions=partitions,
        version=version("mnemogram"),
    )


class IndexProbe:
    """Asks whether the index answers, without the embedder of searches."""

    def __init__(self, settings: Settings, stores: IntakeStores | Stores, stack: AsyncExitStack) -> None:
        """The stack closes what is opened."""
        self._settings = settings
        self._stack = stack
        self._recall = stores.recall if isinstance(stores, Stores) else None
        self._index: QdrantIndex | None = None

    async def run(self) -> None:
        """Count the points of a context that does not exist. Raises MemoryFailure if the index does not answer."""
        if self._recall is not None:
            await self._recall.ping()
            return
        if self._index is None:
            from memory.recall.qdrant.index import QdrantIndex, open_qdrant

            async with AsyncExitStack() as opening:
                url, api_key = await qdrant_place(store_config(self._settings), opening)
                qdrant = await opening.enter_async_context(open_qdrant(url, api_key=api_key))
                self._stack.push_async_callback(opening.pop_all().aclose)
            self._index = QdrantIndex(qdrant, _PROBE, dimension=1)
        await self._index.count(_PROBE)


async def examine(settings: Settings, *, simulator_port: int | None) -> list[Document]:
    """Return the findings of `mnemogram doctor`, which runs with these settings in a process of its own.

    Its checks load an embedder, which a process that only takes updates should not keep. Raises PageError.
    """
    port = () if simulator_port is None else ("--simulator-port", str(simulator_port))
    doctor = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "doctor", "--json", *port),
        env={**os.environ, **settings.environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_DOCTOR_S):
            printed, _ = await doctor.communicate()
        checks = json.loads(printed)["checks"]
    except (TimeoutError, ValueError):
        raise PageError(
            "unavailable", "The checks did not end. Run `mnemogram doctor` on the server."
        ) from None
    finally:
        if doctor.returncode is None:
            doctor.kill()
            await doctor.wait()
    return [
        {
            "name": check["name"],
            "state": _STATES[check["level"]],
            "text": check["says"],
            "hint": check["fix"] or "",
        }
        for check in checks
    ]
