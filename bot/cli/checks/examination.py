"""Runs the doctor's checks at the same time, each within its time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.cli.checks import machine_checks, model_checks, store_checks, telegram_checks
from bot.cli.checks.findings import Finding, fail, is_well, print_findings
from bot.cli.failures import FAILED, describe
from bot.settings import Settings

CHECK_S = 8.0
"""How long a check may take. Redis, Qdrant and Telegram answer in milliseconds, a model in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check; `fix` is what to do where it raises, or does not answer in time."""

    name: str
    run: Callable[[Settings], Awaitable[list[Finding]]]
    fix: str


CHECKS = (
    Check(
        name="settings",
        run=machine_checks.check_settings,
        fix="Look at the settings in the environment and .env.",
    ),
    Check(
        name="agent",
        run=model_checks.check_agent,
        fix="Correct AGENTS_FILE, of which examples/ has one that works, or MODEL_CONTEXT_WINDOW.",
    ),
    Check(
        name="data",
        run=machine_checks.check_data_dir,
        fix="Set DATA_DIR to a folder on a local disk that this user may write.",
    ),
    Check(
        name="store",
        run=store_checks.check_redis,
        fix="Start Redis or Valkey, or correct REDIS_URL; unset, the embedded store is used.",
    ),
    Check(
        name="index",
        run=store_checks.check_index,
        fix="Start Qdrant, or correct QDRANT_URL and QDRANT_API_KEY; unset, the embedded index is used.",
    ),
    Check(
        name="embedder",
        run=model_checks.check_embedder,
        fix="Correct OPENAI_EMBEDDING_MODEL and its endpoint; empty, the embedded embedder is used.",
    ),
    Check(
        name="model",
        run=model_checks.check_model,
        fix="Check OPENAI_BASE_URL and the way there; the same request is made for every answer.",
    ),
    Check(
        name="media",
        run=model_checks.check_media,
        fix="Correct OPENAI_VISION and OPENAI_TRANSCRIPTION_MODEL.",
    ),
    Check(
        name="telegram",
        run=telegram_checks.check_bot,
        fix="Check TELEGRAM_API_URL and that this machine may reach it (https, port 443).",
    ),
    Check(
        name="webhook",
        run=telegram_checks.check_webhook,
        fix="It is known once the Bot API answers.",
    ),
    Check(
        name="ports",
        run=machine_checks.check_ports,
        fix="Set HTTP_HOST and HTTP_PORT to where this process may listen.",
    ),
)


async def examine(settings: Settings, *, as_json: bool) -> int:
    """Run every check, print what was found, and give the exit status."""
    running = [asyncio.create_task(run_bounded(check, settings), name=check.name) for check in CHECKS]
    findings = [finding for found in await asyncio.gather(*running) for finding in found]
    print_findings(findings, as_json=as_json, secrets=settings.secrets)
    return 0 if is_well(findings) else FAILED


async def run_bounded(check: Check, settings: Settings, *, limit_s: float = CHECK_S) -> list[Finding]:
    """What the check finds. Never raises: what goes wrong is a finding."""
    try:
        async with asyncio.timeout(limit_s):
            return await check.run(settings)
    except TimeoutError:
        return [fail(check.name, f"no answer within {limit_s:g} s", check.fix)]
    except Exception as error:  # noqa: BLE001 — one check must not stop the others
        return [fail(check.name, line, check.fix) for line in describe(error).lines]
