"""The folders of the embedded stores: private, writable, with enough room, and soon free of erased data."""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from memory.errors import DataDirFull, DataDirLocked, DataDirUnusable, EmbeddedStoreFailure
from memory.folders import denial_advice

# sun_path holds 104 bytes on macOS and 108 on Linux, with the final zero.
MAX_SOCKET_PATH_BYTES = 100
# The engine lays out about 100 MB of sparse files per collection; running out under a memory map is a SIGBUS.
MIN_FREE_BYTES = 200 * 1024 * 1024
FULL_BELOW_BYTES = 64 * 1024 * 1024
"""With less free space the embedded store takes no writes. It needs the rest for deletions of expired keys."""
ROOM_FROM_BYTES = 96 * 1024 * 1024
"""From this free space on a store that was full takes writes again."""
ERASED_WITHIN_S = 50.0
"""Time from an erasure until no file holds the data: a minute, less ten seconds for small delays."""


def prepare_directory(data_dir: Path, name: str) -> Path:
    """Make `data_dir` and `data_dir/name` with mode 0700, and return the absolute path of the latter.

    Raises DataDirUnusable if it cannot be made or written, DataDirFull if less than 200 MB are free.
    """
    try:
        directory = make_directory(data_dir, name)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"x")
        free = shutil.disk_usage(directory).free
    except OSError as error:
        raise data_dir_failure(folder_path(data_dir, name), error) from error
    if free < MIN_FREE_BYTES:
        raise DataDirFull(
            f"DATA_DIR: {directory} has {free // 2**20} MB of free space, {MIN_FREE_BYTES // 2**20} are needed"
        )
    return directory


def free_bytes(data_dir: Path) -> int:
    """Return the free space of the disk under `data_dir`. Raises OSError."""
    return shutil.disk_usage(data_dir.expanduser().absolute()).free


def make_directory(data_dir: Path, name: str) -> Path:
    """Make `data_dir` and `data_dir/name` with mode 0700, and return the absolute path of the latter.

    Raises OSError.
    """
    directory = folder_path(data_dir, name)
    # `parents=True` would make the folders above readable for everyone.
    directory.parent.parent.mkdir(parents=True, exist_ok=True)
    directory.parent.mkdir(mode=0o700, exist_ok=True)
    directory.mkdir(mode=0o700, exist_ok=True)
    directory.chmod(0o700)
    return directory


def folder_path(data_dir: Path, name: str) -> Path:
    """Return the absolute path of `data_dir/name`."""
    return data_dir.expanduser().absolute() / name


def socket_path(directory: Path, name: str) -> Path:
    """Return the path for the UNIX socket of a store: in its folder, if that is short enough for a socket.

    Otherwise it is in a private folder of the temporary directory, named by a hash of the store's folder.
    """
    path = directory / name
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES:
        return path
    digest = hashlib.sha256(os.fsencode(directory.resolve())).hexdigest()[:16]
    shared = _private_directory(Path(tempfile.gettempdir()) / f"mnemogram-{os.getuid()}")
    short = shared / f"{digest}-{name}"
    if len(os.fsencode(short)) > MAX_SOCKET_PATH_BYTES:
        raise DataDirUnusable(
            f"DATA_DIR: {path} is too long for a socket, and so is {short}; set a shorter one"
        )
    return short


def rest_after(took: float) -> float:
    """Return the seconds to rest after upkeep that took `took` seconds: nine times as long, if there is time.

    Data erased just after the upkeep began must leave the files in time. From 17 s on it rests as long as it works.
    """
    return min(9.0 * took, max(took, ERASED_WITHIN_S - 2 * took))


def _private_directory(path: Path) -> Path:
    """Make a folder in the temporary directory, and refuse one that another user could have planted there."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        facts = path.lstat()
    except OSError as error:
        raise data_dir_failure(path, error) from error
    is_ours = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid()
    if not is_ours or stat.S_IMODE(facts.st_mode) & 0o077:
        raise DataDirUnusable(
            f"DATA_DIR is too long for a socket path, and {path} is not a private folder of ours"
        )
    return path


def data_dir_failure(path: Path | str, error: OSError) -> EmbeddedStoreFailure:
    """Return the failure that names an error of the operating system about a path under DATA_DIR."""
    path = error.filename or path
    reason = "it is not a folder" if error.errno == errno.EEXIST else error.strerror or str(error)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DataDirFull(f"DATA_DIR: no space left for {path}: {reason}")
    if error.errno in {errno.ENOLCK, errno.EOPNOTSUPP}:
        return DataDirLocked(f"DATA_DIR: {path} cannot be locked (a network file system?): {reason}")
    return DataDirUnusable(f"DATA_DIR: {path} cannot be used: {reason}{denial_advice(error, Path(path))}")
