"""The offline model's facts: what it notes of a sentence, and which known fact a new one replaces."""

import json
from typing import Any

import pytest

from simulator.offline_model.facts import read_facts

pytestmark = pytest.mark.slow


def facts_in(
    *lines: str, known: tuple[tuple[str, str], ...] = (), speaker: str = "Ben"
) -> list[dict[str, Any]]:
    """Return the facts of a request with these lines by one speaker."""
    facts = [
        f"{number}. {json.dumps({'subject': subject, 'statement': statement})}"
        for number, (subject, statement) in enumerate(known, 1)
    ]
    spoken = [
        f"{number}. [2026-05-31 10:00 UTC] {speaker}: {json.dumps(line)}"
        for number, line in enumerate(lines, 1)
    ]
    return read_facts(["Known facts:", *facts, "", "People:", json.dumps(speaker), "", "Lines:", *spoken])[
        "facts"
    ]


@pytest.mark.parametrize(
    "line",
    [
        *("My sister Anna lives in Lisbon", "I am allergic to nuts.", "I'm a nurse", "my bike is red"),
        *("Please remember that I live with my aunt", "Anna Lima works at the mill", "I can't stand olives"),
    ],
)
def test_a_statement_that_lasts_becomes_a_fact_in_the_words_of_its_writer(line: str) -> None:
    found = facts_in("Hello!", line)

    assert [(each["subject"], each["statement"], each["messages"]) for each in found] == [
        ("Ben", f"Ben: “{line}”", [2])
    ]


@pytest.mark.parametrize(
    "line", ["Where does Anna live?", "I'm going home", "It is raining", "thanks", "I " * 300]
)
def test_questions_and_what_holds_for_the_moment_are_no_facts(line: str) -> None:
    assert facts_in(line) == []


@pytest.mark.parametrize(
    ("red", "blue"),
    [
        ("my bike is red", "my bike is blue"),
        ("Mein Fahrrad ist rot", "Mein Fahrrad ist blau"),
        ("Mi bici es roja", "Mi bici es azul"),
        ("Minha bicicleta é vermelha", "Minha bicicleta é azul"),
        ("Мой велосипед красный", "Мой велосипед синий"),
        ("I live in Lisbon", "I live in Porto"),
    ],
)
def test_another_value_replaces_the_known_fact_about_the_same_thing(red: str, blue: str) -> None:
    (first,), (tea,) = facts_in(red), facts_in("I like tea")
    known = tuple((each["subject"], each["statement"]) for each in (tea, first))

    assert [each["replaces"] for each in facts_in(blue, known=known)] == [[2]]


def test_what_is_told_of_a_relative_replaces_nothing_that_was_told_of_the_same_one() -> None:
    (found,) = facts_in("my brother is ill", known=(("Ben", "Ben: “my brother is a nurse”"),))

    assert found["replaces"] == []


def test_what_can_hold_together_replaces_nothing() -> None:
    (found,) = facts_in("I am allergic to fish", known=(("Ben", "Ben: “I am allergic to nuts”"),))

    assert found["replaces"] == []


def test_a_known_fact_is_not_noted_again() -> None:
    assert facts_in("my bike is red", known=(("Ben", "Ben: “my bike is red”"),)) == []


def test_of_two_lines_that_contradict_each_other_the_later_one_is_noted() -> None:
    assert [each["statement"] for each in facts_in("my bike is red", "my bike is green")] == [
        "Ben: “my bike is green”"
    ]


def test_lines_of_the_assistant_and_lines_without_a_number_are_not_noted() -> None:
    told = '[2026-05-31 10:00 UTC] assistant: "My bike is red"'

    assert read_facts([f"1. {told}", told.replace("assistant", "Ben")]) == {"facts": []}


WISHES = (
    *(
        "call me Kim",
        "please always answer in metric units",
        "Never use long dashes",
        "From now on use Celsius",
    ),
    *("I'm vegan", "Remember that I prefer short answers", "Nenn mich Kim", "Antworte immer auf Deutsch"),
    *("Ich bin vegan", "Llámame Kim", "Responde siempre en español", "Soy vegana", "Me chame de Kim"),
    *(
        "Responda sempre em português",
        "Prefiro respostas curtas",
        "Зови меня Ким",
        "Всегда отвечай по-русски",
    ),
    *("Я веган", "منو کیم صدا کن", "همیشه کوتاه جواب بده", "من گیاه‌خوار هستم"),
)
NO_WISHES = (
    *("answer this one in French", "never mind", "call me tomorrow", "do you always answer in English?"),
    *('My boss said: "always answer in French"', "Ben always sings", "my sister is vegan", "nie wieder"),
    *("Siempre llueve aquí", "please call a taxi", "I have never been to Rome"),
)


@pytest.mark.parametrize("line", WISHES)
def test_plain_wishes_are_standing_in_each_language(line: str) -> None:
    assert [each["kind"] for each in facts_in(line)] == ["standing"]


@pytest.mark.parametrize("line", NO_WISHES)
def test_wishes_for_one_answer_quotations_and_talk_are_not_standing(line: str) -> None:
    assert "standing" not in [each["kind"] for each in facts_in(line)]


def test_a_new_name_to_be_called_by_replaces_the_old_one() -> None:
    (first,) = facts_in("call me Kimberly")

    (found,) = facts_in("call me Kim", known=((first["subject"], first["statement"]),))

    assert (found["kind"], found["replaces"]) == ("standing", [1])
