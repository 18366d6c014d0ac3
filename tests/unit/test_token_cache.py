"""A text is counted once, and not kept."""

import pickle
from dataclasses import dataclass, field

from memory.token_cache import CachingTokenCounter
from tests.messages import WordTokenizer


@dataclass(slots=True)
class NotingCounter:
    """Counts words, and notes what it was asked."""

    asked: list[str] = field(default_factory=list[str])

    def count(self, text: str) -> int:
        self.asked.append(text)
        return WordTokenizer().count(text)

    def cut_middle(self, text: str, max_tokens: int) -> str:
        return WordTokenizer().cut_middle(text, max_tokens)


def test_a_text_is_counted_once() -> None:
    counter = NotingCounter()
    caching = CachingTokenCounter(counter)

    counts = [caching.count(text) for text in ("one two", "", "one two", "", "\ud800")]

    assert counts == [2, 0, 2, 0, 1]
    assert counter.asked == ["one two", "", "\ud800"]


def test_the_text_that_was_not_used_for_longest_is_forgotten_first() -> None:
    counter = NotingCounter()
    caching = CachingTokenCounter(counter, max_texts=2)

    for text in ("a", "b", "a", "c", "a", "b"):
        caching.count(text)

    assert counter.asked == ["a", "b", "c", "b"]


def test_no_text_is_kept() -> None:
    caching = CachingTokenCounter(WordTokenizer())

    caching.count("a secret of mine")

    assert b"secret" not in pickle.dumps(caching)


def test_texts_are_cut_as_the_counter_cuts_them() -> None:
    assert CachingTokenCounter(WordTokenizer()).cut_middle("a b c d e f", 3) == "a […] f"
