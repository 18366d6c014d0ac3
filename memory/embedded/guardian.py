"""The small process that keeps one embedded server alive while anyone uses it, and ends it after the last.

Only kernel locks say who is alive, so a kill -9 anywhere leaves nothing to go stale:
- `guardian.lock`: held by the one guardian of a folder; whoever cannot take it is not needed.
- `users.lock`: shared by every process that uses the server; the guardian takes it exclusively once they
  are all gone, and holds it until the server has ended, so that a newcomer waits and starts afresh.
- `server.lock`: handed to the server itself, so that a server whose guardian was killed is still seen.
"""

import argparse
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memory.embedded.endpoint import load_port, save_port
from memory.embedded.locks import open_lock, try_lock, unlock

TICK_S = 0.1
# Console commands that follow each other find the server still up.
GRACE_S = 2.0
END_TIMEOUT_S = 10.0
YOUNG_S = 5.0
MAX_FAILURES = 3
MAX_PAUSE_S = 2.0
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Ward:
    """What is guarded: a command, the folder it works in, and the socket it listens on, if we open it."""

    directory: Path
    command: tuple[str, ...]
    listener: socket.socket | None
    server_lock: int


def main(arguments: list[str] | None = None) -> int:
    """Become the guardian of a folder, apart from whoever started us; 0 at once where it has one already."""
    parser = argparse.ArgumentParser(prog="guardian")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument(
        "--listen", action="store_true", help="open a loopback port and hand it over as stdin"
    )
    parser.add_argument("command", nargs="+")
    wanted = parser.parse_args(arguments)
    directory: Path = wanted.directory
    os.umask(0o077)
    if not _take(open_lock(directory / "guardian.lock"), patience=0.5):
        return 0
    # The starter's child ends here, so nobody has to reap us and a Ctrl-C at its terminal passes us by.
    if os.fork():
        os._exit(0)
    os.setsid()
    server_lock = open_lock(directory / "server.lock")
    # Before the port is opened: a server that outlived its guardian still listens on it.
    if not end_orphan(server_lock):
        _say("a server without a guardian could not be ended")
        return 1
    listener = _listen(directory / "endpoint") if wanted.listen else None
    return guard(
        Ward(directory=directory, command=tuple(wanted.command), listener=listener, server_lock=server_lock)
    )


def guard(ward: Ward) -> int:
    """Run the server until its last user is gone or we are told to end; 1 when it cannot stay up."""
    told_to_end: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: told_to_end.append(number))
    users = open_lock(ward.directory / "users.lock")
    young_deaths = failures = 0
    while failures < MAX_FAILURES:
        born = time.monotonic()
        server = _spawn(ward)
        if _watch(server, users, told_to_end):
            _end(server)
            return 0
        _say(f"the server ended by itself: status {server.returncode}")
        young_deaths = young_deaths + 1 if time.monotonic() - born < YOUNG_S else 0
        # Who is killed may well come back; who ends in an error soon after its start will do so again.
        failures = failures + 1 if young_deaths and server.returncode >= 0 else 0
        time.sleep(next_pause(young_deaths))
    return 1


def next_pause(young_deaths: int) -> float:
    """Seconds before the server is started again: none after one death, more after each that follows soon."""
    return min(max(young_deaths - 1, 0) * 0.1, MAX_PAUSE_S)


def end_orphan(server_lock: int) -> bool:
    """End a server that outlived its guardian: its process id stands in the lock that only it still holds."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if _take(server_lock, patience=TICK_S):
            return True
        written = os.pread(server_lock, 32, 0)
        if written.isdigit():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(written), number)
        if _take(server_lock, patience=END_TIMEOUT_S):
            return True
    return False


def _watch(server: "subprocess.Popen[bytes]", users: int, told_to_end: list[int]) -> bool:
    """Wait; True when the server should end (the users' lock is then ours), False when it has by itself."""
    last_used = time.monotonic()
    while server.poll() is None:
        if told_to_end:
            return True
        if not try_lock(users):
            last_used = time.monotonic()
        elif time.monotonic() - last_used >= GRACE_S:
            return True
        else:
            unlock(users)
        time.sleep(TICK_S)
    return False


def _spawn(ward: Ward) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - the command is our own
        ward.command,
        stdin=ward.listener.fileno() if ward.listener else subprocess.DEVNULL,
        pass_fds=(ward.server_lock,),
        preexec_fn=partial(_settle_child, ward.server_lock, os.getpid()),
    )


def _settle_child(server_lock: int, guardian: int) -> None:
    """In the new child: write its id into the lock that it holds, and on Linux die with the guardian."""
    os.ftruncate(server_lock, 0)
    os.pwrite(server_lock, str(os.getpid()).encode(), 0)
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
    """A listening socket on loopback, on the recorded port where it is free: clients keep their address
    while the server behind it comes and goes, and a connection made meanwhile waits instead of failing.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", load_port(record)))
    except OSError as error:
        _say(f"the recorded port cannot be had again, taking another: {error}")
        listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    save_port(record, listener.getsockname()[1])
    return listener


def _take(descriptor: int, *, patience: float) -> bool:
    """Try for a while: someone who only asks whether a lock is held takes it for a moment."""
    deadline = time.monotonic() + patience
    while not try_lock(descriptor):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def _say(text: str) -> None:
    """Into the server's log file, which is our standard error."""
    sys.stderr.write(f"guardian: {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
