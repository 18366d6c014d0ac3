"""The built wheel in an empty environment: its locked dependencies are all that it needs."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_runs_the_library_and_the_console_with_its_locked_dependencies(tmp_path: Path) -> None:
    built, venv = tmp_path / "dist", tmp_path / "venv"
    run(
        UV,
        "build",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--out-dir",
        built,
        cwd=ROOT,
    )
    (wheel,) = built.glob("*.whl")
    packed = {name.removeprefix("bot/page/static/") for name in ZipFile(wheel).namelist()}
    page = {path.name for path in (ROOT / "bot" / "page" / "static").iterdir() if path.is_file()}
    assert page <= packed
    names = ZipFile(wheel).namelist()
    for licence in ("LICENSE", "NOTICE", "all_minilm_l6_v2/LICENSE"):
        assert any(".dist-info/" in name and name.endswith(licence) for name in names), licence
    run(UV, "venv", "--python", sys.executable, venv, cwd=tmp_path)
    here = {"VIRTUAL_ENV": str(venv)}
    run(UV, "pip", "sync", "--require-hashes", ROOT / "requirements" / "run.txt", cwd=tmp_path, **here)
    run(UV, "pip", "install", "--no-deps", "--offline", wheel, cwd=tmp_path, **here)

    said = run(venv / "bin" / "python", ROOT / "examples" / "memory_as_a_library.py", cwd=tmp_path)

    assert said.splitlines()[0] == "found: The code of the bike lock is 4711."
    assert "nothing left: True" in said
    assert "doctor" in run(venv / "bin" / "mnemogram", "--help", cwd=tmp_path)
    installed = run(UV, "pip", "list", cwd=tmp_path, **here)
    assert not {"torch", "pytest"} & {line.split()[0] for line in installed.splitlines()}
