"""Traces of an agent's run: three events in the log and on the OpenTelemetry span, and the export of spans."""

from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

import structlog
from opentelemetry import trace

from bot.observe.logs import writes_texts

EXPORT_TIMEOUT_S = 3.0
"""Limit of one export. The end of the process waits no longer for a collector that does not answer."""

log = structlog.get_logger()
_tracer = trace.get_tracer("mnemogram")


def trace_llm_call(turn: int, messages: int) -> None:
    """Record the `turn`-th request of this run to the model, with the number of its messages."""
    _record("llm_call", f"Turn {turn} ({messages} messages)", is_private=False, turn=turn, messages=messages)


def trace_tool_result(name: str, arguments: str, result: str, *, is_error: bool) -> None:
    """Record the result of a tool call: its texts with LOG_TEXT only, their lengths always."""
    _record(
        "tool_result",
        f"{name}({arguments}) → {result}",
        is_private=True,
        tool=name,
        is_error=is_error,
        argument_characters=len(arguments),
        result_characters=len(result),
    )


def trace_agent_end(content: str) -> None:
    """Record the end of the run: the reply with LOG_TEXT only, its length always."""
    _record("agent_end", content, is_private=True, characters=len(content))


def traced(name: str, **attributes: str | int | bool) -> AbstractContextManager[object]:
    """Open a span around a piece of work. It costs nothing without an exporter."""
    return nullcontext() if _is_off() else _span(name, attributes)


def _is_off() -> bool:
    """Return True while nobody has set a provider of spans."""
    return isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


@contextmanager
def _span(name: str, attributes: Mapping[str, str | int | bool]) -> Generator[None]:
    # Without these options OpenTelemetry records the error's text, which may quote the conversation.
    with _tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as span:
        try:
            yield
        except BaseException as error:
            span.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise


@contextmanager
def configure_tracing(endpoint: str | None) -> Generator[None]:
    """Export spans to the OTLP collector at `endpoint` (its http base URL) until the block ends.

    Without an endpoint nothing is set up. The remaining spans are sent at the end, within EXPORT_TIMEOUT_S.
    Call it once per process: OpenTelemetry keeps its first provider.
    """
    if not endpoint:
        yield
        return
    # These imports take half a second, and only an exporting process needs them.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_TIMEOUT_S)
    provider = TracerProvider(resource=Resource.create({"service.name": "mnemogram"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()


def _record(event: str, detail: str, *, is_private: bool, **fields: str | int | bool) -> None:
    if not is_private or writes_texts():
        fields["detail"] = detail
    log.info(event, **fields)
    if not _is_off():
        trace.get_current_span().add_event(event, attributes=fields)
