"""File locks that the kernel releases when their holder dies, however it dies."""

import fcntl
import os
from pathlib import Path


def open_lock(path: Path) -> int:
    """Open a lock file, made 0600 where it is missing; closing the descriptor gives the lock back.

    A child inherits neither descriptor nor lock unless it is handed over by name.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Take the lock now, or say that it is held; an OSError means that it can never be taken here."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Give the lock back and keep the file open."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_held(path: Path) -> bool:
    """Is the lock held exclusively by anyone? Asks with a shared lock, so that askers do not clash."""
    descriptor = open_lock(path)
    try:
        return not try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)
