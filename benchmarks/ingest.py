"""Accepted updates per second: our webhook, durable, against python-telegram-bot's `run_webhook`, in memory.

Same machine, same run, same client. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from rig.surroundings import answers, child, cpu_seconds, free_port, local_bot_api, until
from rig.table import print_table

from bot.settings import SIMULATOR_TOKEN, WEBHOOK_PATH
from memory import keys
from memory.embedded.valkey import open_valkey
from memory.redis.client import RedisClient, open_redis

SECRET = "known-to-telegram"  # noqa: S105 — of a webhook on loopback, for as long as this runs
OURS, THEIRS = "mnemogram serve", "python-telegram-bot run_webhook"
KEPT = {OURS: "on disk", THEIRS: "in its memory"}
MISSING = (
    "python-telegram-bot's webhook server was not measured: it needs tornado. "
    "Install it with: make setup-outside"
)
_CLIENT = Path(__file__).parent / "rig" / "webhook_client.py"
_PTB_SERVER = Path(__file__).parent / "rig" / "ptb_server.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Numbers of updates before the clock starts and in each round, and of connections."""

    warm_up: int
    updates: int
    rounds: int
    connections: int
    chats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round: updates per second, latencies, and the server's CPU time for an update (None: unknown)."""

    rate: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A webhook to post to."""

    url: str
    pid: int


async def main() -> None:
    """Measure both and print."""
    options = _options()
    size = Size(
        warm_up=500,
        updates=options.updates,
        rounds=options.rounds,
        connections=options.connections,
        chats=options.chats,
    )
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        rounds, found = await measure(Path(directory), size)
    if options.json:
        told = {name: [asdict(each) for each in measured] for name, measured in rounds.items()}
        print(json.dumps({"size": asdict(size), "rounds": told, "found_after_kill": found}))
    else:
        _print(size, rounds, found)


async def measure(directory: Path, size: Size) -> tuple[dict[str, list[Round]], int]:
    """Run the rounds of both servers alternately, so that other load hits them alike; then kill -9.

    The number is of the updates in our store after kill -9 of our webhook and of the store itself.
    """
    data_dir = directory / "data"
    async with AsyncExitStack() as stack:
        api_url = await stack.enter_async_context(local_bot_api())
        redis_url = await stack.enter_async_context(open_valkey(data_dir))
        redis = await stack.enter_async_context(open_redis(redis_url))
        servers = {OURS: await stack.enter_async_context(our_server(directory, data_dir, api_url))}
        if find_spec("tornado"):
            servers[THEIRS] = await stack.enter_async_context(their_server(directory, api_url))
        rounds = await _measure_in_turns(servers, size)
        os.kill(servers[OURS].pid, signal.SIGKILL)
        os.kill(int((data_dir / "valkey" / "server.lock").read_text()), signal.SIGKILL)
        await until(redis.is_alive, "the embedded store is back")
        return rounds, await _count_updates(redis)


@asynccontextmanager
async def our_server(directory: Path, data_dir: Path, api_url: str) -> AsyncGenerator[Server]:
    """Start `mnemogram serve` on the embedded stores, ready to take updates."""
    port, log = free_port(), directory / "serve.log"
    environment = {
        "TELEGRAM_BOT_TOKEN": SIMULATOR_TOKEN,
        "TELEGRAM_API_URL": api_url,
        "WEBHOOK_URL": f"http://127.0.0.1:{port}",
        "WEBHOOK_SECRET": SECRET,
        "HTTP_PORT": str(port),
        "DATA_DIR": str(data_dir),
        "LOG_FORMAT": "json",
    }
    async with child(sys.executable, "-m", "bot", "serve", log=log, environment=environment) as process:
        await until(partial(_has_said, log, '"webhook_set"'), f"{OURS} is ready")
        yield Server(url=f"http://127.0.0.1:{port}{WEBHOOK_PATH}", pid=process.pid)


@asynccontextmanager
async def their_server(directory: Path, api_url: str) -> AsyncGenerator[Server]:
    """Start `run_webhook`, ready to take updates."""
    port, log = free_port(), directory / "ptb.log"
    command = (sys.executable, str(_PTB_SERVER), api_url, SIMULATOR_TOKEN, str(port), WEBHOOK_PATH, SECRET)
    async with child(*command, log=log) as process:
        await until(partial(answers, port), f"{THEIRS} is ready")
        yield Server(url=f"http://127.0.0.1:{port}{WEBHOOK_PATH}", pid=process.pid)


async def _measure_in_turns(servers: Mapping[str, Server], size: Size) -> dict[str, list[Round]]:
    for server in servers.values():
        await _post(server, size, size.warm_up, first_id=1)
    rounds: dict[str, list[Round]] = {name: [] for name in servers}
    for number in range(1, size.rounds + 1):
        for name, server in servers.items():
            rounds[name].append(await _measure(server, size, first_id=1_000_000 * number))
    return rounds


async def _measure(server: Server, size: Size, *, first_id: int) -> Round:
    before = cpu_seconds(server.pid)
    told = await _post(server, size, size.updates, first_id=first_id)
    after = cpu_seconds(server.pid)
    cpu_ms = None if before is None or after is None else (after - before) * 1000 / size.updates
    return Round(**told, cpu_ms=cpu_ms)


async def _post(server: Server, size: Size, updates: int, *, first_id: int) -> dict[str, float]:
    numbers = map(str, (updates, size.connections, size.chats, first_id))
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, str(_CLIENT), server.url, SECRET, *numbers), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await client.communicate()
    told = json.loads(out)
    statuses = told.pop("statuses")
    if statuses != {"200": updates}:
        raise RuntimeError(f"{server.url} did not accept every update: {statuses}")
    return told


async def _count_updates(redis: RedisClient) -> int:
    prefix = keys.partition_key(0, "update", "")
    counted, cursor = 0, 0
    while True:
        cursor, found = await redis.call("SCAN", cursor, "COUNT", 1000)
        counted += sum(key.startswith(prefix) for key in found)
        if not int(cursor):
            return counted


async def _has_said(log: Path, words: str) -> bool:
    return words in await asyncio.to_thread(log.read_text)


def _print(size: Size, rounds: Mapping[str, Sequence[Round]], found: int) -> None:
    best = {name: max(measured, key=lambda each: each.rate) for name, measured in rounds.items()}
    print_table(
        f"{size.updates:,} updates of {size.chats} chats over {size.connections} connections, "
        f"the best of {size.rounds} rounds",
        ("webhook", "updates/s", "p50 ms", "p99 ms", "CPU ms/update", "with the 200 it is"),
        [_row(name, each) for name, each in best.items()],
    )
    sent = size.warm_up + size.rounds * size.updates
    print(f"{OURS}: {found:,} of {sent:,} updates found after kill -9 of the webhook and of the store.")
    if THEIRS not in rounds:
        print(MISSING)


def _row(name: str, best: Round) -> tuple[str, ...]:
    cpu = "" if best.cpu_ms is None else f"{best.cpu_ms:.2f}"
    return (name, f"{best.rate:,.0f}", f"{best.p50_ms:.1f}", f"{best.p99_ms:.1f}", cpu, KEPT[name])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=5_000, help="in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
