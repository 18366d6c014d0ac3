"""`doctor`: checks every setting and dependency at the same time."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import typer

from bot.cli.checks import Finding, fail, is_well, print_findings
from bot.cli.failures import FAILED, describe
from bot.cli.session import AsJson, finish
from bot.cli.webhook import SIMULATOR_PORT, SimulatorPort
from bot.errors import SettingsInvalid
from memory.errors import DataDirFull

if TYPE_CHECKING:
    from bot.settings import Settings

CHECK_S = 8.0
"""Time for one check. Redis, Qdrant and Telegram answer in milliseconds, a model in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check. `fix` is the advice if it raises or does not answer in time."""

    name: str
    run: "Callable[[Settings], Awaitable[list[Finding]]]"
    fix: str
    limit_s: float = CHECK_S


def doctor(simulator_port: SimulatorPort = SIMULATOR_PORT, as_json: AsJson = False) -> None:
    """Check every setting and dependency, with advice for each problem. Exit status 0 or 1."""
    from bot.features.settings import load_settings
    from bot.observe.logs import configure_logs

    try:
        settings = load_settings()
    except SettingsInvalid as error:
        fix = "Correct it in the environment or .env; .env.example explains each setting."
        print_findings([fail("settings", problem, fix) for problem in error.problems], as_json=as_json)
        raise typer.Exit(FAILED) from None
    # Errors are findings.
    configure_logs(log_format=settings.log_format, level="critical", secrets=settings.secrets)
    finish(settings, _examine(settings, simulator_port, as_json=as_json))


async def _examine(settings: "Settings", simulator_port: int, *, as_json: bool) -> int:
    """Run every check, print the findings and return the exit status."""
    import asyncio

    checks = _checks(simulator_port)
    running = [asyncio.create_task(run_bounded(check, settings), name=check.name) for check in checks]
    findings = [finding for each in await asyncio.gather(*running) for finding in each]
    print_findings(findings, as_json=as_json, secrets=settings.secrets)
    return 0 if is_well(findings) else FAILED


async def run_bounded(check: Check, settings: "Settings") -> list[Finding]:
    """Return the findings of a check. An error or a timeout becomes a finding."""
    import asyncio

    try:
        async with asyncio.timeout(check.limit_s):
            return await check.run(settings)
    except TimeoutError:
        return [fail(check.name, f"no answer within {check.limit_s:g} s", check.fix)]
    except Exception as error:  # noqa: BLE001 — one check must not stop the others
        lines, _ = describe(error)
        fix = "Free some space on that disk." if isinstance(error, DataDirFull) else check.fix
        return [fail(check.name, line, fix) for line in lines]


def _checks(simulator_port: int) -> Iterator[Check]:
    """Yield the checks in the order of their printing."""
    from bot.cli.checks import endpoints, machine

    check_bot, check_page, check_webhook, check_ports = (
        partial(check, simulator_port=simulator_port)
        for check in (endpoints.check_bot, endpoints.check_page, endpoints.check_webhook, machine.check_ports)
    )
    for name, run, fix in (
        ("settings", machine.check_settings, "Check the settings in the environment and .env."),
        ("agent", endpoints.check_agent, "Correct AGENTS_FILE (examples/ has one) or MODEL_CONTEXT_WINDOW."),
        ("data", machine.check_data_dir, "Set DATA_DIR to a writable folder on a local disk."),
        ("store", machine.check_redis, "Start Redis or Valkey, or correct REDIS_URL (unset: embedded)."),
        (
            "index",
            machine.check_index,
            "Start Qdrant, or correct QDRANT_URL and QDRANT_API_KEY (unset: embedded).",
        ),
        (
            "embedder",
            endpoints.check_embedder,
            "Correct OPENAI_EMBEDDING_MODEL and its endpoint (empty: embedded).",
        ),
        ("model", endpoints.check_model, "Check OPENAI_BASE_URL and the network. Every answer needs them."),
        (
            "mcp",
            endpoints.check_servers,
            "Check [mcp.servers] in AGENTS_FILE. Other tools work without them.",
        ),
        ("media", endpoints.check_media, "Correct OPENAI_VISION and OPENAI_TRANSCRIPTION_MODEL."),
        ("telegram", check_bot, "Check TELEGRAM_API_URL and the way there (https, port 443)."),
        ("page", check_page, "Make the Bot API reachable first; see `telegram`."),
        ("webhook", check_webhook, "Make the Bot API reachable first; see `telegram`."),
        ("ports", check_ports, "Set HTTP_HOST and HTTP_PORT to an address where we may listen."),
    ):
        # Programs of servers may install themselves first.
        limits = {"mcp": 20.0, "model": endpoints.MODEL_LIMIT_S}
        yield Check(name=name, run=run, fix=fix, limit_s=limits.get(name, CHECK_S))
