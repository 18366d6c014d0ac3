"""Logs by structlog on stderr, with secrets masked in every line."""

import logging
import sys
import traceback
from collections.abc import Callable, Collection, MutableMapping
from contextvars import ContextVar
from typing import Any, Literal, cast

import structlog
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

MASK = "***"
TURN_EVENTS = ("recalled", "llm_call", "tool_result", "agent_end")
"""Events of every turn."""


def configure_logs(
    *,
    log_format: Literal["console", "json"] = "console",
    level: str = "info",
    secrets: Collection[str] = (),
    debug_events: Collection[str] = (),
    texts: bool = False,
) -> None:
    """Set up structlog and the standard library's logging in the same format, and mask `secrets` in every line.

    `debug_events` are logged at debug level, whatever level their code gives them. Without `texts` nothing quotes a
    conversation, whatever the level: tracebacks have no messages. Libraries log from warning upwards.
    """

    number = logging.getLevelNamesMapping()[level.upper()]

    def mask_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {key: _masked(value, secrets) for key, value in event.items()}

    def lower_level(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if event["event"] not in debug_events:
            return event
        if number > logging.DEBUG:
            raise structlog.DropEvent
        return {**event, "level": "debug"}

    last: Any = (
        structlog.processors.JSONRenderer()
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    )
    before: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _format_whole_error if texts else _format_error,
        mask_secrets,
    ]
    structlog.configure(
        processors=[*before, lower_level, last],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=before,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, last],
        )
    )
    # Their lines below warning have URLs with the bot's token (httpx) and requests (openai). The handler's level also
    # stops loggers with a level of their own, such as OPENAI_LOG=debug sets.
    handler.setLevel(max(number, logging.WARNING))
    logging.basicConfig(handlers=[handler], level=handler.level, force=True)
    # The SDK of MCP writes what servers send into its errors.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    logging.getLogger("client").setLevel(logging.CRITICAL)
    set_on_retry_hooks([_log_retry])


def writes_texts() -> bool:
    """Return True if logs and spans may quote people, the model and tools (LOG_TEXT)."""
    return _format_whole_error in structlog.get_config()["processors"] and not _are_hidden.get()


def hide_texts(*, is_hidden: bool) -> None:
    """Let nothing quote a conversation in this task from now on, also with LOG_TEXT, or end that."""
    _are_hidden.set(is_hidden)


def traceback_without_texts(error: BaseException) -> str:
    """Return the traceback with classes in place of the messages, which may quote a conversation."""
    found = [error]
    for each in found:  # it grows
        causes = [each.__cause__ or (None if each.__suppress_context__ else each.__context__)]
        if isinstance(each, BaseExceptionGroup):
            causes += cast("BaseExceptionGroup[BaseException]", each).exceptions
        found += [cause for cause in causes if cause is not None and cause not in found]
    return "\n".join(map(_frames_and_class, reversed(found)))


def _frames_and_class(error: BaseException) -> str:
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"Traceback (most recent call last):\n{frames}{type(error).__qualname__}"


_format_error: Callable[..., Any] = structlog.processors.ExceptionRenderer(
    lambda exc_info: traceback_without_texts(exc_info[1])
)
_render_whole_error = structlog.processors.ExceptionRenderer()
_are_hidden = ContextVar("texts_are_hidden", default=False)


def _format_whole_error(logger: Any, name: str, event: MutableMapping[str, Any]) -> Any:
    render = _format_error if _are_hidden.get() else _render_whole_error
    return render(logger, name, event)


def _log_retry(details: RetryDetails) -> None:
    # stamina's own hook would log arguments too, and these may be a chat's text.
    structlog.get_logger().warning(
        "retry", cause=repr(details.caused_by), tries=details.retry_num, pause_s=round(details.wait_for, 2)
    )


def mask(text: str, secrets: Collection[str]) -> str:
    """Return the text with asterisks in place of each secret. Shorter ones than 4 characters occur in any text."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK) if len(secret) >= 4 else text
    return text


def _masked(value: Any, secrets: Collection[str]) -> Any:
    if value is None or isinstance(value, (int, float)):
        return value
    text = value if isinstance(value, str) else repr(value)
    masked = mask(text, secrets)
    return value if masked == text else masked
