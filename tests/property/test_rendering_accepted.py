"""What a model may write is taken by the simulator's strict `sendMessage`: some of the benchmark's texts."""

import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "rendering.py"


def test_generated_markdown_is_never_refused_changed_or_cut_badly() -> None:
    run = subprocess.run(
        [sys.executable, str(BENCHMARK), "--count", "40", "--seed", "8", "--processes", "1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 refused, 0 not the same after joining" in run.stdout
