"""Token counts equal tiktoken's for any text, and cuts fit and add nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.characters import is_seam, well_formed
from memory.tokens import EXACT_CHARACTERS, EncodingName, Tokenizer, load_encoding

MARK = " […] "
encodings = st.sampled_from(["cl100k_base", "o200k_base"])
# Any code point, lone surrogates too, mixed with what splits and joins in special ways.
texts = st.lists(
    st.one_of(
        st.text(st.characters(), max_size=8),
        st.sampled_from(
            ["<|endoftext|>", "👩‍👩‍👧", "🇩🇪🇫🇷", "e\u0301", "\r\n", "   ", "don't", "12345", "漢字"]
        ),
    ),
    max_size=30,
).map("".join)


@settings(deadline=None)  # the first example loads the encoding
@given(encodings, texts)
def test_a_count_equals_that_of_tiktoken(encoding: EncodingName, text: str) -> None:
    assert Tokenizer(encoding=encoding).count(text) == len(load_encoding(encoding).encode_ordinary(text))


@settings(deadline=None)  # the first example loads the encoding
@given(encodings, texts, st.integers(min_value=0, max_value=60))
def test_a_cut_fits_and_is_head_mark_tail(encoding: EncodingName, text: str, max_tokens: int) -> None:
    tokenizer = Tokenizer(encoding=encoding)

    cut = tokenizer.cut_middle(text, max_tokens, MARK)

    assert tokenizer.count(cut) <= max_tokens
    assert cut == tokenizer.cut_middle(text, max_tokens, MARK)
    assert cut == text or _is_head_mark_tail(cut, well_formed(text))


@settings(deadline=None)  # the first example loads the encoding
@given(encodings, texts, st.integers(min_value=0, max_value=60))
def test_a_head_fits_and_ends_between_characters(encoding: EncodingName, text: str, max_tokens: int) -> None:
    tokenizer = Tokenizer(encoding=encoding)

    head = tokenizer.head(text, max_tokens)

    assert tokenizer.count(head) <= max_tokens
    assert head == text or well_formed(text).startswith(head)
    assert head == text or is_seam(well_formed(text), len(head)) or len(head) > 32


@settings(deadline=None)  # the first example loads the encoding
@given(encodings, texts.filter(lambda text: text.strip() != ""), st.integers(min_value=-40, max_value=40))
def test_a_count_is_exact_for_a_long_text_divided_at_a_space(
    encoding: EncodingName, text: str, shift: int
) -> None:
    long = "word " * ((EXACT_CHARACTERS + shift) // 5) + text + " word" * 20

    assert Tokenizer(encoding=encoding).count(long) == len(load_encoding(encoding).encode_ordinary(long))


def _is_head_mark_tail(cut: str, text: str) -> bool:
    parts = [(cut[:at], cut[at + len(MARK) :]) for at in range(len(cut)) if cut.startswith(MARK, at)]
    return text.startswith(cut) or any(text.startswith(head) and text.endswith(tail) for head, tail in parts)
