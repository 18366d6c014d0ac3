"""Start, share and release an embedded server. Valkey and the index both use it."""

import asyncio
import contextlib
import logging
import os
import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from memory.embedded.data_dir import data_dir_failure, prepare_directory
from memory.embedded.guardian import is_held, load_port, open_lock, try_lock
from memory.errors import DataDirLocked, ServerDidNotStart

START_TIMEOUT_S = 30.0
# A server whose last user just left is ending. The next user waits for that.
JOIN_TIMEOUT_S = 25.0
ANSWER_TIMEOUT_S = 2.0
POLL_S = 0.02
WATCH_S = 0.5
MAX_SPAWNS = 2
MAX_LOG_BYTES = 1024 * 1024

# The environment that a program needs to run. No token, key or password reaches an embedded server.
_ENVIRONMENT = re.compile(r"PATH|HOME|LANG|LC_|TZ|TMPDIR|PYTHON|VIRTUAL_ENV|LD_|DYLD_|COVERAGE_|OPENBLAS_")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedServer:
    """A server to share."""

    directory: Path
    command: tuple[str, ...]
    is_ready: Callable[[], Awaitable[bool]]
    listens: bool = False
    """The guardian opens its port and passes it as standard input."""


@contextlib.asynccontextmanager
async def use_server(server: EmbeddedServer, *, timeout: float = START_TIMEOUT_S) -> AsyncGenerator[None]:
    """Use a server: start it if it does not run, and bring it back if it dies meanwhile.

    Any number of processes may use it at once. It ends a few seconds after the last one has left or died.
    Raises ServerDidNotStart (with the end of the server's log), DataDirLocked and DataDirUnusable.
    """
    with contextlib.ExitStack() as stack:
        await _join(server.directory / "users.lock", stack)
        await _reach(server, timeout)
        watch = asyncio.create_task(_keep_guarded(server), name=f"watch {server.directory.name}")
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)


async def is_answering(
    connecting: Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]], request: bytes, answer: bytes
) -> bool:
    """Send a request on a new connection, and return True if the first line of the response has the answer in it."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            reader, writer = await connecting
            try:
                writer.write(request)
                return answer in await reader.readline()
            finally:
                writer.close()
                await writer.wait_closed()
    except (OSError, TimeoutError):
        return False


async def _join(path: Path, stack: contextlib.ExitStack) -> None:
    """Become a user: the server stays until the stack is closed or this process dies."""
    try:
        users = open_lock(path)
        stack.callback(os.close, users)
        async with asyncio.timeout(JOIN_TIMEOUT_S):
            while not try_lock(users, shared=True):  # noqa: ASYNC110 - the kernel does not notify
                await asyncio.sleep(POLL_S)
    except TimeoutError as error:
        raise DataDirLocked(f"DATA_DIR: {path} stays locked: a server is ending and does not end") from error
    except OSError as error:
        raise data_dir_failure(path, error) from error


async def _reach(server: EmbeddedServer, timeout: float) -> None:
    """Wait until it answers. Start a guardian if it has none, at most twice: the first one may be ending."""
    spawns = 0
    try:
        async with asyncio.timeout(timeout):
            while True:
                if not is_held(server.directory / "guardian.lock"):
                    if spawns == MAX_SPAWNS:
                        raise _start_failure(server, "ended as soon as it began")
                    await _spawn_guardian(server)
                    spawns += 1
                elif await server.is_ready():
                    return
                await asyncio.sleep(POLL_S)
    except TimeoutError as error:
        raise _start_failure(server, f"did not answer within {timeout:g} s") from error


async def _keep_guarded(server: EmbeddedServer) -> None:
    """Bring back a guardian that died. The guardian brings back the server."""
    while True:
        await asyncio.sleep(WATCH_S)
        try:
            if not is_held(server.directory / "guardian.lock"):
                _log.warning("embedded.guardian_lost", extra={"store": server.directory.name})
                await _spawn_guardian(server)
        except (OSError, ServerDidNotStart) as error:
            _log.warning(
                "embedded.restart_failed", extra={"store": server.directory.name, "error": str(error)}
            )


async def _spawn_guardian(server: EmbeddedServer) -> None:
    arguments = (str(server.directory), "listen" if server.listens else "-", *server.command)
    environment = {name: value for name, value in os.environ.items() if _ENVIRONMENT.match(name)}
    log = os.open(server.directory / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(log).st_size > MAX_LOG_BYTES:
            os.ftruncate(log, 0)
        guardian = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "memory.embedded.guardian", *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        )
    finally:
        os.close(log)
    if status := await guardian.wait():
        raise _start_failure(server, f"could not be started (status {status})")


def _start_failure(server: EmbeddedServer, reason: str) -> ServerDidNotStart:
    log = server.directory / "log"
    end = " | ".join(log.read_text(errors="replace").splitlines()[-5:])
    return ServerDidNotStart(
        f"DATA_DIR: the server of {server.directory} {reason}; {log} ends: {end or 'empty'}"
    )


_READY_REQUEST = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEndpoint:
    """The address of the index, and the key that every request carries in the header `api-key`."""

    url: str
    api_key: str = field(repr=False)


@contextlib.asynccontextmanager
async def open_index_server(data_dir: Path) -> AsyncGenerator[IndexEndpoint]:
    """Open the index under `data_dir`, which all processes share; for `AsyncQdrantClient(url=…)`.

    An acknowledged write is on the disk. Address and key stay the same when the server dies and comes back, and a new
    connection waits meanwhile. Raises EmbeddedStoreFailure.
    """
    directory = prepare_directory(data_dir, "index")
    server = EmbeddedServer(
        directory=directory,
        command=(sys.executable, "-m", "memory.embedded.index.server", str(directory)),
        is_ready=partial(answers_ready, directory / "endpoint"),
        listens=True,
    )
    async with use_server(server):
        port, api_key = load_port(directory / "endpoint"), (directory / "api-key").read_text()
        yield IndexEndpoint(url=f"http://127.0.0.1:{port}", api_key=api_key)


async def answers_ready(record: Path) -> bool:
    """Return True if the server on the recorded port has loaded its collections."""
    connecting = asyncio.open_connection("127.0.0.1", load_port(record))
    return await is_answering(connecting, _READY_REQUEST, b" 200 ")
