"""The errors of memory, one tree.

MemoryFailure
├── StoreUnavailable     Redis cannot be reached, is loading, or refused the password
│   ├── CredentialsRefused
│   │   └── SentinelsRefused
│   └── StoreNotDurable  the write was accepted but not confirmed on disk
├── StoreFull            Redis is out of memory or read-only: it can be read, not written
├── CommandRefused       Redis answered with an error that is a mistake of ours or a missing command
│   └── NotPermitted     the user of REDIS_URL may not run it; it is a StoreUnavailable too
├── RecallUnavailable    Qdrant or the embedder cannot answer now
│   ├── RecallTimedOut   the index does not answer in time, or recall pauses because it did not
│   ├── IndexUnreadable  its answer is not Qdrant's, such as the page of a proxy
│   └── IndexMismatch    the collection has other vectors than the embedder makes
├── MissingContext       a read, search or erasure without a context is refused
├── Forgotten            the context was reset since this work began: nothing was written
├── RecordCorrupt        a stored record cannot be read: another program wrote it
├── SummaryFailed        the summary model failed, or its answer is not what was asked for
├── StoreMismatch        an earlier or later build wrote the store
├── UnsafeStore          the store would lose or evict acknowledged data
└── EmbeddedStoreFailure an embedded store cannot be used
    ├── DataDirUnusable  DATA_DIR cannot be created, entered or written
    │   └── DataDirFull  the disk under DATA_DIR has too little room
    ├── DataDirLocked    a lock under DATA_DIR cannot be taken
    ├── ServerMissing    this platform has no binary of the server
    └── ServerDidNotStart the server ended, or did not answer in time: the message has the end of its log
"""

import traceback

REFUSALS = {
    "OOM": "its memory is full: raise its maxmemory, or free memory",
    "MISCONF": "its last write to the disk failed: free space there, and read its log",
    "READONLY": "it is a replica: name the primary",
    "NOREPLICAS": "too few replicas: start them, or lower min-replicas-to-write; if it is embedded, free its disk",
}
"""Codes by which a server that can be read refuses writes, and what an operator can do."""


class MemoryFailure(Exception):
    """Memory failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__class__.__doc__ or "")


class StoreUnavailable(MemoryFailure):
    """The store cannot be reached."""


class CredentialsRefused(StoreUnavailable):
    """The store or its sentinels refused the user or the password."""


class SentinelsRefused(CredentialsRefused):
    """the sentinels refused their credentials, which REDIS_URL has as ?sentinel_password=…&sentinel_username=…"""


class StoreNotDurable(StoreUnavailable):
    """The store took the write but did not confirm it on disk."""


class StoreFull(MemoryFailure):
    """The store refuses writes."""

    @classmethod
    def from_code(cls, code: str) -> "StoreFull":
        """Return the failure with this code of a reply, and the words on what to do."""
        return cls(f"Redis refuses writes: {code} ({REFUSALS[code]})")


class CommandRefused(MemoryFailure):
    """Redis refused a command."""


class NotPermitted(CommandRefused, StoreUnavailable):
    """The user of REDIS_URL may not run a command that we need.

    It is unavailable as well: the work waits, as in an outage, until the permission is back.
    """


class RecallUnavailable(MemoryFailure):
    """The vector index cannot answer now."""


class RecallTimedOut(RecallUnavailable):
    """The vector index does not answer in time."""


class IndexUnreadable(RecallUnavailable):
    """The vector index sent an answer that cannot be read: does QDRANT_URL lead to a Qdrant server?"""


class IndexMismatch(RecallUnavailable):
    """The collection was made for other vectors than the embedder makes."""


class MissingContext(MemoryFailure):
    """Memory is only read, searched or erased for a named context."""


class Forgotten(MemoryFailure):
    """The context was reset since this work began."""


class StoreMismatch(MemoryFailure):
    """The store has another format."""


class RecordCorrupt(MemoryFailure):
    """A stored record cannot be read."""


class SummaryFailed(MemoryFailure):
    """No summary could be written.

    `is_too_long`: less to read may succeed. `is_filtered`: the model's filter refused something of it.
    """

    def __init__(
        self, message: str | None = None, *, is_too_long: bool = False, is_filtered: bool = False
    ) -> None:
        super().__init__(message or "No summary could be written.")
        self.is_too_long = is_too_long or is_filtered
        self.is_filtered = is_filtered


class UnsafeStore(MemoryFailure):
    """The store would lose or evict what it acknowledges."""


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


def place_of(error: Exception) -> str:
    """Return the type and place of an error, without its text, which may quote a conversation."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {frames[-1].name}:{frames[-1].lineno}"
