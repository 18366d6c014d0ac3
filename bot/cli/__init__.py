"""The console, `mnemogram` on the command line. Heavy modules are imported only by the commands that need them."""

import gc
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

_OF_THE_BOT = ("typer", "telegram", "openai", "pydantic_settings")
_YOUNG_OBJECTS = 10_000
"""New objects after which cycles are looked for. Python's default of 700 takes 0.2 s of a start, 1.1 ms of a turn."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and end the process with status 0 (done), 1 (failed) or 2 (wrong use or settings)."""
    if not all(map(find_spec, _OF_THE_BOT)):
        sys.exit('The bot and its console are not installed: pip install "mnemogram[bot]"')
    gc.set_threshold(_YOUNG_OBJECTS)
    from bot.cli.console import build_console
    from bot.cli.failures import report
    from bot.cli.output import tolerate_any_terminal

    tolerate_any_terminal()
    try:
        build_console()(arguments, prog_name="mnemogram")
    except Exception as error:  # noqa: BLE001 — the last boundary: an operator gets a line, not a traceback
        sys.exit(report(error))
    sys.exit(0)
