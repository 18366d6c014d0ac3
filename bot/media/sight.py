"""Which chat models see pictures, and what a picture takes of their window (pure)."""

from math import ceil, floor, sqrt

# Longest known prefix decides, as for windows. OpenAI's: its model pages ("image input"); the others' model cards.
_SEES = {
    "gpt-3.5": False,
    "gpt-35": False,
    "gpt-4": False,
    "gpt-4-turbo": True,
    "gpt-4-vision": True,
    "gpt-4-1106-vision": True,
    "gpt-4-0125": False,
    "gpt-4-1106": False,
    "gpt-4o": True,
    "chatgpt-4o": True,
    "gpt-4o-audio": False,
    "gpt-4o-mini-audio": False,
    "gpt-4.1": True,
    "gpt-4.5": True,
    "gpt-5": True,
    "gpt-6": True,
    "gpt-oss": False,
    "o1": True,
    "o1-mini": False,
    "o1-preview": False,
    "o3": True,
    "o3-mini": False,
    "o4-mini": True,
    "llama-3.2-11b": True,
    "llama-3.2-90b": True,
    "llama3.2-vision": True,
    "llama4": True,
    "llama-4": True,
    "llava": True,
    "gemma3": True,
    "gemma-3": True,
    "gemma3:1b": False,
    "gemma3:270m": False,
    "gemma-3-1b": False,
    "gemma-3-270m": False,
    "gemma4": True,
    "gemma-4": True,
    "qwen2-vl": True,
    "qwen2.5-vl": True,
    "qwen2.5vl": True,
    "qwen3-vl": True,
    "qwen3.5": True,
    "pixtral": True,
    "mistral-small3.1": True,
    "mistral-small3.2": True,
    "mistral-medium": True,
    "mistral-large-3": True,
    "minicpm-v": True,
    "kimi-k2.5": True,
    "claude-": True,
    "gemini-": True,
}

_TILE = 512
_PATCH = 32
# OpenAI, "Images and vision", section "Calculating costs": tokens of the whole picture, and of each 512-pixel tile.
_TILES = {
    "gpt-4o-mini": (2_833, 5_667),
    "o1": (75, 150),
    "o3": (75, 150),
    "gpt-5": (70, 140),
}
_COMMON_TILES = (85, 170)
# The same section: 32-pixel patches, each counted so many times; of more than 1,536 the picture is scaled down.
_PATCHES = {
    "gpt-4.1-mini": 1.62,
    "gpt-4.1-nano": 2.46,
    "o4-mini": 1.72,
    "gpt-5-mini": 1.62,
    "gpt-5-nano": 2.46,
    "gpt-5.4-mini": 1.62,
    "gpt-5.4-nano": 2.46,
    # From 5.4 on pictures may be taken in their "original" size, of up to 10,000 patches. 1.2 is what people measured
    # of newer models (OpenAI's forum, June 2026). Both are at the upper end, so that a prompt rather is too short.
    "gpt-5.4": 1.2,
    "gpt-5.5": 1.2,
    "gpt-5.6": 1.2,
    "gpt-6": 1.2,
}
_MOST_PATCHES = {
    "gpt-5.4": 10_000,
    "gpt-5.4-mini": 1_536,
    "gpt-5.4-nano": 1_536,
    "gpt-5.5": 10_000,
    "gpt-5.6": 10_000,
    "gpt-6": 10_000,
}
_USUAL_PATCHES = 1_536


def sees(model: str, override: bool | None = None) -> bool:
    """Whether `model` takes pictures: `override` when given, else by the longest known prefix; no unknown one does."""
    if override is not None:
        return override
    return _SEES.get(_longest(_SEES, _family(model)), False)


def picture_tokens(model: str, width: int, height: int) -> int:
    """About how many tokens a picture of this size (pixels, 1 or more) takes in a prompt for `model`.

    OpenAI's published rules, with `detail` "auto" taken for "high"; an unknown model is taken for GPT-4o, whose rule
    gives what most others take, or more.
    """
    family = _family(model)
    patches, tiles = _longest(_PATCHES, family), _longest(_TILES, family)
    if len(patches) > len(tiles):
        most = _MOST_PATCHES.get(_longest(_MOST_PATCHES, family), _USUAL_PATCHES)
        return ceil(_patches(width, height, at_most=most) * _PATCHES[patches])
    whole, each = _TILES.get(tiles, _COMMON_TILES)
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
    """Of a picture scaled into 2,048 × 2,048 pixels, then until its shorter side has at most 768."""
    scale = min(1.0, 2_048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return ceil(width * scale / _TILE) * ceil(height * scale / _TILE)


def _family(model: str) -> str:
    return model.lower().rsplit("/", 1)[-1].removeprefix("ft:").removeprefix("meta-")


def _longest(
    known: dict[str, bool] | dict[str, float] | dict[str, int] | dict[str, tuple[int, int]], family: str
) -> str:
    return max((prefix for prefix in known if family.startswith(prefix)), key=len, default="")
