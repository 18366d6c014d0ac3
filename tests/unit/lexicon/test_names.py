"""Names in a text, and the text without them."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import pytest

from memory.recall.lexicon.languages import normal
from memory.recall.lexicon.names import find_names
from tests.text_work import cpu_s

PEOPLE = {
    1: "Caroline Smith",
    2: "Анна",
    3: "✨Kate✨",
    4: "张伟",
    5: "DROP TABLE",
    6: "Will",
    7: "Melanie",
    8: "May Chen",
    9: "王小明",
    10: "Александр",
    11: "김민수",
    12: "สมชาย",
    13: "प्रिया",
    14: "علی",
    17: "José Ángel",
    20: "Jean-Luc",
    21: "𝓕𝓪𝓷𝓬𝔂",
    22: "Rose",
}


def named(text: str, people: dict[int, str] = PEOPLE) -> set[int]:
    return set(find_names(normal(text), people).ids)


def masked(text: str, people: dict[int, str] = PEOPLE) -> str:
    return find_names(normal(text), people).masked


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("When did Caroline move?", 1),
        ("when did caroline smith move?", 1),
        ("what is Caroline's cat called?", 1),
        ("Carolines Hund", 1),
        ("ask Ms. Smith", 1),
        ("Где живёт Анна?", 2),
        ("Анне нравится чай", 2),
        ("спроси у Анны", 2),
        ("Аня придёт?", 2),
        ("did kate call", 3),
        ("张伟对什么过敏?", 4),
        ("小明去了哪里?", 9),
        ("Сашу видел?", 10),
        ("Александром", 10),
        ("민수가 왔어?", 11),
        ("สมชายไปไหน", 12),
        ("प्रिया कहाँ है?", 13),
        ("علی کجاست؟", 14),
        ("¿Cuándo viene jose?", 17),
        ("where is Luc?", 20),
        ("did Fancy win?", 21),
    ],
)
def test_a_name_is_found_in_its_forms(text: str, who: int) -> None:
    assert named(text) == {who}


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("did you see Will there?", {6}),
        ("Will you come?", set[int]()),
        ("I will come", set[int]()),
        ("WILL YOU COME", set[int]()),
        ("Sure. Will do!", set[int]()),
        ("I saw May yesterday", {8}),
        ("we met in May", set[int]()),
        ("on May 8 and 8 May", set[int]()),
        ("may I?", set[int]()),
        ("she gave Rose a rose", {22}),
        ("drop table users;", set[int]()),
    ],
)
def test_a_name_that_is_also_a_word_counts_only_in_the_place_of_a_name(text: str, who: set[int]) -> None:
    assert named(text) == who


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Mel, look at this", {7}),
        ("thanks Mel!", {7}),
        ("I saw Mel's car", {7}),
        ("Melting snow everywhere", set[int]()),
        ("the mel scale", set[int]()),
        ("Me too", set[int]()),
    ],
)
def test_a_short_form_counts_only_with_a_capital(text: str, who: set[int]) -> None:
    assert named(text) == who


def test_a_last_name_distinguishes_people_with_the_same_first_name() -> None:
    people = {1: "Anna Smith", 2: "Anna Jones", 3: "Bob Smith"}

    assert named("where is Anna?", people) == {1, 2}
    assert named("where is Anna Smith?", people) == {1}
    assert named("where are Anna and Bob?", people) == {1, 2, 3}


def test_names_are_returned_in_order_with_their_positions() -> None:
    mentions = find_names("did Kate call Melanie?", PEOPLE).mentions

    assert [(mention.start, mention.end, set(mention.ids)) for mention in mentions] == [
        (4, 8, {3}),
        (14, 21, {7}),
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Thanks, Caroline! That was great", "Thanks! That was great"),
        ("Caroline, look at   this", "look at this"),
        ("What did Kate's dog eat?", "What did dog eat?"),
        ("Hey Caroline, Kate, look!", "Hey, look!"),
        ("我和张伟去了北京", "我和 去了北京"),
        ("Caroline!", ""),
        ("  Caroline Smith ", ""),
        ("张伟?", ""),
        ("no names  here\n at all", "no names here at all"),
    ],
)
def test_masked_text_has_no_names_and_no_gaps(text: str, left: str) -> None:
    assert masked(text) == left


@pytest.mark.parametrize("name", ["", "   ", "x", "🦊🦊", "12345", "!!!", "\ud800", "."])
def test_a_name_without_letters_matches_nobody(name: str) -> None:
    text = "x 12345 !!! . 🦊🦊 were here"

    assert named(text, {1: name}) == set()
    assert masked(text, {1: name}) == text


@pytest.mark.parametrize("name", [".*", "(a+)+$", "[", "\\w+", "a|b", "(?P<x>", "^"])
def test_a_name_is_never_used_as_a_pattern(name: str) -> None:
    assert masked("hello everyone out there", {1: name}) == "hello everyone out there"


def test_a_name_of_emoji_and_a_word_matches_the_word() -> None:
    assert named("ask kate", {1: "🔥" * 30 + "Kate" + "🔥" * 30}) == {1}


def test_five_hundred_names_are_found_quickly() -> None:
    people = {number: f"Person{number} Family{number}" for number in range(500)}
    text = " ".join(name for name in people.values())[:8_000]
    read = find_names(text, people)

    assert cpu_s(lambda each: find_names(each, people), text, limit_s=0.1) < 0.1
    assert len(read.ids) > 300
    assert read.masked == ""


def test_many_chinese_names_with_one_first_character_are_found_quickly() -> None:
    people = {number: "王" + chr(0x4E00 + number) + chr(0x5E00 + number) for number in range(500)}
    text = "王" * 16_000

    assert find_names(text, people).masked == text
    assert cpu_s(lambda each: find_names(each, people), text, limit_s=0.2) < 0.2


def test_people_after_the_five_hundredth_are_ignored() -> None:
    people = {number: f"Person{number}" for number in range(501)}

    assert named("Person499", people) == {499}
    assert named("Person500", people) == set()


def test_a_new_name_is_found_at_once() -> None:
    assert named("ask Zoe", {1: "Yves"}) == set()
    assert named("ask Zoe", {1: "Zoe"}) == {1}
