"""How a command begins and ends: the settings before anything heavy, the work, the exit status."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

from bot.cli.failures import report
from bot.errors import SettingsInvalid

if TYPE_CHECKING:
    from bot.settings import Settings

T = TypeVar("T")


def load() -> "Settings":
    """The settings; where one is wrong the command ends here, with a line per problem and status 2."""
    from bot.settings import load_settings

    try:
        return load_settings()
    except SettingsInvalid as error:
        raise typer.Exit(report(error)) from None


def load_quietly() -> "Settings":
    """`load` for a command that reads: only warnings are logged (or all, with LOG_LEVEL=debug)."""
    from bot.observe.logs import configure_logs

    settings = load()
    level = settings.log_level if settings.log_level in ("debug", "error") else "warning"
    configure_logs(log_format=settings.log_format, level=level, secrets=settings.secrets)
    return settings


def done_now(settings: "Settings", work: Coroutine[Any, Any, T]) -> T:
    """Do the work; a failure ends the command with its lines and status."""
    import asyncio

    try:
        return asyncio.run(work)
    except BrokenPipeError:
        raise  # `mnemogram chats | head`: nobody is listening, which is no failure to tell of
    except Exception as error:  # noqa: BLE001 — the boundary where errors become a line and a status
        raise typer.Exit(report(error, settings)) from None


def end_with(settings: "Settings", work: Coroutine[Any, Any, int | None]) -> NoReturn:
    """Do the work and end the command with the status that it gives, 0 for none."""
    raise typer.Exit(done_now(settings, work) or 0)
