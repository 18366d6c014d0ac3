"""Logs at debug level: they quote nobody unless LOG_TEXT is on."""

import asyncio
import logging
from collections.abc import Callable

import pytest
import structlog

from bot.observe.logs import configure_logs, traceback_without_texts

WORDS = "words of a chat"


def fail() -> None:
    raise ValueError(WORDS)


def fail_because() -> None:
    try:
        fail()
    except ValueError as error:
        raise KeyError(f"again {WORDS}") from error


def fail_meanwhile() -> None:
    try:
        fail()
    except ValueError:
        next(each for each in (WORDS,) if each != WORDS)


def fail_together() -> None:
    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(fail))
            group.create_task(asyncio.to_thread(fail_because))

    asyncio.run(work())


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("work", [fail, fail_because, fail_meanwhile, fail_together])
def test_a_traceback_shows_where_it_happened_and_quotes_only_on_demand(
    work: Callable[[], None], texts: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(level="debug", texts=texts)
    try:
        work()
    except Exception:
        structlog.get_logger().exception("turn_broke")
        logging.getLogger("a_library").exception("it broke")

    logged = capsys.readouterr().err
    assert logged.count("ValueError") >= 2
    assert "in fail\n" in logged
    assert (WORDS in logged) == texts


@pytest.mark.parametrize("texts", [False, True])
def test_libraries_log_from_warning_upwards_also_with_a_lower_level_of_their_own(
    texts: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(level="debug", texts=texts)
    library = logging.getLogger("a_library")
    for level in (logging.NOTSET, logging.DEBUG):  # the SDK of OpenAI sets its own with OPENAI_LOG=debug
        library.setLevel(level)
        library.debug("parsing %s", WORDS)
        library.info("parsed %s", WORDS)
        library.warning("that was slow")

    logged = capsys.readouterr().err
    assert (logged.count("that was slow"), WORDS in logged) == (2, False)


def test_errors_that_caused_each_other_end() -> None:
    first, second = ValueError(WORDS), KeyError(WORDS)
    first.__context__, second.__context__ = second, first

    shown = traceback_without_texts(first)

    assert (shown.count("ValueError"), shown.count("KeyError"), WORDS in shown) == (1, 1, False)
