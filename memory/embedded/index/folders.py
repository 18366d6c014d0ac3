"""The folders of collections: which of its shards a collection has now, and what a crash left of another."""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

SETTINGS = "collection.json"
FIRST_SHARD = "shard"
"""The folder of the shard that a collection is made with; those that take its place are `shard-…`."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_CURRENT = "current"


def is_collection_name(name: str) -> bool:
    """Is it one that a collection, and therefore a folder, may have?"""
    return _NAME.fullmatch(name) is not None


def settle(directory: Path) -> dict[str, str]:
    """The collections of a folder, each with the folder of its shard. What a crash left half made, half copied or
    half deleted is removed; nobody may use the folder meanwhile.
    """
    directory.mkdir(mode=0o700, exist_ok=True)
    found: dict[str, str] = {}
    for path in sorted(directory.iterdir()):
        if not (path / SETTINGS).is_file():
            shutil.rmtree(path)
            continue
        found[path.name] = shard = current_shard(path)
        remove_others(path, shard)
    return found


def current_shard(folder: Path) -> str:
    """The folder of the shard that a collection has now."""
    try:
        return (folder / _CURRENT).read_text()
    except FileNotFoundError:
        return FIRST_SHARD


def new_shard() -> str:
    """A folder for a shard that is to take the place of another."""
    return f"{FIRST_SHARD}-{uuid4().hex}"


def turn_to(folder: Path, shard: str) -> None:
    """Make this the shard that the collection has: from here on also after a crash, and never half."""
    write_durably(folder / _CURRENT, shard.encode())


def remove_others(folder: Path, shard: str) -> None:
    """Remove every shard but this one."""
    for name in {path.name.partition(".")[0] for path in folder.glob(f"{FIRST_SHARD}*")} - {shard}:
        remove_shard(folder, name)


def remove_shard(folder: Path, shard: str) -> None:
    """Remove a shard, as much of it as there is."""
    if (folder / shard).is_dir():
        shutil.rmtree(folder / shard)
    _clean_mark(folder, shard).unlink(missing_ok=True)


def size_of(folder: Path) -> int:
    """How many bytes of the disk its files take; they are sparse, so their lengths say more than that."""
    size = 0
    for inside, _, names in os.walk(folder):  # bears folders that go meanwhile
        for name in names:
            with suppress(FileNotFoundError):
                size += Path(inside, name).stat().st_blocks * 512
    return size


def is_clean(folder: Path, shard: str) -> bool:
    """Is it known that no file of the shard holds anything that was deleted or replaced?"""
    return _clean_mark(folder, shard).exists()


def mark_clean(folder: Path, shard: str) -> None:
    """Note that nothing was deleted or replaced yet."""
    _clean_mark(folder, shard).touch()


def mark_unclean(folder: Path, shard: str) -> None:
    """Take that back, before the write that makes it untrue is acknowledged; a crash cannot bring it back."""
    _clean_mark(folder, shard).unlink(missing_ok=True)
    sync_path(folder)


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file at once: after a crash it is the old or the new one."""
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    for folder in (path.parent, path.parent.parent):
        sync_path(folder)


def sync_path(path: Path) -> None:
    """Put a file, or the names in a folder, on the disk; one that is gone needs none."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _clean_mark(folder: Path, shard: str) -> Path:
    return folder / f"{shard}.clean"
