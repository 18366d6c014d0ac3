"""The encoder's files under DATA_DIR: saved once, checked at every start, and saved again if they are not ours."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import structlog

from memory.embedded.data_dir import folder_path, make_directory
from memory.embedded.guardian import open_lock, take_lock
from memory.recall.embedders.bert_encoder import BertEncoder

PATIENCE_S = 10.0
"""Longest wait for another start that saves the encoder, which takes less than a second."""
_FOLDER = "embedder"
_LOCK = "lock"
_DIGEST = "digest"
log = structlog.get_logger()


def open_saved_encoder(data_dir: Path, origin: str, save: Callable[[Path], None]) -> BertEncoder:
    """Open the encoder under `data_dir`; `save` writes it first if it is missing, damaged or of another origin.

    A whole one is only read, so the folder may be read-only. If nothing can be written there, or another start holds
    the folder for long, the encoder is saved in a temporary folder, at every start again. Raises RuntimeError or
    ValueError if CTranslate2 cannot open what `save` wrote.
    """
    saved = folder_path(data_dir, _FOLDER) / _name(origin)
    if encoder := _open_whole(saved, origin):
        return encoder
    try:
        folder = make_directory(data_dir, _FOLDER)
        with _locked(folder / _LOCK):
            return _open_whole(saved, origin) or _replace(saved, origin, save)
    except OSError as error:
        log.warning("embedder_not_saved", error=str(error), hint="DATA_DIR needs 24 MB of free space")
    with tempfile.TemporaryDirectory() as name:
        save(Path(name))
        return BertEncoder(Path(name))


def folder_digest(saved: Path, origin: str) -> str:
    """Return the digest of the origin and of all files but the digest itself. Raises OSError."""
    # After a power cut a renamed folder may have files without their content, so this is checked at each start.
    total = hashlib.sha256(origin.encode())
    for path in sorted(saved.iterdir()):
        if path.name != _DIGEST:
            with path.open("rb") as file:
                total.update(f"\n{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}".encode())
    return total.hexdigest()


def _name(origin: str) -> str:
    # A start of another origin removes our folder, but it puts nothing in its place while we read.
    return f"model-{hashlib.sha256(origin.encode()).hexdigest()[:12]}"


@contextmanager
def _locked(path: Path) -> Generator[None]:
    lock = open_lock(path)
    try:
        if not take_lock(lock, patience=PATIENCE_S):
            raise TimeoutError("another start is saving it")
        yield
    finally:
        os.close(lock)


def _open_whole(saved: Path, origin: str) -> BertEncoder | None:
    try:
        if (saved / _DIGEST).read_text("utf-8") == folder_digest(saved, origin):
            return BertEncoder(saved)
    except (OSError, ValueError, RuntimeError):  # CTranslate2 raises the last two
        pass
    return None


def _replace(saved: Path, origin: str, save: Callable[[Path], None]) -> BertEncoder:
    """Save beside the old files and rename at the end. Leftovers of a killed start go too."""
    folder = saved.parent
    for old in folder.iterdir():
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        elif old.name != _LOCK:
            old.unlink()
    new = Path(tempfile.mkdtemp(dir=folder))
    save(new)
    (new / _DIGEST).write_text(folder_digest(new, origin), "utf-8")
    encoder = BertEncoder(new)
    new.rename(saved)
    return encoder
