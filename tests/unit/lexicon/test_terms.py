"""Terms that match questions with messages, in many languages."""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

import math

import pytest

from memory.recall.lexicon.languages import normal, stem
from memory.recall.lexicon.terms import (
    AVERAGE_LENGTH,
    TERM_LIMIT,
    WORD_LIMIT,
    hash_terms,
    is_bare,
    message_terms,
    message_vector,
    question_terms,
    spell_word,
    tokenize,
)


def hash_of(term: str) -> int:
    ((index, _),) = hash_terms([(term, 1.0)])
    return index


def terms_of(message: str) -> set[int]:
    return set(message_terms(tokenize(normal(message))))


def searched(question: str) -> dict[int, float]:
    vector, _ = question_terms(tokenize(normal(question)))
    return dict(zip(vector.indices, vector.values, strict=True))


def shared(question: str, message: str) -> float:
    """Return the share of the question's weight that the message has."""
    has = terms_of(message)
    return sum(weight for index, weight in searched(question).items() if index in has)


def words_of(language: str, word: str) -> list[str]:
    return [term for term, weight in spell_word(word, language) if weight == 1.0]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("When did I go painting?", "we painted the fence"),
        ("What did she buy?", "I bought a kayak"),
        ("¿Dónde viven mis perros?", "mi perro vive en el campo"),
        ("Где живут мои собаки?", "моя собака живёт на даче"),
        ("Wo wohnen die Katzen?", "die Katze wohnt im Keller"),
        ("Onde moram os gatos?", "o gato mora na garagem"),
        ("Où habitent les chats ?", "le chat habite au grenier"),
        ("Dove abitano i gatti?", "il gatto abita in cantina"),
        ("Waar wonen de katten?", "de kat woont in de kelder"),
        ("Nerede kediler?", "kedi bahçede uyuyor"),
        ("Gdzie są koty?", "kot śpi w kuchni"),
        ("سگ‌ها کجا هستند؟", "سگ ما توی حیاط است"),
        ("أين الكتاب؟", "اشتريت كتابا جديدا"),
        ("किताबें कहाँ हैं?", "मैंने किताब मेज पर रखी"),
        ("我对什么过敏?", "医生说我花生过敏"),
        ("猫はどこですか?", "うちの猫は庭にいる"),
        ("알레르기가 뭐야?", "땅콩 알레르기 있어"),
        ("แพ้ถั่วไหม", "ผมแพ้ถั่วลิสง"),
        ("איפה הכלבים?", "הכלבים שלי בגינה"),
        ("Που είναι οι γάτες;", "η γάτα κοιμάται"),
    ],
)
def test_a_question_matches_a_message_with_other_forms_of_its_words(question: str, message: str) -> None:
    assert shared(question, message) > 0


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("На что у меня аллергия?", "оказывается, я аллергик"),
        ("Wogegen bin ich allergisch?", "ich habe eine Erdnussallergie"),
        ("Wer kommt zur Hochzeit?", "achtzig Hochzeitsgäste haben zugesagt"),
        ("اسم خواهرم چیه؟", "خواهر من سارا نام دارد"),
    ],
)
def test_word_parts_match_compounds_and_related_words(question: str, message: str) -> None:
    whole = {index for index, weight in searched(question).items() if weight == 1.0}

    assert not whole & terms_of(message)
    assert shared(question, message) > 0


def test_the_parts_of_a_word_weigh_less_than_the_word() -> None:
    weights = [weight for _, weight in spell_word("аллергия", "russian")]

    assert weights[0] == 1.0
    assert 0 < max(weights[1:]) < 0.25
    assert sum(weights[1:]) < 1.0


def test_english_words_are_one_term_each() -> None:
    assert spell_word("allergies", "english") == [("allergi", 1.0)]


def test_a_message_guessed_as_english_matches_a_spanish_question() -> None:
    assert shared("¿Dónde comimos la paella valenciana?", "paella valenciana!") >= 2


@pytest.mark.parametrize(
    "text", ["who are you?", "¿quién eres tú?", "кто ты?", "wer bist du?", "是什么?", "what is it"]
)
def test_stop_words_alone_are_no_terms(text: str) -> None:
    assert searched(text) == {}
    assert terms_of(text) == set()


@pytest.mark.parametrize("text", ["don't", "isn't", "I'm", "it’s"])
def test_the_rest_after_an_apostrophe_is_no_term(text: str) -> None:
    assert terms_of(f"{text} and") == set()


def test_mentions_are_dropped_and_addresses_match_by_their_parts() -> None:
    assert terms_of("@anna_smith") == set()
    assert shared("what was on youtube?", "look https://www.youtube.com/watch?v=dQw4") > 0
    assert shared("was it example.org?", "write to anna@example.org") > 0
    assert shared("anna@example.org", "write to Anna@Example.org") >= 1


def test_a_tag_is_a_term_beside_its_word() -> None:
    assert hash_of("#hiking") in terms_of("#Hiking")
    assert shared("hiking", "#hiking") == 1.0
    assert shared("#hiking", "hiking") == 1.0


