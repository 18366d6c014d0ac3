"""docs/library.md: its programs run as they stand, and its tables name every method and argument."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from memory import Chat, Memory, PromptMemory

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "library.md").read_text("utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
SAID = ["nothing left: True", "messages: 1", "indexed: 1"]


@pytest.mark.parametrize("number", range(len(SAID)))
def test_a_program_runs_on_embedded_stores(number: int, tmp_path: Path) -> None:
    assert len(PROGRAMS) == len(SAID)
    program = PROGRAMS[number]
    if "await " in program:
        program = f"import asyncio\nasync def main():\n{indent(program, '    ')}\nasyncio.run(main())"
    said = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert said.stderr == ""
    assert said.stdout.splitlines()[-1] == SAID[number]
    assert number or said.stdout.startswith("My sister lives in Lisbon. ")


@pytest.mark.parametrize("kind", [Memory, Chat])
def test_every_method_and_argument_has_its_place_in_a_table(kind: type) -> None:
    rows = "\n".join(line for line in TEXT.splitlines() if line.startswith("|"))
    for name, method in inspect.getmembers(kind):
        if name.startswith("_") or not inspect.isroutine(method):
            continue
        assert name == "open" or re.search(rf"`{name}\(", rows), name
        for argument, about in inspect.signature(method).parameters.items():
            is_named = about.kind is inspect.Parameter.KEYWORD_ONLY
            assert not is_named or re.search(rf"\b{argument}\b", rows), f"{name}({argument})"


def test_the_parts_of_a_context_are_named() -> None:
    for name in (*PromptMemory.__dataclass_fields__, "text", "messages"):
        assert f"`{name}`" in TEXT
