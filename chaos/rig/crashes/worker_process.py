"""A worker of the product on given stores with an injected fault, and the next worker after it."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from bot.agent.fact_model import ModelFactReader
from bot.agent.structured import StructuredModel
from bot.agent.summarizer import ModelSummarizer
from bot.app.agents import model_names
from bot.app.build import build_access, build_inbox
from bot.app.stores import embedder_config, with_bot
from bot.app.turns import build_turns
from bot.features import CONTROLS
from bot.features.parts import Models, Outside, Stores
from bot.features.settings import load_settings
from bot.inbox.isolation import Isolation, Slots
from bot.inbox.records import Claim
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.worker import Worker
from bot.settings import Settings
from bot.transport.gating import BotIdentity
from bot.transport.ingest import DoorRules, Ingest, telegram_ref
from bot.transport.rates import OF_THE_SIMULATOR, SendRates
from bot.transport.telegram_api import TelegramApi
from bot.turn.batch import BurstWaits
from bot.turn.outbox import parse_part
from bot.turn.preview import Previews
from bot.turn.turn import Turns
from chaos.rig.crashes.awaits import Awaits, frames_of
from chaos.rig.crashes.fake_services import Json, Log, LoggedFiles, LoggedModel, LoggedTelegram, shown
from chaos.rig.crashes.scenarios import BOT, NOW, Kind, Said, Scene, build_spec, find_kind, think
from chaos.rig.evidence import leftovers
from memory import keys
from memory.facts.extractor import FactExtractor
from memory.facts.queue import FactQueue
from memory.facts.redis_facts import RedisFacts
from memory.history.message import is_indexed
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef
from memory.recall.indexer import Indexer
from memory.recall.qdrant.index import open_qdrant
from memory.redis.client import RedisClient, open_redis
from memory.stores import assemble_stores
from memory.summary.compression import CompressionLimits
from memory.summary.compressor import Compressor, RedisSummaries
from memory.tokens import CachingTokenCounter, Tokenizer
from tests.contract.inbox_kit import end_blocking_reads_on_time
from tests.fakes.embedder import FakeEmbedder
from tests.stores import stray_keys

Fault = Literal["none", "kill", "cancel", "cut", "away"]
"""Faults at an await: none; SIGKILL; the end of a stop's grace; a lost reply of the store; a missing store."""

