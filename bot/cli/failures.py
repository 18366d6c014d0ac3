"""Errors as an operator reads them: lines on stderr that name the setting to look at, and an exit status."""

import sys
import traceback
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from bot.cli.output import printable
from bot.errors import BotError, PortInUse, SettingsInvalid, TelegramFailure, TelegramRefused
from memory.embedded.errors import EmbeddedStoreFailure
from memory.errors import MemoryFailure, RecallUnavailable, StoreFull, StoreUnavailable, UnsafeStore
from memory.recall.embedders.embedder import EmbeddingError

if TYPE_CHECKING:
    from bot.settings import Settings

FAILED, WRONG_USE = 1, 2
MASK = "***"


class CommandFailed(Exception):
    """What was asked for could not be done; the message says why, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Lines for stderr, and the exit status."""

    lines: tuple[str, ...]
    status: int


def report(error: Exception, settings: "Settings | None" = None) -> int:
    """Print a failure to stderr, without any secret of the settings; the exit status.

    A traceback is printed with LOG_LEVEL=debug only.
    """
    failure = describe(error)
    secrets = settings.secrets if settings else ()
    if settings is not None and settings.log_level == "debug":
        print_error("".join(traceback.format_exception(error)).rstrip(), secrets)
    for line in failure.lines:
        print_error(line, secrets)
    return failure.status


def print_error(line: str, secrets: Collection[str] = ()) -> None:
    """One line on stderr, with every secret masked, and without what would steer a terminal: it may quote a file."""
    sys.stderr.write(printable(masked(line, secrets)) + "\n")


def masked(text: str, secrets: Collection[str]) -> str:
    """The text with every secret in it as asterisks."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def describe(error: BaseException) -> Failure:
    """What to tell of an error. Of a group: each of its errors once, with the gravest status."""
    if isinstance(error, BaseExceptionGroup):
        failures = [describe(one) for one in cast("BaseExceptionGroup[BaseException]", error).exceptions]
        lines = dict.fromkeys(line for failure in failures for line in failure.lines)
        return Failure(lines=tuple(lines), status=max(failure.status for failure in failures))
    if isinstance(error, SettingsInvalid):
        return Failure(lines=tuple(error.problems), status=WRONG_USE)
    if isinstance(error, PortInUse):
        return _failure("HTTP_PORT", error, WRONG_USE)
    if isinstance(error, MemoryFailure):
        return _describe_memory(error)
    if isinstance(error, TelegramFailure):
        return _describe_telegram(error)
    if isinstance(error, BotError | CommandFailed):
        return Failure(lines=(str(error),), status=FAILED)
    return Failure(
        lines=(f"This failed unexpectedly ({type(error).__name__}). LOG_LEVEL=debug shows where.",),
        status=FAILED,
    )


def _describe_memory(error: MemoryFailure) -> Failure:
    if isinstance(error, EmbeddedStoreFailure):
        return _failure("DATA_DIR", error, WRONG_USE)
    if isinstance(error, UnsafeStore):
        return _failure("REDIS_URL", error, WRONG_USE)
    if isinstance(error, StoreUnavailable | StoreFull):
        return _failure("REDIS_URL", error, FAILED)
    if isinstance(error, EmbeddingError):
        return _failure("OPENAI_EMBEDDING_MODEL", error, FAILED)
    if isinstance(error, RecallUnavailable):
        return _failure("QDRANT_URL", error, FAILED)
    return Failure(lines=(str(error),), status=FAILED)


def _describe_telegram(error: TelegramFailure) -> Failure:
    if not isinstance(error, TelegramRefused):
        return _failure("TELEGRAM_API_URL", f"the Bot API does not answer ({error})", FAILED)
    if "TELEGRAM_BOT_TOKEN" in str(error):
        return _failure("TELEGRAM_BOT_TOKEN", error, WRONG_USE)
    return Failure(lines=(f"Telegram refused: {error}",), status=FAILED)


def _failure(setting: str, why: object, status: int) -> Failure:
    """One line that begins with a setting, unless it names one already."""
    line = str(why)
    named = line.partition(":")[0]
    is_named = named.replace("_", "").isalpha() and named.isupper()
    return Failure(lines=(line if is_named else f"{setting}: {line}",), status=status)
