"""Checks of the settings and of this machine: the disk and the ports."""

import asyncio
import shutil
from collections.abc import Coroutine
from typing import Any

import httpx

from bot.cli.bot_api import SIMULATOR_HOST, bot_api_url, simulates
from bot.cli.checks.findings import Finding, fail, ok, warn
from bot.cli.early_problems import Listening, find_port_problem
from bot.errors import TelegramFailure
from bot.settings import Settings
from bot.transport.telegram_api import open_telegram
from memory.embedded.data_dir import prepare_directory

_LOW_SPACE = 1 << 30
_ASK_S = 3.0


async def check_settings(settings: Settings) -> list[Finding]:
    """They are valid, or we were not here: say which are not the defaults."""
    names = sorted(name.upper() for name in settings.model_fields_set)
    said = f"valid; set: {', '.join(names)}" if names else "valid; every one is the default"
    findings = [ok("settings", said)]
    if settings.webhook_url is None and settings.webhook_secret is not None:
        findings.append(
            warn(
                "settings",
                "WEBHOOK_SECRET is set, WEBHOOK_URL is not: updates are polled",
                "Set WEBHOOK_URL, or take WEBHOOK_SECRET out.",
            )
        )
    return findings


async def check_data_dir(settings: Settings) -> list[Finding]:
    """The embedded stores can write there, and have room. Raises EmbeddedStoreFailure where they cannot."""
    parts = {"valkey": settings.redis_url, "index": settings.qdrant_url}
    embedded = [name for name, url in parts.items() if url is None]
    if not embedded:
        return [ok("data", "DATA_DIR is not used: both stores are named by their addresses")]
    for name in embedded:
        await asyncio.to_thread(prepare_directory, settings.data_dir, name)
    free = shutil.disk_usage(settings.data_dir).free
    said = f"DATA_DIR {settings.data_dir.absolute()} can be written, {free / 2**30:.1f} GB free"
    if free < _LOW_SPACE:
        return [warn("data", said, "Make room: the store refuses updates once the disk is full.")]
    return [ok("data", said)]


async def check_ports(settings: Settings) -> list[Finding]:
    """HTTP_PORT is free, or a Mnemogram answers there; SIMULATOR_PORT too where the simulator is used."""
    http = Listening(setting="HTTP_PORT", host=settings.http_host, port=settings.http_port)
    findings = [await _check_port(http, _mnemogram_answers(http), "Mnemogram")]
    if simulates(settings):
        simulator = Listening(setting="SIMULATOR_PORT", host=SIMULATOR_HOST, port=settings.simulator_port)
        findings.append(await _check_port(simulator, _simulator_answers(settings), "simulator"))
    return findings


async def _check_port(listening: Listening, is_ours: Coroutine[Any, Any, bool], who: str) -> Finding:
    problem = find_port_problem(listening)
    if problem is None:
        is_ours.close()
        return ok("ports", f"{listening.setting} {listening.port} on {listening.host} is free")
    if await is_ours:
        return ok("ports", f"{listening.setting} {listening.port}: a running {who} answers there")
    return fail("ports", problem, f"End the other program, or change {problem.partition(':')[0]}.")


async def _mnemogram_answers(http: Listening) -> bool:
    host = f"[{http.host}]" if ":" in http.host else http.host
    try:
        async with httpx.AsyncClient(timeout=_ASK_S, trust_env=False) as client:
            return (await client.get(f"http://{host}:{http.port}/health/live")).is_success
    except httpx.HTTPError:
        return False


async def _simulator_answers(settings: Settings) -> bool:
    try:
        async with open_telegram(token=settings.token, api_url=bot_api_url(settings)) as telegram:
            return (await telegram.get_me()).id == settings.bot_id
    except TelegramFailure:
        return False
