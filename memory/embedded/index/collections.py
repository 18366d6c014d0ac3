"""The collections that a process has: each with its settings and one shard of the engine."""

import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import qdrant_edge as edge

from memory.embedded.index import folders
from memory.embedded.index.engine import asking_engine, create_shard, load_shard
from memory.embedded.index.failures import BadRequest, Conflict, NotFound
from memory.embedded.index.requests import CreateCollection


@dataclass(slots=True, kw_only=True)
class Collection:
    """One open collection. `folder` is its own, `shard_name` the folder of its shard in there."""

    name: str
    settings: CreateCollection
    folder: Path
    shard_name: str
    shard: edge.EdgeShard
    writes: int = 0
    has_garbage: bool = False
    is_marked_clean: bool = True
    unflushed_since: float | None = None
    unflushed_points: int = 0

    @property
    def points(self) -> int:
        """How many points it has: 9 µs."""
        return self.shard.info().points_count

    def note_write(self, *, points: int, leaves_garbage: bool) -> int:
        """Note a write of so many points; the number of writes since the start is its operation id."""
        self.writes += 1
        self.unflushed_points += points
        if self.unflushed_since is None:
            self.unflushed_since = time.monotonic()
        if leaves_garbage:
            self.expect_garbage()
            self.has_garbage = True
        return self.writes

    def expect_garbage(self) -> None:
        """Note durably, before something is deleted, that there may be garbage: a crash right after it must not
        hide from the next start that there is.
        """
        if self.is_marked_clean:
            folders.mark_unclean(self.folder, self.shard_name)
            self.is_marked_clean = False

    def sync(self) -> None:
        """Put the log of writes on the disk: 0.5 ms, against 6 to 14 ms for a flush. The engine writes it
        through a memory map and leaves the rest to the kernel, which a kill survives but a power cut does not.
        """
        for path in (self.folder / self.shard_name / "wal").glob("*-*"):
            folders.sync_path(path)

    def sync_all(self) -> None:
        """Put every file on the disk, in any thread, so that the flush that follows finds less to write: it holds
        the interpreter, and this does not.
        """
        for path in (self.folder / self.shard_name).rglob("*"):
            folders.sync_path(path)

    def flush(self) -> None:
        """Put the segments on the disk, so that less of the log has to be read again at the next start (200 µs a
        point). Holds the interpreter: 5 to 50 ms, and ten times that on a busy disk.
        """
        with asking_engine():
            self.shard.flush()
        self.unflushed_since = None
        self.unflushed_points = 0

    def close(self) -> None:
        """Flush and let go of the shard."""
        with asking_engine():
            self.shard.flush()
            self.shard.close()


class Collections:
    """The collections under a folder that this process has open; one process at a time, the engine refuses a second."""

    def __init__(self, directory: Path, opened: dict[str, Collection], to_create: Mapping[str, str]) -> None:
        self._directory = directory
        self._opened = opened
        self._to_create = dict(to_create)
        self.used_at = time.monotonic()

    @classmethod
    def open(cls, directory: Path, shards: Mapping[str, str] | None = None) -> "Collections":
        """Load these collections, of which the folders of their shards are given. One that has no such folder yet
        is not there, and may be created in it; others are created in a folder of the usual name.
        """
        directory.mkdir(mode=0o700, exist_ok=True)
        shards = shards or {}
        opened = {
            name: _load(directory / name, shard)
            for name, shard in shards.items()
            if (directory / name / shard).is_dir()
        }
        return cls(directory, opened, {name: shard for name, shard in shards.items() if name not in opened})

    def __iter__(self) -> Iterator[Collection]:
        return iter(list(self._opened.values()))

    def __contains__(self, name: str) -> bool:
        return name in self._opened

    def get(self, name: str) -> Collection:
        """The collection; NotFound where there is none."""
        try:
            return self._opened[name]
        except KeyError:
            raise NotFound(f"Not found: Collection `{name}` doesn't exist!") from None

    def create(self, name: str, settings: CreateCollection) -> None:
        """Make an empty collection; Conflict where it exists. It is there after a crash, or it is not."""
        if not folders.is_collection_name(name):
            raise BadRequest("Wrong input: a collection's name has 1 to 200 letters, digits, `_`, `-` or `.`")
        if name in self._opened:
            raise Conflict(f"Wrong input: Collection `{name}` already exists!")
        # Once only: deleted and made again, it is in the usual folder, which is where the next start looks for it.
        folder, shard_name = self._directory / name, self._to_create.pop(name, folders.FIRST_SHARD)
        shard = create_shard(folder / shard_name, settings)
        folders.mark_clean(folder, shard_name)
        folders.write_durably(folder / folders.SETTINGS, settings.model_dump_json(exclude_none=True).encode())
        self._opened[name] = Collection(
            name=name, settings=settings, folder=folder, shard_name=shard_name, shard=shard
        )

    def delete(self, name: str) -> bool:
        """Remove a collection and its files; False where there was none."""
        collection = self._opened.pop(name, None)
        if collection is None:
            return False
        with asking_engine():
            collection.shard.close()
        (collection.folder / folders.SETTINGS).unlink()
        grave = self._directory / f".{uuid4().hex}"
        collection.folder.rename(grave)
        shutil.rmtree(grave)
        return True

    def leave(self, name: str) -> None:
        """Close a collection that another process has from now on."""
        self._opened.pop(name).close()

    def close(self) -> None:
        """Flush and close all."""
        while self._opened:
            self._opened.popitem()[1].close()


def _load(folder: Path, shard_name: str) -> Collection:
    settings = CreateCollection.model_validate_json((folder / folders.SETTINGS).read_bytes())
    is_clean = folders.is_clean(folder, shard_name)
    return Collection(
        name=folder.name,
        settings=settings,
        folder=folder,
        shard_name=shard_name,
        shard=load_shard(folder / shard_name, settings),
        has_garbage=not is_clean,
        is_marked_clean=is_clean,
    )
