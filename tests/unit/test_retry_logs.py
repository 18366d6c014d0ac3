"""Retries in the log."""

import subprocess
import sys

PROGRAM = """
import asyncio, stamina
from bot.observe.logs import configure_logs

configure_logs(secrets=("topsecret",))
tries = iter([ValueError("no answer for topsecret"), None])

async def send(text):
    if error := next(tries):
        raise error

asyncio.run(stamina.AsyncRetryingCaller(wait_initial=0.01)(ValueError, send, "words of a chat"))
"""


def test_a_retry_is_logged_with_its_cause_and_without_arguments_and_secrets() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert "retry" in done.stderr
    assert "no answer for ***" in done.stderr
    assert "words of a chat" not in done.stderr
