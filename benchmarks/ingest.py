"""Accepted updates per second: our webhook against python-telegram-bot's `run_webhook` and against a bare Starlette.

Each server shares one core with its store, and the client has the other cores. See benchmarks/README.md.
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
from statistics import median
from urllib.parse import unquote

from rig.surroundings import answers, child, cpu_seconds, free_port, local_bot_api, pin, until
from rig.table import print_table

from bot.settings import SIMULATOR_TOKEN, WEBHOOK_PATH
from memory import keys
from memory.embedded.valkey import open_valkey
from memory.redis.client import RedisClient, open_redis

SECRET = "known-to-telegram"  # noqa: S105 — of a webhook on loopback, for as long as this runs
OURS, BARE, THEIRS = "mnemogram serve", "bare Starlette", "python-telegram-bot run_webhook"
KEPT = {OURS: "on disk", BARE: "on disk", THEIRS: "in its memory"}
MISSING = (
    "python-telegram-bot's webhook server was not measured: it needs tornado. "
    "Install it with: make setup-outside"
)
_CLIENT = Path(__file__).parent / "rig" / "webhook_client.py"
_PTB_SERVER = Path(__file__).parent / "rig" / "ptb_server.py"
_BARE_SERVER = Path(__file__).parent / "rig" / "bare_server.py"
_SERVERS_CORE = 0


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
    """One round: updates per second, latencies, and the CPU time of server and store for an update (None: unknown)."""

    rate: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A webhook to post to, and its processes: itself first, then its store."""

    url: str
    pids: tuple[int, ...]


async def main() -> None:
    """Measure all and print."""
    options = _options()
    size = Size(
        warm_up=500,
        updates=options.updates,
        rounds=options.rounds,
        connections=options.connections,
        chats=options.chats,
    )
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        rounds, found = await measure(Path(directory), size, is_pinned=not options.all_cores)
    if options.json:
        told = {name: [asdict(each) for each in measured] for name, measured in rounds.items()}
        print(json.dumps({"size": asdict(size), "rounds": told, "ratios": ratios(rounds), "found": found}))
    else:
        _print(size, rounds, found)


async def measure(
    directory: Path, size: Size, *, is_pinned: bool = True
) -> tuple[dict[str, list[Round]], int]:
    """Run the rounds of all servers alternately, so that other load hits them alike; then kill -9.

    The number is of the updates in our store after kill -9 of our webhook and of the store itself.
    """
    data_dir = directory / "data"
    async with AsyncExitStack() as stack:
        api_url = await stack.enter_async_context(local_bot_api())
        redis_url = await stack.enter_async_context(open_valkey(data_dir))
        redis = await stack.enter_async_context(open_redis(redis_url))
        servers = {
            OURS: await stack.enter_async_context(our_server(directory, data_dir, api_url)),
            BARE: await stack.enter_async_context(bare_server(directory)),
        }
        if find_spec("tornado"):
            servers[THEIRS] = await stack.enter_async_context(their_server(directory, api_url))
        if is_pinned:
            _pin(servers)
        rounds = await _measure_in_turns(servers, size)
        for pid in servers[OURS].pids:
            os.kill(pid, signal.SIGKILL)
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
        yield Server(url=f"http://127.0.0.1:{port}{WEBHOOK_PATH}", pids=(process.pid, _store_pid(data_dir)))


@asynccontextmanager
async def bare_server(directory: Path) -> AsyncGenerator[Server]:
    """Start a bare Starlette on an embedded store of its own, ready to take updates."""
    port, log, data_dir = free_port(), directory / "bare.log", directory / "bare-data"
    async with open_valkey(data_dir) as redis_url:
        socket = unquote(redis_url.removeprefix("unix://"))
        command = (sys.executable, str(_BARE_SERVER), socket, str(port), WEBHOOK_PATH, SECRET)
        async with child(*command, log=log) as process:
            await until(partial(answers, port), f"{BARE} is ready")
            yield Server(
                url=f"http://127.0.0.1:{port}{WEBHOOK_PATH}", pids=(process.pid, _store_pid(data_dir))
            )


