"""A process imports only what its command needs: imports are most of a start and much of the memory."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chaos.rig.system import free_port

HEAVY = {"openai", "qdrant_client", "numpy", "tokenizers"}


@pytest.mark.slow
def test_serve_is_ready_without_models_index_and_embedder(tmp_path: Path) -> None:
    with _start(tmp_path, "simulate", "--port", str(port := free_port())) as simulator:
        _read_until(simulator, '"simulator_ready"')
        url = f"http://127.0.0.1:{port}"
        with _start(tmp_path, "serve", TELEGRAM_API_URL=url, HTTP_PORT=str(free_port())) as serve:
            imported = _imported(_read_until(serve, '"ready"'))
            serve.send_signal(signal.SIGTERM)
            serve.communicate(timeout=30)
        simulator.send_signal(signal.SIGTERM)
        simulator.communicate(timeout=30)
    assert "redis" in imported
    assert not imported & HEAVY


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    with _start(tmp_path, "--help") as process:
        lines = process.communicate(timeout=30)[0].splitlines()
    assert not _imported(lines) & (HEAVY | {"rich", "telegram", "redis", "pydantic", "httpx", "tiktoken"})


def test_the_offline_model_needs_nothing_of_the_bot_api() -> None:
    program = "import sys, simulator.offline_model.endpoint; print('simulator.api' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_without_the_bots_packages_the_console_says_in_one_sentence_what_to_install() -> None:
    program = "import sys; sys.modules['telegram'] = None; from bot.cli import main; main(['run'])"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'The bot and its console are not installed: pip install "mnemogram[bot]"\n'


def _start(data_dir: Path, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "bot", *arguments],
        env={**os.environ, "DATA_DIR": str(data_dir), "LOG_FORMAT": "json", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _read_until(process: "subprocess.Popen[str]", text: str) -> list[str]:
    lines: list[str] = []
    for line in process.stdout or ():
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError("".join(lines)[-2000:])


def _imported(lines: list[str]) -> set[str]:
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
