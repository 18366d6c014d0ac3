"""Token counts that are remembered: a conversation's texts come back in every prompt."""

from dataclasses import dataclass, field
from hashlib import blake2b

from memory.history.selectors import TokenCounter

_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class CachingTokenCounter:
    """A TokenCounter that counts a text once, until `max_texts` others were counted after its last use.

    It keeps no text, only a hash of each: what is forgotten elsewhere does not stay here.
    """

    counter: TokenCounter
    max_texts: int = 20_000
    _known: dict[bytes, int] = field(default_factory=dict[bytes, int], init=False, repr=False, compare=False)

    def count(self, text: str) -> int:
        """See TokenCounter."""
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
        tokens = self._known.pop(key, None)
        if tokens is None:
            tokens = self.counter.count(text)
        self._known[key] = (
            tokens  # a dict keeps the order in which keys came: the first was not used for longest
        )
        if len(self._known) > self.max_texts:
            self._known.pop(next(iter(self._known)), None)
        return tokens

    def cut_middle(self, text: str, max_tokens: int) -> str:
        """See TokenCounter."""
        return self.counter.cut_middle(text, max_tokens)