@asynccontextmanager
async def their_server(directory: Path, api_url: str) -> AsyncGenerator[Server]:
    """Start `run_webhook`, ready to take updates."""
    port, log = free_port(), directory / "ptb.log"
    command = (sys.executable, str(_PTB_SERVER), api_url, SIMULATOR_TOKEN, str(port), WEBHOOK_PATH, SECRET)
    async with child(*command, log=log) as process:
        await until(partial(answers, port), f"{THEIRS} is ready")
        yield Server(url=f"http://127.0.0.1:{port}{WEBHOOK_PATH}", pids=(process.pid,))


def _store_pid(data_dir: Path) -> int:
    return int((data_dir / "valkey" / "server.lock").read_text())


def _pin(servers: Mapping[str, Server]) -> None:
    """Give one core to each server with its store, one at a time under load, and the others to us and the client."""
    others = os.sched_getaffinity(0) - {_SERVERS_CORE}
    if not others:
        raise RuntimeError("the client needs a core of its own")
    for server in servers.values():
        for pid in server.pids:
            pin(pid, [_SERVERS_CORE])
    os.sched_setaffinity(0, others)


async def _measure_in_turns(servers: Mapping[str, Server], size: Size) -> dict[str, list[Round]]:
    for server in servers.values():
        await _post(server, size, size.warm_up, first_id=1)
    rounds: dict[str, list[Round]] = {name: [] for name in servers}
    for number in range(1, size.rounds + 1):
        for name, server in servers.items():
            rounds[name].append(await _measure(server, size, first_id=1_000_000 * number))
    return rounds


async def _measure(server: Server, size: Size, *, first_id: int) -> Round:
    before = _cpu_s(server)
    told = await _post(server, size, size.updates, first_id=first_id)
    after = _cpu_s(server)
    cpu_ms = None if before is None or after is None else (after - before) * 1000 / size.updates
    return Round(**told, cpu_ms=cpu_ms)


def _cpu_s(server: Server) -> float | None:
    used = [cpu_seconds(pid) for pid in server.pids]
    return None if None in used else sum(each or 0.0 for each in used)


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
    print_table(
        f"{size.updates:,} updates of {size.chats} chats over {size.connections} connections, "
        f"medians of {size.rounds} rounds",
        ("webhook", "updates/s", "p50 ms", "p99 ms", "CPU ms/update", "with the 200 it is"),
        [_row(name, measured) for name, measured in rounds.items()],
    )
    for name, ratio in ratios(rounds).items():
        print(f"{OURS} ÷ {name}: {ratio:.2f}, the median of the rounds' ratios in updates/s")
    sent = size.warm_up + size.rounds * size.updates
    print(f"{OURS}: {found:,} of {sent:,} updates found after kill -9 of the webhook and of the store.")
    if THEIRS not in rounds:
        print(MISSING)


def ratios(rounds: Mapping[str, Sequence[Round]]) -> dict[str, float]:
    """Return our updates per second ÷ those of each other server: the median over the pairs of neighbouring rounds."""
    ours = rounds[OURS]
    return {
        name: median(mine.rate / its.rate for mine, its in zip(ours, measured, strict=True))
        for name, measured in rounds.items()
        if name != OURS
    }


def _row(name: str, rounds: Sequence[Round]) -> tuple[str, ...]:
    cpu = [each.cpu_ms for each in rounds if each.cpu_ms is not None]
    return (
        name,
        f"{median(each.rate for each in rounds):,.0f}",
        f"{median(each.p50_ms for each in rounds):.1f}",
        f"{median(each.p99_ms for each in rounds):.1f}",
        f"{median(cpu):.2f}" if cpu else "",
        KEPT[name],
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=5_000, help="in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--all-cores", action="store_true", help="do not pin the servers to one core")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