@pytest.mark.parametrize(
    ("one", "other"),
    [("1,000", "1000"), ("3,5", "3.5"), ("۱۲۳", "123"), ("١٢٣", "123"), ("10:30", "10:30"), ("①", "1")],
)
def test_numbers_match_in_any_notation(one: str, other: str) -> None:
    assert terms_of(one) == terms_of(other) != set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("👍🏽", "👍"),
        ("❤️", "❤"),
        ("café", "cafe\u0301"),
        ("Ｈｅｌｌｏ world", "hello world"),
        ("été", "ete"),
        ("U.S.", "USA"),
        ("US", "USA"),
    ],
)
def test_skin_tones_styles_widths_and_accents_are_ignored(one: str, other: str) -> None:
    assert terms_of(one) == terms_of(other) != set()


def test_an_emoji_family_is_one_term_and_no_word() -> None:
    assert len(terms_of("👨‍👩‍👧‍👦")) == 1
    assert tokenize("👨‍👩‍👧‍👦 🇩🇪").count == 0


def test_hyphens_and_underscores_separate_words() -> None:
    assert terms_of("well-known snake_case") == terms_of("known snake case")


def test_the_country_us_differs_from_the_pronoun() -> None:
    assert shared("Which US states?", "we toured the US") == 1.0
    assert shared("Which US states?", "he told us") == 0


def test_chinese_terms_are_pairs_between_function_words() -> None:
    assert words_of("", "我花生过敏") == ["花生", "生过", "过敏"]
    assert words_of("", "狗") == ["狗"]


def test_thai_terms_have_two_to_four_characters() -> None:
    sizes = {len(term) - 1 for term, _ in spell_word("แพ้ถั่ว", "")}

    assert sizes == {2, 3, 4}


def test_text_without_spaces_is_counted_by_characters() -> None:
    assert tokenize("今天天气很好").count == 3
    assert tokenize("hello there 2 you").count == 4


def test_only_the_first_words_of_a_long_text_are_analysed() -> None:
    text = " ".join(f"word{number}" for number in range(WORD_LIMIT + 10))

    assert len(tokenize(text).pieces) == WORD_LIMIT


def test_a_long_message_keeps_whole_words_before_parts() -> None:
    words = [
        "".join("абвгджзклмнпрстф"[int(digit, 16)] for digit in f"{n * 40_503:08x}") for n in range(1_900)
    ]

    kept = list(message_terms(tokenize(" ".join(words))))

    assert len(kept) == TERM_LIMIT
    assert hash_of(stem(words[-1], "russian")) in kept


def test_a_term_always_has_the_same_number() -> None:
    assert hash_of("paint") == 3861671845


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("", 0),
        ("who are you?", 0),
        ("👍", 0),
        ("#x", 1),
        ("ありがとう", 0),
        ("when did I paint the fence?", 2),
        ("when did I paint what she painted?", 1),
        ("На что у меня аллергия?", 1),
        ("我花生过敏", 3),
        ("ผมแพ้ถั่วลิสง", 1),
        ("12", 1),
        ("www.example.org", 1),
    ],
)
def test_the_words_of_a_question_count_once_without_stop_words(question: str, count: int) -> None:
    assert len(question_terms(tokenize(normal(question)))[1]) == count


def test_a_word_has_its_stems_and_parts_as_terms() -> None:
    _, (word,) = question_terms(tokenize("гитара"))
    message = terms_of("моей гитаре десять лет")
    assert word.whole & message
    assert word.parts <= message


@pytest.mark.parametrize(
    ("question", "expected"),
    [("4711", True), ("bike lock?", True), ("Lissabon", True), ("www.example.org", True), ("the bike lock", False),
     ("what is 4711?", False), ("", False), ("👍", False), ("4711 👍", False), ("里斯本", False)],
)  # fmt: skip
def test_bare_words_are_recognised(question: str, expected: bool) -> None:
    assert is_bare(tokenize(normal(question))) == expected


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("where is the will?", "my will is with the notary"),
        ("whose wills?", "the will"),
        ("the can", "a can of paint"),
    ],
)
def test_a_stop_word_used_as_a_noun_is_a_term(question: str, message: str) -> None:
    assert searched(question).keys() & terms_of(message)
    assert not searched("will he, can she?")


def test_a_term_in_a_message_of_average_length_weighs_one() -> None:
    assert message_vector({7: 1}, length=int(AVERAGE_LENGTH)).values == (1.0,)


def test_a_repeated_term_weighs_more_up_to_a_limit() -> None:
    weights = [message_vector({7: count}, length=20).values[0] for count in (1, 2, 3, 1000)]

    assert weights == sorted(weights)
    assert weights[-1] < 2.2


def test_the_same_term_weighs_less_in_a_longer_message() -> None:
    short, long = (message_vector({7: 1}, length=length).values[0] for length in (3, 300))

    assert long < short


def test_the_formula_is_the_published_one() -> None:
    value = message_vector({7: 2}, length=46).values[0]

    assert value == pytest.approx(2 * 2.2 / (2 + 1.2 * (0.6 + 0.4 * 2)))
    assert math.isfinite(message_vector({7: 1}, length=0).values[0])


def test_a_text_without_terms_has_an_empty_vector() -> None:
    assert message_vector({}, length=0).indices == ()
