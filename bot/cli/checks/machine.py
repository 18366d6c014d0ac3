"""Checks of this machine and the stores: settings, disk, ports, Redis and the index."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any

import httpx

from bot.agent.abilities import describe
from bot.app.health import LOW_SPACE_BYTES
from bot.app.models import load_lessons
from bot.app.stores import store_config
from bot.cli.checks import Finding, fail, ok, warn
from bot.cli.output import count
from bot.cli.service import Listener, find_port_problem
from bot.cli.webhook import SIMULATOR_HOST, open_bot_api, simulates
from bot.errors import TelegramFailure
from bot.features.settings import misspelt_settings
from bot.settings import Settings
from memory import keys
from memory.embedded.data_dir import free_bytes, prepare_directory
from memory.errors import CommandRefused, RecallTimedOut, StoreFull, StoreUnavailable
from memory.history.redis_history import RedisHistory
from memory.recall.audit import Comparison, IndexAudit
from memory.recall.guard import BUDGET_S
from memory.recall.qdrant.index import Qdrant, QdrantIndex, open_qdrant
from memory.recall.space_follower import SpaceRegister
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import StoreDurability, check_store, check_writes
from memory.redis.server_files import load_unclean
from memory.stores import qdrant_place, redis_place

_HEALTH_TIMEOUT_S = 3.0
_COMPARED_CHATS = 200
_REWRITE = "Allow BGREWRITEAOF and INFO to our user there, or send BGREWRITEAOF after erasures, or daily."


async def check_settings(settings: Settings) -> list[Finding]:
    """List the settings that are not defaults, and misspelt names. They are valid, or the doctor would not run."""
    names = sorted(name.upper() for name in settings.model_fields_set)
    findings = [ok("settings", f"valid; set: {', '.join(names)}" if names else "valid; all are defaults")]
    if settings.webhook_url is None and settings.webhook_secret is not None:
        says = "WEBHOOK_SECRET is set, but WEBHOOK_URL is not: updates are polled"
        findings.append(warn("settings", says, "Set WEBHOOK_URL, or remove WEBHOOK_SECRET."))
    if settings.log_text:
        says = "LOG_TEXT is on: logs and traces quote what people, the model and tools say"
        findings.append(warn("settings", says, "Set LOG_TEXT=false when you have found the fault."))
    for name, meant in misspelt_settings().items():
        findings.append(warn("settings", f"{name} is no setting", f"Did you mean {meant}?"))
    return findings


async def check_data_dir(settings: Settings) -> list[Finding]:
    """Check that the embedded stores can write and have space. Raises EmbeddedStoreFailure."""
    urls = {"valkey": settings.redis_url, "index": settings.qdrant_url}
    embedded = [name for name, url in urls.items() if url is None]
    if not embedded:
        return [ok("data", "DATA_DIR holds no store: REDIS_URL and QDRANT_URL name both")]
    for name in embedded:
        await asyncio.to_thread(prepare_directory, settings.data_dir, name)
    free = free_bytes(settings.data_dir)
    says = f"DATA_DIR {settings.data_dir.absolute()} is writable, {free / 2**30:.1f} GB free"
    if free < LOW_SPACE_BYTES:
        return [warn("data", says, "Free some space: the store refuses updates when the disk is full.")]
    return [ok("data", says)]


async def check_ports(settings: Settings, *, simulator_port: int) -> list[Finding]:
    """Check that each port is free or belongs to a running Mnemogram."""
    http = Listener(setting="HTTP_PORT", host=settings.http_host, port=settings.http_port)
    findings = [await _check_port(http, _mnemogram_answers(http), "Mnemogram")]
    if simulates(settings):
        simulator = Listener(setting="--simulator-port", host=SIMULATOR_HOST, port=simulator_port)
        is_ours = _simulator_answers(settings, simulator_port)
        findings.append(await _check_port(simulator, is_ours, "simulator"))
    return findings


async def check_redis(settings: Settings) -> list[Finding]:
    """Check that Redis answers, takes and keeps writes, and has these PARTITIONS; name what was learned of models."""
    async with AsyncExitStack() as stack:
        url = await redis_place(store_config(settings), stack)
        redis = await stack.enter_async_context(open_redis(url, max_connections=4))
        durability = await check_store(
            redis, is_external=settings.redis_url is not None, accepts=settings.redis_accept_loss
        )
        return [
            *_check_durability(durability, settings),
            *await _check_write(redis, settings),
            *await _check_replicas(redis, settings),
            *await _check_files(redis),
            await _check_partitions(redis, settings),
            *await _check_spaces(redis, settings),
            *await _check_lessons(redis, settings),
        ]


async def check_index(settings: Settings) -> list[Finding]:
    """Check that the index answers and accepts our key."""
    async with AsyncExitStack() as stack:
        url, api_key = await qdrant_place(store_config(settings), stack)
        qdrant = await stack.enter_async_context(open_qdrant(url, api_key=api_key))
        # A count reads the collections of every embedder and creates none.
        ask = partial(QdrantIndex(qdrant, "doctor", dimension=1).count, "doctor")
        where = (
            "Qdrant at QDRANT_URL" if settings.qdrant_url is not None else "the embedded index under DATA_DIR"
        )
        if not (await _answers_in_time(ask) or await _answers_in_time(ask)):
            says = (
                f"{where} does not answer within {BUDGET_S:g} s: recall pauses, and answers come without it"
            )
            fix = "Start it again, or look at its load and the way there. A probe every 1 to 30 s ends the pause."
            return [fail("index", says, fix)]
        findings = [ok("index", f"{where} answers")]
        with suppress(StoreUnavailable):  # the check of the store says it
            redis_url = await redis_place(store_config(settings), stack)
            redis = await stack.enter_async_context(open_redis(redis_url, max_connections=4))
            findings += await _compare_index(redis, qdrant, settings)
    return findings


async def _answers_in_time(ask: Callable[[], Awaitable[object]]) -> bool:
    """Return True if the index answers within the budget of a search."""
    try:
        async with asyncio.timeout(BUDGET_S):
            await ask()
    except (TimeoutError, RecallTimedOut):
        return False
    return True


async def _compare_index(redis: RedisClient, qdrant: Qdrant, settings: Settings) -> list[Finding]:
    """Compare the searched index with the history, in up to _COMPARED_CHATS chats."""
    record = await SpaceRegister(redis, partitions=settings.partitions, clock=time.time).load()
    if record is None or record.serving is None:
        return []
    index = QdrantIndex(qdrant, record.serving.collection, dimension=record.serving.dimension)
    audit = IndexAudit(redis, RedisHistory(redis), partitions=settings.partitions)
    chats = await audit.list_chats()
    compared = Random().sample(chats, min(_COMPARED_CHATS, len(chats)))  # noqa: S311 - a sample
    seen = Comparison()
    for ref in compared:
        seen += await audit.compare(ref, index)
    part = "" if len(compared) == len(chats) else f" (in {len(compared)} of {len(chats):,} chats)"
    says = f"index: {seen.found:,} of {count(seen.expected, 'message')}{part}"
    if seen.is_same:
        return [ok("index", says)] if seen.expected else []
    fix = "A worker indexes the rest by itself. `mnemogram reindex` helps and shows the progress."
    return [warn("index", says, fix)]


async def _check_port(listener: Listener, is_ours: Coroutine[Any, Any, bool], program: str) -> Finding:
    problem = find_port_problem(listener)
    if problem is None:
        is_ours.close()
        return ok("ports", f"{listener.setting} {listener.port} on {listener.host} is free")
    if await is_ours:
        return ok("ports", f"{listener.setting} {listener.port}: a running {program} answers there")
    return fail("ports", problem, f"End the other program, or change {problem.partition(':')[0]}.")


async def _mnemogram_answers(http: Listener) -> bool:
    host = f"[{http.host}]" if ":" in http.host else http.host
    try:
        async with httpx.AsyncClient(timeout=_HEALTH_TIMEOUT_S, trust_env=False) as client:
            return (await client.get(f"http://{host}:{http.port}/health/live")).is_success
    except httpx.HTTPError:
        return False


async def _simulator_answers(settings: Settings, port: int) -> bool:
    try:
        async with open_bot_api(settings, simulator_port=port) as telegram:
            return (await telegram.get_me()).id == settings.bot_id
    except TelegramFailure:
        return False


def _check_durability(durability: StoreDurability, settings: Settings) -> list[Finding]:
    is_external = settings.redis_url is not None
    if durability.problems and is_external:
        fix = (
            "Change the server's configuration. The service does not start before that. If it is a managed service "
            "that cannot be changed, docs/operating.md tells what REDIS_ACCEPT_LOSS does."
        )
        return [fail("store", problem, fix) for problem in durability.problems]
    if durability.problems:
        fix = "End all our processes and start again."
        return [warn("store", problem, fix) for problem in durability.problems]
    if durability.accepted:
        fix = "Back up often, or use a server with an append-only file and `noeviction`."
        return [warn("store", durability.accepted, fix)]
    if durability.caution:
        return [warn("store", durability.caution, "Set `appendfsync always` on the server.")]
    where = "at REDIS_URL" if is_external else "embedded under DATA_DIR"
    fsync = f"appendfsync {durability.appendfsync or 'unknown'}"
    name = f"{durability.server} {durability.version}"
    return [ok("store", f"{name}, {where}: keeps acknowledged writes ({fsync}), evicts nothing")]


async def _check_write(redis: RedisClient, settings: Settings) -> list[Finding]:
    """Write a key. A server may answer, and refuse all writes."""
    try:
        await check_writes(redis, partitions=settings.partitions)
    except StoreFull as error:
        return [
            fail("store", str(error), "Updates are refused with 503 until then, and Telegram keeps them.")
        ]
    except (CommandRefused, StoreUnavailable) as error:
        fix = "Free memory or disk of the server, or allow our user to run scripts and write all our keys."
        return [fail("store", f"the server refuses writes: {error.__cause__ or error}", fix)]
    return []


async def _check_lessons(redis: RedisClient, settings: Settings) -> list[Finding]:
    """Name what the workers have learned of models, and until when it holds."""
    now, findings = time.time(), list[Finding]()
    for model, lessons in sorted((await load_lessons(redis, settings.openai_base_url)).items()):
        valid = [each for each in lessons if each.until > now]
        if valid:
            until = datetime.fromtimestamp(max(each.until for each in valid), UTC)
            says = f"{model} is asked {', '.join(map(describe, valid))}, until {until:%d %b %H:%M} UTC"
            findings.append(warn("learned", says, "Its endpoint refused these. They are tried again then."))
    return findings


async def _check_replicas(redis: RedisClient, settings: Settings) -> list[Finding]:
    """Check that each primary has the replicas that REDIS_REPLICAS waits for."""
    if not settings.redis_replicas:
        return []
    try:
        nodes = await redis.ask_each("INFO", "replication")
    except CommandRefused:
        return [warn("replicas", "the server does not name its replicas", "Allow INFO to our user.")]
    fewest = min(int(node.get("connected_slaves", 0)) for node in nodes)
    if fewest >= settings.redis_replicas:
        return [ok("replicas", f"each primary has {fewest} or more")]
    says = (
        f"REDIS_REPLICAS is {settings.redis_replicas}, but a primary has {fewest}: no update is acknowledged"
    )
    return [
        fail("replicas", says, "Start the replicas, each with an append-only file, or lower REDIS_REPLICAS.")
    ]


async def _check_files(redis: RedisClient) -> list[Finding]:
    """Name the servers whose append-only files keep erased words, because they may not or cannot be rewritten."""
    return [
        warn("erased words", f"the file of {server} keeps them: {reason}", _REWRITE)
        for server, reason in (await load_unclean(redis)).items()
    ]


async def _check_partitions(redis: RedisClient, settings: Settings) -> Finding:
    present = await redis.call("GET", keys.global_key("partitions"))
    if present is None:
        return ok("partitions", f"{settings.partitions}; the first start fixes the number")
    if int(present) != settings.partitions:
        says = f"PARTITIONS is {settings.partitions}, but this store has {present}, and that cannot change"
        return fail("partitions", says, f"Set PARTITIONS={present}, or name another store.")
    return ok("partitions", f"{present}, as in the store")


async def _check_spaces(redis: RedisClient, settings: Settings) -> list[Finding]:
    """Name the embedder whose vectors are searched, and the one whose vectors are being made."""
    record = await SpaceRegister(redis, partitions=settings.partitions, clock=time.time).load()
    if record is None or record.destination is None:
        return []
    if record.target is None:
        return [ok("vectors", f"searches use those of {record.destination.model}")]
    if record.goal == "fill":
        says = f"the index of {record.target.model} had lost messages and is being filled again"
        return [warn("vectors", says, "A worker does it. `mnemogram queue` shows the progress.")]
    if record.goal == "copy":
        says = f"searches use those of {record.target.model}, which are being copied without what was erased"
        return [ok("vectors", says)]
    says = f"those of {record.target.model} are being made; searches may miss messages until it is done"
    return [warn("vectors", says, "A worker makes them. `mnemogram reindex` helps and shows the progress.")]
