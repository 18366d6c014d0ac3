"""The collections under `DATA_DIR/index`: each a folder with its settings and one shard of the engine."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import qdrant_edge as edge

from memory.embedded.index.engine import asking_engine, create_shard, load_shard
from memory.embedded.index.failures import BadRequest, Conflict, NotFound
from memory.embedded.index.requests import CreateCollection

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_SETTINGS = "collection.json"


@dataclass(slots=True, kw_only=True)
class Collection:
    """One open collection; what was written since the last flush and the last vacuum is noted by the writer."""

    name: str
    settings: CreateCollection
    directory: Path
    shard: edge.EdgeShard
    writes: int = 0
    is_unflushed: bool = False
    is_unvacuumed: bool = True
    flushed_at: float = field(default_factory=time.monotonic)

    def note_write(self, *, leaves_garbage: bool) -> int:
        """Note a write; the number of writes since the start is its operation id."""
        self.writes += 1
        self.is_unflushed = True
        self.is_unvacuumed |= leaves_garbage
        return self.writes

    def sync(self) -> None:
        """Put the log of writes on the disk: 0.5 ms, against 6 to 14 ms for a flush. The engine writes it
        through a memory map and leaves the rest to the kernel, which a kill survives but a power cut does not.
        """
        for path in (self.directory / "shard" / "wal").glob("*-*"):
            try:
                descriptor = os.open(path, os.O_RDONLY)
            except FileNotFoundError:
                continue
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def flush(self) -> None:
        """Put the segments on the disk, so that less of the log has to be read again at the next start."""
        with asking_engine():
            self.shard.flush()
        self.is_unflushed = False
        self.flushed_at = time.monotonic()

    def vacuum(self) -> None:
        """Merge segments and rewrite those with deleted points; holds the interpreter, 17 µs a point."""
        with asking_engine():
            self.shard.optimize()
        self.flush()
        self.is_unvacuumed = False

    def close(self) -> None:
        """Flush and let go of the shard."""
        with asking_engine():
            self.shard.flush()
            self.shard.close()


class Collections:
    """All collections of a folder; one process at a time, the engine refuses a second."""

    def __init__(self, directory: Path, opened: dict[str, Collection]) -> None:
        self._directory = directory
        self._opened = opened
        self.used_at = time.monotonic()

    @classmethod
    def open(cls, directory: Path) -> "Collections":
        """Load every collection; what a crash left half made or half deleted is removed."""
        directory.mkdir(mode=0o700, exist_ok=True)
        opened: dict[str, Collection] = {}
        for path in sorted(directory.iterdir()):
            if not (path / _SETTINGS).is_file():
                shutil.rmtree(path)
                continue
            settings = CreateCollection.model_validate_json((path / _SETTINGS).read_bytes())
            shard = load_shard(path / "shard", settings)
            opened[path.name] = Collection(name=path.name, settings=settings, directory=path, shard=shard)
        return cls(directory, opened)

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
        if not _NAME.fullmatch(name):
            raise BadRequest("Wrong input: a collection's name has 1 to 200 letters, digits, `_`, `-` or `.`")
        if name in self._opened:
            raise Conflict(f"Wrong input: Collection `{name}` already exists!")
        path = self._directory / name
        shard = create_shard(path / "shard", settings)
        _write_durably(path / _SETTINGS, settings.model_dump_json(exclude_none=True).encode())
        self._opened[name] = Collection(name=name, settings=settings, directory=path, shard=shard)

    def delete(self, name: str) -> bool:
        """Remove a collection and its files; False where there was none."""
        collection = self._opened.pop(name, None)
        if collection is None:
            return False
        with asking_engine():
            collection.shard.close()
        (collection.directory / _SETTINGS).unlink()
        grave = self._directory / f".{uuid4().hex}"
        collection.directory.rename(grave)
        shutil.rmtree(grave)
        return True

    def close(self) -> None:
        """Flush and close all."""
        while self._opened:
            self._opened.popitem()[1].close()


def _write_durably(path: Path, content: bytes) -> None:
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    for folder in (path.parent, path.parent.parent):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
