"""A tool with a side effect on disk: how often and when it ran for each call of the model."""

from collections import defaultdict
from pathlib import Path

_AGENTS = """
[agent]
name = "Witnessed"
prompt = "You answer."
tools = ["effect_tool:note_call"]
"""
_TOOL = '''"""The tool of the fault tests: it leaves a line for each time that it runs."""

import os
import time

_FILE = os.path.join(os.path.dirname(__file__), "effects.log")


def note_call(call: str) -> str:
    """Note a call."""
    line = f"{time.time()} {call}\\n".encode()
    file = os.open(_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, line)
    os.close(file)
    return "noted"
'''


def agents_with_effects(directory: Path) -> str:
    """Write an AGENTS_FILE into this folder whose agent has the tool `note_call`."""
    (directory / "effect_tool.py").write_text(_TOOL)
    agents = directory / "agents.toml"
    agents.write_text(_AGENTS)
    return str(agents)


def effects(directory: Path) -> dict[str, list[float]]:
    """Return the times at which the tool ran for each call.

    They are written before the product can know of it.
    """
    ran: dict[str, list[float]] = defaultdict(list)
    log = directory / "effects.log"
    for line in log.read_text().splitlines() if log.exists() else ():
        at, _, call = line.partition(" ")
        ran[call].append(float(at))
    return ran
