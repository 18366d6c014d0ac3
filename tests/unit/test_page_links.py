"""The signed parameter of a link to the memory page."""

import re
from dataclasses import replace
from typing import Any

import pytest

from bot.transport.page_links import PageLinks, PagePlace, parse_place, sign_place
from bot.transport.telegram_api import Button

TOKEN = "123456:ABC-DEF"
PAGE = "https://bot.example/app/"
GROUP = PagePlace(chat_id=-1001234, thread_id=5)
PLACES = [
    PagePlace(chat_id=1001),
    PagePlace(chat_id=1001, thread_id=7),
    PagePlace(chat_id=-1_009_999_999_999, thread_id=2**40),
]


@pytest.mark.parametrize("place", PLACES)
def test_a_parameter_names_its_place_and_fits_into_a_start_link(place: PagePlace) -> None:
    parameter = sign_place(place, TOKEN)

    assert parse_place(parameter, TOKEN) == place
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", parameter)


@pytest.mark.parametrize("place", PLACES)
def test_no_changed_character_is_accepted(place: PagePlace) -> None:
    parameter = sign_place(place, TOKEN)

    changed = [
        parameter[:at] + other + parameter[at + 1 :]
        for at in range(len(parameter))
        for other in "Ab_-0"
        if parameter[at] != other
    ]
    assert {parse_place(each, TOKEN) for each in changed} <= {None, place}
    assert all(parse_place(each, TOKEN) is None for each in changed if each[:-1] != parameter[:-1])


@pytest.mark.parametrize("parameter", ["", "m", "x" * 44, "m" + "A" * 43, "m" + "é" * 43, "m" + "=" * 43])
def test_what_nobody_signed_names_no_place(parameter: str) -> None:
    assert parse_place(parameter, TOKEN) is None


def test_another_bots_parameter_names_no_place() -> None:
    assert parse_place(sign_place(PLACES[0], "999:other"), TOKEN) is None


def _links(**fields: Any) -> PageLinks:
    return replace(PageLinks(token=TOKEN, bot_username="mem_bot", page_url=PAGE), **fields)


def test_a_private_chat_gets_a_web_app_button() -> None:
    (button,) = _links().open_place(PLACES[1], "Open memory")

    assert button == Button(text="Open memory", web_app=f"{PAGE}?link={sign_place(PLACES[1], TOKEN)}")


def test_a_group_gets_a_link_to_the_page_or_without_a_main_mini_app_to_the_private_chat() -> None:
    signed = sign_place(GROUP, TOKEN)

    (direct,) = _links(has_main_web_app=True).open_place(GROUP, "Open memory")
    (by_start,) = _links().open_place(GROUP, "Open memory")

    assert direct == Button(text="Open memory", url=f"https://t.me/mem_bot?startapp={signed}")
    assert by_start == Button(text="Open memory", url=f"https://t.me/mem_bot?start={signed}")


def test_in_the_private_chat_a_button_opens_the_memory_of_the_group() -> None:
    (button,) = _links().open_privately(GROUP, "Open memory")

    assert button == Button(text="Open memory", web_app=f"{PAGE}?link={sign_place(GROUP, TOKEN)}")


def test_without_an_address_nothing_is_offered() -> None:
    links = _links(page_url=None)

    assert [links.open_place(place, "Open memory") for place in (GROUP, PLACES[0])] == [[], []]
    assert links.open_privately(GROUP, "Open memory") == []


def test_groups_without_a_page_get_no_button_while_private_chats_do() -> None:
    links = _links(group_access="off", has_main_web_app=True)

    assert links.open_place(GROUP, "Open memory") == []
    assert links.open_privately(GROUP, "Open memory") == []
    assert len(links.open_place(PLACES[0], "Open memory")) == 1


def test_only_a_link_of_ours_names_a_group() -> None:
    ours, theirs = sign_place(GROUP, TOKEN), sign_place(GROUP, "999:other")
    private = sign_place(PLACES[0], TOKEN)

    assert [_links().group_in(each) for each in (ours, theirs, private, "", "x")] == [GROUP, *[None] * 4]


def test_the_token_is_not_in_the_representation() -> None:
    assert TOKEN not in repr(_links())
