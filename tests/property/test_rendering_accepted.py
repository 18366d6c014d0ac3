"""The simulator's strict `sendMessage` accepts rendered model output, shown on texts of the benchmark."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "rendering.py"


def test_generated_markdown_is_accepted_unchanged_and_well_split() -> None:
    run = subprocess.run(
        [
            sys.executable,
            str(BENCHMARK),
            "--count",
            "40",
            "--paragraphs",
            "300",
            "--seed",
            "8",
            "--processes",
            "1",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 refused, 0 not the same after joining" in run.stdout
