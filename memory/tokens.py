"""Exact token counts, and texts cut to a number of tokens. Nothing is downloaded: this package has the rank files."""

import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import accumulate, pairwise
from secrets import token_hex
from typing import Literal

import tiktoken
from tiktoken.model import encoding_name_for_model

from memory.characters import seam_after, seam_before, well_formed
from memory.history.selectors import TokenCounter

EncodingName = Literal["cl100k_base", "o200k_base"]

EXACT_CHARACTERS = 100_000
"""Longest text that is encoded in one piece.

tiktoken 0.14 panics on a run of 1,000,000 blanks, with an error that `except Exception` does not catch.
"""

# Applied to the reversed text: finds the last space after a non-blank. No split pattern crosses that place, so two
# texts divided there have as many tokens as one.
_SAFE_CUT_BACKWARDS = re.compile(r" (?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """Counts tokens as one encoding does. Text like `<|endoftext|>` is plain text; a lone surrogate is U+FFFD.

    The encoding is loaded at the first use, or by `load`.
    """

    encoding: EncodingName

    def load(self) -> None:
        """Load the encoding now, so that no turn waits for it."""
        load_encoding(self.encoding)

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, without any message overhead.

        The count is exact up to `EXACT_CHARACTERS`, and beyond if the text has spaces. A longer word or run
        of blanks is counted in pieces, which can be off by a few tokens for each 100,000 characters.
        """
        return len(self._encode(text))

    def head(self, text: str, max_tokens: int) -> str:
        """Return the longest beginning of `text` that has at most `max_tokens`; "" for 0 or less."""
        tokens = self._encode(text)
        if len(tokens) <= max_tokens:
            return text
        text = well_formed(text)
        size = max_tokens
        while size > 0:
            beginning = text[: self._head_end(text, tokens, size)]
            excess = self.count(beginning) - max_tokens
            if excess <= 0:
                return beginning
            size -= excess
        return ""

    def cut_middle(self, text: str, max_tokens: int, mark: str = " […] ") -> str:
        """Return `text` if it fits, else its head, `mark` and its tail, in at most `max_tokens` together.

        Head and tail get half of the room each. If the mark leaves no room, return the head alone.
        """
        tokens = self._encode(text)
        if len(tokens) <= max_tokens:
            return text
        text = well_formed(text)
        room = max_tokens - self.count(mark)
        while room > 0:
            head_end = self._head_end(text, tokens, room - room // 2)
            tail_start = self._tail_start(text, tokens, room // 2)
            cut = text[:head_end] + mark + text[tail_start:]
            excess = self.count(cut) - max_tokens
            if excess <= 0:
                return cut
            room -= excess
        return self.head(text, max_tokens)

    def _encode(self, text: str) -> list[int]:
        encoding = load_encoding(self.encoding)
        if len(text) <= EXACT_CHARACTERS:
            return encoding.encode_ordinary(text)
        return [token for piece in _pieces(text) for token in encoding.encode_ordinary(piece)]

    def _head_end(self, text: str, tokens: list[int], count: int) -> int:
        # A character may span several tokens; `ignore` drops the bytes of an incomplete one.
        head = load_encoding(self.encoding).decode_bytes(tokens[:count]).decode(errors="ignore")
        return seam_before(text, len(head))

    def _tail_start(self, text: str, tokens: list[int], count: int) -> int:
        tail = (
            load_encoding(self.encoding).decode_bytes(tokens[len(tokens) - count :]).decode(errors="ignore")
        )
        return seam_after(text, len(text) - len(tail))


def tokenizer_for(model: str) -> Tokenizer:
    """Return the tokenizer of a model, by tiktoken's table of model names.

    `openai/gpt-4o` (a router's name) and `ft:gpt-4o:…` (a fine-tuned model) count as gpt-4o. Models that
    are not in the table, and retired ones with older encodings, get o200k_base as an estimate.
    """
    base = model.lower().rsplit("/", 1)[-1].removeprefix("ft:").split(":", 1)[0]
    try:
        name = encoding_name_for_model(base)
    except KeyError:
        name = "o200k_base"
    return Tokenizer(encoding="cl100k_base" if name == "cl100k_base" else "o200k_base")


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > EXACT_CHARACTERS:
        end = start + EXACT_CHARACTERS
        safe = _SAFE_CUT_BACKWARDS.search(text[start:end][::-1])
        if safe and safe.end() < EXACT_CHARACTERS:
            end -= safe.end()
        yield text[start:end]
        start = end
    yield text[start:]


# Copied from tiktoken_ext.openai_public, whose own functions download the ranks.
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


@cache
def load_encoding(name: EncodingName) -> tiktoken.Encoding:
    """Return the encoding and keep it for the life of the process. The first call takes about 0.25 s."""
    ranks = read_ranks(name)
    # No special tokens: their text is plain text here.
    encoding = tiktoken.Encoding(
        name, pat_str=_SPLIT_PATTERNS[name], mergeable_ranks=ranks, special_tokens={}
    )
    ranks.clear()  # tiktoken 0.14 keeps this dict and copies it: 25 of 70 MB. What we call reads the copy.
    return encoding


def read_ranks(name: EncodingName) -> dict[bytes, int]:
    """Return the rank of each token's bytes. scripts/build_token_ranks.py describes the file format."""
    packed = lzma.decompress(resources.files("memory").joinpath("ranks", f"{name}.xz").read_bytes())
    lengths, tokens = packed[: packed.index(0)], packed[packed.index(0) + 1 :]
    bounds = pairwise(accumulate(lengths, initial=0))
    return {tokens[start:end]: rank for rank, (start, end) in enumerate(bounds)}


@dataclass(frozen=True, slots=True)
class CachingTokenCounter:
    """A TokenCounter that remembers counts, because a conversation's texts come back in every prompt.

    It keeps the `max_texts` that were counted last. It stores a hash of each text, never the text itself: Python's
    own of 64 bits, with a secret beginning, because PYTHONHASHSEED may be known. (blake2b takes five times as long.)
    """

    counter: TokenCounter
    max_texts: int = 20_000
    _secret: str = field(default_factory=token_hex, init=False, repr=False, compare=False)
    _counts: dict[int, int] = field(default_factory=dict[int, int], init=False, repr=False, compare=False)

    def count(self, text: str) -> int:
        """See TokenCounter."""
        key, counts = hash(self._secret + text), self._counts
        tokens = counts.pop(key, None)
        if tokens is None:
            tokens = self.counter.count(text)
            if len(counts) >= self.max_texts:
                counts.pop(next(iter(counts)), None)
        counts[key] = tokens  # dicts keep insertion order: the first key is the least recently used
        return tokens

    def cut_middle(self, text: str, max_tokens: int) -> str:
        """See TokenCounter."""
        return self.counter.cut_middle(text, max_tokens)
