"""Any text and any names can be analysed, and the result can be indexed."""

import math

from hypothesis import example, given
from hypothesis import strategies as st

from memory.recall.lexicon.analyser import analyse_message, analyse_question
from memory.recall.lexicon.analysis import SparseVector
from memory.recall.lexicon.dates import date_words, find_dates, time_words
from memory.recall.lexicon.languages import is_latin, normal

anything = st.text(st.characters(), max_size=200)  # lone surrogates too
_WORDS = (
    "Anna anna's Will May 8 2023 last week ago two in next Friday I my ? кошка вчера мая я 我 昨天 过敏 上周 "
    "ถั่ว سگم دیروز 한국 naïve "
    "l'été ß 🇩🇪 @anna #tag https://a.b/c?d a@b.c 1,000.5 '"
)
words = st.sampled_from([*_WORDS.split(), "👨\u200d👩\u200d👧", "\ud800", "\u0301", "\u200f", "\n"])
texts = anything | st.lists(words, max_size=30).map(" ".join) | st.lists(words, max_size=12).map("".join)
people = st.dictionaries(st.integers(-(2**52), 2**52), anything | words, max_size=6)
times = st.floats(allow_nan=True, allow_infinity=True)


def is_indexable(vector: SparseVector) -> bool:
    return (
        len(vector.indices) == len(vector.values) == len(set(vector.indices))
        and all(0 <= index < 2**32 for index in vector.indices)
        and all(math.isfinite(value) and value > 0 for value in vector.values)
    )


@given(texts, people)
def test_any_message_can_be_indexed(text: str, names: dict[int, str]) -> None:
    read = analyse_message(text, names)

    assert is_indexable(read.terms)
    read.masked.encode()
    assert read == analyse_message(text, names)


@given(texts, people, st.none() | st.integers(0, 9), times)
def test_any_question_can_be_searched_with(
    text: str, names: dict[int, str], asker_id: int | None, now: float
) -> None:
    read = analyse_question(text, names, asker_id=asker_id, now=now)

    assert is_indexable(read.terms)
    assert all(value <= 1 for value in read.terms.values)
    assert read.author in names.keys() | {asker_id, None}
    assert all(each.start < each.end for each in read.dates)
    read.masked.encode()


@given(texts, people)
def test_masking_adds_nothing(text: str, names: dict[int, str]) -> None:
    masked = analyse_message(text, names).masked

    assert len(masked) <= len(normal(text))
    assert set(masked) <= {*normal(text), " "}


@given(texts)
def test_a_message_matches_its_own_words(text: str) -> None:
    message = analyse_message(text, {})
    question = analyse_question(text, {}, asker_id=None, now=0.0)

    assert set(message.terms.indices) <= set(question.terms.indices)


@given(
    st.text(st.characters(categories=["L"], max_codepoint=0x24F, exclude_characters="µ")),
    st.text(st.characters(categories=["Lo"])),
)
def test_a_text_with_more_latin_letters_is_latin(latin: str, other: str) -> None:
    assert is_latin(latin)
    assert is_latin(f"{latin} {other}") == is_latin(f"{other} {latin}")


_TIME_WORDS = [
    *filter(str.isascii, time_words()),
    *(
        "fin de semana",
        "week-end",
        "segunda-feira",
        "il y a",
        "day before yesterday",
        "12/5",
        "2023-05",
        "!",
        "-",
    ),
]
_ordinary = st.sampled_from([each for each in _TIME_WORDS if each not in date_words()])


@given(
    st.lists(_ordinary | st.text(st.characters(max_codepoint=127), max_size=5), max_size=8),
    st.sampled_from(" -"),
)
@example(["day", "before", "yesterday"], " ")
@example(["segunda", "feira"], "-")
@example(["may", "2023"], "")
def test_a_question_has_the_dates_of_its_text(parts: list[str], space: str) -> None:
    text = space.join(parts)

    assert analyse_question(text, {}, asker_id=None, now=1.7e9).dates == find_dates(normal(text), now=1.7e9)


@given(st.lists(words, max_size=30).map(" ".join), times)
def test_date_parsing_never_raises_and_never_repeats_a_period(text: str, now: float) -> None:
    found = find_dates(normal(text), now=now)

    assert len(found) == len(set(found))
