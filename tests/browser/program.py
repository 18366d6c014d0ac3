"""The real program as `make run` starts it, with a scripted model if a test needs one."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bot.features.settings import AllSettings
from tests.scripted_openai import ScriptedOpenAI, scripted_openai
from tests.scripted_script import Script

DEADLINE_S = 60.0
_CONSOLE = Path(sys.executable).with_name("mnemogram")
_ENDS_WITHIN_S = 20.0
_SETTINGS = frozenset(name.upper() for name in AllSettings.model_fields)


@dataclass(slots=True, kw_only=True)
class Program:
    """The running program: its log, its metrics, its console."""

    process: subprocess.Popen[bytes]
    log: Path
    environment: dict[str, str]
    expected_errors: set[str] = field(default_factory=lambda: {"recall_paused"})
    """Events of errors that a test brings about, or that a busy machine does: the index took over a second."""

    def wait_until(self, holds: Callable[[], object]) -> None:
        """Return when the condition holds. Fail after DEADLINE_S or when the program ends."""
        deadline = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < deadline, "it did not come true in time"
            with suppress(subprocess.TimeoutExpired):
                status = self.process.wait(0.05)
                raise AssertionError(f"the program ended with {status}: {self.log.read_text()}")

    def entries(self) -> list[dict[str, Any]]:
        """Return the log's entries, oldest first, without a line that is still being written."""
        lines = self.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("\n")]

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the entries with this name."""
        return [entry for entry in self.entries() if entry["event"] == name]

    @property
    def chat_page(self) -> str:
        return str(self.events("simulator_ready")[0]["chat_page"])

    @property
    def listening_at(self) -> str:
        """The origin of the program's HTTP port."""
        return str(self.events("listening")[0]["at"])

    def metric(self, sample: str) -> float:
        """Return the value of one sample, named as the metrics page names it; 0 before it exists."""
        page = httpx.get(f"{self.listening_at}/metrics", trust_env=False).text
        found = re.search(rf"^{re.escape(sample)} (\S+)$", page, re.MULTILINE)
        return float(found[1]) if found else 0.0

    def history(self, chat_id: int) -> list[dict[str, Any]]:
        """Return every message of a chat, oldest first, as `mnemogram history` prints it."""
        return self._print("history", str(chat_id), "--limit", "0")["shown"]

    def recalled(self, chat_id: int) -> int:
        """Return the number of messages that the newest turn of a chat recalled."""
        return self._print("trace", "--chat", str(chat_id), "--last")["turn"]["recalled"]

    def _print(self, *command: str) -> dict[str, Any]:
        """Run a command of the console and return its JSON document."""
        asked = [str(_CONSOLE), *command, "--json"]
        printed = subprocess.run(
            asked, env=self.environment, cwd=self.log.parent, capture_output=True, check=True
        )
        return json.loads(printed.stdout)


@contextmanager
def run_program(folder: Path, **given: str) -> Generator[Program]:
    """Run `mnemogram run` without a token, with its own ports and an empty DATA_DIR.

    `given` are further settings. At the end the program must stop in time, with status 0 and without an
    error in its log.
    """
    log = folder / "log"
    # Without a summarizer the prompt has the newest 50 messages; with one, many more would stand in it.
    settings = {"DATA_DIR": "data", "HTTP_PORT": "0", "LOG_FORMAT": "json"}
    settings |= {"OPENAI_SUMMARY_MODEL": ""} | given
    environment = {name: value for name, value in os.environ.items() if name not in _SETTINGS} | settings
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [str(_CONSOLE), "run", "--simulator-port", "0"], env=environment, cwd=folder, stderr=stderr
        )
    program = Program(process=process, log=log, environment=environment)
    try:
        program.wait_until(lambda: program.events("ready"))
        yield program
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(_ENDS_WITHIN_S)
        finally:
            process.kill()
    assert status == 0
    errors = [entry for entry in program.entries() if entry["level"] in {"error", "critical"}]
    assert [entry for entry in errors if entry["event"] not in program.expected_errors] == []
    assert "Traceback" not in log.read_text()


@contextmanager
def run_model(script: Script) -> Generator[ScriptedOpenAI]:
    """Run the scripted OpenAI server in a thread."""
    started = threading.Event()
    served: list[ScriptedOpenAI] = []
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def serve() -> None:
        async with scripted_openai(script) as server:
            served.append(server)
            started.set()
            await ended.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, name="scripted-openai")
    thread.start()
    try:
        assert started.wait(DEADLINE_S), "the scripted model did not start"
        yield served[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(DEADLINE_S)
        assert not thread.is_alive(), "the scripted model did not end"
