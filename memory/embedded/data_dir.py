"""The folders of the embedded stores: private, writable, with room, and with a short socket path."""

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from memory.embedded.errors import DataDirFull, DataDirUnusable, data_dir_failure

# sun_path holds 104 bytes on macOS and 108 on Linux, with the final zero.
MAX_SOCKET_PATH_BYTES = 100
# The engine lays out about 100 MB of sparse files per collection; running out under a memory map is a SIGBUS.
MIN_FREE_BYTES = 200 * 1024 * 1024


def prepare_directory(data_dir: Path, name: str) -> Path:
    """Make `data_dir` and `data_dir/name`, 0700, and return the latter absolute.

    Raises DataDirUnusable where it cannot be made or written, DataDirFull below 200 MB of free space.
    """
    directory = data_dir.expanduser().absolute() / name
    try:
        # `parents=True` would give the folders above the mode that everyone may read.
        directory.parent.parent.mkdir(parents=True, exist_ok=True)
        directory.parent.mkdir(mode=0o700, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        directory.chmod(0o700)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"x")
        free = shutil.disk_usage(directory).free
    except OSError as error:
        raise data_dir_failure(directory, error) from error
    if free < MIN_FREE_BYTES:
        raise DataDirFull(
            f"DATA_DIR: {directory} has {free // 2**20} MB of free space, {MIN_FREE_BYTES // 2**20} are needed"
        )
    return directory


def socket_path(directory: Path, name: str) -> Path:
    """Where the UNIX socket of a store goes: in its folder, or, where that path is too long for a socket,
    under a private folder of the temporary directory, named by the hash of the folder.
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


def _private_directory(path: Path) -> Path:
    """The temporary directory is everyone's: refuse a folder there that another user could have planted."""
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
