"""Starts commands of the product as forks of a process that has imported it: in 0.3 s of CPU instead of 2.5.

As a program it is that process: each line of stdin orders a command, each line of stdout is a process id.
"""

import asyncio
import ctypes
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from chaos.rig.heap import NOTED_EVERY_S, heap_file, noting

IMPORTED = ("bot.cli", "bot.app.upkeep", "bot.app.service")
_STARTS_WITHIN_S = 120.0
_LOOK_AGAIN_S = 0.005
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked:
    """A command with its log, with the interface of `asyncio.subprocess.Process`.

    It is a child of the source, not ours. `handle` is a file descriptor of this process, valid even if
    its id is reused.
    """

    pid: int
    log: Path
    handle: int

    @property
    def returncode(self) -> int | None:
        """Return None while the process runs, -9 if it was killed."""
        if self.is_alive:
            return None
        status = _status_file(self.log)
        return int(status.read_text()) if status.exists() else -signal.SIGKILL

    def send_signal(self, number: int) -> None:
        """Send a signal. Raises ProcessLookupError if the process has ended."""
        signal.pidfd_send_signal(self.handle, number)

    async def wait(self) -> int:
        """Wait for the end and return the exit code."""
        while (status := self.returncode) is None:  # noqa: ASYNC110 - no event tells of another's child
            await asyncio.sleep(_LOOK_AGAIN_S)
        return status

    @property
    def is_alive(self) -> bool:
        """Return True while the process runs."""
        ended = select.poll()
        ended.register(self.handle, select.POLLIN)
        return not ended.poll(0)

    def kill(self) -> None:
        """End it with SIGKILL."""
        self.send_signal(signal.SIGKILL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forks:
    """The source of processes."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    started: list[Forked] = field(default_factory=list[Forked])
    _ordering: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def start(self, *words: str, environment: Mapping[str, str], log: Path) -> Forked:
        """Start `mnemogram WORDS` in the folder of its log."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        order = {"words": words, "environment": {**kept, **environment}, "log": str(log)}
        async with self._ordering, asyncio.timeout(_STARTS_WITHIN_S):
            self.writer.write(json.dumps(order).encode() + b"\n")
            pid = int(await self.reader.readline())
            process = Forked(pid=pid, log=log, handle=os.pidfd_open(pid))
        self.started.append(process)
        return process


@asynccontextmanager
async def forks(extra: Mapping[str, str] | None = None) -> AsyncGenerator[Forks]:
    """Open a source of processes.

    Those that still run at its end are killed. `extra` is added to its environment.
    """
    source = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chaos.rig.fork_server"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **(extra or {})},
    )
    assert source.stdin is not None
    assert source.stdout is not None
    made = Forks(reader=source.stdout, writer=source.stdin)
    try:
        yield made
    finally:
        for process in made.started:
            if process.is_alive:
                process.kill()
            os.close(process.handle)
        source.stdin.close()
        await source.wait()


def main() -> None:
    """Fork a process for each order until stdin ends."""
    for name in IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        order = json.loads(line)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        _reap()
        pid = os.fork()
        if pid == 0:
            _become(order, log)
        os.close(log)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _reap() -> None:
    """Reap ended processes.

    The client of the next order has a handle on each of them, so no id is confused.
    """
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become(order: Mapping[str, Any], log: int) -> NoReturn:
    # A test that was killed leaves no service behind.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(Path(order["log"]).parent)
    os.environ.clear()
    os.environ.update(order["environment"])
    for fd, standard in ((os.open(os.devnull, os.O_RDONLY), 0), (log, 1), (log, 2)):
        os.dup2(fd, standard)
    noted_every_s = order["environment"].get(NOTED_EVERY_S)
    notes = (
        noting(heap_file(Path(order["log"])), every_s=float(noted_every_s))
        if noted_every_s
        else nullcontext()
    )
    with notes:
        status = _run(order["words"])
    sys.stdout.flush()
    sys.stderr.flush()
    _status_file(Path(order["log"])).write_text(str(status))
    os._exit(status)


def _status_file(log: Path) -> Path:
    return log.with_suffix(".status")


def _run(words: Sequence[str]) -> int:
    from bot.cli import main as console

    try:
        console(list(words))
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1


if __name__ == "__main__":
    main()
