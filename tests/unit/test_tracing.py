"""The traces of a run: their contents with and without LOG_TEXT, and their export to a collector."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.trace import get_tracer_provider

from bot.observe.logs import configure_logs
from bot.observe.tracing import configure_tracing, trace_agent_end, trace_llm_call, trace_tool_result, traced

SENDER = """
import sys
from bot.observe.logs import configure_logs
from bot.observe.tracing import configure_tracing, trace_llm_call, trace_tool_result, traced
configure_logs(level="debug", texts=sys.argv[2] == "texts")
with configure_tracing(sys.argv[1]):
    try:
        with traced("agent_run", request_id="77"):
            trace_llm_call(1, 2)
            trace_tool_result("add", "said in private", "told in private", is_error=False)
            raise ValueError("private words")
    except ValueError:
        pass
"""


@pytest.mark.parametrize("level", ["info", "debug"])
@pytest.mark.parametrize("texts", [False, True])
def test_t04_message_text_is_logged_with_its_own_setting_only(
    level: str, texts: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(log_format="json", level=level, texts=texts)
    trace_llm_call(2, 7)
    trace_tool_result("add", '{"a": 2}', "secret 5", is_error=False)
    trace_agent_end("secret answer")

    logs = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [entry["event"] for entry in logs] == ["llm_call", "tool_result", "agent_end"]
    assert [entry["detail"] for entry in logs if "detail" in entry] == (
        ["Turn 2 (7 messages)", 'add({"a": 2}) → secret 5', "secret answer"]
        if texts
        else ["Turn 2 (7 messages)"]
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


@pytest.mark.parametrize("texts", ["texts", ""])
def test_t04_spans_reach_the_collector_before_the_process_ends_without_error_texts(texts: str) -> None:
    _Collector.received = []
    collector = HTTPServer(("127.0.0.1", 0), _Collector)
    thread = threading.Thread(target=collector.serve_forever)
    thread.start()
    try:
        command = [sys.executable, "-c", SENDER, f"http://127.0.0.1:{collector.server_port}/", texts]
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
    assert (b"said in private" in body, b"told in private" in body) == (bool(texts), bool(texts))
