"""One embedded server for any number of processes: it starts once, comes back, and ends after the last."""

import asyncio
import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from memory.embedded.guardian import is_held, open_lock, try_lock
from memory.embedded.supervisor import EmbeddedServer, answers_ready, open_index_server, use_server
from memory.embedded.valkey import answers_ping, open_valkey
from memory.errors import DataDirLocked, DataDirUnusable, ServerDidNotStart

pytestmark = pytest.mark.slow

USE_UNTIL_KILLED = """
import asyncio, sys
from pathlib import Path
from memory.embedded.valkey import open_valkey

async def use(data_dir):
    async with open_valkey(Path(data_dir)) as url:
        print(url, flush=True)
        await asyncio.Event().wait()

asyncio.run(use(sys.argv[1]))
"""


async def wait_until(holds: Callable[[], bool], *, within: float = 10.0) -> None:
    deadline = time.monotonic() + within
    while not holds():
        assert time.monotonic() < deadline, "timed out"
        await asyncio.sleep(0.02)


@contextlib.contextmanager
def run_user_process(data_dir: Path) -> Generator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", USE_UNTIL_KILLED, str(data_dir)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("unix://")
        yield process
    finally:
        process.kill()
        process.communicate()


def server_pid(directory: Path) -> int:
    return int((directory / "server.lock").read_text())


def guardian_pid(directory: Path) -> int:
    listing = subprocess.run(
        ["ps", "-o", "ppid=", "-p", str(server_pid(directory))], capture_output=True, check=True
    )
    return int(listing.stdout)


def is_another_server(directory: Path, killed: int) -> bool:
    written = (directory / "server.lock").read_text()
    return written.isdigit() and int(written) != killed


async def test_many_starters_at_once_end_with_one_server(tmp_path: Path) -> None:
    with run_user_process(tmp_path), run_user_process(tmp_path):
        first = server_pid(tmp_path / "valkey")
        async with contextlib.AsyncExitStack() as stack:
            urls = await asyncio.gather(*(stack.enter_async_context(open_valkey(tmp_path)) for _ in range(5)))
            assert len(set(urls)) == 1
            assert server_pid(tmp_path / "valkey") == first


