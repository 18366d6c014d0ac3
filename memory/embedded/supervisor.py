"""Starts, shares, brings back and lets go of one embedded server; used for both of them."""

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory.embedded.errors import DataDirLocked, ServerDidNotStart, data_dir_failure
from memory.embedded.locks import is_held, open_lock, try_lock

START_TIMEOUT_S = 30.0
# A server of which the last user just left is being ended; its successor waits for that.
JOIN_TIMEOUT_S = 25.0
POLL_S = 0.02
WATCH_S = 0.5
MAX_SPAWNS = 2
MAX_LOG_BYTES = 1024 * 1024

_PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_",
    "TZ",
    "TMPDIR",
    "PYTHON",
    "VIRTUAL_ENV",
    "LD_",
    "DYLD_",
    "COVERAGE_",
    "OPENBLAS_",
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedServer:
    """A server to share: its folder, its command, how to ask whether it answers, and whether the guardian
    opens its port and hands it over as standard input.
    """

    directory: Path
    command: tuple[str, ...]
    is_ready: Callable[[], Awaitable[bool]]
    listens: bool = False


@contextlib.asynccontextmanager
async def supervised(server: EmbeddedServer, *, timeout: float = START_TIMEOUT_S) -> AsyncGenerator[None]:
    """Use the server: attach where it runs, else start it; meanwhile it is brought back when it dies.

    Any number of processes may be in here at once. The server ends a few seconds after the last has left,
    however it left. Raises ServerDidNotStart (with the end of the server's log), DataDirLocked.
    """
    users = await _join(server.directory / "users.lock")
    try:
        await _reach(server, timeout)
        watch = asyncio.create_task(_keep_guarded(server), name=f"watch {server.directory.name}")
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
    finally:
        os.close(users)


async def _join(path: Path) -> int:
    """Count ourselves in: from here on until we close the descriptor or die, the server stays."""
    deadline = time.monotonic() + JOIN_TIMEOUT_S
    try:
        users = open_lock(path)
    except OSError as error:
        raise data_dir_failure(path, error) from error
    try:
        while not try_lock(users, shared=True):
            if time.monotonic() > deadline:
                raise DataDirLocked(f"DATA_DIR: {path} stays locked: a server is ending and does not end")
            await asyncio.sleep(POLL_S)
    except BaseException as error:
        os.close(users)
        if isinstance(error, OSError):
            raise data_dir_failure(path, error) from error
        raise
    return users


async def _reach(server: EmbeddedServer, timeout: float) -> None:
    """Until it answers: give it a guardian where it has none, a second time at most (one may be ending)."""
    deadline = time.monotonic() + timeout
    spawns = 0
    while True:
        if not is_held(server.directory / "guardian.lock"):
            if spawns == MAX_SPAWNS:
                raise ServerDidNotStart(_obituary(server, "ended as soon as it began"))
            await _spawn_guardian(server)
            spawns += 1
        elif await server.is_ready():
            return
        if time.monotonic() > deadline:
            raise ServerDidNotStart(_obituary(server, f"did not answer within {timeout:g} s"))
        await asyncio.sleep(POLL_S)


async def _keep_guarded(server: EmbeddedServer) -> None:
    """The guardian brings the server back; this brings back the guardian."""
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
    options = ["--directory", str(server.directory), *(["--listen"] if server.listens else [])]
    log = _open_log(server.directory / "log")
    try:
        guardian = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "memory.embedded.guardian", *options, "--", *server.command),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=_environment(os.environ),
            start_new_session=True,
        )
    finally:
        os.close(log)
    if status := await guardian.wait():
        raise ServerDidNotStart(_obituary(server, f"could not be started (status {status})"))


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    """Of our environment what a program needs to run: no token, no key, no password goes to a server of the stores."""
    return {name: value for name, value in ours.items() if name.startswith(_PASSED_ON)}


def _open_log(path: Path) -> int:
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    if os.fstat(log).st_size > MAX_LOG_BYTES:
        os.ftruncate(log, 0)
    return log


def _obituary(server: EmbeddedServer, what: str) -> str:
    log = server.directory / "log"
    try:
        last_words = log.read_text(errors="replace").splitlines()[-5:]
    except OSError:
        last_words = []
    return (
        f"DATA_DIR: the server of {server.directory} {what}; {log} ends: {' | '.join(last_words) or 'empty'}"
    )
