"""The service: build all parts of a process, run them until a stop, and end them in order."""

import asyncio
import sys
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TypeVar

import structlog

from bot.addresses import PAGE_PATH, WEBHOOK_PATH
from bot.agent.agents_file import TeamSpec
from bot.app.agents import model_names, read_agents
from bot.app.build import (
    build_access,
    build_budget_watch,
    build_compressor,
    build_extractor,
    build_fact_queue,
    build_inbox,
    build_list_updates,
    build_page_links,
    build_reminder_clock,
    build_teams,
)
from bot.app.erasures import spawn_erasures
from bot.app.health import find_down, find_low_disk, watch_health_forever
from bot.app.lifecycle import (
    background,
    bounded,
    consumer_name,
    return_free_memory,
    return_free_memory_forever,
    signals,
    spawn,
    tune_allocator,
    tune_garbage_collection,
    unless,
    until_one_ends,
)
from bot.app.models import SharedLessons, open_models
from bot.app.page import open_page_api
from bot.app.simulation import open_simulator
from bot.app.stores import IntakeStores, embedder_config, open_intake_stores, open_stores
from bot.app.turns import build_memory_models, build_turns, build_worker
from bot.app.upkeep import (
    expire_forever,
    fire_forever,
    index_forever,
    leave,
    mend_forever,
    note_compression,
    note_extraction,
    reindex_forever,
    update_gauges_forever,
    watch_budget_forever,
    work_forever,
)
from bot.errors import PortInUse
from bot.features import CONTROLS
from bot.features.parts import Models, Outside, Stores
from bot.features.settings import misspelt_settings
from bot.inbox.isolation import Slots
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.worker import Heartbeat, Worker
from bot.mcp.tools import McpServers
from bot.observe.logs import TURN_EVENTS, configure_logs
from bot.observe.tracing import configure_tracing
from bot.page.api import PageApp
from bot.settings import WEBHOOK_CONNECTIONS, GroupTalk, InlineMode, Settings, UsageLimits
from bot.transport.command_menus import CommandMenus
from bot.transport.http_server import Webhook, create_http_app, serve_http
from bot.transport.ingest import DoorRules, Ingest, has_access
from bot.transport.inline import InlineQueries
from bot.transport.polling import Polling, fetch_identity, set_webhook, wait_until_no_webhook
from bot.transport.telegram_api import TelegramApi, open_files, open_telegram
from memory.errors import StoreFull, StoreUnavailable
from memory.recall.indexer import Indexer
from memory.stores import build_indexers, warm_up
from memory.summary.compressor import RedisSummaries

log = structlog.get_logger()
T = TypeVar("T")

DRAIN_S = 3.0
LATER_WORK_AT_ONCE = 2
"""Compressions, and extractions, per process and partition. Each waits for a model most of its time."""


async def run_service(
    settings: Settings,
    *,
    serve: bool,
    work: bool,
    simulator: tuple[str, int] | None = None,
    health_port: int | None = None,
    stopping: asyncio.Event | None = None,
) -> None:
    """Run until SIGTERM or SIGINT, or until `stopping` is set. Then end within 20 s, whatever hangs.

    At the end no context is claimed any more, and running work finishes or hands its context back. Raises PageOperator
    and MemoryFailure errors if the start cannot succeed. The start waits for a store, a Telegram or a model that does
    not answer yet; the webhook answers 503 meanwhile.
    """
    settings, spec = read_agents(settings)
    secrets = (*settings.secrets, *spec.secrets)
    # In the terminal of the simulator the line that names its page stays the last.
    debug_events = () if simulator is None else (*TURN_EVENTS, "polling")
    configure_logs(
        log_format=settings.log_format,
        level=settings.log_level,
        secrets=secrets,
        debug_events=debug_events,
        texts=settings.log_text,
    )
    if settings.log_text:
        log.warning(
            "texts_are_logged", setting="LOG_TEXT", hint="set it to false when you have found the fault"
        )
    for name, meant in misspelt_settings().items():
        log.warning("unknown_setting", name=name, hint=f"did you mean {meant}?")
    if stopping is None:
        tune_allocator()
    if work:  # the check loads token ranks, which take 45 MB
        build_teams(settings, spec, None)("")  # a mistake in the agents ends the start first
    service = _Service(settings, spec, simulator=simulator, has_process=stopping is None)
    with signals(stopping) as stopping, configure_tracing(settings.otel_exporter_otlp_endpoint):
        life = service.live(stopping, serve=serve, work=work, health_port=health_port)
        await bounded(stopping, life, name="service")
    log.info("stopped")


