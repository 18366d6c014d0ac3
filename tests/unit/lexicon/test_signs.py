"""Signs of messages and questions."""

import pytest

from memory.recall.lexicon.analyser import (
    NAME,
    OTHER,
    WHEN,
    analyse_message,
    analyse_question,
    find_kinds,
    message_signs,
)
from memory.recall.lexicon.terms import tokenize

NOW = 1_694_606_400.0


def of_message(text: str) -> frozenset[str]:
    return analyse_message(text, {}).signs


def of_question(text: str) -> frozenset[str]:
    return analyse_question(text, {1: "Anna"}, asker_id=None, now=NOW).signs


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("nothing to see", set[str]()),
        ("are you there?", {"question", "asks"}),
        ("are you there?! ", {"question", "asks"}),
        ("Why? because it rains", {"asks"}),
        ("你在吗?", {"question", "asks"}),
        ("你在吗", {"question"}),
        ("هستی؟", {"question", "asks"}),
        ("we moved house", {"first_person"}),
        ("it's mine, i'd say", {"first_person"}),
        ("мы переехали", {"first_person"}),
        ("我们搬家了", {"first_person"}),
        ("ich wohne hier", {"first_person"}),
        ("سگ من اینجاست", {"first_person"}),
        ("сегодня работаю из дома", {"first_person", "time"}),
        ("por fin compré la bici", {"first_person"}),
        ("qué café más rico, así sí", set[str]()),
        ("yesterday it rained", {"time"}),
        ("it rained last night", {"time"}),
        ("that was in May, ok", {"time", "name"}),
        ("since then", {"time"}),
        ("a few days later", {"time"}),
        ("see the weekend plan", {"time"}),
        ("это было вчера", {"time"}),
        ("fue la semana pasada", {"time"}),
        ("昨天下雨", {"time"}),
        ("you may come back to the spring", set[str]()),
        ("that costs 40 euros", set[str]()),
        ("let's visit Lisbon", {"name"}),
        ("Lisbon is nice", set[str]()),
    ],
)
def test_the_signs_of_a_message_are_found(text: str, signs: set[str]) -> None:
    assert of_message(text) == signs


@pytest.mark.parametrize(
    ("sign", "questions"),
    [
        ("when", ["when did it rain?", "what year was it?", "how long is it?", "¿cuándo?", "wann war das?",
             "когда это было?",
                  "quando foi?", "چه زمانی؟", "什么时候", "いつ", "متى",
                  "कब"]),
        ("name", ["which city was it?", "where is it?", "¿cómo se llama?", "wie heißt sie?", "как её зовут?",
        "她叫什么名字?"]),
    ],
)  # fmt: skip
def test_the_kind_of_a_question_is_found(sign: str, questions: list[str]) -> None:
    assert [question for question in questions if sign not in of_question(question)] == []


@pytest.mark.parametrize(
    "question",
    ["who won?", "¿quién ganó?", "wer gewann?", "кто победил?", "quem ganhou?", "谁赢了?", "چه کسی برد؟",
     "where is it?", "¿dónde está?", "wo ist es?", "где это?", "onde fica?", "在哪里?", "کجاست؟",
     "how many cats?", "¿cuántos gatos?", "wie viele Katzen?", "сколько кошек?", "quantos gatos?", "多少钱?", "چند تا؟"],
)  # fmt: skip
def test_question_words_are_found(question: str) -> None:
    assert find_kinds(question, tokenize(question).likeliest, WHEN, NAME, OTHER)


@pytest.mark.parametrize("text", ["it rained", "thanks, see you", "спасибо", "谢谢"])
def test_statements_ask_for_nothing(text: str) -> None:
    assert not find_kinds(text, tokenize(text).likeliest, WHEN, NAME, OTHER)


@pytest.mark.parametrize(
    "text",
    ["", "  ", "thanks!", "ok", "hi Anna", "Anna!", "good idea", "see you tomorrow", "what's the weather like?",
         "😀👍", "?!",
     "how are you?", "спасибо!", "доброе утро", "gracias", "muchas gracias", "danke schön", "obrigado!",
     "merci", "谢谢!", "好的",
     "ありがとう", "مرسی", "شكرا", "धन्यवाद", "I agree", "agreed!", "I'm sorry", "sorry, Anna",
     "happy birthday, Anna!", "no problem",
     "tut mir leid", "ich weiß", "einverstanden", "lo siento", "estoy de acuerdo", "я знаю", "می‌دونم", "我同意",
     "I think so", "where?", "кто?", "can you tell me a story?"],
)  # fmt: skip
def test_small_talk_is_recognised(text: str) -> None:
    assert "small_talk" in of_question(text)


@pytest.mark.parametrize(
    "text",
    ["thanks for the recipe", "ok, where is the key?", "what's my address?", "40", "www.example.org",
    "спасибо за рецепт",
     "谢谢你的食谱", "what was my idea?", "did you like the job?"],
)  # fmt: skip
def test_one_further_word_ends_small_talk(text: str) -> None:
    assert "small_talk" not in of_question(text)


@pytest.mark.parametrize(
    "text",
    ["where did we go in May?", "who is happy?", "What did Anna say about the weather?", "what did I say yesterday?",
     "the weather is fine", "where is Anna?", "где Анна?", "what did we agree on?", "what was the problem?"],
)  # fmt: skip
def test_common_words_that_ask_for_a_person_or_time_are_no_small_talk(text: str) -> None:
    assert "small_talk" not in of_question(text)


@pytest.mark.parametrize(
    "text",
    ["where am I from?", "who am I?", "откуда я?", "¿de dónde soy?", "wo war ich?", "did I agree?", "am I happy?",
     "what do I have tomorrow?"],
)  # fmt: skip
def test_questions_about_oneself_are_no_small_talk_and_statements_may_be(text: str) -> None:
    asked, said = (
        analyse_question(each, {}, asker_id=7, now=NOW).signs for each in (text, "I'm happy, I agree")
    )
    assert ("small_talk" in asked, "small_talk" in said) == (False, True)


@pytest.mark.parametrize(
    "text",
    ["recommend me a series", "please suggest a book", "recomiéndame una serie", "empfiehl mir ein Buch",
    "посоветуй фильм",
     "推荐一本书吧", "یه کتاب بهم معرفی کن", "consigliami un libro", "is it late?"],
)  # fmt: skip
def test_a_question_mark_or_a_request_makes_a_question(text: str) -> None:
    assert "asks" in message_signs(text, tokenize(text).likeliest)


@pytest.mark.parametrize("text", ["I recommend the soup", "she told me", "дайвинг", "ich sagte nichts"])
def test_statements_are_no_questions(text: str) -> None:
    assert "asks" not in message_signs(text, tokenize(text).likeliest)
