"""Errors as lines and statuses."""

import pytest

from bot.cli.failures import CommandFailed, describe, report
from bot.errors import (
    ModelRefused,
    PortInUse,
    SendUnknown,
    SettingsInvalid,
    TelegramRefused,
    TelegramUnavailable,
)
from bot.features.settings import load_settings
from memory.errors import DataDirFull, IndexMismatch, StoreFull, StoreUnavailable, UnsafeStore
from memory.recall.embedders.embedder import EmbeddingRefused


@pytest.mark.parametrize(
    ("error", "lines", "status"),
    [
        (SettingsInvalid(["A_B: wrong", "C: too"]), ["A_B: wrong", "C: too"], 2),
        (PortInUse("port 1 is in use"), ["HTTP_PORT: port 1 is in use"], 2),
        (PortInUse("--simulator-port: port 1 is in use"), ["--simulator-port: port 1 is in use"], 2),
        (DataDirFull("DATA_DIR: no space"), ["DATA_DIR: no space"], 2),
        (UnsafeStore(), ["REDIS_URL: The store would lose or evict what it acknowledges."], 2),
        (StoreUnavailable("Redis cannot be reached"), ["REDIS_URL: Redis cannot be reached"], 1),
        (StoreFull("Redis refuses writes: OOM"), ["REDIS_URL: Redis refuses writes: OOM"], 1),
        (IndexMismatch("the collection"), ["QDRANT_URL: the collection"], 1),
        (EmbeddingRefused("answered 401"), ["OPENAI_EMBEDDING_MODEL: answered 401"], 1),
        (
            TelegramUnavailable("ConnectError"),
            ["TELEGRAM_API_URL: the Bot API does not answer: ConnectError"],
            1,
        ),
        (SendUnknown("ReadTimeout"), ["TELEGRAM_API_URL: the Bot API does not answer: ReadTimeout"], 1),
        (
            TelegramRefused("unknown token (TELEGRAM_BOT_TOKEN)"),
            ["TELEGRAM_BOT_TOKEN: unknown token (TELEGRAM_BOT_TOKEN)"],
            2,
        ),
        (TelegramRefused("bad webhook"), ["Telegram refused: bad webhook"], 1),
        (ModelRefused("HTTP 401"), ["HTTP 401"], 1),
        (CommandFailed("no such chat"), ["no such chat"], 1),
        (
            ZeroDivisionError("secret text"),
            ["Unexpected error (ZeroDivisionError). Set LOG_LEVEL=debug to see where it happened."],
            1,
        ),
    ],
)
def test_each_error_has_its_lines_and_status(error: Exception, lines: list[str], status: int) -> None:
    assert describe(error) == (lines, status)


def test_a_group_reports_each_error_once_with_the_highest_status() -> None:
    unavailable = StoreUnavailable("gone")
    inner = ExceptionGroup("inner", [unavailable, SettingsInvalid(["PARTITIONS: wrong"])])
    lines, status = describe(ExceptionGroup("outer", [unavailable, inner]))
    assert lines == ["REDIS_URL: gone", "PARTITIONS: wrong"]
    assert status == 2


def test_no_secret_of_the_settings_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    settings = load_settings(telegram_bot_token="77:AbCdEfGh", log_level="debug", log_text=True)
    status = report(_raised(RuntimeError("calling /bot77:AbCdEfGh/getMe")), settings)
    printed = capsys.readouterr().err
    assert status == 1
    assert "Traceback" in printed
    assert "/bot***/getMe" in printed
    assert "AbCdEfGh" not in printed


def test_a_traceback_is_printed_for_debugging_only(capsys: pytest.CaptureFixture[str]) -> None:
    report(_raised(RuntimeError("what the driver said")), load_settings(log_level="info"))
    printed = capsys.readouterr()
    assert printed.err == "Unexpected error (RuntimeError). Set LOG_LEVEL=debug to see where it happened.\n"
    assert printed.out == ""


def test_a_traceback_quotes_no_chat_unless_log_text_is_on(capsys: pytest.CaptureFixture[str]) -> None:
    report(_raised(ValueError("words of a chat")), load_settings(log_level="debug"))
    printed = capsys.readouterr().err
    assert "Traceback" in printed
    assert "in _raised" in printed
    assert "words of a chat" not in printed


def _raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001 - to give it a traceback
        return caught
