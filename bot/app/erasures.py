"""Work on erasures in the background: files of the store, people who are forgotten, copies of tombstones."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import structlog

from bot.app.lifecycle import spawn
from bot.app.stores import store_config
from bot.app.upkeep import PAUSE_S, log_failure, repeat, repeat_until, rewrite_forever
from bot.features.forget.me import send_receipt
from bot.features.parts import Stores
from bot.inbox.inspection import InboxInspection
from bot.settings import Settings
from bot.transport.telegram_api import TelegramApi
from bot.turn.forget_person import ForgetJobs, PersonFinder
from bot.turn.forget_requests import ForgetJob, ForgetRequests
from bot.turn.forgetting import Forgetting
from bot.turn.person import PersonEraser
from bot.turn.store import TurnStore
from memory.facts.redis_facts import RedisFacts
from memory.history.redis_history import RedisHistory, RedisTalk
from memory.recall.recall import Recall
from memory.redis.client import RedisClient
from memory.reminders.redis_reminders import RedisReminders
from memory.stores import build_rewriter
from memory.tombstones import TombstoneCopier

log = structlog.get_logger()


def spawn_erasures(
    settings: Settings, stores: Stores, telegram: TelegramApi, stopping: asyncio.Event
) -> list[asyncio.Task[None]]:
    """Start the work of one process."""
    jobs = build_forget_jobs(settings, stores.redis, clock=time.time, recall=stores.recall)
    copier = TombstoneCopier(redis=stores.redis, partitions=stores.partitions)
    rewriter = build_rewriter(stores.redis, store_config(settings), partitions=stores.partitions)
    return [
        spawn(rewrite_forever(rewriter), "rewriter"),
        spawn(forget_people_forever(jobs, partial(send_receipt, telegram), stopping), "forget-people"),
        spawn(copy_tombstones_forever(copier), "tombstones"),
    ]


def build_forget_jobs(
    settings: Settings, redis: RedisClient, *, clock: Callable[[], float], recall: Recall | None = None
) -> ForgetJobs:
    """Return the requests to forget people. Without `recall` the indexers drop the vectors."""
    forgetting = Forgetting(
        redis=redis, store=TurnStore(redis, clock=clock), history=RedisHistory(redis), talk=RedisTalk(redis)
    )
    eraser = PersonEraser(
        forgetting=forgetting,
        facts=RedisFacts(redis, clock=clock),
        reminders=RedisReminders(redis, clock=clock),
        recall=recall,
    )
    finder = PersonFinder(
        redis=redis,
        eraser=eraser,
        inspection=InboxInspection(redis, partitions=settings.partitions, clock=clock),
        bot_id=settings.bot_id,
        partitions=settings.partitions,
    )
    requests = ForgetRequests(redis=redis, clock=clock)
    return ForgetJobs(requests=requests, finder=finder, eraser=eraser, clock=clock)


async def copy_tombstones_forever(copier: TombstoneCopier) -> None:
    """Copy tombstones that other processes have left every other second, into the folder beside the store."""

    async def copy() -> float:
        await copier.step()
        return PAUSE_S

    await repeat(copy, partial(log_failure, "tombstones_wait", pause_s=PAUSE_S))


async def forget_people_forever(
    jobs: ForgetJobs, tell: Callable[[ForgetJob], Awaitable[bool]], stopping: asyncio.Event
) -> None:
    """Do the requests to forget people, and send their receipts; begin none after `stopping`."""

    async def forget() -> float:
        for job in await jobs.requests.all():
            done = await jobs.run(job.id, lambda _: None)
            if done is not None and await tell(done):
                await jobs.requests.end(done)
                log.info("person_forgotten", chats=len(done.chats), **_without_unknown(done.total.counts()))
        return PAUSE_S

    await repeat_until(stopping, forget, "people_not_forgotten", pause_s=PAUSE_S)


def _without_unknown(counts: Mapping[str, int | None]) -> dict[str, int]:
    return {name: number for name, number in counts.items() if number}