async def run_simulator(settings: Settings, *, at: tuple[str, int]) -> None:
    """Run the local Bot API with its chat page alone, until SIGTERM or SIGINT. Raises PortInUse."""
    configure_logs(log_format=settings.log_format, level=settings.log_level, secrets=settings.secrets)
    with signals(None) as stopping:
        listening_at = f"http://{settings.http_host}:{settings.http_port}" if settings.http_port else None
        async with open_simulator(settings, at=at, page_url=settings.page_url(listening_at)) as url:
            log.info("simulator_ready", chat_page=url, api=url)
            await stopping.wait()


class _Service:
    """The parts of one process, in the order of their start. `has_process`: the process runs nothing else."""

    def __init__(
        self, settings: Settings, spec: TeamSpec, *, simulator: tuple[str, int] | None, has_process: bool
    ) -> None:
        self._has_process = has_process
        self._simulator_at = simulator
        self._chat_page: str | None = None
        self._settings = settings
        self._spec = spec
        self._webhook = Webhook(secret=settings.secret, path=WEBHOOK_PATH)
        self._page = PageApp()
        self._intake: IntakeStores | Stores | None = None
        self._stores: Stores | None = None
        """None in a process that does not work."""
        self._outside: Outside | None = None
        self._waits_for = "the start has not finished"
        self._indexers: list[Indexer] = []

    async def live(
        self, stopping: asyncio.Event, *, serve: bool, work: bool, health_port: int | None
    ) -> None:
        """Start, run, and close everything in reverse order."""
        async with AsyncExitStack() as stack:
            start = self.start(stack, serve=serve, work=work, health_port=health_port)
            if await unless(stopping, start, name="start"):
                await self.run(stopping, serve=serve, work=work)

    async def start(self, stack: AsyncExitStack, *, serve: bool, work: bool, health_port: int | None) -> bool:
        """Open everything. HTTP comes first, so that a port in use ends the start and Telegram gets 503s."""
        settings = self._settings
        port = settings.http_port if serve else health_port
        origin = None if port is None else await self._listen(stack, port=port, takes_updates=serve)
        page_url = settings.page_url(origin if serve else None)
        api_url = settings.telegram_api_url
        if self._simulator_at is not None:
            simulator = open_simulator(settings, at=self._simulator_at, page_url=page_url, keeps_chats=True)
            api_url = await stack.enter_async_context(simulator)
            self._chat_page = api_url
            log.info("simulator_ready", chat_page=api_url)
        if serve:
            # The simulator's chat page shows the memory page in a frame.
            origins = api_url, api_url.replace("//127.0.0.1", "//localhost")
            self._page.publish(frame_ancestors=origins if settings.is_simulated else ())
        self._waits_for = "redis"
        preparing: list[asyncio.Task[None]] = []
        if work:
            preparing = await stack.enter_async_context(background())
            preparing.append(spawn(self._prepare(), "prepare"))
            self._stores = await stack.enter_async_context(open_stores(settings, is_patient=True))
        self._intake = self._stores or await stack.enter_async_context(open_intake_stores(settings))
        telegram = await stack.enter_async_context(
            open_telegram(token=settings.token, api_url=api_url, has_inline=settings.of(InlineMode).inline)
        )
        files = await stack.enter_async_context(
            open_files(telegram.find_file, token=settings.token, api_url=api_url)
        )
        self._waits_for = "telegram"
        bot = await fetch_identity(telegram)
        models = Models(chat={}, summary=None)
        if work:
            self._waits_for = "the start has not finished"
            await preparing[0]
            names = model_names(settings, self._spec)
            models = await stack.enter_async_context(open_models(settings, names))
        servers = await stack.enter_async_context(McpServers.open(self._spec.servers)) if work else None
        self._outside = Outside(
            stack=stack,
            telegram=telegram,
            files=files,
            bot=bot,
            models=models,
            servers=servers,
            page_url=page_url,
        )
        self._waits_for = ""
        return True

    async def _prepare(self) -> None:
        """Load what turns need (1.3 s of CPU) while the stores start in processes of their own."""
        await asyncio.to_thread(import_module, "bot.agent.openai_model")
        await warm_up(embedder_config(self._settings))

    async def run(self, stopping: asyncio.Event, *, serve: bool, work: bool) -> None:
        """Run the loops of this process until `stopping`, then end them in order: intake, work, the rest."""
        intake, outside = _there(self._intake), _there(self._outside)
        if self._has_process:
            tune_garbage_collection()
        inbox = build_inbox(self._settings, intake.redis, clock=time.time)
        # First, because the rest takes its time and /health/ready already says that updates are accepted.
        has_inline = serve and self._settings.of(InlineMode).inline
        queries = self._inline_queries(intake, outside) if has_inline else None
        ingest = self._webhook.ingest = self._build_ingest(intake, outside, inbox, queries) if serve else None
        with suppress(
            StoreUnavailable, StoreFull
        ):  # if the store has gone again, the first claim creates the groups
            await inbox.open()
        async with AsyncExitStack() as stack, background() as tasks:
            if serve:
                page_api = open_page_api(
                    self._settings,
                    intake,
                    outside,
                    self._spec.options,
                    simulator_port=self._simulator_at and self._simulator_at[1],
                )
                self._page.api = await stack.enter_async_context(page_api)
                stack.callback(setattr, self._page, "api", None)  # answers with 503 from now on
            tasks.append(spawn(watch_health_forever(self.what_is_down, self.what_is_at_risk), "health"))
            if self._settings.redis_url is not None:
                tasks.append(spawn(mend_forever(intake.redis), "file-repair"))
            working: list[asyncio.Task[None]] = []
            if work:
                worker = await self._build_worker(outside, inbox, tasks, stopping=stopping)
                working.append(spawn(_run_worker(*worker, stopping), "worker"))
            if ingest is not None:
                tasks.append(spawn(self._menus(intake, outside).keep_registered(), "command-menus"))
                tasks.append(spawn(self._take_updates(outside.telegram, ingest, polls=work), "intake"))
            if queries is not None:
                tasks.append(spawn(queries.run(), "inline-queries"))
            return_free_memory()
            if self._has_process:
                tasks.append(spawn(return_free_memory_forever(), "free-memory"))
            log.info("ready", bot=outside.bot.username, serve=serve, work=work)
            if self._chat_page is not None:
                sys.stdout.write(f"Open {self._chat_page}\n")
                sys.stdout.flush()
            try:
                await until_one_ends([*tasks, *working], stopping)
            finally:
                stopping.set()
                if working:
                    await asyncio.wait(working)
        await leave(self._indexers)

    async def what_is_down(self) -> dict[str, str]:
        """Return the parts that fail now, each with one sentence, for /health/ready."""
        if self._intake is None:
            return {self._waits_for or "start": "not reached yet"}
        down = await find_down(self._settings, self._intake, self._stores)
        if self._outside is None:
            down["telegram"] = "not reached yet"
        return down

    def what_is_at_risk(self) -> dict[str, str]:
        """Return the parts that work and will soon fail, each with one sentence."""
        return find_low_disk(self._settings)

    async def _listen(self, stack: AsyncExitStack, *, port: int, takes_updates: bool) -> str:
        """Open the HTTP port; return its origin."""
        settings = self._settings
        webhook = self._webhook if takes_updates else None
        app = create_http_app(
            webhook=webhook,
            what_is_down=self.what_is_down,
            what_is_at_risk=self.what_is_at_risk,
            webhook_path=WEBHOOK_PATH,
            page=self._page if takes_updates else None,
            page_path=PAGE_PATH,
        )
        try:
            server = await stack.enter_async_context(
                serve_http(app, host=settings.http_host, port=port, drain_s=DRAIN_S, door=webhook)
            )
        except PortInUse as error:
            raise PortInUse(f"HTTP_PORT: {error}") from error
        log.info("listening", at=server.origin)
        return server.origin

    def _build_ingest(
        self,
        stores: IntakeStores | Stores,
        outside: Outside,
        inbox: RedisInbox,
        queries: InlineQueries | None,
    ) -> Ingest:
        settings = self._settings
        return Ingest(
            inbox.accept,
            bot=outside.bot,
            controls=CONTROLS,
            access=build_access(settings),
            rules=DoorRules(
                partitions=settings.partitions,
                keeps_talk=settings.of(GroupTalk).group_context,
                interrupts=settings.while_busy == "interrupt",
                door="polling" if settings.webhook_url is None else "webhook",
                page_links=build_page_links(settings, outside),
                answer_query=queries and queries.add,
                inline_memory=settings.of(InlineMode).inline_memory,
            ),
            anchors=stores.migrations,
            guests=stores.guests,
        )

    def _inline_queries(self, stores: IntakeStores | Stores, outside: Outside) -> InlineQueries:
        access = build_access(self._settings)

        async def may_ask(person: int) -> bool:
            return await has_access(access, stores.guests, person, person)

        return InlineQueries(
            outside.telegram.inline, bot=outside.bot, may_ask=may_ask, clock=time.time, pause=asyncio.sleep
        )

    def _menus(self, stores: IntakeStores | Stores, outside: Outside) -> CommandMenus:
        operators = build_access(self._settings).operator_ids
        return CommandMenus(
            outside.telegram,
            stores.redis,
            commands=CONTROLS.commands,
            bot_id=outside.bot.id,
            operator_ids=operators,
        )

    async def _build_worker(
        self, outside: Outside, inbox: RedisInbox, tasks: list[asyncio.Task[None]], *, stopping: asyncio.Event
    ) -> tuple[Worker, Heartbeat]:
        settings, stores = self._settings, _there(self._stores)
        slots = Slots(settings.worker_concurrency)
        turns = await build_turns(
            settings, stores, outside, spec=self._spec, inbox=inbox, slots=slots, clock=time.time
        )
        heartbeat = Heartbeat(stores.redis, consumer=consumer_name(), partitions=settings.partitions)
        previews = replace(turns.answerer.previews, is_late=heartbeat.is_late)
        turns = replace(turns, answerer=replace(turns.answerer, previews=previews))
        consumer = heartbeat.consumer
        self._indexers = build_indexers(stores, consumer=consumer, lease_s=settings.lease_s)
        tasks.append(spawn(reindex_forever(stores.reindexer), "reindexer"))
        tasks += spawn_erasures(settings, stores, outside.telegram, stopping)
        for partition, indexer in enumerate(self._indexers):
            tasks.append(spawn(index_forever(indexer), f"indexer-{partition}"))
            tasks.append(spawn(turns.signals.listen(partition), f"signals-{partition}"))
            tasks += self._spawn_later_work(stores, outside, partition, stopping=stopping)
        if settings.of(UsageLimits).money_per_month:
            watch = build_budget_watch(settings, stores.redis, clock=time.time)
            tasks.append(spawn(watch_budget_forever(watch, stopping), "budget"))
        lessons = SharedLessons(stores.redis, outside.models.abilities, settings.openai_base_url)
        tasks.append(spawn(lessons.run(), "lessons"))
        summaries = RedisSummaries(stores.redis, clock=time.time) if settings.summary_model else None
        facts = build_fact_queue(settings, stores, clock=time.time)
        tasks.append(spawn(update_gauges_forever(inbox, summaries, facts, stores), "gauges"))
        return build_worker(settings, inbox, turns, slots=slots, consumer=consumer), heartbeat

    def _spawn_later_work(
        self, stores: Stores, outside: Outside, partition: int, *, stopping: asyncio.Event
    ) -> list[asyncio.Task[None]]:
        """Start what waits for its time in one partition: reminders, retention, compressions, extractions of facts."""
        settings = self._settings
        reminders = build_reminder_clock(settings, stores, partition=partition, clock=time.time)
        tasks = [spawn(fire_forever(reminders, stopping), f"reminders-{partition}")]
        tasks.append(spawn(expire_forever(settings, stores, partition, stopping), f"retention-{partition}"))
        models = build_memory_models(settings, stores.redis, outside.models, clock=time.time)
        compressor = build_compressor(
            settings, self._spec, stores, models, partition=partition, clock=time.time
        )
        if compressor is not None:
            tasks += [
                spawn(work_forever(compressor, stopping, note_compression), f"compress-{partition}-{number}")
                for number in range(LATER_WORK_AT_ONCE)
            ]
        extractor = build_extractor(settings, stores, models, partition=partition, clock=time.time)
        if extractor is not None:
            tell = build_list_updates(settings, stores, partition=partition, clock=time.time)
            note = partial(note_extraction, tell)
            tasks += [
                spawn(work_forever(extractor, stopping, note), f"extractor-{partition}-{number}")
                for number in range(LATER_WORK_AT_ONCE)
            ]
        return tasks

    async def _take_updates(self, telegram: TelegramApi, ingest: Ingest, *, polls: bool) -> None:
        """Let Telegram push updates, or poll. Without a worker only pushed updates are taken. Never returns."""
        settings = self._settings
        if settings.webhook_url is not None:
            await set_webhook(
                telegram, settings.webhook_url, secret=settings.secret, max_connections=WEBHOOK_CONNECTIONS
            )
        elif not polls:
            log.warning(
                "webhook_not_set", setting="WEBHOOK_URL", hint="serve takes only updates that Telegram pushes"
            )
        else:
            await wait_until_no_webhook(telegram)
            log.info("polling", hint="set WEBHOOK_URL to a public https address for webhooks")
            await Polling(telegram, ingest).run()
        await asyncio.Event().wait()


async def _run_worker(worker: Worker, heartbeat: Heartbeat, stopping: asyncio.Event) -> None:
    async with heartbeat.beating(worker.is_busy, doubt=worker.doubted.set):
        await worker.run(stopping)


def _there(value: T | None) -> T:
    if value is None:
        raise RuntimeError("the service was run before it was started")
    return value