async def test_concurrent_first_starters_start_one_server(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as stack:
        await asyncio.gather(*(stack.enter_async_context(open_valkey(tmp_path)) for _ in range(8)))
        log = (tmp_path / "valkey" / "log").read_text()
    assert log.count("Ready to accept connections") == 1


async def test_a_killed_server_comes_back(tmp_path: Path) -> None:
    async with open_valkey(tmp_path):
        killed = server_pid(tmp_path / "valkey")
        os.kill(killed, signal.SIGKILL)
        await wait_until(lambda: is_another_server(tmp_path / "valkey", killed))
        async with open_valkey(tmp_path):
            assert await answers_ping(tmp_path / "valkey" / "valkey.sock")


async def test_a_killed_guardian_is_replaced_and_so_is_its_server(tmp_path: Path) -> None:
    async with open_valkey(tmp_path):
        orphan = server_pid(tmp_path / "valkey")
        os.kill(guardian_pid(tmp_path / "valkey"), signal.SIGKILL)
        await wait_until(lambda: is_another_server(tmp_path / "valkey", orphan))
        async with open_valkey(tmp_path):
            assert await answers_ping(tmp_path / "valkey" / "valkey.sock")


async def test_the_server_ends_after_its_last_user_left(tmp_path: Path) -> None:
    async with open_valkey(tmp_path):
        with run_user_process(tmp_path):
            pass
        assert is_held(tmp_path / "valkey" / "server.lock")
    await wait_until(lambda: not is_held(tmp_path / "valkey" / "server.lock"))
    await wait_until(lambda: not is_held(tmp_path / "valkey" / "guardian.lock"))


async def test_the_server_ends_after_a_kill_of_every_user(tmp_path: Path) -> None:
    with run_user_process(tmp_path) as one, run_user_process(tmp_path) as other:
        os.kill(one.pid, signal.SIGKILL)
        os.kill(other.pid, signal.SIGKILL)
        await wait_until(lambda: not is_held(tmp_path / "valkey" / "server.lock"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a server that its guardian died")
async def test_the_server_ends_after_a_kill_of_every_user_and_the_guardian(tmp_path: Path) -> None:
    with run_user_process(tmp_path) as user:
        guardian = guardian_pid(tmp_path / "valkey")
        os.kill(user.pid, signal.SIGKILL)
        os.kill(guardian, signal.SIGKILL)
        await wait_until(lambda: not is_held(tmp_path / "valkey" / "server.lock"))


async def test_a_user_that_comes_while_the_server_ends_gets_a_new_one(tmp_path: Path) -> None:
    async with open_valkey(tmp_path):
        first = server_pid(tmp_path / "valkey")
    await wait_until(lambda: is_held(tmp_path / "valkey" / "users.lock"))
    async with open_valkey(tmp_path):
        assert await answers_ping(tmp_path / "valkey" / "valkey.sock")
        assert server_pid(tmp_path / "valkey") != first


async def test_an_interrupt_at_the_terminal_does_not_reach_the_server(tmp_path: Path) -> None:
    with run_user_process(tmp_path) as user:
        server = server_pid(tmp_path / "valkey")
        assert os.getsid(server) != os.getsid(user.pid)


async def test_files_are_readable_for_their_owner_only(tmp_path: Path) -> None:
    async with open_valkey(tmp_path / "data"), open_index_server(tmp_path / "data"):
        kept = list((tmp_path / "data").rglob("*"))
        readable = [path.name for path in kept if stat.S_IMODE(path.lstat().st_mode) & 0o077]
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    assert len(kept) > 10
    assert readable == []


async def test_a_path_too_long_for_a_socket_still_works(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    async with open_valkey(deep) as url:
        path = Path(url.removeprefix("unix://"))
        assert len(os.fsencode(path)) <= 100
        assert await answers_ping(path)
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("open_store", [open_valkey, open_index_server])
async def test_a_data_dir_that_cannot_be_made_is_reported(
    tmp_path: Path, open_store: Callable[[Path], contextlib.AbstractAsyncContextManager[object]]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DataDirUnusable, match=r"DATA_DIR: .*/file cannot be used: it is not a folder"):
        async with open_store(tmp_path / "file" / "data"):
            pass


async def test_a_failed_start_reports_the_end_of_the_log(tmp_path: Path) -> None:
    server = EmbeddedServer(
        directory=tmp_path, command=("/bin/sh", "-c", "echo the disk is on fire >&2; exit 3"), is_ready=_never
    )
    with pytest.raises(ServerDidNotStart, match=r"DATA_DIR: .*the disk is on fire"):
        async with use_server(server):
            pass


async def test_a_start_times_out_if_the_server_never_answers(tmp_path: Path) -> None:
    server = EmbeddedServer(directory=tmp_path, command=("/bin/sleep", "60"), is_ready=_never)
    with pytest.raises(ServerDidNotStart, match=r"did not answer within 0\.5 s"):
        async with use_server(server, timeout=0.5):
            pass
    await wait_until(lambda: not is_held(tmp_path / "server.lock"))


async def test_a_lock_that_stays_held_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.embedded.supervisor.JOIN_TIMEOUT_S", 0.1)
    lock = open_lock(tmp_path / "users.lock")
    try_lock(lock)
    server = EmbeddedServer(directory=tmp_path, command=("/bin/true",), is_ready=_never)
    with pytest.raises(DataDirLocked, match=r"DATA_DIR: .*users\.lock"):
        async with use_server(server):
            pass
    os.close(lock)


async def test_a_killed_index_server_comes_back_at_its_address(tmp_path: Path) -> None:
    async with open_index_server(tmp_path) as before:
        killed = server_pid(tmp_path / "index")
        os.kill(killed, signal.SIGKILL)
        await wait_until(lambda: is_another_server(tmp_path / "index", killed))
        async with open_index_server(tmp_path) as after:
            assert await answers_ready(tmp_path / "index" / "endpoint")
            assert (after.url, after.api_key) == (before.url, before.api_key)


async def test_an_index_server_without_its_guardian_comes_back_at_its_address(tmp_path: Path) -> None:
    async with open_index_server(tmp_path) as before:
        for _ in range(2):
            orphan = server_pid(tmp_path / "index")
            os.kill(guardian_pid(tmp_path / "index"), signal.SIGKILL)
            await wait_until(lambda orphan=orphan: is_another_server(tmp_path / "index", orphan))
            async with open_index_server(tmp_path) as after:
                assert after.url == before.url


async def test_the_index_server_takes_another_port_if_its_own_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        taken = stranger.getsockname()[1]
        (tmp_path / "index").mkdir()
        (tmp_path / "index" / "endpoint").write_text(str(taken))
        async with open_index_server(tmp_path) as endpoint:
            assert endpoint.url != f"http://127.0.0.1:{taken}"


async def _never() -> bool:
    return False
