"""Known chat models: their context windows, whether they see pictures, and the tokens of a picture (pure)."""

from collections.abc import Collection
from math import ceil, floor, sqrt

DEFAULT_CONTEXT_WINDOW = 8_192
"""The window of unknown models: that of the smallest models in use, so that a prompt is rather too short."""

# If a vendor limits the prompt to a part of its window (gpt-5: 272,000 of 400,000), the table has the prompt's
# limit. If hosts or sizes of one family differ, it has the smaller usual figure.
# OpenAI's figures: its model pages (developers.openai.com/api/docs/models), as collected in LiteLLM 1.109's
# public table `model_prices_and_context_window.json` (max_input_tokens), which the others come from too.
_OPENAI = {
    "gpt-3.5-turbo": 16_385,
    "gpt-3.5-turbo-0613": 4_096,
    "gpt-35-turbo": 16_385,  # as Azure spells it
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-0125": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "chatgpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.5": 128_000,
    "gpt-5": 272_000,
    "gpt-5-chat": 128_000,
    "gpt-5.1-chat": 128_000,
    "gpt-5.2-chat": 128_000,
    "gpt-5.3-chat": 128_000,
    # 1,050,000 less 128,000 for the answer. LiteLLM has the first figure for 5.4 and 5.5, the result for 5.6.
    "gpt-5.4": 922_000,
    "gpt-5.4-mini": 272_000,
    "gpt-5.4-nano": 272_000,
    "gpt-5.5": 922_000,
    "gpt-5.6": 922_000,
    "gpt-5.6-cyber": 400_000,
    "gpt-6": 922_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4-mini": 200_000,
}
_OPEN_AND_OTHERS = {
    "gpt-oss": 131_072,
    "llama3": 8_192,
    "llama-3": 8_192,
    "llama3.1": 131_072,
    "llama3.2": 131_072,
    "llama3.3": 131_072,
    "llama-3.1": 131_072,
    "llama-3.2": 131_072,
    "llama-3.3": 131_072,
    "llama4": 131_072,
    "llama-4": 131_072,
    "qwen2": 32_768,
    "qwen-2": 32_768,
    "qwen3": 32_768,
    "qwen-3": 32_768,
    "qwen3-coder": 131_072,
    "qwen3-next": 131_072,
    "qwen3.5": 262_144,
    "qwen3.6": 262_144,
    "qwen3.7": 262_144,
    "qwen3.8": 262_144,
    "mistral-7b": 32_768,
    "mistral-nemo": 128_000,
    "open-mistral-nemo": 128_000,
    "mistral-small": 32_000,
    "mistral-medium": 128_000,
    "mistral-large": 32_000,
    "mistral-large-3": 256_000,
    "ministral": 128_000,
    "mixtral-8x7b": 32_768,
    "mixtral-8x22b": 65_536,
    "gemma2": 8_192,
    "gemma-2": 8_192,
    "gemma3": 128_000,
    "gemma-3": 128_000,
    "gemma3:1b": 32_768,  # its model card
    "gemma-3-1b": 32_768,
    "gemma-4": 131_072,
    "gemma4": 131_072,
    "phi-3": 4_096,
    "phi-3.5": 128_000,
    "phi-4": 16_384,
    "phi-4-mini": 131_072,
    "deepseek-chat": 131_072,
    "deepseek-reasoner": 131_072,
    "deepseek-r1": 65_536,
    "deepseek-v3": 65_536,
    "deepseek-v4": 1_000_000,
    "kimi-k2": 131_072,
    "kimi-k2.5": 262_144,
    "kimi-k2.6": 262_144,
    "kimi-k3": 1_000_000,
    "glm-4.5": 128_000,
    "glm-4.6": 200_000,
    "glm-4.7": 200_000,
    "glm-5": 200_000,
    "command-r": 128_000,
    "claude-haiku-4-5": 200_000,
    "claude-opus-4": 200_000,
    "claude-sonnet-4": 200_000,
    "claude-3": 200_000,
    "gemini-2.5": 1_048_576,
    "gemini-3": 1_048_576,
}
_KNOWN = _OPENAI | _OPEN_AND_OTHERS

# The longest known prefix decides. OpenAI's: its model pages ("image input"); the others: their model cards.
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
# Tokens of a whole picture and of each 512-pixel tile (OpenAI, "Images and vision", section "Calculating costs").
_TILES = {
    "gpt-4o-mini": (2_833, 5_667),
    "o1": (75, 150),
    "o3": (75, 150),
    "gpt-5": (70, 140),
}
_COMMON_TILES = (85, 170)
# The factor for each 32-pixel patch (the same section). A picture with over 1,536 patches is scaled down.
_PATCHES = {
    "gpt-4.1-mini": 1.62,
    "gpt-4.1-nano": 2.46,
    "o4-mini": 1.72,
    "gpt-5-mini": 1.62,
    "gpt-5-nano": 2.46,
    "gpt-5.4-mini": 1.62,
    "gpt-5.4-nano": 2.46,
    # Since 5.4 pictures may keep their "original" size, up to 10,000 patches. 1.2 was measured with newer models
    # (OpenAI's forum, June 2026). Both figures are high, so that a prompt is rather too short.
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
    return _KNOWN.get(_longest_prefix(_KNOWN, model), DEFAULT_CONTEXT_WINDOW)


def sees(model: str, override: bool | None = None) -> bool:
    """Return True if `model` takes pictures: `override`, or the entry of the longest known prefix, or False."""
    if override is not None:
        return override
    return _SEES.get(_longest_prefix(_SEES, model), False)


def picture_tokens(model: str, width: int, height: int) -> int:
    """Estimate the tokens of a picture of this size (pixels, 1 or more) in a prompt for `model`.

    These are OpenAI's published rules, with `detail` "auto" treated as "high". An unknown model counts like GPT-4o:
    most other models take as many tokens or fewer.
    """
    patches, tiles = _longest_prefix(_PATCHES, model), _longest_prefix(_TILES, model)
    if len(patches) > len(tiles):
        most = _MOST_PATCHES.get(_longest_prefix(_MOST_PATCHES, model), _USUAL_PATCHES)
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
    """Count the tiles of a picture scaled to 2,048 × 2,048 pixels, then to a shorter side of at most 768."""
    scale = min(1.0, 2_048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return ceil(width * scale / _TILE) * ceil(height * scale / _TILE)


def _longest_prefix(table: Collection[str], model: str) -> str:
    """Return the longest key of a table with which the plain name of a model begins, "" for none."""
    name = model.lower().rsplit("/", 1)[-1].removeprefix("ft:").removeprefix("meta-")
    return max((prefix for prefix in table if name.startswith(prefix)), key=len, default="")
