"""Writes docs/reference.md, the tables of settings, metrics and Redis keys: `python scripts/write_reference.py`."""

import re
from collections.abc import Iterator
from pathlib import Path

from bot.environment import SECRETS
from bot.features.settings import AllSettings
from bot.observe import metrics
from memory.keys import (
    CONTEXT_KEYS,
    GLOBAL_KEYS,
    PARTITION_KEYS,
    WORK_KEYS,
    ContextRef,
    context_key,
    global_key,
    partition_key,
)
from memory.transfer.backup import CARRIED

PATH = Path(__file__).parent.parent / "docs" / "reference.md"
_HEAD = """\
# Reference

Written from the code by `python scripts/write_reference.py`; a test checks that it is up to date.
"""
_SETTINGS_HEAD = f"""\
Blanks, line breaks, invisible characters and quotation marks around a value are cut. `NAME_FILE` is the path of a file\
 that holds a secret, such as `/run/secrets/openai`: {", ".join(f"`{name.upper()}_FILE`" for name in SECRETS)}."""
_KEYS_HEAD = """\
`{m0}` is the hash tag of a partition. The keys that no backup has are made again, end by\
 themselves, or belong to one store."""


def reference() -> str:
    """Return the whole document."""
    tables = [
        *("## Settings", "", _SETTINGS_HEAD, ""),
        _table(("setting", "default", "meaning"), _settings()),
        *("## Metrics", "", _table(("metric", "kind", "meaning"), _metrics())),
        *("## Redis keys", "", _KEYS_HEAD, ""),
        _table(("key", "holds", "in a backup"), _keys()),
    ]
    return "\n".join([_HEAD, *tables])


def _settings() -> Iterator[tuple[str, ...]]:
    for name, field in AllSettings.model_fields.items():
        unset = field.default in (None, frozenset(), ())
        value = "" if unset else str(field.default)
        yield (
            f"`{name.upper()}`",
            value.lower() if isinstance(field.default, bool) else value,
            field.description or "",
        )


def _metrics() -> Iterator[tuple[str, ...]]:
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", metrics.render().decode(), re.MULTILINE))
    for name, text in re.findall(r"^# HELP (\S+) (.*)$", metrics.render().decode(), re.MULTILINE):
        if name.startswith("mnemogram_") and not name.endswith("_created"):
            yield f"`{name}`", kinds[name], text


def _keys() -> Iterator[tuple[str, ...]]:
    ref = ContextRef(context_id="CONTEXT", partition=0)
    rows = [
        *((context_key(ref, name), name, kind) for name, kind in CONTEXT_KEYS.items()),
        *((context_key(ref, name), name, kind) for name, kind in WORK_KEYS.items()),
        *((partition_key(0, name), name, kind) for name, kind in PARTITION_KEYS.items()),
        *((global_key(name), name, kind) for name, kind in GLOBAL_KEYS.items()),
    ]
    for key, name, kind in rows:
        yield (
            f"`{key}:{kind.parts}`" if kind.parts else f"`{key}`",
            kind.holds,
            "yes" if name in CARRIED else "",
        )


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    PATH.write_text(reference(), "utf-8")
