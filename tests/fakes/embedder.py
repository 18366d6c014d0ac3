"""A fake embedder: a small real implementation, tested by the contract of embedders."""

import hashlib
import math
import re
from collections.abc import Sequence

from memory.characters import well_formed
from memory.recall.embedders.embedder import EmbeddingError, EmbeddingSpace


class FakeEmbedder:
    """An embedder of hashed bags of words:

    texts with shared words are near, others almost at right angles. While `failure` is set, every call
    raises it. `calls` holds the texts of each call.
    """

    def __init__(self, *, dimension: int = 64, failure: EmbeddingError | None = None) -> None:
        self.identity = EmbeddingSpace(model="fake-bag-of-words", dimension=dimension, version="1")
        self.failure = failure
        self.calls: list[list[str]] = []

    def reads(self, text: str) -> bool:
        """See `Embedder.reads`. Accepts every script."""
        return bool(text.strip())

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `Embedder.embed`. Ignores case and punctuation."""
        self.calls.append(list(texts))
        if self.failure is not None:
            raise self.failure
        return [_bag_of_words(text, self.identity.dimension) for text in texts]


def _bag_of_words(text: str, dimension: int) -> list[float]:
    vector = [0.0] * dimension
    for word in re.findall(r"\w+", well_formed(text).casefold()):
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[:4]) % dimension] += 1.0 if digest[4] % 2 else -1.0
    length = math.hypot(*vector)
    if length == 0.0:  # blank, or words that cancel each other out
        return [1.0] + [0.0] * (dimension - 1)
    return [component / length for component in vector]
