"""The encoder's files under DATA_DIR: saved once, checked at every start, and saved again if they are not ours."""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import structlog

from memory.embedded.data_dir import make_directory
from memory.embedded.guardian import open_lock
from memory.recall.embedders.bert_encoder import BertEncoder

_FOLDER = "embedder"
_SAVED = "model"
_LOCK = "lock"
_DIGEST = "digest"
log = structlog.get_logger()


def open_saved_encoder(data_dir: Path, origin: str, save: Callable[[Path], None]) -> BertEncoder:
    """Open the encoder under `data_dir`; `save` writes it first if it is missing, damaged or of another origin.

    If nothing can be written there, the encoder is saved in a temporary folder, at every start again.
    """
    try:
        folder = make_directory(data_dir, _FOLDER)
        # Held until the files are read: another start may replace them.
        with _locked(folder / _LOCK):
            if not _is_whole(folder / _SAVED, origin):
                _replace(folder, origin, save)
            return BertEncoder(folder / _SAVED)
    except OSError as error:
        log.warning("embedder_not_saved", error=str(error), hint="DATA_DIR needs 24 MB of free space")
    with tempfile.TemporaryDirectory() as name:
        save(Path(name))
        return BertEncoder(Path(name))


@contextmanager
def _locked(path: Path) -> Generator[None]:
    lock = open_lock(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _is_whole(saved: Path, origin: str) -> bool:
    try:
        return (saved / _DIGEST).read_text("utf-8") == _digest(saved, origin)
    except (OSError, ValueError):
        return False


def _replace(folder: Path, origin: str, save: Callable[[Path], None]) -> None:
    """Save beside the old files and rename at the end. Leftovers of a killed start go too."""
    for old in folder.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    new = Path(tempfile.mkdtemp(dir=folder))
    save(new)
    (new / _DIGEST).write_text(_digest(new, origin), "utf-8")
    new.rename(folder / _SAVED)


def _digest(saved: Path, origin: str) -> str:
    # After a power cut a renamed folder may have files without their content, so this is checked at each start.
    total = hashlib.sha256(origin.encode())
    for path in sorted(saved.iterdir()):
        if path.name != _DIGEST:
            with path.open("rb") as file:
                total.update(f"\n{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}".encode())
    return total.hexdigest()
