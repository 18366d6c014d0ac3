"""Milliseconds until the memory page of a long history has what it shows, over HTTP from `mnemogram serve`.

The stores are embedded, the Bot API is the simulator. See benchmarks/README.md.
"""

import argparse
import asyncio
import hashlib
import hmac
import json
import os
import re
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import httpx
from rig.surroundings import child, free_port, local_bot_api, says_ready, until
from rig.table import print_table

from bot.settings import SIMULATOR_TOKEN
from bot.transport.ingest import telegram_ref
from memory.embedded.valkey import open_valkey
from memory.history.message import Message, Role, Sender
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, global_key
from memory.redis.client import open_redis

ROOT = Path(__file__).parents[1]
PERSON, BOT = 1002, 4242
_BATCH = 500


async def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        data_dir, log, port = Path(directory) / "data", Path(directory) / "serve.log", free_port()
        async with open_valkey(data_dir) as url, open_redis(url) as redis, local_bot_api() as api_url:
            environment = _environment(api_url, data_dir, port)
            async with child(sys.executable, "-m", "bot", "serve", log=log, environment=environment) as serve:
                await until(partial(says_ready, log), "serve is ready")
                partitions = int(await redis.call("GET", global_key("partitions")))
                ref = telegram_ref(BOT, PERSON, None, partitions=partitions)
                await write_history(RedisHistory(redis), ref, options.messages)
                small_mb = _rss_mb(serve.pid)
                rows = await time_requests(port, ref, options.repeats)
                print_table(
                    f"A history of {options.messages:,} messages, {options.repeats} times",
                    ("request", "first ms", "median ms", "worst ms"),
                    rows,
                )
                print(
                    f"Memory of `serve`: {small_mb:.0f} MB before, {_rss_mb(serve.pid):.0f} MB after a search."
                )


async def write_history(history: RedisHistory, ref: ContextRef, count: int) -> None:
    """Append this many messages, a minute apart."""
    for start in range(0, count, _BATCH):
        await history.append(
            ref, [_message(number) for number in range(start, min(start + _BATCH, count))], epoch=0
        )


async def time_requests(port: int, ref: ContextRef, repeats: int) -> list[list[str]]:
    """Return a row for each kind of request. Opening is the list of contexts, then the newest messages."""
    path = f"contexts/{ref.context_id}"
    requests = {
        "open": ("contexts", f"{path}/messages?limit=50"),
        "200 messages in the middle": (f"{path}/messages?before=50000&limit=200",),
        "search (the first one opens the index)": (f"{path}/search?q=message+number+500&k=20",),
    }
    rows: list[list[str]] = []
    headers = {"Authorization": f"tma {_init_data()}"}
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}/app/api/", headers=headers, timeout=60
    ) as http:
        for name, paths in requests.items():
            taken: list[float] = []
            for _ in range(repeats):
                begun = time.perf_counter()
                for each in paths:
                    (await http.get(each)).raise_for_status()
                taken.append(1000 * (time.perf_counter() - begun))
                await asyncio.sleep(0.4)  # within the rate of searches
            rows.append([name, f"{taken[0]:.0f}", f"{median(taken):.1f}", f"{max(taken):.0f}"])
    return rows


def _message(number: int) -> Message:
    role: Role = "assistant" if number % 2 else "user"
    return Message(
        id=f"m{number}",
        role=role,
        text=f"This is message number {number} of a long conversation about cats, locks and gardens.",
        sent_at=1_700_000_000.0 + 60 * number,
        tokens=16,
        sender=None if number % 2 else Sender(id=PERSON, name="Ben Hart"),
        telegram_message_id=number + 1,
    )


def _init_data() -> str:
    fields = {"user": json.dumps({"id": PERSON, "first_name": "Ben"}), "auth_date": str(int(time.time()))}
    secret = hmac.digest(b"WebAppData", SIMULATOR_TOKEN.encode(), hashlib.sha256)
    lines = "\n".join(f"{name}={fields[name]}" for name in sorted(fields))
    return urlencode({**fields, "hash": hmac.digest(secret, lines.encode(), hashlib.sha256).hex()})


def _environment(api_url: str, data_dir: Path, port: int) -> dict[str, str]:
    return {
        "PYTHONPATH": str(ROOT),
        "TELEGRAM_BOT_TOKEN": SIMULATOR_TOKEN,
        "TELEGRAM_API_URL": api_url,
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "WEBHOOK_URL": f"http://127.0.0.1:{port}",
        "HTTP_PORT": str(port),
        "DATA_DIR": str(data_dir),
        "LOG_FORMAT": "json",
        "HOME": os.environ.get("HOME", "/"),
    }


def _rss_mb(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9)
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
