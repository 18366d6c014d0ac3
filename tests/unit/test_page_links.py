"""The signed parameter of a link to the memory page."""

import re

import pytest

from bot.transport.page_links import PageLinks, PagePlace, parse_place, sign_place

TOKEN = "123456:ABC-DEF"
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


def test_a_group_gets_a_link_and_a_private_chat_a_web_app_button() -> None:
    with_app = PageLinks(
        token=TOKEN, bot_username="mem_bot", page_url="https://bot.example/app/", has_main_web_app=True
    )
    without = PageLinks(token=TOKEN, bot_username="mem_bot", page_url="https://bot.example/app/")
    group = PagePlace(chat_id=-100)

    signed = sign_place(group, TOKEN)
    assert with_app.open_place(group).url == f"https://t.me/mem_bot?startapp={signed}"
    assert without.open_place(group).url == f"https://t.me/mem_bot?start={signed}"
    assert without.open_privately(group).url == f"https://bot.example/app/?link={signed}"
    assert with_app.open_place(PLACES[0]).kind == "web_app"
