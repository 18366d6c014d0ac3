"""Known chat models: their context windows, whether they see pictures, and the tokens of a picture."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import ceil, floor, sqrt
from typing import Any

DEFAULT_CONTEXT_WINDOW = 8_192
"""The window of unknown models: that of the smallest models in use, so that a prompt is rather too short."""

_TILE = 512
_COMMON_TILES = (85, 170)
_PATCH = 32
_COMMON_PATCHES = 1_536


def context_window(model: str, override: int | None = None) -> int:
    """Return the window of `model` in tokens: `override`, or the figure of the longest known prefix, or 8,192.

    The names of routers (`openai/gpt-4o`), Meta (`Meta-Llama-3.1…`) and fine-tuned models (`ft:gpt-4o:…`) count
    as the model itself. A server may allow less than its model (Ollama does by default): it needs an override.
    Raises ValueError for an override below 1.
    """
    if override is not None:
        if override < 1:
            raise ValueError("a context window has at least one token")
        return override
    return _look_up("windows", model)[1] or DEFAULT_CONTEXT_WINDOW


def sees(model: str, override: bool | None = None) -> bool:
    """Return True if `model` takes pictures: `override`, or the entry of the longest known prefix, or False."""
    if override is not None:
        return override
    return bool(_look_up("sees", model)[1])


def picture_tokens(model: str, width: int, height: int) -> int:
    """Estimate the tokens of a picture of this size (pixels, 1 or more) in a prompt for `model`.

    These are OpenAI's published rules, with `detail` "auto" treated as "high". An unknown model counts like GPT-4o:
    most other models take as many tokens or fewer.
    """
    patched, factor = _look_up("patches", model)
    tiled, tokens = _look_up("tiles", model)
    if len(patched) > len(tiled):
        most = _look_up("most_patches", model)[1] or _COMMON_PATCHES
        return ceil(_patches(width, height, at_most=most) * factor)
    whole, each = tokens or _COMMON_TILES
    return whole + each * _tiles(width, height)


def _patches(width: int, height: int, *, at_most: int) -> int:
    count = ceil(width / _PATCH) * ceil(height / _PATCH)
    if count <= at_most:
        return count
    scale = sqrt(_PATCH**2 * at_most / (width * height))
    across, down = width * scale / _PATCH, height * scale / _PATCH
    scale *= min(max(floor(across), 1) / across, max(floor(down), 1) / down)
    return min(ceil(width * scale / _PATCH) * ceil(height * scale / _PATCH), at_most)


def _tiles(width: int, height: int) -> int:
    """Count the tiles of a picture scaled to 2,048 × 2,048 pixels, then to a shorter side of at most 768."""
    scale = min(1.0, 2_048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return ceil(width * scale / _TILE) * ceil(height * scale / _TILE)


def _look_up(table: str, model: str) -> tuple[str, Any]:
    """Return the longest key with which the plain name of a model begins and its value, ("", None) for none."""
    name = model.lower().rsplit("/", 1)[-1].removeprefix("ft:").removeprefix("meta-")
    values = _load()[table]
    prefix = max((prefix for prefix in values if name.startswith(prefix)), key=len, default="")
    return prefix, values.get(prefix)


@cache
def _load() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(files("bot.agent").joinpath("known_models.toml").read_text("utf-8"))
