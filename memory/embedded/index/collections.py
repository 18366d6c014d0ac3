"""The collections of the index, their shards of the engine, and the files of both. Names the errors of qdrant-edge.

A collection has a folder, and `collection.json` in there names its current shard. A start removes every other shard,
and every folder without that file.
"""

import asyncio
import contextlib
import os
import re
import shutil
import sys
import time
import traceback
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

import qdrant_edge as edge

from memory.embedded.index import requests

_RECORD = "collection.json"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_GARBAGE = "garbage"


class IndexFailure(Exception):
    """A request or an upkeep that failed, with the HTTP status of its answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Shard:
    """One open shard. `garbage_since` is the time of the first write that left deleted or replaced data in its files.

    The file `garbage` in the folder says so to the next start, even after a crash.
    """

    def __init__(self, folder: Path, engine: edge.EdgeShard) -> None:
        self.folder = folder
        self.engine = engine
        # Garbage from before the start may be of any age.
        self.garbage_since = float("-inf") if (folder / _GARBAGE).exists() else None
        self.unflushed_points = 0
        self._synced: set[Path] = set()

    @classmethod
    def create(cls, folder: Path, settings: requests.CollectionSettings) -> "Shard":
        """Create an empty shard: about 15 ms."""
        folder.mkdir(parents=True)
        return cls(folder, edge.EdgeShard.create(str(folder), settings.to_engine()))

    @property
    def points(self) -> int:
        """The number of points: takes 9 µs."""
        return self.engine.info().points_count

    def update(self, operation: edge.UpdateOperation, *, added: int = 0, deletes: bool = False) -> None:
        """Apply a write. If there are fewer than `added` points more after it, it has left garbage.

        An operation that fails may have changed some of its points.
        """
        if deletes:
            self._mark_garbage()
        expected = self.points + added
        self.unflushed_points += added or 1
        try:
            self.engine.update(operation)
        finally:
            if self.points < expected:
                self._mark_garbage()
                self.garbage_since = self.garbage_since or time.monotonic()

    def sync_log(self) -> None:
        """Put the log of writes on the disk: 0.5 ms, against 6 to 14 ms for a flush.

        The engine writes the log through a memory map. That survives a kill, but not a power cut.
        """
        with contextlib.suppress(FileNotFoundError):  # a vacuum may have replaced this shard
            for path in set((self.folder / "wal").glob("*-*")) - self._synced:
                sync_path(path)
                if path.name.startswith("closed-"):  # nothing is written into it any more
                    self._synced.add(path)

    async def flush(self) -> None:
        """Put the segments on the disk, so that the next start reads less of the log.

        The engine's flush holds the interpreter: 5 to 50 ms after the files were synced in a thread.
        """
        await asyncio.to_thread(self._sync_files)
        self.engine.flush()
        self.unflushed_points = 0

    def close(self) -> None:
        """Release the shard without a flush: up to 0.4 s for 100,000 points. Its log keeps every write."""
        self.engine.close()

    def _sync_files(self) -> None:
        for path in (self.folder, *self.folder.rglob("*")):
            sync_path(path)

    def _mark_garbage(self) -> None:
        if not (self.folder / _GARBAGE).exists():
            (self.folder / _GARBAGE).touch()
            sync_path(self.folder)


class CollectionRecord(requests.Body):
    """The content of `collection.json`."""

    shard: str
    settings: requests.CollectionSettings


class Collection:
    """One open collection. While a vacuum fills `copy`, every write goes to both shards."""

    def __init__(self, folder: Path, settings: requests.CollectionSettings, shard: Shard) -> None:
        self.name = folder.name
        self.folder = folder
        self.settings = settings
        self.shard = shard
        self.copy: Shard | None = None
        self.next_vacuum_at = 0.0

    @classmethod
    def load(cls, folder: Path) -> "Collection":
        """Load a collection, and remove the shards that an interrupted vacuum left in its folder."""
        try:
            record = CollectionRecord.model_validate_json((folder / _RECORD).read_bytes())
        except ValueError:
            sys.exit(f"{folder} is from another version: remove it, then run `mnemogram reindex`")
        for path in folder.glob("shard-*"):
            if path.name != record.shard:
                shutil.rmtree(path)
        # With every write in its log: 0.5 s for 100,000 points, and 200 µs for each unflushed one.
        engine = edge.EdgeShard.load(str(folder / record.shard), record.settings.to_engine())
        return cls(folder, record.settings, Shard(folder / record.shard, engine))

    def save(self, shard: Shard) -> None:
        """Make this the shard of the collection, durably: after a crash it is this one or the former one."""
        record = CollectionRecord(shard=shard.folder.name, settings=self.settings)
        fresh = self.folder / "collection.new"
        fresh.write_text(record.model_dump_json())
        sync_path(fresh)
        fresh.replace(self.folder / _RECORD)
        for folder in (self.folder, self.folder.parent):
            sync_path(folder)

    def count(self, body: requests.CountPoints) -> dict[str, int]:
        """Count the points of a filter."""
        request = edge.CountRequest(exact=True, filter=body.filter and body.filter.to_engine())
        return {"count": self.shard.engine.count(request)}

    def scroll(self, body: requests.ScrollPoints) -> dict[str, Any]:
        """Return a page of points and the id at which the next page begins, None at the end."""
        page, following = self.shard.engine.scroll(body.to_engine())
        points = [{"id": each.id, "payload": each.payload, "vector": each.vector} for each in page]
        return {"points": points, "next_page_offset": following}

    def search(self, body: requests.SearchBatch) -> list[dict[str, Any]]:
        """Answer each search, best points first."""
        for each in body.searches:
            if each.query and not self.settings.accepts(each.using or "", each.query.nearest):
                raise IndexFailure(
                    400, f"Wrong input: the vector does not fit the collection's `{each.using}`"
                )
        batch = edge.QueryBatchRequest([search.to_engine() for search in body.searches])
        return [{"points": [_hit(hit) for hit in found]} for found in self.shard.engine.query_batch(batch)]

    def upsert(self, body: requests.UpsertPoints) -> None:
        """Add or replace points. All are checked before the first is written: a failed write stays in the log."""
        for name, vector in ((name, part) for point in body.points for name, part in point.vector.items()):
            if not self.settings.accepts(name, vector):
                raise IndexFailure(400, f"Wrong input: the vector `{name}` does not fit the collection")
        points = [point.to_engine() for point in body.points]
        self._write(edge.UpdateOperation.upsert_points(points), added=len(points))

    def delete(self, body: requests.DeletePoints) -> None:
        """Delete the points of a filter."""
        scope = body.filter.to_engine()
        self._write(edge.UpdateOperation.delete_points_by_filter(scope), deletes=True)

    def create_index(self, body: requests.CreateIndex) -> None:
        """Index a payload field, for present and later points."""
        self._write(body.to_engine())

    async def sync(self) -> None:
        """Put the latest writes on the disk."""
        for shard in (self.shard, self.copy):
            if shard is not None:
                await asyncio.to_thread(shard.sync_log)

    def begin_copy(self) -> Shard:
        """Create an empty copy. From now on writes go to it too."""
        self.copy = Shard.create(self.folder / _new_shard_name(), self.settings)
        return self.copy

    def adopt_copy(self, copy: Shard) -> Shard:
        """Make the copy the shard of this collection, durably, and return the former shard."""
        try:
            self.save(copy)
        except OSError:
            end_process()  # only the disk knows which of the two a start would find
        former, self.shard, self.copy = self.shard, copy, None
        return former

    def discard_copy(self) -> None:
        """Remove the copy, if there is one. A start removes files that cannot be removed now."""
        if self.copy is not None:
            self.copy.close()
            shutil.rmtree(self.copy.folder, ignore_errors=True)
            self.copy = None

    def close(self) -> None:
        """Discard the copy and release the shard."""
        self.discard_copy()
        self.shard.close()

    def _write(self, operation: edge.UpdateOperation, *, added: int = 0, deletes: bool = False) -> None:
        try:
            for shard in (self.shard, self.copy):
                if shard is not None:
                    shard.update(operation, added=added, deletes=deletes)
        except Exception:
            self.discard_copy()  # the two may differ now
            raise


class Collections:
    """All collections under a folder. One process at a time: the engine refuses a second one."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(mode=0o700, exist_ok=True)
        self._directory = directory
        self._opened: dict[str, Collection] = {}
        self.used_at = time.monotonic()
        for folder in sorted(directory.iterdir()):
            if (folder / _RECORD).is_file():
                self._opened[folder.name] = Collection.load(folder)
            else:
                shutil.rmtree(folder)

    def __iter__(self) -> Iterator[Collection]:
        return iter(list(self._opened.values()))

    def get(self, name: str) -> Collection:
        """Return the collection; refuse with 404 if it does not exist."""
        if name not in self._opened:
            raise IndexFailure(404, f"Not found: Collection `{name}` doesn't exist!")
        return self._opened[name]

    def create(self, name: str, settings: requests.CollectionSettings) -> None:
        """Create an empty collection; refuse with 409 if it exists. After a crash it exists completely or not."""
        if not _NAME.fullmatch(name):
            raise IndexFailure(400, "Wrong input: a name has 1 to 200 letters, digits, `_`, `-` or `.`")
        if name in self._opened:
            raise IndexFailure(409, f"Wrong input: Collection `{name}` already exists!")
        folder = self._directory / name
        collection = Collection(folder, settings, Shard.create(folder / _new_shard_name(), settings))
        collection.save(collection.shard)
        self._opened[name] = collection

    def delete(self, name: str) -> bool:
        """Remove a collection and its files; return False if there is none."""
        collection = self._opened.pop(name, None)
        if collection is None:
            return False
        collection.close()
        (collection.folder / _RECORD).unlink()
        sync_path(collection.folder)
        shutil.rmtree(collection.folder)
        return True

    async def close(self) -> None:
        """Flush and close all. A copy is discarded."""
        while self._opened:
            _, collection = self._opened.popitem()
            await collection.shard.flush()
            collection.close()


@contextlib.contextmanager
def engine_errors() -> Generator[None]:
    """Raise IndexFailure for the engine's errors.

    A panic of the engine ends the process, because its locks may be poisoned. The guardian starts a new one.
    """
    try:
        yield
    except (IndexFailure, OSError):
        raise
    except Exception as error:
        # Its type is mostly Exception, whether the request or the disk is wrong (qdrant-edge-py 0.9.0).
        raise IndexFailure(500, f"Service internal error: {error}") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            end_process()
        raise


def end_process() -> NoReturn:
    """Log the current exception and end at once. The guardian starts a new process, which reads the disk."""
    traceback.print_exc(file=sys.stderr)
    os._exit(70)


def sync_path(path: Path) -> None:
    """Put a file, or the names in a folder, on the disk. A missing path needs nothing."""
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _new_shard_name() -> str:
    return f"shard-{uuid4().hex}"


def _hit(hit: edge.ScoredPoint) -> dict[str, Any]:
    return {"id": hit.id, "version": hit.version, "score": hit.score, "payload": hit.payload}
