"""The guardian: a small process that keeps one embedded server alive while it has users, and then ends it.

Only kernel locks say who is alive, so kill -9 leaves nothing stale:
- `guardian.lock`: held by the one guardian of a folder. A second guardian exits.
- `users.lock`: shared by every process that uses the server. When all are gone, the guardian holds it alone until
  the server has ended. A new user waits meanwhile, and then starts a new server.
- `server.lock`: inherited by the server. It shows a server that still runs after its guardian was killed.
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

TICK_S = 0.1
# Consecutive console commands find the server still running.
GRACE_S = 2.0
END_TIMEOUT_S = 10.0
YOUNG_S = 5.0
MAX_FAILURES = 3
MAX_PAUSE_S = 2.0
_PR_SET_PDEATHSIG = 1


def main(directory: Path, listens: str, *command: str) -> int:
    """Become the guardian of a folder, detached from the starter; return 0 at once if it has one already.

    `listens` is "listen" if the server gets a loopback port as its standard input, otherwise "-".
    """
    os.umask(0o077)
    if not take_lock(open_lock(directory / "guardian.lock"), patience=0.5):
        return 0
    # The starter's child ends here. Nobody has to reap us, and a Ctrl-C at its terminal does not reach us.
    if os.fork():
        os._exit(0)
    os.setsid()
    server_lock = open_lock(directory / "server.lock")
    # Before the port is opened: a server that outlived its guardian still listens on it.
    if not end_orphan(server_lock):
        _log("a server without a guardian could not be ended")
        return 1
    listener = _listen(directory / "endpoint") if listens == "listen" else None
    spawn = partial(_spawn, command, listener, server_lock)
    return guard(spawn, open_lock(directory / "users.lock"))


def guard(spawn: "partial[subprocess.Popen[bytes]]", users: int) -> int:
    """Run the server until its last user is gone or SIGTERM arrives; return 1 if it cannot stay up."""
    signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: signals.append(number))
    young_deaths = failures = 0
    while failures < MAX_FAILURES:
        born = time.monotonic()
        server = spawn()
        if _watch(server, users, signals):
            _end(server)
            return 0
        _log(f"the server ended by itself: status {server.returncode}")
        young_deaths = young_deaths + 1 if time.monotonic() - born < YOUNG_S else 0
        # A server that was killed may stay up next time. One that fails soon after its start will fail again.
        failures = failures + 1 if young_deaths and server.returncode >= 0 else 0
        time.sleep(next_pause(young_deaths))
    return 1


def next_pause(young_deaths: int) -> float:
    """Return the seconds before a restart: none after one early death, more after each further one."""
    return min(max(young_deaths - 1, 0) * 0.1, MAX_PAUSE_S)


def end_orphan(server_lock: int) -> bool:
    """End a server that outlived its guardian. The lock that it still holds contains its process id."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if take_lock(server_lock, patience=TICK_S):
            return True
        content = os.pread(server_lock, 32, 0)
        if content.isdigit():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(content), number)
        if take_lock(server_lock, patience=END_TIMEOUT_S):
            return True
    return False


def open_lock(path: Path) -> int:
    """Open a lock file, with mode 0600 if it is new. The kernel releases the lock when its holder closes it or dies.

    A child process inherits neither the descriptor nor the lock, unless `pass_fds` names it.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Return True if the lock could be taken now. An OSError means that this file can never be locked."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def take_lock(descriptor: int, *, patience: float) -> bool:
    """Return True if the lock could be taken within `patience` seconds. Raises OSError as `try_lock` does.

    A process that only asks whether a lock is held takes it for a moment, so everybody has some patience.
    """
    deadline = time.monotonic() + patience
    while not try_lock(descriptor):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def unlock(descriptor: int) -> None:
    """Release the lock and keep the file open."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_held(path: Path) -> bool:
    """Return True if somebody holds the lock exclusively. Asks with a shared lock, so that askers do not collide."""
    descriptor = open_lock(path)
    try:
        return not try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def load_port(record: Path) -> int:
    """Return the recorded port of a server, or 0 if the record is missing or cannot be ours."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        if 1024 <= (port := int(record.read_text())) <= 65535:
            return port
    return 0


def save_port(record: Path, port: int) -> None:
    """Record a port. A reader sees the old one or the new one."""
    fresh = record.with_suffix(".new")
    fresh.write_text(str(port))
    fresh.replace(record)


def _watch(server: "subprocess.Popen[bytes]", users: int, signals: Sequence[int]) -> bool:
    """Wait. Return True if the server should end (we hold the users' lock then), False if it ended by itself."""
    last_used = time.monotonic()
    while server.poll() is None:
        if signals:
            return True
        if not try_lock(users):
            last_used = time.monotonic()
        elif time.monotonic() - last_used >= GRACE_S:
            return True
        else:
            unlock(users)
        time.sleep(TICK_S)
    return False


def _spawn(
    command: Sequence[str], listener: socket.socket | None, server_lock: int
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - the command is our own
        command,
        stdin=listener.fileno() if listener else subprocess.DEVNULL,
        pass_fds=(server_lock,),
        preexec_fn=partial(_prepare_child, server_lock, os.getpid()),
    )


def _prepare_child(server_lock: int, guardian: int) -> None:
    """Write the new child's id into the lock that it holds. On Linux, make it end with the guardian.

    Ids have one length, so that a restart needs no space on a full disk.
    """
    os.pwrite(server_lock, b"%010d" % os.getpid(), 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != guardian:
            os._exit(0)


def _end(server: "subprocess.Popen[bytes]") -> None:
    server.terminate()
    try:
        server.wait(END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _listen(record: Path) -> socket.socket:
    """Listen on loopback, on the recorded port if it is free, so that clients can keep their address.

    While the server behind it restarts, a new connection waits instead of failing.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", load_port(record)))
    except OSError as error:
        _log(f"the recorded port is not free, taking another one: {error}")
        listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    save_port(record, listener.getsockname()[1])
    return listener


def _log(text: str) -> None:
    """Write to our standard error, which is the server's log file. On a full disk nothing can be written."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"guardian: {text}\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
