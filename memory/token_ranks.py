"""OpenAI's token encodings, from the rank files in this package: nothing is downloaded."""

import lzma
from functools import cache
from importlib import resources
from itertools import accumulate, pairwise
from typing import Literal

import tiktoken

EncodingName = Literal["cl100k_base", "o200k_base"]

# The patterns and special tokens are those of tiktoken_ext.openai_public, whose own functions download.
_SPLIT_PATTERNS: dict[EncodingName, str] = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
_SPECIAL_TOKENS: dict[EncodingName, dict[str, int]] = {
    "cl100k_base": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}


@cache
def load_encoding(name: EncodingName) -> tiktoken.Encoding:
    """The encoding, kept for the life of the process. The first call takes about a quarter of a second."""
    return tiktoken.Encoding(
        name,
        pat_str=_SPLIT_PATTERNS[name],
        mergeable_ranks=read_ranks(name),
        special_tokens=_SPECIAL_TOKENS[name],
    )


def read_ranks(name: EncodingName) -> dict[bytes, int]:
    """Each token's bytes and its rank; the file's form is described in scripts/build_token_ranks.py."""
    packed = lzma.decompress(resources.files("memory").joinpath("ranks", f"{name}.xz").read_bytes())
    lengths, tokens = packed[: packed.index(0)], packed[packed.index(0) + 1 :]
    bounds = pairwise(accumulate(lengths, initial=0))
    return {tokens[start:end]: rank for rank, (start, end) in enumerate(bounds)}
