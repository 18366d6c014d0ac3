"""Exact token counts, and texts cut to a number of tokens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tiktoken.model import encoding_name_for_model

from memory.characters import seam_after, seam_before, well_formed
from memory.token_ranks import EncodingName, load_encoding

EXACT_CHARACTERS = 100_000
"""A text up to this long is encoded in one piece.

tiktoken 0.14 panics, with an error that `except Exception` does not see, on a run of 1,000,000 blanks.
"""

# Read backwards: the last space that follows a non-blank. No split pattern reaches over that place, so two
# texts divided there have as many tokens as one.
_SAFE_CUT_BACKWARDS = re.compile(r" (?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """Counts tokens as one encoding does. Text like `<|endoftext|>` is plain text; a lone surrogate is U+FFFD.

    The encoding is loaded at the first use, or by `load`.
    """

    encoding: EncodingName

    def load(self) -> None:
        """Loads the encoding now, so that no turn waits for it."""
        load_encoding(self.encoding)

    def count(self, text: str) -> int:
        """The number of tokens of `text`, without any message overhead.

        Exact up to `EXACT_CHARACTERS`, and beyond where the text has spaces; a longer word or run of blanks
        is counted in pieces, which can be off by a few tokens for each 100,000 characters.
        """
        return len(self._encode(text))

    def head(self, text: str, max_tokens: int) -> str:
        """The longest beginning of `text` found to have at most `max_tokens`; "" for 0 or less."""
        tokens = self._encode(text)
        if len(tokens) <= max_tokens:
            return text
        text = well_formed(text)
        kept = max_tokens
        while kept > 0:
            beginning = text[: self._head_end(text, tokens, kept)]
            excess = self.count(beginning) - max_tokens
            if excess <= 0:
                return beginning
            kept -= excess
        return ""

    def cut_middle(self, text: str, max_tokens: int, mark: str = " […] ") -> str:
        """`text` itself if it fits, else its head, `mark` and its tail, in at most `max_tokens` together.

        Head and tail get half of the room each. Where there is no room beside the mark: the head alone.
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
        return [token for piece in _pieces(text) for token in encoding.encode_ordinary(piece)]

    def _head_end(self, text: str, tokens: list[int], count: int) -> int:
        # A character may be spread over tokens: the bytes of one that is not whole are left out.
        head = load_encoding(self.encoding).decode_bytes(tokens[:count]).decode(errors="ignore")
        return seam_before(text, len(head))

    def _tail_start(self, text: str, tokens: list[int], count: int) -> int:
        tail = (
            load_encoding(self.encoding).decode_bytes(tokens[len(tokens) - count :]).decode(errors="ignore")
        )
        return seam_after(text, len(text) - len(tail))


def tokenizer_for(model: str) -> Tokenizer:
    """The tokenizer of a model, by tiktoken's table of model names.

    `openai/gpt-4o` (a router's name) and `ft:gpt-4o:…` (a fine-tuned one) count as gpt-4o. A model that the
    table does not have, and the retired ones with older encodings, get o200k_base: an estimate for them.
    """
    base = model.lower().rsplit("/", 1)[-1].removeprefix("ft:").split(":", 1)[0]
    try:
        known = encoding_name_for_model(base)
    except KeyError:
        known = "o200k_base"
    return Tokenizer(encoding="cl100k_base" if known == "cl100k_base" else "o200k_base")


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
