"""Token counts against tiktoken's own tables, and the texts that break tokenizers."""

import base64
import hashlib
import pickle
import socket
import time
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from tiktoken_ext import openai_public

from memory.tokens import (
    EXACT_CHARACTERS,
    CachingTokenCounter,
    EncodingName,
    Tokenizer,
    load_encoding,
    read_ranks,
    tokenizer_for,
)
from tests.messages import WordTokenizer

ENCODINGS: tuple[EncodingName, ...] = ("cl100k_base", "o200k_base")
O200K = Tokenizer(encoding="o200k_base")
CL100K = Tokenizer(encoding="cl100k_base")


@pytest.fixture(params=ENCODINGS)
def encoding_name(request: pytest.FixtureRequest) -> EncodingName:
    return request.param


def test_the_shipped_encoding_is_the_published_one(
    encoding_name: EncodingName, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[str] = []

    def shipped_ranks(address: str, expected_hash: str) -> dict[bytes, int]:
        published.append(expected_hash)
        return read_ranks(encoding_name)

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", shipped_ranks)
    definition = cast(dict[str, Any], openai_public.ENCODING_CONSTRUCTORS[encoding_name]())
    ours = load_encoding(encoding_name)

    assert [hashlib.sha256(_rank_file(definition["mergeable_ranks"])).hexdigest()] == published
    pattern = ours._pat_str  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - no public name
    assert pattern == definition["pat_str"]


def _rank_file(ranks: dict[bytes, int]) -> bytes:
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())


def test_an_encoding_loads_offline(encoding_name: EncodingName, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)

    encoding = load_encoding.__wrapped__(encoding_name)

    assert encoding.encode_ordinary("hello world") == load_encoding(encoding_name).encode_ordinary(
        "hello world"
    )


@pytest.mark.parametrize(
    ("text", "cl100k", "o200k"),
    [
        ("", 0, 0),
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("お誕生日おめでとう", 9, 8),
        ("2 + 2 = 4", 7, 7),
    ],
)
def test_counts_agree_with_those_in_openais_cookbook(text: str, cl100k: int, o200k: int) -> None:
    assert (CL100K.count(text), O200K.count(text)) == (cl100k, o200k)


def test_m08_special_tokens_in_text_are_plain_text() -> None:
    assert O200K.count("<|endoftext|>") == 7
    assert O200K.cut_middle("<|endoftext|>" * 50, 40).startswith("<|endoftext|>")


@pytest.mark.parametrize("text", ["\ud83d", "a\udc00b", "\ud83d\ude00", "\ud800" * 500])
def test_lone_surrogates_count_as_replacement_characters(text: str) -> None:
    count = O200K.count(text)

    assert count >= 1
    assert O200K.count(O200K.head(text, count - 1)) <= count - 1
    O200K.cut_middle(text, count - 1).encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["a" * 1_000_000, " " * 1_000_001 + "x", " \t" * 600_000 + "x", "漢字仮名交" * 200_000, "\n" * 1_000_000],
    ids=["one word", "spaces", "mixed blanks", "no spaces", "lines"],
)
def test_a_megabyte_without_a_break_is_counted_in_moderate_time(text: str) -> None:
    started = time.thread_time()

    count = O200K.count(text)

    assert 0 < count <= 2 * len(text)
    assert time.thread_time() - started < 3


def test_a_long_text_with_spaces_is_counted_exactly(encoding_name: EncodingName) -> None:
    text = "".join(f"It's  line {n},\r\n\tof many - déjà vu?   \n\n" for n in range(9_000))
    assert len(text) > 3 * EXACT_CHARACTERS

    count = Tokenizer(encoding=encoding_name).count(text)

    assert count == len(load_encoding(encoding_name).encode_ordinary(text))


def test_a_long_word_is_counted_approximately() -> None:
    text = "".join(chr(97 + (n * n * 7919 + n // 3) % 26) for n in range(4 * EXACT_CHARACTERS + 1))

    count = O200K.count(text)

    assert abs(count - len(load_encoding("o200k_base").encode_ordinary(text))) <= 4 * 4


def test_cut_middle_keeps_head_and_tail_around_the_mark() -> None:
    text = " ".join(f"word{n}" for n in range(1_000))

    cut = O200K.cut_middle(text, 20)

    assert cut == "word0 word1 word2 word3 word […] 995 word996 word997 word998 word999"
    assert O200K.count(cut) <= 20


def test_cut_middle_leaves_a_fitting_text_unchanged() -> None:
    assert O200K.cut_middle("one two three", O200K.count("one two three")) == "one two three"


def test_cut_middle_drops_the_mark_if_it_does_not_fit() -> None:
    assert O200K.cut_middle("one two three four five six", 2) == "one two"


@pytest.mark.parametrize("max_tokens", [0, -5])
def test_a_limit_of_zero_leaves_nothing(max_tokens: int) -> None:
    assert O200K.cut_middle("some text", max_tokens) == ""
    assert O200K.head("some text", max_tokens) == ""


@pytest.mark.parametrize("character", ["👩‍👩‍👧‍👦", "👍🏽", "e\u0301", "❤\ufe0f", "\r\n", "𒀀"])
def test_characters_of_several_code_points_stay_whole(character: str) -> None:
    text = character * 60

    for max_tokens in range(1, 60):
        cut = O200K.cut_middle(text, max_tokens, mark="|")
        assert cut.replace("|", "").replace(character, "") == ""


def test_even_a_flood_of_accents_is_cut() -> None:
    cut = O200K.head("z" + "\u0301" * 5_000, 100)

    assert 50 < O200K.count(cut) <= 100


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("gpt-5-mini-2025-08-07", "o200k_base"),
        ("o3", "o200k_base"),
        ("gpt-oss-20b", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("openai/gpt-4-turbo", "cl100k_base"),
        ("ft:gpt-4-0613:my-org::abc", "cl100k_base"),
        ("ft:gpt-4.1-mini-2025-04-14:my-org::abc", "o200k_base"),
        ("text-davinci-003", "o200k_base"),
        ("llama3.1:8b", "o200k_base"),
        ("", "o200k_base"),
    ],
)
def test_a_model_has_its_own_encoding_and_an_unknown_one_o200k(model: str, encoding: EncodingName) -> None:
    assert tokenizer_for(model) == Tokenizer(encoding=encoding)


@dataclass(slots=True)
class NotingCounter:
    """Counts words and records its input."""

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


def test_the_least_recently_used_text_is_dropped_first() -> None:
    counter = NotingCounter()
    caching = CachingTokenCounter(counter, max_texts=2)

    for text in ("a", "b", "a", "c", "a", "b"):
        caching.count(text)

    assert counter.asked == ["a", "b", "c", "b"]


class Alike(str):
    """A text with the hash of all others, as can be found if PYTHONHASHSEED is known."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 7


def test_texts_with_the_same_hash_have_their_own_counts() -> None:
    caching = CachingTokenCounter(WordTokenizer())

    assert [caching.count(Alike(text)) for text in ("one", "one two", "one two three")] == [1, 2, 3]


def test_the_cache_contains_no_text() -> None:
    caching = CachingTokenCounter(WordTokenizer())

    caching.count("a secret of mine")

    assert b"secret" not in pickle.dumps(caching)


def test_texts_are_cut_like_in_the_counter() -> None:
    assert CachingTokenCounter(WordTokenizer()).cut_middle("a b c d e f", 3) == "a […] f"
