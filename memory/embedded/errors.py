"""Errors of the embedded stores.

EmbeddedStoreFailure     a MemoryFailure.
├── DataDirUnusable      DATA_DIR cannot be created, entered or written.
│   └── DataDirFull      The disk under DATA_DIR has too little room.
├── DataDirLocked        A lock under DATA_DIR cannot be taken.
├── ServerMissing        This platform has no binary of the server.
└── ServerDidNotStart    The server ended, or did not answer in time. The message has the end of its log.
"""

import errno
from pathlib import Path

from memory.errors import MemoryFailure
from memory.folders import denial_advice


class EmbeddedStoreFailure(MemoryFailure):
    """An embedded store cannot be used."""


class DataDirUnusable(EmbeddedStoreFailure):
    """DATA_DIR cannot be used."""


class DataDirFull(DataDirUnusable):
    """The disk under DATA_DIR is full."""


class DataDirLocked(EmbeddedStoreFailure):
    """A lock under DATA_DIR cannot be taken."""


class ServerMissing(EmbeddedStoreFailure):
    """The embedded server does not exist for this platform."""


class ServerDidNotStart(EmbeddedStoreFailure):
    """The embedded server did not start."""


def data_dir_failure(path: Path | str, error: OSError) -> EmbeddedStoreFailure:
    """Return the failure that names an error of the operating system about a path under DATA_DIR."""
    path = error.filename or path
    reason = "it is not a folder" if error.errno == errno.EEXIST else error.strerror or str(error)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return DataDirFull(f"DATA_DIR: no space left for {path}: {reason}")
    if error.errno in {errno.ENOLCK, errno.EOPNOTSUPP}:
        return DataDirLocked(f"DATA_DIR: {path} cannot be locked (a network file system?): {reason}")
    return DataDirUnusable(f"DATA_DIR: {path} cannot be used: {reason}{denial_advice(error, Path(path))}")
