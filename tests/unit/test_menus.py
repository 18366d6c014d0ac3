"""Menus: the data of the buttons of a list, what they mean, and where a page begins."""

import pytest

from bot.turn.menus import ListPress, page_start, parse_list_press

WIDEST = ListPress(verb="correct", owner=-1_009_999_999_999_999_999, first=999_999, token="f" * 16)


@pytest.mark.parametrize("press", [WIDEST, ListPress(), ListPress(verb="delete", first=5, token="0" * 8)])
def test_a_button_of_a_list_means_what_it_was_made_for(press: ListPress) -> None:
    data = press.dump("reminders")
    word, owner, value = data.split(":", 2)
    assert len(data.encode()) <= 64
    assert (word, parse_list_press(owner, value)) == ("reminders", press)


@pytest.mark.parametrize(
    "data",
    [
        "",
        ":",
        "1:p",
        "1:x:0:",
        "1:d:0:",
        "1:p:0:0123456789abcdef",
        "a:p:0:",
        ":d:0:123",
        "\uff11:p:0:",
        ":p:-1:",
    ],
)
def test_other_data_means_nothing(data: str) -> None:
    owner, _, value = data.partition(":")
    assert parse_list_press(owner, value) is None


@pytest.mark.parametrize(("first", "start"), [(0, 0), (4, 0), (5, 5), (6, 5), (7, 5), (500, 5)])
def test_a_page_beyond_the_end_is_the_last_one(first: int, start: int) -> None:
    assert page_start(first, 7) == start
    assert page_start(first, 0) == 0
