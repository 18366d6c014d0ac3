"""Files, functions and Lua scripts that one plain text message runs, from the webhook to the sent reply and its indexing.

    python benchmarks/one_message.py [--list]

Starts the whole service with its simulator and offline model in a temporary folder and says two things. Then it records
for six seconds what runs without a message, and after that what a question runs in addition. It counts call events of
Python, comprehensions and lambdas included. The simulator and the offline model are left out.
"""

import argparse
import asyncio
import socket
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

import httpx

from bot.app.service import run_service
from bot.features.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
Call = tuple[str, str, int]


class Recorder:
    """The functions of the product that were called, in the order of their first calls, and the scripts that were sent."""

    def __init__(self) -> None:
        self.calls: dict[Call, None] = {}
        self.scripts: set[str] = set()
        self.deepest: list[str] = []

    def __enter__(self) -> "Recorder":
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(f"{ROOT}/"):
            return
        path = code.co_filename.removeprefix(f"{ROOT}/")
        if path.startswith(("bot/", "memory/")):
            self.calls.setdefault((path, code.co_qualname, code.co_firstlineno))
        if path.startswith("bot/turn/"):
            levels = _levels(frame)
            if len(levels) > len(self.deepest):
                self.deepest = levels
        if code.co_qualname == "_run_by_hash":
            self.scripts |= {each.script.name for each in frame.f_locals["calls"]}


def _levels(frame: FrameType | None) -> list[str]:
    """Return the functions of bot/turn on the stack of `frame`, outermost first, each where the file changes."""
    levels: list[str] = []
    last = ""
    while frame is not None:
        path = frame.f_code.co_filename.removeprefix(f"{ROOT}/bot/turn/")
        if path != frame.f_code.co_filename and path != last:
            levels.append(f"{path} {frame.f_code.co_qualname}")
            last = path
        frame = frame.f_back
    return levels[::-1]


async def record() -> tuple[list[Call], set[str], list[str]]:
    """Return the calls, the scripts and the deepest stack of bot/turn of one message, without what runs anyway."""
    port, simulator = _free_port(), _free_port()
    with tempfile.TemporaryDirectory() as directory:
        settings = load_settings(
            data_dir=Path(directory),
            http_port=port,
            webhook_url=f"http://127.0.0.1:{port}",
            log_level="error",
        )
        stopping = asyncio.Event()
        service = asyncio.create_task(
            run_service(
                settings, serve=True, work=True, simulator=("127.0.0.1", simulator), stopping=stopping
            ),
            name="service",
        )
        async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
            await _until_ready(client, f"http://127.0.0.1:{port}/health/ready", service)

            async def say(text: str) -> None:
                line = {"chat_id": 1002, "from_id": 1002, "text": text}
                answer = await client.post(f"http://127.0.0.1:{simulator}/api/messages", json=line)
                answer.raise_for_status()
                await asyncio.sleep(4)

            await say("my sister Anna lives in Lisbon")
            await say("and my brother Tom lives in Porto")
            with Recorder() as idle:
                await asyncio.sleep(6)
            with Recorder() as busy:
                await say("where does my sister Anna live")
        stopping.set()
        await asyncio.wait_for(service, 30)
    return [call for call in busy.calls if call not in idle.calls], busy.scripts - idle.scripts, busy.deepest


async def _until_ready(client: httpx.AsyncClient, url: str, service: asyncio.Task[None]) -> None:
    for _ in range(300):
        if service.done():
            service.result()
        try:
            if (await client.get(url)).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        await asyncio.sleep(0.1)
    raise TimeoutError(url)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def main() -> None:
    """Print the counts, and with --list each file with its functions."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print each file with its functions")
    options = parser.parse_args()
    calls, scripts, deepest = asyncio.run(record())
    files: dict[str, list[str]] = {}
    for path, name, _ in calls:
        files.setdefault(path, []).append(name)
    if options.list:
        for path, names in files.items():
            print(f"{len(names):3} {path}: {', '.join(names)}")
    print(f"{len(files)} files, {len(calls)} functions, {len(scripts)} scripts: {', '.join(sorted(scripts))}")
    print(f"{len(deepest)} levels of files in bot/turn: {' > '.join(deepest)}")
    folders = Counter("/".join(path.split("/")[:-1][:2]) for path in files)
    print(", ".join(f"{folder} {count}" for folder, count in folders.most_common()))


if __name__ == "__main__":
    main()
