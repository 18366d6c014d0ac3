"""A store with simulated power cuts: it is killed, and its files keep only synced data."""

import asyncio
import os
import signal
import struct
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from shutil import which
from urllib.parse import quote

from chaos.rig.program import until_it_is
from memory.embedded.valkey import answers_ping
from memory.redis.client import RedisClient, open_redis

SOCKET = "store.sock"
STARTS_WITHIN_S = 60.0
_NOTES = Path(__file__).with_name("synced.c")
_PAIR = struct.Struct("=QQ")
_TORN_BEFORE_THE_LAST = "Fatal error: the truncated file is not the last file\n"
"""The log of Redis from 7.0 on and Valkey under `everysec` if the cut fell between a rewriting's start and the fsync
of the file that it ended. The words before it tell the time.
"""


@dataclass(slots=True, kw_only=True)
class PowerCutStore:
    """A server on a socket in its own folder.

    `cut_off` counts the bytes lost in cuts, `refused` the refused starts after a cut.
    """

    directory: Path
    command: Sequence[str]
    environment: Mapping[str, str]
    cut_off: int = 0
    refused: int = 0
    _process: asyncio.subprocess.Process | None = None

    @property
    def socket(self) -> Path:
        """Return the path of its socket."""
        return self.directory / SOCKET

    @property
    def _log(self) -> Path:
        return self.directory / "log"

    @property
    def url(self) -> str:
        """Return its `unix://` URL."""
        return f"unix://{quote(str(self.socket))}"

    @property
    def syncs(self) -> int:
        """Return the number of syncs and created files so far."""
        return (self.directory / "synced").stat().st_size // _PAIR.size

    @property
    def pid(self) -> int:
        """Return the server's process id."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start the server, twice if it refuses a torn file other than the last, as a supervisor would:

        it has truncated the file then. Return when it has loaded its files; fail with its log if it
        ends.
        """
        await self.spawn()
        if not await self._comes_up() and self._log.read_text().endswith(_TORN_BEFORE_THE_LAST):
            self.refused += 1
            await self.spawn()
        await self.ready()

    async def spawn(self, *more: str) -> None:
        """Start the server with these options without waiting. A limit of file sizes does not end it."""
        with self._log.open("ab") as lines:
            self._process = await asyncio.create_subprocess_exec(
                *self.command,
                *more,
                stdout=lines,
                stderr=lines,
                env={**os.environ, **self.environment},
                start_new_session=True,
                restore_signals=False,
            )

    async def ready(self) -> None:
        """Wait until it answers. Fail with its log if it ends."""
        assert await self._comes_up(), self._log.read_text()[-2000:]

    async def until_mended(self) -> None:
        """Wait until it has rewritten its file since its start, as `rewrite_torn_file` makes it do."""
        async with open_redis(self.url) as redis:
            await until_it_is(True, partial(_has_rewritten, redis), within_s=STARTS_WITHIN_S)

    async def _comes_up(self) -> bool:
        """Return True when it answers, False if it ends."""
        async with asyncio.timeout(STARTS_WITHIN_S):
            while not await answers_ping(self.socket):
                if self._process is None or self._process.returncode is not None:
                    return False
                await asyncio.sleep(0.01)
        return True

    async def kill(self) -> None:
        """Kill the server and its children with SIGKILL, if it runs."""
        if self._process is not None and self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()

    async def cut_power(self, random: Random) -> None:
        """Kill the server and remove unsynced data from its files: all of it, or a random part of the end."""
        await self.kill()
        synced = read_synced(self.directory / "synced")
        for path in sorted((self.directory / "appendonlydir").iterdir()):
            length, known = path.stat().st_size, synced.get(path.stat().st_ino, 0)
            kept = known if random.random() < 0.5 else random.randint(known, max(known, length))
            os.truncate(path, kept)
            self.cut_off += length - kept


@asynccontextmanager
async def power_cut_store(directory: Path, command: Sequence[str]) -> AsyncGenerator[PowerCutStore]:
    """Run the server of `command`, with its files in `directory` (new) and its socket at `SOCKET`.

    It is killed at the end. Raises RuntimeError without a C compiler.
    """
    directory.mkdir()  # noqa: ASYNC240 - before anything else goes on
    notes = await _compile(directory)
    store = PowerCutStore(
        directory=directory,
        command=command,
        environment={"LD_PRELOAD": str(notes), "SYNCED": str(directory / "synced")},
    )
    try:
        await store.start()
        yield store
    finally:
        await store.kill()


async def _has_rewritten(redis: RedisClient) -> bool:
    told = await redis.call("INFO", "persistence")
    return told["aof_last_rewrite_time_sec"] >= 0 and not told["aof_rewrite_in_progress"]


def read_synced(notes: Path) -> dict[int, int]:
    """Return the synced length of each inode."""
    found: dict[int, int] = {}
    for inode, length in _PAIR.iter_unpack(notes.read_bytes()):
        found[inode] = max(found.get(inode, 0), length) if length else 0
    return found


async def _compile(directory: Path) -> Path:
    compiler = which("gcc") or which("cc")
    if compiler is None:
        raise RuntimeError("R3 needs a C compiler (Debian: gcc libc6-dev)")
    notes = directory / "synced.so"
    compiling = await asyncio.create_subprocess_exec(
        compiler, "-O1", "-Wall", "-shared", "-fPIC", "-o", notes, _NOTES, "-ldl"
    )
    assert await compiling.wait() == 0, "the notes of what is synced do not compile"
    return notes
