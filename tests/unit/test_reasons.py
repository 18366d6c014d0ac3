"""Words that a message shares with a question, as people see them."""

import pytest

from memory.recall.excerpts import matched_words


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        (
            "Where did I park the bike?",
            "The bikes are parked here, each Bike is red",
            ("bikes", "parked", "Bike"),
        ),
        ("what is the wifi code?", "WiFi: the code is 4711", ("WiFi", "code")),
        ("code 4711?", "4711 opens it, the code of the bike lock", ("4711", "code")),
        ("wo ist mein Fahrrad?", "Die Fahrräder stehen im Keller", ("Fahrräder",)),
        ("где мой велосипед?", "Велосипеды в подвале", ("Велосипеды",)),
        ("自行车在哪里?", "我的自行车停在车站", ("自行车",)),
        ("who are you?", "you are who you are", ()),
        ("Where is the bike?", "It is in the cellar", ()),
        ("", "text", ()),
        ("bike", "", ()),
    ],
)
def test_words_match_by_their_stems_and_are_shown_as_they_are_written(
    question: str, text: str, words: tuple[str, ...]
) -> None:
    assert matched_words(question, text) == words


def test_a_message_of_many_matches_shows_the_first_eight() -> None:
    numbers = " ".join(map(str, range(100, 120)))
    assert matched_words(numbers, numbers) == tuple(map(str, range(100, 108)))
