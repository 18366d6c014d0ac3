"""Forks the processes of crash points from one that has imported the product. Each is real and can be killed.

As a program it reads orders, one JSON line each, and prints the number and exit code of each process that has
ended.
"""

import asyncio
import gc
import json
import logging
import os
import resource
import signal
import sys
import traceback
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import certifi
import structlog

from chaos.rig.crashes.worker_process import KILLED, Order, run_first, run_second

Json = dict[str, Any]

ENDS_WITHIN_S = 40
"""A process that takes longer is killed; nothing may hang."""


class HalfFailedError(Exception):
    """A process of a crash point failed or hung."""


@dataclass(slots=True, kw_only=True)
class Source:
    """The source of processes. Several may run at a time."""

    directory: Path
    writer: asyncio.StreamWriter
    running: dict[int, "asyncio.Future[int]"] = field(default_factory=dict[int, "asyncio.Future[int]"])
    _numbers: "count[int]" = field(default_factory=count)

    async def run(self, order: Order) -> Json | None:
        """Run one half of a crash point.

        Return its result, or None if the fault killed it. Raises HalfFailedError.
        """
        number = next(self._numbers)
        self.running[number] = asyncio.get_running_loop().create_future()
        self.writer.write(json.dumps([number, asdict(order)]).encode() + b"\n")
        status = await self.running[number]
        if status == KILLED:
            return None
        answer = self.directory / f"{number}.json"
        told: Json = json.loads(answer.read_text()) if answer.exists() else {}
        answer.unlink(missing_ok=True)
        if status != 0:
            why = told.get("error", f"ended with {status}")
            raise HalfFailedError(f"{order.kind} {order.fault} {order.at} {order.who}: {why}")
        return told

    async def listen(self, reader: asyncio.StreamReader) -> None:
        """Pass the exit codes of processes to their waiters, until the source ends."""
        async for line in reader:
            number, status = map(int, line.split())
            if not (waiting := self.running.pop(number)).cancelled():
                waiting.set_result(status)
        for waiting in self.running.values():
            if not waiting.cancelled():
                waiting.set_exception(HalfFailedError("the source of processes has ended"))


@asynccontextmanager
async def source(directory: Path, warm_up: Order) -> AsyncGenerator[Source]:
    """Open a source of processes in this folder, after it has run `warm_up` itself."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "SSL_CERT_FILE": str(_one_authority(directory))}
    with (directory / "errors.log").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "chaos.rig.crashes.process_source", str(directory)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=environment,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(asdict(warm_up)).encode() + b"\n")
    made = Source(directory=directory, writer=process.stdin)
    listening = asyncio.create_task(made.listen(process.stdout), name="source")
    try:
        yield made
    finally:
        process.stdin.close()
        await process.wait()
        await listening


def _one_authority(directory: Path) -> Path:
    """Return a file with one certificate authority. Every HTTP client would load all of them, in 30 ms."""
    first, end, _ = certifi.contents().partition("-----END CERTIFICATE-----")
    path = directory / "one.pem"
    path.write_text(first + end)
    return path


def main() -> None:
    """Fork a process for each order until stdin ends.

    The first order runs here, so that forks find everything loaded.
    """
    directory = Path(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    asyncio.run(run_first(Order(**json.loads(sys.stdin.readline()))))
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who mind
    for line in sys.stdin:
        number, order = json.loads(line)
        if os.fork() == 0:
            _mind(number, Order(**order), directory)


def _mind(number: int, order: Order, directory: Path) -> NoReturn:
    """Fork the process of the order, wait for its end and report it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        _be(order, directory / f"{number}.json")
    _, status = os.waitpid(pid, 0)
    os.write(sys.stdout.fileno(), f"{number} {os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _be(order: Order, answer: Path) -> NoReturn:
    signal.alarm(ENDS_WITHIN_S)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # its log
    status = 1
    try:
        told = asyncio.run(run_first(order) if order.who == "first" else run_second(order))
        answer.write_text(json.dumps(told))
        status = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, the one who ordered it is told
        answer.write_text(json.dumps({"error": _lines_of(error)}))
    os._exit(status)


def _lines_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-3_000:]


if __name__ == "__main__":
    main()
