"""Analysis of whole messages and questions, and of generated texts."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import os
import subprocess
import sys
from time import process_time

import pytest

from memory.recall.lexicon.analyser import ASKS, SMALL_TALK, add_speakers, analyse_message, analyse_question
from memory.recall.lexicon.analysis import BOT
from memory.recall.lexicon.languages import READ_LIMIT, is_latin, normal
from memory.recall.lexicon.names import find_names
from memory.recall.lexicon.terms import tokenize

NOW = 1_694_606_400.0
ANNA, BOB, ME = 1, 2, 3
PEOPLE = {ANNA: "Anna", BOB: "Bob Stone", ME: "Zoe"}


def named(question: str, asker_id: int | None = ME) -> set[int]:
    text = normal(question)
    read = find_names(text, PEOPLE)
    mentions = add_speakers(text, read.mentions, tokenize(read.masked).likeliest, asker_id)
    return {each for mention in mentions for each in mention.ids}


def author(question: str, asker_id: int | None = ME) -> int | None:
    return analyse_question(question, PEOPLE, asker_id=asker_id, now=NOW).author


def test_a_message_is_analysed_without_names() -> None:
    read = analyse_message("Thanks, Anna! We painted the fence yesterday", PEOPLE)

    assert read.masked == "Thanks! We painted the fence yesterday"
    assert read.signs == {"first_person", "time", "name"}
    assert len(read.terms.indices) == len(read.terms.values) == 3


def test_a_question_is_analysed_whole() -> None:
    read = analyse_question("When did Anna paint the fence in May?", PEOPLE, asker_id=ME, now=NOW)
    message = analyse_message("we painted the fence", PEOPLE)

    assert read.masked == "When did paint the fence in May?"
    assert read.author == ANNA
    assert read.signs == {"when", "asks"}
    assert len(read.dates) == 1
    assert set(message.terms.indices) == set(read.terms.indices)


@pytest.mark.parametrize(
    "question",
    ["where do I live?", "what is my dog called?", "where did Zoe go?", "did she call me?", "wo wohne ich?",
         "где я живу?",
     "dónde vivo yo?", "¿Dónde compré el coche?", "onde comprei o carro?", "我住在哪里?", "من کجا زندگی می‌کنم؟",
     "اسم گربه‌ام چیه؟",
     "où est-ce que j'habite?", "gdzie kupiłem rower?", "I’m allergic to what?"],
)  # fmt: skip
def test_i_and_my_mean_the_asker(question: str) -> None:
    assert named(question) == {ME}
    assert author(question) == ME


@pytest.mark.parametrize(
    "question",
    ["can you see who won?", "who won?", "what did we do?", "tell me who won", "I wonder who won",
    "remind me of the date",
     "напомни мне дату", "sag mir wer gewann", "dime quién ganó", "", "🙂"],
)  # fmt: skip
def test_a_question_about_nobody_names_nobody(question: str) -> None:
    assert named(question) == set()
    assert author(question) is None


@pytest.mark.parametrize(
    ("question", "who", "of_whom"),
    [
        ("What did I tell Bob?", {ME, BOB}, ME),
        ("When did Bob call me?", {ME, BOB}, BOB),
        ("What did Anna give Bob?", {ANNA, BOB}, ANNA),
        ("Where did Anna and Bob go?", {ANNA, BOB}, None),
        ("Где были Анна и Bob?", {BOB}, BOB),
        ("Did Anna or I win?", {ANNA, ME}, None),
        ("Tell me what Anna said", {ANNA}, ANNA),
        ("What did Bob Stone build?", {BOB}, BOB),
    ],
)
def test_the_first_named_person_is_the_wanted_author(
    question: str, who: set[int], of_whom: int | None
) -> None:
    assert named(question) == who
    assert author(question) == of_whom


@pytest.mark.parametrize(
    "question",
    ["where do you live?", "what did you tell me about Lisbon?", "do you remember what you said of dogs?",
     "¿qué me recomendaste para cenar?", "¿qué dijiste de Lisboa?", "was hast du mir empfohlen?",
     "что ты мне посоветовал?", "你推荐了什么电影?", "درباره لیسبون چی بهم گفتی؟"],
)  # fmt: skip
def test_you_means_the_bot(question: str) -> None:
    assert author(question) == BOT


@pytest.mark.parametrize(
    "question",
    ["can you tell me where I live?", "do you remember what I told you?", "¿sabes dónde vivo yo?",
     "kannst du mir sagen, wo ich wohne?", "ты помнишь, где я живу?", "你记得我住哪里吗?",
     "می‌دونی من کجا زندگی می‌کنم؟"],
)  # fmt: skip
def test_a_request_to_the_bot_is_not_about_its_messages(question: str) -> None:
    assert author(question) == ME


@pytest.mark.parametrize("text", ["how are you?", "who are you?", "what do you think?", "¿y tú?", "und du?"])
def test_you_alone_does_not_ask_for_a_memory(text: str) -> None:
    assert SMALL_TALK in analyse_question(text, PEOPLE, asker_id=ME, now=NOW).signs


def test_without_an_asker_i_means_nobody() -> None:
    assert named("where do I live?", None) == set()
    assert author("where do I live?", None) is None


def test_an_ambiguous_name_is_no_author() -> None:
    read = analyse_question("where is Anna?", {1: "Anna", 2: "Anna"}, asker_id=None, now=NOW)

    assert read.masked == "where is?"
    assert read.author is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(" \n\t\u00a0\u3000", id="blank"),
        pytest.param("Anna!", id="a name"),
        pytest.param("\u200b\u200e\u202e\ufeff\u2066", id="nothing to see"),
        pytest.param("\x00\x01\x1f\x7f", id="control characters"),
        pytest.param("\u0301\u0323" * 50, id="marks without a letter"),
        pytest.param("…!?.,;:—()[]{}", id="punctuation"),
    ],
)
def test_text_without_content_has_no_terms(text: str) -> None:
    message = analyse_message(text, PEOPLE)
    question = analyse_question(text, PEOPLE, asker_id=ME, now=NOW)

    assert message.terms.indices == question.terms.indices == ()


def test_masking_empties_blank_text_and_bare_names() -> None:
    assert analyse_message(" \n\t", PEOPLE).masked == ""
    assert analyse_message("Anna!", PEOPLE).masked == ""


LONG = {
    "words": "the quick brown fox jumps over seventeen lazy dogs, again and again. " * 1_500,
    "one word": "a" * 100_000,
    "Chinese": "我们明天去北京吃烤鸭然后回家" * 7_000,
    "Thai": "ผมแพ้ถั่วลิสงและอาหารทะเล" * 4_000,
    "Russian": "мы завтра поедем на дачу к бабушке, " * 3_000,
    "emoji": "👨‍👩‍👧‍👦🇩🇪👍🏽" * 7_000,
    "marks": "a" + "\u0301\u0323" * 50_000,
    "Hindi marks": "क" + "\u093c\u094d" * 50_000,
    "question marks": "?" * 99_999 + "x",
    "addresses": "http://" * 15_000,
    "at signs": "a@" * 50_000,
    "dots": "a." * 50_000,
    "apostrophes": "a'" * 50_000,
    "digits": "1," * 50_000,
    "lines": "\n,\n" * 33_000,
    "every script": "aЖ我ก한א" * 16_000,
    "names": "Anna " * 20_000,
    "dates": "two weeks ago on 8 May 2023 " * 4_000,
    "surrogates": "\ud83d\ude00\ud800" * 33_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_a_hundred_thousand_characters_are_analysed_quickly_up_to_the_limit(text: str) -> None:
    analyse_message(text, PEOPLE)
    begun = process_time()

    message = analyse_message(text, PEOPLE)
    question = analyse_question(text, PEOPLE, asker_id=ME, now=NOW)

    assert process_time() - begun < 1.0  # some 0.03 s each
    assert len(message.masked) <= READ_LIMIT
    assert len(message.terms.indices) <= 4_096
    message.masked.encode()
    question.masked.encode()


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("\u202bשלום עולם\u202c", "שלום עולם"),
        ("so\u00adft", "soft"),
        ("ti\u200es", "tis"),
        ("tab\tand\x00null", "tab and null"),
    ],
)
def test_invisible_characters_change_nothing(text: str, same: str) -> None:
    assert analyse_message(text, {}).terms == analyse_message(same, {}).terms


def test_a_question_with_hundreds_of_names_finds_all_of_them() -> None:
    people = {number: f"Person{number}" for number in range(400)}

    read = analyse_question("who of " + ", ".join(people.values()) + " sang?", people, asker_id=None, now=NOW)

    assert read.masked == "who of, sang?"


def test_two_processes_analyse_alike() -> None:
    text = "Anna painted 3 fences, кошка 我花生过敏 #tag 👍🏽 https://example.org/a_b"
    code = (
        "from memory.recall.lexicon.analyser import analyse_message as m, analyse_question as q;"
        f"t = {text!r}; p = {{1: 'Anna', 2: 'Маша'}};"
        "a, b = m(t, p), q(t, p, asker_id=1, now=1.7e9);"
        "print(a.terms, a.masked, sorted(a.signs), b.terms, sorted(b.signs), b.author, b.dates)"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(said) == 1


@pytest.mark.parametrize(
    "text", ["hello", "", "12 !?", "Привет Anna and more friends", "naïve café", "👍", "Ｈｅｌｌｏ"]
)
def test_latin_text_is_recognised(text: str) -> None:
    assert is_latin(text) == (text != "Ｈｅｌｌｏ")


@pytest.mark.parametrize("text", ["Привет", "سلام", "你好 ok", "नमस्ते", "한국어 yes"])
def test_text_in_other_scripts_is_recognised(text: str) -> None:
    assert not is_latin(text)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Did I ever mention the boat?", True),
        ("so when did we meet", True),
        ("tell me about the boat", True),
        ("boat Lisbon", True),
        ("wo waren wir im Mai", True),
        ("去年在哪里", True),
        ("I met the man who sold me the boat", False),
        ("I'm looking for a boat.", False),
        ("Me he comprado un barco", False),
    ],
)
def test_a_question_is_told_from_a_statement(text: str, asks: bool) -> None:
    assert (ASKS in analyse_question(text, PEOPLE, asker_id=ME, now=NOW).signs) is asks
