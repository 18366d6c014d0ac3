"""Around a measurement: a local Bot API, free ports, child processes that end with us, their CPU time."""

import asyncio
import os
import socket
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from simulator.api.config import SimulatorConfig
from simulator.service import serve

READY_WITHIN_S = 30.0
ROOT = str(Path(__file__).parents[2])
_LOOK_AGAIN_S = 0.02


@asynccontextmanager
async def local_bot_api(*, real_limits: bool = False) -> AsyncGenerator[str]:
    """The address of a Bot API with the simulator's token, and with Telegram's limits if wanted."""
    async with serve(SimulatorConfig(real_limits=real_limits)) as served:
        yield served.url


@asynccontextmanager
async def child(
    *command: str, log: Path, environment: Mapping[str, str] | None = None
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process whose output goes to `log`, with nothing of our environment but where programs are found."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=out, stderr=out, env={**kept, **(environment or {})}, cwd=log.parent
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@asynccontextmanager
async def scripted_servers(log: Path) -> AsyncGenerator[tuple[str, int]]:
    """The address of a Bot API and a model that answer by rule, in one process, and its id."""
    port = free_port()
    program = Path(__file__).with_name("scripted_servers.py")
    command = (sys.executable, str(program), str(port))
    async with child(*command, log=log, environment={"PYTHONPATH": ROOT}) as process:
        await until(partial(answers, port), "the scripted servers are ready")
        yield f"http://127.0.0.1:{port}", process.pid


@asynccontextmanager
async def ready_bot(
    command: str, *, log: Path, data_dir: Path, servers: str, token: str = ""
) -> AsyncGenerator[int]:
    """The id of a ready process of `mnemogram run` or `work` on these scripted servers, by default the simulator's bot.

    It has embedded stores and, if that is installed, the embedded embedder.
    """
    environment = {
        "TELEGRAM_API_URL": servers,
        "HTTP_PORT": "0",
        "DATA_DIR": str(data_dir),
        "OPENAI_BASE_URL": f"{servers}/v1",
        "OPENAI_API_KEY": "unused",
        "OPENAI_EMBEDDING_MODEL": "",
        "LOG_FORMAT": "json",
        "PYTHONPATH": ROOT,
        **({"TELEGRAM_BOT_TOKEN": token} if token else {}),
    }
    async with child(sys.executable, "-m", "bot", command, log=log, environment=environment) as process:
        await until(partial(says_ready, log), f"mnemogram {command} is ready")
        yield process.pid


async def says_ready(log: Path) -> bool:
    """Whether the bot that writes this log in JSON is ready."""
    return '"event": "ready"' in await asyncio.to_thread(log.read_text)


async def until(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    """Return once it holds; TimeoutError after READY_WITHIN_S seconds."""
    deadline = time.monotonic() + READY_WITHIN_S
    while not await holds():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        await asyncio.sleep(_LOOK_AGAIN_S)


async def answers(port: int) -> bool:
    """Whether somebody takes connections on this port of loopback."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def free_port() -> int:
    """A port on loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def pin(pid: int, cores: Iterable[int]) -> None:
    """Run the threads of a process on these cores only."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def cpu_seconds(pid: int) -> float | None:
    """The CPU time of a process so far, user and system; None where there is no /proc."""
    try:
        return _cpu_seconds(Path(f"/proc/{pid}/stat").read_text())
    except OSError:
        return None


def thread_seconds(pid: int, name: str) -> float:
    """The CPU time so far of the threads of a process that have this name; 0 without any."""
    stats = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    return sum(_cpu_seconds(stat) for stat in stats if f"({name})" in stat)


def _cpu_seconds(stat: str) -> float:
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
