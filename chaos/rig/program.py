"""One process of the product with its log, started from the console, which can be killed, stopped and restarted."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from chaos.rig.fork_server import Forks
from memory.errors import StoreUnavailable

T = TypeVar("T")

READY_WITHIN_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of a console command."""

    status: int
    out: str
    err: str


class Process(Protocol):
    """A process that we started or that was forked for us."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    def send_signal(self, number: int, /) -> None: ...
    async def wait(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A running `mnemogram COMMAND` with a log of JSON lines.

    `port` is its HTTP_PORT, 0 if that is not set.
    """

    command: str
    process: Process
    log: Path
    port: int = 0

    @property
    def is_ready(self) -> bool:
        """Return True if its log says that it is ready."""
        return self.has_said("ready")

    def has_said(self, event: str) -> bool:
        """Return True if the log has this event."""
        return any(line.get("event") == event for line in self.lines())

    def times_said(self, event: str) -> int:
        """Return the number of these events in the log."""
        return sum(line.get("event") == event for line in self.lines())

    def lines(self) -> list[dict[str, Any]]:
        """Return its complete log lines so far."""
        whole, _, _ = self.log.read_text().rpartition("\n")
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    async def ready(self) -> None:
        """Wait until it works. Fail with its log if it ends."""
        await until(lambda: self.is_ready or self.process.returncode is not None, within_s=READY_WITHIN_S)
        assert self.process.returncode is None, self.log.read_text()

    async def kill(self) -> float:
        """Kill it with SIGKILL. Return the time just before."""
        at = time.time()
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()
        return at

    async def end(self, *, within_s: float) -> int:
        """Stop it with SIGTERM. Return its exit status. Raises TimeoutError if it takes longer."""
        self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(within_s):
            return await self.process.wait()


async def start_program(
    command: str, *, environment: Mapping[str, str], log: Path, source: Forks | None = None
) -> Program:
    """Start `mnemogram COMMAND` in the folder of its log, with a `source` as its fork, which is quick."""
    port = int(environment.get("HTTP_PORT", "0"))
    if source is not None:
        forked = await source.start(command, environment=environment, log=log)
        return Program(command=command, process=forked, log=log, port=port)
    with log.open("wb") as lines:
        process = await asyncio.create_subprocess_exec(
            *_console(command), cwd=log.parent, env=_environment(environment), stdout=lines, stderr=lines
        )
    return Program(command=command, process=process, log=log, port=port)


async def run_console(*words: str, environment: Mapping[str, str], directory: Path) -> Outcome:
    """Run a console command to its end."""
    process = await asyncio.create_subprocess_exec(
        *_console(*words),
        cwd=directory,
        env=_environment(environment),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return Outcome(status=process.returncode or 0, out=out.decode(), err=err.decode())


async def until(
    holds: Callable[[], bool], *, within_s: float, what: str = "it", look_again_s: float = 0.01
) -> None:
    """Wait until the condition holds. Fail after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come true within {within_s:g} s"
        await asyncio.sleep(look_again_s)


async def until_it_is(
    wanted: T, read: Callable[[], Awaitable[T]], *, within_s: float, look_again_s: float = 0.02
) -> None:
    """Wait until the read value equals `wanted`. Fail with the last value after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while (found := await patiently(read, within_s=within_s)) != wanted:
        assert time.monotonic() < deadline, f"{found} did not become {wanted} within {within_s:g} s"
        await asyncio.sleep(look_again_s)


async def patiently(read: Callable[[], Awaitable[T]], *, within_s: float = 30.0) -> T:
    """Read from a store that may have just been killed. Raises StoreUnavailable after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        with suppress(StoreUnavailable):
            return await read()
    return await read()


def _console(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "bot", *words)


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the developer's settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, **settings}
