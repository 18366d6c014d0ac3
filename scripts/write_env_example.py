"""Writes `.env.example` from the settings' own descriptions: `python scripts/write_env_example.py`."""

import inspect
import re
from pathlib import Path

from bot.environment import SECRETS
from bot.features.settings import AllSettings
from bot.settings import Settings

_HEAD = f"""\
# Copy to .env and set what you need; every setting may also come from the environment.
# A mounted secret: NAME_FILE is the path of the file that holds NAME, for {", ".join(map(str.upper, SECRETS))}."""
_HEADING_OR_FIELD = re.compile(r"^    (?:# (.+)|(\w+): .+)$", re.MULTILINE)


def example() -> str:
    """Return a description and a commented-out assignment with the default for each setting, under headings.

    The headings are the comments between the fields of Settings. The settings of features follow.
    """
    lines = [_HEAD]
    for heading, name in _HEADING_OR_FIELD.findall(inspect.getsource(Settings)):
        lines += ["", f"## {heading}"] if heading else _setting(name)
    lines += ["", "## Features"]
    for name in AllSettings.model_fields:
        if name not in Settings.model_fields:
            lines += _setting(name)
    return "\n".join(lines) + "\n"


def _setting(name: str) -> list[str]:
    field = AllSettings.model_fields[name]
    value = "" if field.default in (None, frozenset(), ()) else str(field.default)
    shown = value.lower() if isinstance(field.default, bool) else value
    return ["", f"# {field.description}", f"# {name.upper()}={shown}"]


if __name__ == "__main__":
    (Path(__file__).parent.parent / ".env.example").write_text(example(), "utf-8")
