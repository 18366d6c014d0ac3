"""The traces of a run: their contents by log level, and their export to a collector."""

import logging
import subprocess
import sys
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import structlog
from opentelemetry.trace import get_tracer_provider
from structlog.testing import capture_logs

from bot.observe.tracing import (
    configure_tracing,
    trace_agent_end,
    trace_llm_call,
    trace_tool_result,
    traced,
)

SENDER = """
import sys
from bot.observe.tracing import configure_tracing, trace_llm_call, traced
with configure_tracing(sys.argv[1]):
    try:
        with traced("agent_run", request_id="77"):
            trace_llm_call(1, 2)
            raise ValueError("private words")
    except ValueError:
        pass
"""


@pytest.fixture(params=["info", "debug"])
def level(request: pytest.FixtureRequest) -> Generator[str]:
    number = logging.getLevelNamesMapping()[request.param.upper()]
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(number))
    yield request.param
    structlog.reset_defaults()


def test_t04_message_text_is_logged_at_debug_level_only(level: str) -> None:
    with capture_logs() as logs:
        trace_llm_call(2, 7)
        trace_tool_result("add", '{"a": 2}', "secret 5", is_error=False)
        trace_agent_end("secret answer")

    assert [entry["event"] for entry in logs] == ["llm_call", "tool_result", "agent_end"]
    assert [entry["detail"] for entry in logs if "detail" in entry] == (
        ["Turn 2 (7 messages)"]
        if level == "info"
        else ["Turn 2 (7 messages)", 'add({"a": 2}) → secret 5', "secret answer"]
    )
    assert (logs[1]["argument_characters"], logs[1]["result_characters"]) == (8, 8)
    assert logs[2]["characters"] == 13


def test_without_an_endpoint_no_exporter_runs() -> None:
    before = get_tracer_provider()

    with configure_tracing(None), traced("agent_run", request_id="1"):
        trace_llm_call(1, 1)

    assert get_tracer_provider() is before


class _Collector(BaseHTTPRequestHandler):
    received: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.received.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


def test_t04_spans_reach_the_collector_before_the_process_ends_without_error_texts() -> None:
    _Collector.received = []
    collector = HTTPServer(("127.0.0.1", 0), _Collector)
    thread = threading.Thread(target=collector.serve_forever)
    thread.start()
    try:
        command = [sys.executable, "-c", SENDER, f"http://127.0.0.1:{collector.server_port}/"]
        subprocess.run(command, check=True, timeout=30, capture_output=True)
    finally:
        collector.shutdown()
        thread.join()
        collector.server_close()

    ((path, body),) = _Collector.received
    assert path == "/v1/traces"
    for word in (b"agent_run", b"mnemogram", b"llm_call", b"Turn 1 (2 messages)", b"77", b"ValueError"):
        assert word in body
    assert b"private words" not in body
