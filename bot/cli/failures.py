"""Errors as lines on stderr for the operator, with the setting to look at, and as an exit status."""

import sys
import traceback
from collections.abc import Collection
from typing import TYPE_CHECKING, cast

from bot.cli.output import printable
from bot.errors import BotError, PortInUse, SettingsInvalid, TelegramFailure, TelegramRefused
from memory.errors import (
    EmbeddedStoreFailure,
    MemoryFailure,
    RecallUnavailable,
    StoreFull,
    StoreUnavailable,
    UnsafeStore,
)
from memory.recall.embedders.embedder import EmbeddingError

if TYPE_CHECKING:
    from bot.settings import Settings

FAILED, WRONG_USE = 1, 2


class CommandFailed(Exception):
    """A command could not do its work. The message is one sentence that says why."""


_SETTING_OF: tuple[tuple[type[Exception], str, int], ...] = (
    (PortInUse, "HTTP_PORT", WRONG_USE),
    (EmbeddedStoreFailure, "DATA_DIR", WRONG_USE),
    (UnsafeStore, "REDIS_URL", WRONG_USE),
    (StoreUnavailable, "REDIS_URL", FAILED),
    (StoreFull, "REDIS_URL", FAILED),
    (EmbeddingError, "OPENAI_EMBEDDING_MODEL", FAILED),
    (RecallUnavailable, "QDRANT_URL", FAILED),
)
"""The setting to look at, and the exit status. The first class that fits an error counts."""


def report(error: Exception, settings: "Settings | None" = None) -> int:
    """Print a failure to stderr, with every secret of the settings masked, and return the exit status.

    With LOG_LEVEL=debug a traceback comes first, with LOG_TEXT also the messages of its errors.
    """
    lines, status = describe(error)
    secrets = settings.secrets if settings else ()
    if settings is not None and settings.log_level == "debug":
        print_error(_traceback_of(error, with_texts=settings.log_text), secrets)
    for line in lines:
        print_error(line, secrets)
    return status


def print_error(line: str, secrets: Collection[str] = ()) -> None:
    """Print one line on stderr, with secrets masked and terminal controls removed. It may quote a file."""
    from bot.observe.logs import mask

    sys.stderr.write(printable(mask(line, secrets)) + "\n")


def _traceback_of(error: Exception, *, with_texts: bool) -> str:
    from bot.observe.logs import traceback_without_texts

    if with_texts:
        return "".join(traceback.format_exception(error)).rstrip()
    return traceback_without_texts(error)


def describe(error: BaseException) -> tuple[list[str], int]:
    """Return the lines and the exit status for an error.

    A group gives each distinct line once, and the highest status.
    """
    if isinstance(error, BaseExceptionGroup):
        members = cast("BaseExceptionGroup[BaseException]", error).exceptions
        described = [describe(member) for member in members]
        lines = dict.fromkeys(line for lines, _ in described for line in lines)
        return list(lines), max(status for _, status in described)
    if isinstance(error, SettingsInvalid):
        return error.problems, WRONG_USE
    for kind, setting, status in _SETTING_OF:
        if isinstance(error, kind):
            return [_with_setting(setting, str(error))], status
    if isinstance(error, TelegramFailure):
        return _describe_telegram(error)
    if isinstance(error, BotError | CommandFailed | MemoryFailure):
        return [str(error)], FAILED
    return [
        f"Unexpected error ({type(error).__name__}). Set LOG_LEVEL=debug to see where it happened."
    ], FAILED


def _describe_telegram(error: TelegramFailure) -> tuple[list[str], int]:
    if not isinstance(error, TelegramRefused):
        return [f"TELEGRAM_API_URL: the Bot API does not answer: {error}"], FAILED
    if "TELEGRAM_BOT_TOKEN" in str(error):
        return [f"TELEGRAM_BOT_TOKEN: {error}"], WRONG_USE
    return [f"Telegram refused: {error}"], FAILED


def _with_setting(setting: str, line: str) -> str:
    """Put the setting before the line, unless the line begins with a setting."""
    first = line.partition(":")[0]
    is_setting = first.startswith("--") or (first.replace("_", "").isalpha() and first.isupper())
    return line if is_setting else f"{setting}: {line}"
