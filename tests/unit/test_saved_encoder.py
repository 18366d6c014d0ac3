"""The encoder's files under the data directory: saved once, checked, and replaced if they are not ours."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from safetensors.numpy import (
    save_file,  # pyright: ignore[reportUnknownVariableType] - it says bare PathLike
)
from structlog.testing import capture_logs

from memory.embedded.guardian import open_lock, try_lock
from memory.recall.embedders import saved_encoder
from memory.recall.embedders.bert_encoder import BertEncoder, read_checkpoint
from memory.recall.embedders.saved_encoder import open_saved_encoder
from tests.unit.test_bert_encoder import SMALL, tensors

TEXT = [3, 9, 2]


@dataclass
class Saves:
    """Saves a small model, and counts how often."""

    checkpoint: Path
    folders: list[Path] = field(default_factory=list[Path])

    def __call__(self, folder: Path) -> None:
        self.folders.append(folder)
        read_checkpoint(self.checkpoint, SMALL).save(folder)


@pytest.fixture
def saves(tmp_path: Path) -> Saves:
    path = tmp_path / "small.safetensors"
    save_file(tensors(), path)
    return Saves(path)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


def model_in(data_dir: Path) -> Path:
    (model,) = (data_dir / "embedder").glob("model*")
    return model


@pytest.fixture
def vector(saves: Saves, tmp_path: Path) -> list[float]:
    folder = tmp_path / "beside"
    folder.mkdir()
    read_checkpoint(saves.checkpoint, SMALL).save(folder)
    return BertEncoder(folder).embed([TEXT])[0]


def test_it_is_saved_once_and_private(data_dir: Path, saves: Saves, vector: list[float]) -> None:
    for _ in range(3):
        assert open_saved_encoder(data_dir, "v1", saves).embed([TEXT]) == [vector]

    assert len(saves.folders) == 1
    assert [path.stat().st_mode & 0o777 for path in (data_dir, data_dir / "embedder")] == [0o700] * 2


@pytest.mark.parametrize("name", ["model.bin", "config.json", "vocabulary.json", "digest"])
@pytest.mark.parametrize("damage", ["cut", "changed", "missing", "empty", "not text"])
def test_damaged_files_are_replaced(
    data_dir: Path, saves: Saves, vector: list[float], name: str, damage: str
) -> None:
    open_saved_encoder(data_dir, "v1", saves)
    path = model_in(data_dir) / name
    whole = path.read_bytes()
    changed = bytes([*whole[:-1], whole[-1] ^ 1])
    path.unlink()
    if damage != "missing":
        path.write_bytes(
            {"cut": whole[:-1], "changed": changed, "empty": b"", "not text": b"\xff" + whole}[damage]
        )

    assert open_saved_encoder(data_dir, "v1", saves).embed([TEXT]) == [vector]
    assert len(saves.folders) == 2
    assert open_saved_encoder(data_dir, "v1", saves).embed([TEXT]) == [vector]
    assert len(saves.folders) == 2


def test_files_of_another_origin_and_leftovers_are_replaced(data_dir: Path, saves: Saves) -> None:
    open_saved_encoder(data_dir, "v1", saves)
    (data_dir / "embedder" / "tmp1").mkdir()
    (data_dir / "embedder" / "tmp1" / "model.bin").write_bytes(b"half")

    open_saved_encoder(data_dir, "v2", saves)

    assert len(saves.folders) == 2
    assert {path.name for path in (data_dir / "embedder").iterdir()} == {"lock", model_in(data_dir).name}


def test_a_failure_of_the_package_leaves_the_next_start_a_clean_folder(data_dir: Path, saves: Saves) -> None:
    def fail(folder: Path) -> None:
        (folder / "model.bin").write_bytes(b"half")
        raise ValueError("damaged")

    with pytest.raises(ValueError, match="damaged"):
        open_saved_encoder(data_dir, "v1", fail)

    open_saved_encoder(data_dir, "v1", saves)
    assert {path.name for path in (data_dir / "embedder").iterdir()} == {"lock", model_in(data_dir).name}


def test_without_a_writable_folder_it_is_saved_for_this_start_only(
    data_dir: Path, saves: Saves, vector: list[float]
) -> None:
    data_dir.write_bytes(b"a file, not a folder")

    with capture_logs() as logs:
        encoder = open_saved_encoder(data_dir, "v1", saves)

    assert encoder.embed([TEXT]) == [vector]
    assert [line["event"] for line in logs] == ["embedder_not_saved"]
    assert not saves.folders[0].exists()


def test_a_whole_one_is_only_read(data_dir: Path, saves: Saves, vector: list[float]) -> None:
    """Then a read-only folder serves, and nobody waits for another start."""
    open_saved_encoder(data_dir, "v1", saves)
    model, lock = model_in(data_dir), data_dir / "embedder" / "lock"
    folders = (model, model.parent, data_dir)
    for folder in folders:
        folder.chmod(0o500)

    with held(lock), capture_logs() as logs:
        encoder = open_saved_encoder(data_dir, "v1", saves)

    assert encoder.embed([TEXT]) == [vector]
    assert (len(saves.folders), logs) == (1, [])
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o500] * 3


def test_a_start_that_never_ends_does_not_stop_the_next(
    data_dir: Path, saves: Saves, vector: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_encoder, "PATIENCE_S", 0.1)
    open_saved_encoder(data_dir, "v1", saves)

    with held(data_dir / "embedder" / "lock"), capture_logs() as logs:
        encoder = open_saved_encoder(data_dir, "v2", saves)

    assert encoder.embed([TEXT]) == [vector]
    assert [line["event"] for line in logs] == ["embedder_not_saved"]
    assert not saves.folders[1].exists()


def test_a_whole_one_that_the_library_cannot_open_is_saved_again(
    data_dir: Path, saves: Saves, vector: list[float]
) -> None:
    open_saved_encoder(data_dir, "v1", saves)
    model = model_in(data_dir)
    (model / "model.bin").write_bytes(b"of another time")
    (model / "digest").write_text(saved_encoder.folder_digest(model, "v1"))

    assert open_saved_encoder(data_dir, "v1", saves).embed([TEXT]) == [vector]
    assert len(saves.folders) == 2


def test_one_that_the_library_cannot_open_is_not_kept(
    data_dir: Path, saves: Saves, vector: list[float]
) -> None:
    def save_badly(folder: Path) -> None:
        saves(folder)
        (folder / "model.bin").write_bytes(b"no model")

    with pytest.raises(RuntimeError):
        open_saved_encoder(data_dir, "v1", save_badly)

    assert open_saved_encoder(data_dir, "v1", saves).embed([TEXT]) == [vector]


@pytest.mark.parametrize("kind", ["link to a folder", "link to nothing", "file"])
def test_what_lies_in_its_place_is_replaced(
    data_dir: Path, saves: Saves, tmp_path: Path, vector: list[float], kind: str
) -> None:
    open_saved_encoder(data_dir, "v1", saves)
    model, beside = model_in(data_dir), tmp_path / "beside" / "model.bin"
    shutil.rmtree(model)
    if kind == "file":
        model.write_bytes(b"a file")
    else:
        model.symlink_to(beside.parent if kind == "link to a folder" else tmp_path / "nothing")

    for _ in range(2):
        assert open_saved_encoder(data_dir, "v1", saves).embed([TEXT]) == [vector]

    assert len(saves.folders) == 2
    assert beside.exists()


@contextmanager
def held(path: Path) -> Generator[None]:
    lock = open_lock(path)
    assert try_lock(lock)
    try:
        yield
    finally:
        os.close(lock)


PROGRAM = """
import sys
from pathlib import Path
from memory.recall.embedders.bert_encoder import read_checkpoint
from memory.recall.embedders.saved_encoder import open_saved_encoder
from tests.unit.test_bert_encoder import SMALL

def save(folder):
    print("saved")
    read_checkpoint(Path(sys.argv[2]), SMALL).save(folder)

sys.stdin.read(1)
assert len(open_saved_encoder(Path(sys.argv[1]), "v1", save).embed([[3, 9, 2]])[0]) == 8
"""


def test_processes_that_start_together_save_it_once(data_dir: Path, saves: Saves) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM, str(data_dir), str(saves.checkpoint)]
    started = [
        subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("x")
        process.stdin.flush()

    printed = [process.communicate(timeout=60)[0] for process in started]

    assert [process.returncode for process in started] == [0] * 4
    assert "".join(printed) == "saved\n"
    shutil.rmtree(data_dir)
