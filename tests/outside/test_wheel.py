"""The built wheel in empty environments: the memory alone, and the bot, each with what it declares."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"
EXAMPLE = ROOT / "examples" / "memory_as_a_library.py"
LOCK = ROOT / "requirements" / "run.txt"
OF_THE_BOT = {"mcp", "openai", "pydantic-settings", "python-telegram-bot", "rich", "typer"}
IMPORTS = """
import json, sys, time
began = time.perf_counter()
import memory
bare = time.perf_counter() - began
found = sorted({name.partition(".")[0] for name in sys.modules})
from memory import Memory, SyncMemory
print(json.dumps({"bare": bare, "whole": time.perf_counter() - began, "found": found}))
"""

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = ("build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", folder)
    run(UV, *build, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(params=["", "[bot]"], ids=["memory", "bot"])
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path: Path) -> tuple[str, Path]:
    """Install the wheel with its dependencies, as locked, and print the size of that."""
    venv = tmp_path / "venv"
    run(UV, "venv", "--python", sys.executable, venv, cwd=tmp_path)
    began = time.monotonic()
    what = f"mnemogram{request.param} @ {wheel.as_uri()}"
    environment = {"VIRTUAL_ENV": str(venv)}
    run(UV, "pip", "install", "--constraint", LOCK, what, cwd=tmp_path, **environment)
    seconds = time.monotonic() - began
    size = sum(path.stat().st_size for path in venv.rglob("*") if path.is_file() and not path.is_symlink())
    count = len(packages(venv, tmp_path))
    print(f"pip install mnemogram{request.param}: {count} packages, {size / 1e6:.0f} MB, {seconds:.0f} s")
    return request.param, venv


def packages(venv: Path, folder: Path) -> set[str]:
    listed = run(UV, "pip", "list", "--format", "json", cwd=folder, VIRTUAL_ENV=str(venv))
    return {each["name"] for each in json.loads(listed)}


def test_the_wheel_has_the_page_and_the_licences(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    packed = {name.removeprefix("bot/page/static/") for name in names}
    page = {path.name for path in (ROOT / "bot" / "page" / "static").iterdir() if path.is_file()}
    assert page <= packed
    assert "memory/py.typed" in names
    for licence in ("LICENSE", "NOTICE", "all_minilm_l6_v2/LICENSE"):
        assert any(".dist-info/" in name and name.endswith(licence) for name in names), licence


def test_each_kind_runs_the_library_and_the_console_as_far_as_it_is_installed(
    installed: tuple[str, Path], tmp_path: Path
) -> None:
    kind, venv = installed

    said = run(venv / "bin" / "python", EXAMPLE, cwd=tmp_path)

    assert said.splitlines()[0] == "found: The code of the bike lock is 4711."
    assert "nothing left: True" in said
    imports = json.loads(run(venv / "bin" / "python", "-c", IMPORTS, cwd=tmp_path))
    print(f"import memory: {imports['bare']:.2f} s; with Memory: {imports['whole']:.2f} s")
    assert not {"bot", "redis", "qdrant_client", "numpy"} & set(imports["found"])
    names = packages(venv, tmp_path)
    assert not {"torch", "pytest"} & names
    assert names & OF_THE_BOT == (OF_THE_BOT if kind else set())
    console = [venv / "bin" / "mnemogram", "--help"]
    done = subprocess.run(console, capture_output=True, text=True, cwd=tmp_path, check=False)
    if kind:
        assert (done.returncode, "doctor" in done.stdout) == (0, True)
    else:
        expected = 'The bot and its console are not installed: pip install "mnemogram[bot]"\n'
        assert (done.returncode, done.stdout, done.stderr) == (1, "", expected)
