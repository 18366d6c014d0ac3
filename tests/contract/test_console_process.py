"""The console as a separate process: its imports, exit status and output."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import httpx
import pytest

from bot.observe.logs import TURN_EVENTS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HEAVY = (
    "pydantic_settings",
    "structlog",
    "redis",
    "qdrant_client",
    "telegram",
    "openai",
    "httpx",
    "numpy",
    "rich",
)
DEADLINE_S = 30.0


def start(folder: Path, *command: str, **settings: str) -> "subprocess.Popen[str]":
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "DATA_DIR": str(folder / "data"),
        **settings,
    }
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(folder: Path, *command: str, **settings: str) -> tuple[int, str, str]:
    with start(folder, *command, **settings) as process:
        out, err = process.communicate(timeout=DEADLINE_S)
    return process.returncode, out, err


def cpu_s() -> float:
    """Return the CPU time of our ended children, which does not depend on other programs as a clock does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    "arguments", [["--help"], ["history", "--help"], ["init", "--help"], ["queue", "--help"], ["--version"]]
)
def test_help_imports_nothing_heavy(tmp_path: Path, arguments: list[str]) -> None:
    status, out, err = run(tmp_path, "-X", "importtime", "-m", "bot", *arguments)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in err.splitlines()}
    assert status == 0
    assert "mnemogram" in out
    assert "typer" in imported
    assert imported.isdisjoint(HEAVY)


def test_the_service_imports_the_simulator_only_to_start_it(tmp_path: Path) -> None:
    lists = "import sys, bot.app.service, bot.app.models, bot.cli.links; print(sorted(sys.modules))"
    status, out, _ = run(tmp_path, "-c", lists)
    assert status == 0
    assert "'bot.app.simulation'" in out
    assert "'simulator" not in out


def test_every_command_of_the_console_is_listed(tmp_path: Path) -> None:
    _, out, _ = run(tmp_path, "-m", "bot", "--help")
    names = "run serve work simulate init doctor webhook chats history search reset trace queue"
    assert [name for name in names.split() if f"\n  {name} " not in out] == []


def test_wrong_settings_end_the_start_with_a_line_each(tmp_path: Path) -> None:
    before = cpu_s()
    status, out, err = run(
        tmp_path,
        *("-m", "bot", "run"),
        TELEGRAM_BOT_TOKEN="hunter2",
        HTTP_PORT="99999",
        WEBHOOK_URL="http://bot.example",
    )
    assert (status, out) == (2, "")
    assert sorted(line.partition(":")[0] for line in err.splitlines()) == [
        "HTTP_PORT",
        "TELEGRAM_BOT_TOKEN",
        "WEBHOOK_URL",
    ]
    assert "Traceback" not in err
    assert "hunter2" not in err
    assert cpu_s() - before < 2


@pytest.mark.parametrize(
    "settings", [{"DATA_DIR": "a-file/data"}, {"AGENTS_FILE": "nowhere.toml"}, {"HTTP_HOST": "192.0.2.1"}]
)
def test_settings_that_fail_only_in_use_end_the_start_as_quickly(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    (tmp_path / "a-file").write_text("where a folder should be")
    before = cpu_s()
    status, out, err = run(tmp_path, "-m", "bot", "run", **settings)
    assert (status, out) == (2, "")
    assert [line.partition(":")[0] for line in err.splitlines()] == list(settings)
    assert cpu_s() - before < 2


def test_wrong_use_is_status_2_and_names_the_mistake(tmp_path: Path) -> None:
    status, out, err = run(tmp_path, "-m", "bot", "history", "Anna")
    assert (status, out) == (2, "")
    assert "'Anna' is not a chat" in err


def test_the_simulator_runs_until_sigterm(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with start(tmp_path, "-m", "bot", "simulate", "--port", str(port)) as process:
        patience = Timer(DEADLINE_S, process.kill)
        patience.start()
        try:
            assert process.stderr is not None
            assert any(f"http://127.0.0.1:{port}" in line for line in process.stderr)
            socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S).close()
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate()
        finally:
            process.kill()
            patience.cancel()
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err


@contextmanager
def running_bot(folder: Path) -> Generator[httpx.Client]:
    """Run everything, and yield a client of the chat page that the last line of the start names."""
    with start(folder, "-m", "bot", "run", "--simulator-port", "0", HTTP_PORT="0") as process:
        patience = Timer(8 * DEADLINE_S, process.kill)
        patience.start()
        try:
            assert process.stdout is not None
            opened = re.fullmatch(r"Open (http://127\.0\.0\.1:\d+)\n", process.stdout.readline())
            assert opened is not None
            with httpx.Client(base_url=opened[1], trust_env=False, timeout=DEADLINE_S) as page:
                yield page
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate()
        finally:
            process.kill()
            patience.cancel()
    assert (process.returncode, out) == (0, "")
    assert "] ready " in err
    assert [event for event in (*TURN_EVENTS, "polling") if event in err] == []


def test_run_names_the_page_logs_turns_at_debug_level_and_keeps_the_chat(tmp_path: Path) -> None:
    with running_bot(tmp_path) as page:
        assert "<html" in page.get("/").text
        line = {"chat_id": 1001, "from_id": 1001, "text": "hello"}
        assert page.post("/api/messages", json=line).status_code == 200
        with page.stream("GET", "/api/events", headers={"Last-Event-ID": "0"}) as events:
            data = (line.removeprefix("data: ") for line in events.iter_lines() if "data: " in line)
            messages = (event["message"] for event in map(json.loads, data) if "message" in event)
            answer = next(message for message in messages if message["from"]["is_bot"])

    with running_bot(tmp_path) as page:
        shown = [each for each in page.get("/api/world").json()["messages"] if each["chat"]["id"] == 1001]

    assert [each["message_id"] for each in shown][-1] >= answer["message_id"]
    assert shown[0]["text"] == "hello"


def test_the_set_up_says_first_how_long_it_takes() -> None:
    planned = subprocess.run(
        ["make", "--dry-run", "--always-make", "setup"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    saying, doing = (
        planned.stdout.index("(about 20 seconds to a minute, once)"),
        planned.stdout.index("-m venv"),
    )
    assert saying < doing