KILLED = 9
LEASE_S = 30.0
LATER_S = 120.0
"""The second worker comes when every lease has ended."""
AWAY_S = 0.15
_ENDS_WITHIN_S = 20.0
_SECONDS_A_SECOND = 200.0
"""The speed of the previews' clock for slow answers."""
_LIMITS = CompressionLimits(
    trigger_tokens=90,
    trigger_messages=400,
    keep_tokens=30,
    keep_messages=2,
    piece_tokens=64,
    summary_tokens=128,
)
_TOKENS = CachingTokenCounter(Tokenizer(encoding="o200k_base"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One half of a crash point:

    the stores, the scenario, the chat, and the fault (`at` 0: the run without a fault).
    """

    kind: str
    number: int
    who: Literal["first", "second"]
    fault: Fault
    at: int
    redis_url: str
    index_url: str
    index_key: str
    log: str

    def by_the_second(self) -> "Order":
        """Run the second half: another worker without a fault."""
        return replace(self, who="second", fault="none", at=0)


@dataclass(slots=True)
class _QuickQueue:
    """The inbox without long waits.

    The first sweep takes every entry, because the only other worker is dead.
    """

    inbox: RedisInbox
    has_swept: asyncio.Event

    async def claim(self, partition: int, *, consumer: str, count: int, wait_ms: int) -> list[Claim]:
        await self.has_swept.wait()
        return await self.inbox.claim(partition, consumer=consumer, count=count, wait_ms=5)

    async def watch(self, *, consumer: str) -> list[dict[str, str]]:
        return await self.inbox.watch(consumer=consumer)

    async def sweep(
        self, partition: int, *, consumer: str, count: int, idle_ms: int, silent: Mapping[str, str] | None
    ) -> list[Claim]:
        idle_ms = idle_ms if self.has_swept.is_set() else 0
        swept = await self.inbox.sweep(
            partition, consumer=consumer, count=count, idle_ms=idle_ms, silent=silent
        )
        self.has_swept.set()
        return swept

    async def keep(self, claim: Claim) -> None:
        await self.inbox.keep(claim)

    async def let_others_in(self, claim: Claim) -> None:
        await self.inbox.let_others_in(claim)

    async def leave(self, partition: int, *, consumer: str) -> None:
        await self.inbox.leave(partition, consumer=consumer)


@dataclass(slots=True, kw_only=True)
class InjectedFault:
    """The fault. `struck` is the number of the await that it hit, 0 before."""

    fault: Fault
    at: int
    log: Log
    stopping: asyncio.Event
    root: "asyncio.Task[Any] | None" = None
    struck: int = 0
    ends_at: float = 0.0

    def strike(self, number: int, work: Coroutine[Any, Any, Any]) -> BaseException | None:
        """See Strike."""
        if self.fault == "none" or number < self.at:
            return None
        frames = frames_of(work)
        # Not where it waits for a task of its own: the failure would come before the task has begun.
        is_store = any("/redis/asyncio/" in file for file, _, _ in frames) and frames[-1][1] != "wait_for"
        if self.struck:
            is_over = self.fault != "away" or time.monotonic() > self.ends_at
            return None if is_over or not is_store else ConnectionResetError("cut")
        if self.fault in {"cut", "away"} and not is_store:
            return None
        self.struck = number
        where = [f"{Path(file).name}:{line} {name}" for file, name, line in frames]
        self.log.note("fault", fault=self.fault, at=number, where=where)
        if self.fault == "kill":
            os._exit(KILLED)
        if self.fault == "cancel":
            self.stopping.set()
            if self.root is not None:
                self.root.cancel()
            return None
        self.ends_at = time.monotonic() + AWAY_S
        return ConnectionResetError("cut")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One process of the product."""

    kind: Kind
    scene: Scene
    who: str
    log: Log
    redis: RedisClient
    stores: Stores
    inbox: RedisInbox
    ingest: Ingest
    turns: Turns
    slots: Slots
    indexer: Indexer
    compressor: Compressor
    extractor: FactExtractor
    facts: RedisFacts
    blow: InjectedFault
    awaits: Awaits

    @property
    def ref(self) -> ContextRef:
        """Return the context of the scene's chat."""
        return telegram_ref(self.turns.bot.id, self.scene.anchor, None, partitions=1)

    async def take_in(self, said: Said) -> str:
        """Accept the update."""
        return await self.ingest.take_in(said(self.scene))

    async def work(self, *, counted: bool) -> None:
        """Run a worker until nothing waits, or until the fault has ended it."""
        isolation = Isolation(self.inbox, self.slots)

        async def on(claim: Claim) -> None:
            try:
                if counted:
                    self.blow.root = asyncio.current_task()
                    await self.awaits.of(self.turns.work_on(claim, isolation))
                else:
                    await self.turns.work_on(claim, isolation)
            finally:
                if not stopping.is_set() and not await self._has_work():
                    stopping.set()

        stopping = self.blow.stopping if counted else asyncio.Event()
        if not await self._has_work():
            return
        worker = Worker(
            cast(RedisInbox, _QuickQueue(self.inbox, asyncio.Event())),
            on,
            consumer=self.who,
            partitions=1,
            isolation=isolation,
            lease_s=LEASE_S,
        )
        async with asyncio.timeout(_ENDS_WITHIN_S):
            await worker.run(stopping, grace_s=0.0 if self.blow.fault == "cancel" and counted else 14.0)

    async def compress(self) -> None:
        """Run the compressions that are due."""
        while (await self.compressor.step()).is_busy:
            pass

    async def extract(self) -> None:
        """Read all messages for facts now."""
        await self.facts.hurry(self.ref)
        while (await self.extractor.step()).is_busy:
            pass

    async def index(self) -> None:
        """Index all new messages."""
        while int(await self.redis.call("XLEN", keys.partition_key(0, "work"))):
            await self.indexer.step()

    async def _has_work(self) -> bool:
        return bool(await self.redis.call("EXISTS", keys.partition_key(0, "active")))


@asynccontextmanager
async def open_parts(order: Order) -> AsyncGenerator[Parts]:
    """Open a process of the product on the stores of the order."""
    kind = find_kind(order.kind)
    log = Log(Path(order.log), who=order.who)
    now = float(NOW + 100) + (LATER_S if order.who == "second" else 0.0)
    settings = _settings(order)
    blow = InjectedFault(fault=order.fault, at=order.at, log=log, stopping=asyncio.Event())
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(open_redis(order.redis_url))
        qdrant = await stack.enter_async_context(open_qdrant(order.index_url, api_key=order.index_key))
        embedder = FakeEmbedder(dimension=64)
        config, partitions = embedder_config(settings), settings.partitions
        stores = with_bot(
            assemble_stores(redis, qdrant, config, stack, embedder=embedder, partitions=partitions)
        )
        await stores.reindexer.claim()
        yield await _build(order, kind, stores, stack, log=log, now=now, blow=blow)


async def _build(
    order: Order,
    kind: Kind,
    stores: Stores,
    stack: AsyncExitStack,
    *,
    log: Log,
    now: float,
    blow: InjectedFault,
) -> Parts:
    settings = _settings(order)
    identity = BotIdentity(id=settings.bot_id, username=BOT)
    spec = build_spec(log)
    model = LoggedModel(log, think, pause_s=kind.pause_s)
    telegram = cast("TelegramApi", LoggedTelegram(log, identity))
    models = Models(chat=dict.fromkeys(model_names(settings, spec), model), summary=model)
    outside = Outside(stack=stack, telegram=telegram, files=LoggedFiles(), bot=identity, models=models)
    inbox = build_inbox(settings, stores.redis, clock=lambda: now)
    slots = Slots(settings.worker_concurrency)
    turns = await build_turns(
        settings, stores, outside, spec=spec, inbox=inbox, slots=slots, clock=lambda: now
    )
    previews = Previews(
        telegram,
        SendRates(stores.redis, OF_THE_SIMULATOR),
        turns.memberships.reachability.seems_marked,
        tick_s=0.002,
        clock=lambda: time.monotonic() * (_SECONDS_A_SECOND if kind.pause_s else 1.0),
    )
    limits = replace(turns.answerer.limits, compression={"": _LIMITS})
    turns = replace(
        turns,
        answerer=replace(turns.answerer, previews=previews, limits=limits),
        burst_waits=BurstWaits(bundle_s=0.01, paste_s=0.01),
    )
    structured = StructuredModel(model, tokenizer=_TOKENS, context_window=8_000, timeout_s=10.0)
    return Parts(
        kind=kind,
        scene=Scene(number=order.number, is_group=kind.is_group),
        who=order.who,
        log=log,
        redis=stores.redis,
        stores=stores,
        inbox=inbox,
        ingest=Ingest(
            inbox.accept,
            controls=CONTROLS,
            bot=identity,
            access=build_access(settings),
            rules=DoorRules(partitions=1),
            anchors=stores.migrations,
        ),
        turns=turns,
        slots=slots,
        indexer=Indexer(
            redis=stores.redis,
            history=stores.history,
            recall=stores.recall,
            partition=0,
            consumer=order.who,
            block_ms=5,
            abandoned_after_ms=0,
        ),
        compressor=Compressor(
            history=stores.history,
            summaries=RedisSummaries(stores.redis, clock=lambda: now),
            summarizer=ModelSummarizer(structured, summary_tokens=128),
            limits={"": _LIMITS},
            partition=0,
            clock=lambda: now,
            lease_s=LEASE_S,
        ),
        extractor=FactExtractor(
            queue=FactQueue(stores.redis, clock=lambda: now),
            reader=ModelFactReader(structured),
            partition=0,
            lease_s=LEASE_S,
        ),
        facts=RedisFacts(stores.redis, clock=lambda: now),
        blow=blow,
        awaits=Awaits(blow.strike),
    )


def _settings(order: Order) -> Settings:
    given: dict[str, Any] = {
        "_env_file": None,
        "redis_url": order.redis_url,
        "qdrant_url": order.index_url,
        "openai_base_url": "http://127.0.0.1:9",
        "openai_api_key": "crash-points",
        "openai_embedding_model": "",
        "allow_unsafe_store": True,
        "operator_ids": "1",
    }
    return load_settings(**given)


async def run_first(order: Order) -> Json:
    """Run until the fault: the earlier messages, then the work under test. Return the number of awaits."""
    async with open_parts(order) as parts:
        asyncio.get_running_loop().set_task_factory(parts.awaits.task_factory)
        await parts.redis.call("FLUSHALL")
        await end_blocking_reads_on_time(parts.redis)
        await parts.stores.reindexer.claim()
        await parts.inbox.open()
        for said in parts.kind.before:
            await parts.take_in(said)
            await parts.work(counted=False)
        if parts.kind.work != "index":
            await parts.index()
        parts.log.note("begin")
        await _do(parts)
        told = {"awaits": parts.awaits.count, "struck": parts.blow.struck}
    return told | {"tasks": await _unfinished_tasks(), "cpu_s": time.process_time()}


async def _do(parts: Parts) -> None:
    """Run the work and count its awaits. An intended cancellation ends it."""
    kind = parts.kind
    later = {"compress": parts.compress, "extract": parts.extract, "index": parts.index}
    if kind.work in {"turn", "index"}:
        for said in kind.asked:
            await parts.take_in(said)
    try:
        if kind.work == "turn":
            await parts.work(counted=True)
        elif kind.work == "door":
            for said in kind.asked:
                await _as_root(parts, parts.take_in(said))
        else:
            await parts.work(counted=False)
            await _as_root(parts, later[kind.work]())
    except asyncio.CancelledError:
        if not parts.blow.struck:
            raise


async def _as_root(parts: Parts, work: Coroutine[Any, Any, Any]) -> None:
    """Run counted work in a separate task, which a fault may cancel."""

    async def counted() -> None:
        parts.blow.root = asyncio.current_task()
        await parts.awaits.of(work)

    task = asyncio.create_task(counted(), name="root")
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        parts.log.note("raised", error=type(error).__name__)


async def run_second(order: Order) -> Json:
    """Run after the fault: read the state, finish everything, ask one more question, and read all again."""
    async with open_parts(order) as parts:
        left = await _left_by_the_first(parts)
        if parts.kind.work == "door":
            for said in parts.kind.asked:
                await parts.take_in(said)
        await parts.work(counted=False)
        if parts.kind.work == "compress":
            await parts.compress()
        if parts.kind.work == "extract":
            await parts.extract()
        await parts.index()
        found = await _read(parts, [*parts.kind.before, *parts.kind.asked])
        parts.log.note("next")
        await parts.take_in(parts.kind.next())
        await parts.work(counted=False)
        events = parts.log.read()
        found["next"] = [event["prompt"] for event in events if event["what"] == "model"][-1]
        found["invalid"] = sum(bool(event.get("fault")) for event in events if event["what"] == "model")
        found["leftovers"] = [*await leftovers(parts.redis), *await stray_keys(parts.redis)]
    return left | found | {"events": events, "tasks": await _unfinished_tasks(), "cpu_s": time.process_time()}


async def _left_by_the_first(parts: Parts) -> Json:
    ref = parts.ref
    parts.log.note("second")
    part, sending, steps, box = await parts.redis.calls(
        [
            ("LINDEX", keys.context_key(ref, "outbox"), 0),
            ("GET", keys.context_key(ref, "sending")),
            ("HGETALL", keys.context_key(ref, "journal")),
            ("ZCARD", keys.context_key(ref, "box")),
        ]
    )
    being_sent = parse_part(part).rich.text if part and int(sending or 0) else ""
    return {"being_sent": being_sent, "journal": steps, "waiting": box}


async def _read(parts: Parts, said: Sequence[Said]) -> Json:
    """Return the stored data of the chat and its messages."""
    ref = parts.ref
    history = await RedisHistory(parts.redis).page(ref, after_sequence=-1, limit=1000, whole=True)
    records = [
        await parts.redis.call("HGETALL", keys.partition_key(0, "update", each(parts.scene)["update_id"]))
        for each in said
    ]
    ledger = await RedisHistory(parts.redis).load_ledger(ref, after_sequence=-1, upto_sequence=10_000)
    return {
        "states": [[record.get("state", ""), record.get("reason", "")] for record in records],
        "payloads": sum("payload" in record for record in records),
        "history": [[message.role, message.text] for message in history],
        "ids": [message.id for message in history],
        "vectors": await parts.stores.recall.count(ref),
        "indexed": sum(map(is_indexed, history)),
        "facts": sorted(
            [each.statement, len(each.message_ids), each.valid_to]
            for each in (await parts.facts.list(ref)).facts
        ),
        "unread": await parts.facts.count_unread(ref),
        "ledger": [[entry.name, entry.output] for turn in ledger for entry in turn.entries],
        "shown": shown(parts.log.read()),
    }


async def _unfinished_tasks() -> list[str]:
    """Return the names of tasks that are still running a moment after everything else."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=1.0)
    return [task.get_name() for task in left if not task.done()]
