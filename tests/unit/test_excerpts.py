"""Excerpts of long messages: the best sentences for a question, in several languages and forms of text."""

# ruff: noqa: RUF001 - the punctuation of other languages is meant as it stands

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.characters import is_seam, well_formed
from memory.history.message import Message, render_message
from memory.recall.excerpts import GAP, cut_to, excerpt_of, find_spans, read_question, tell


def _excerpt(text: str, question: str, *, at_most: int = 80) -> str:
    return cut_to(text, find_spans(text, read_question(question), at_most=at_most))


@pytest.mark.parametrize(
    ("filler", "wanted", "question"),
    [
        ("So it goes. ", "The kettle costs 40 euros. ", "what did the kettle cost?"),
        ("Es regnet. ", "Der Wasserkocher kostet 40 Euro. ", "was kosten Wasserkocher?"),
        ("Дождь идёт. ", "Чайник стоит сорок евро. ", "сколько стоил чайник?"),
        ("هوا خوب است. ", "کتری چهل یورو است؟ ", "قیمت کتری چند بود"),
        ("今日は晴れです。", "妹は東京で犬を飼っている。", "東京の妹のペットは？"),
        ("今天下雨了。", "妹妹住在里斯本！", "妹妹住在哪里？"),
        ("วันนี้ฝนตก ", "น้องสาวอยู่ลิสบอน ", "น้องสาวอยู่ที่ไหน"),
        ("- rain\n", "- a red kettle\n", "which kettle?"),
        ("| Monday | rain |\n", "| Friday | kettle |\n", "when is the kettle?"),
        ("    return 0\n", "def boil_kettle():\n", "where is boil_kettle?"),
    ],
)
def test_the_sentence_with_the_words_of_the_question_is_told(filler: str, wanted: str, question: str) -> None:
    excerpt = _excerpt(filler * 30 + wanted + filler * 30, question)

    assert wanted.strip() in excerpt
    assert excerpt.startswith(f"{GAP} ")
    assert excerpt.endswith(f" {GAP}")
    assert len(excerpt) <= 80 + 2 * len(f"{GAP} ")


def test_the_sentences_beside_the_best_one_are_told_too() -> None:
    text = f"{'So it goes. ' * 20}I bought one. The kettle is red. It was cheap. {'So it goes. ' * 20}"
    assert _excerpt(text, "which kettle?", at_most=50) == "… I bought one. The kettle is red. It was cheap. …"


def test_a_rare_word_counts_more_than_a_usual_one() -> None:
    text = f"{'The kettle boils. ' * 20}The plumber came. {'The kettle boils. ' * 20}"
    assert "plumber" in _excerpt(text, "did the plumber see the kettle?", at_most=40)


def test_two_places_have_a_gap_between_them() -> None:
    text = f"The kettle is red. {'So it goes. ' * 30}The toaster is blue. {'So it goes. ' * 30}"
    assert f" {GAP} The toaster is blue." in _excerpt(text, "kettle or toaster?", at_most=60)


def test_without_a_common_word_the_beginning_is_told() -> None:
    text = "First this. " + "Then that. " * 50
    assert _excerpt(text, "vegan?").startswith("First this. Then that.")
    assert _excerpt(text, "", at_most=24) == f"First this. Then that. {GAP}"


def test_a_short_message_is_told_whole() -> None:
    message = Message(id="m", role="user", text="x" * 350, sent_at=0.0, tokens=1)
    assert excerpt_of(message, read_question("x?")) is None
    assert tell(message, None) is message


def test_a_word_of_4096_letters_is_cut() -> None:
    excerpt = _excerpt("a" * 4096, "a?", at_most=300)
    assert excerpt == "a" * 300 + f" {GAP}"


def test_a_word_of_100_000_letters_is_compared_by_its_beginning() -> None:
    """Stemming all of it takes seconds."""
    began = time.process_time()
    find_spans("quokka" * 20_000, read_question("quokkas"), at_most=300)
    assert time.process_time() - began < 1


def test_a_number_is_no_part_of_another_number() -> None:
    text = f"{'It was 2047 then. ' * 20}It was 47 now. {'It was 2047 then. ' * 20}"
    assert "It was 47 now." in _excerpt(text, "47?", at_most=40)


@pytest.mark.parametrize("character", ["👨‍👩‍👧‍👦", "é́", "क्षि", "\ud83d\ude00", "한"])
def test_no_character_is_divided(character: str) -> None:
    text = character * 400
    spans = find_spans(text, read_question("a?"), at_most=300)
    whole = well_formed(text)
    assert spans
    assert all(is_seam(whole, place) for span in spans for place in span)


def test_a_flag_is_not_divided() -> None:
    spans = find_spans("🇵🇹" * 400, read_question("a?"), at_most=300)
    assert [place % 2 for span in spans for place in span] == [0, 0]


@given(st.text(max_size=400), st.text(max_size=60), st.integers(min_value=10, max_value=200))
def test_an_excerpt_has_parts_of_the_text_in_their_order_and_is_short(
    text: str, question: str, at_most: int
) -> None:
    spans = find_spans(text, read_question(question), at_most=at_most)
    told = well_formed(text)

    assert sum(end - begin for begin, end in spans) <= at_most
    places = [place for span in spans for place in span]
    assert places == sorted(set(places))
    assert all(0 <= place <= len(told) for place in places)
    if not spans:
        assert len(text) <= at_most + 60
        assert cut_to(text, spans) == text


@pytest.mark.parametrize("piece", [".", "\n", "a ", "?!", "a", "“", '."', ", ", "\u200d"])
def test_a_text_of_one_mark_takes_no_long_time(piece: str) -> None:
    text = piece * 100_000
    assert sum(end - begin for begin, end in find_spans(text, read_question("a?"), at_most=300)) <= 300


def test_the_beginning_of_a_note_stays_and_its_brackets_close() -> None:
    document = f'a document "plan.pdf", 2 pages, which begins: "{"So it goes. " * 60}The kettle is red. {"So. " * 60}"'
    message = Message(id="m", role="user", text="Please read this", sent_at=0.0, tokens=1, note=document)

    told = tell(message, excerpt_of(message, read_question("kettle?")))

    lines = render_message(told).splitlines()
    assert lines[0].startswith('(a document "plan.pdf", 2 pages')
    assert lines[0].endswith(")")
    assert "The kettle is red." in lines[0]
    assert lines[1] == "Please read this"


def test_the_origin_of_an_excerpt_is_told() -> None:
    text = "So it goes. " * 60 + "The kettle is red."
    message = Message(id="m", role="user", text=text, sent_at=0.0, tokens=1, forwarded_from="Ben")

    told = render_message(tell(message, excerpt_of(message, read_question("kettle?"))))

    assert told.splitlines()[0] == "(forwarded from Ben)"
    assert told.endswith("The kettle is red.")
