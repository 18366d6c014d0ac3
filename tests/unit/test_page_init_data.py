"""Checks of initData: what Telegram signed for this bot within the last hour, and nothing else."""

import json
from collections.abc import Mapping
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.page.visitors import CLOCK_SKEW_S, LONGEST, VALID_S, InitData, check_init_data, key_of
from tests.page_http import hash_of

TOKEN, OTHER_TOKEN = "123456:ABC-DEF", "123457:ABC-DEF"
NOW = 1_800_000_000.0
OLGA: Mapping[str, object] = {
    "id": 1001,
    "first_name": "Olga",
    "last_name": "Marin",
    "language_code": "ru",
    "is_premium": True,
}
FIELDS = {
    "query_id": "AAHdF6IQAAAAAN0XohDhrOrc",
    "user": json.dumps(OLGA),
    "auth_date": str(int(NOW) - 5),
    "start_param": "mABC",
    "signature": "c2lnbmF0dXJl",
}


def signed(fields: Mapping[str, str], token: str = TOKEN) -> str:
    return urlencode({**fields, "hash": hash_of(fields, token)})


def check(text: str, *, now: float = NOW, token: str = TOKEN) -> InitData | str:
    return check_init_data(text, key=key_of(token), now=now)


def test_data_that_telegram_signed_name_the_person_and_the_link() -> None:
    assert check(signed(FIELDS)) == InitData(
        user_id=1001, name="Olga Marin", language_code="ru", start_param="mABC"
    )


def test_an_example_of_another_implementation_is_accepted() -> None:
    """From the documentation of docs.telegram-mini-apps.com (init-data, "Validating")."""
    text = (
        "query_id=AAHdF6IQAAAAAN0XohDhrOrc&user=%7B%22id%22%3A279058397%2C%22first_name%22%3A%22Vladislav%22%2C"
        "%22last_name%22%3A%22Kibenko%22%2C%22username%22%3A%22vdkfrost%22%2C%22language_code%22%3A%22ru%22%2C"
        "%22is_premium%22%3Atrue%7D&auth_date=1662771648"
        "&hash=c501b71e775f74ce10e377dea85a7ea24ecd640b223ea86dfe453e0eaed2e2b2"
    )

    found = check(text, now=1662771650.0, token="5768337691:AAH5YkoiEuPk8-FZa32hStHTqXiLPtAEhx8")

    assert isinstance(found, InitData)
    assert found.user_id == 279058397


def test_fields_may_come_in_any_order() -> None:
    fields = {**FIELDS, "hash": hash_of(FIELDS, TOKEN)}

    assert check(urlencode(dict(reversed(fields.items())))) == check(urlencode(fields))
    assert isinstance(check(urlencode(dict(reversed(fields.items())))), InitData)


def test_every_changed_field_is_refused() -> None:
    fields = {**FIELDS, "hash": hash_of(FIELDS, TOKEN)}

    for name, value in fields.items():
        assert check(urlencode({**fields, name: value + "0"})) == "unauthorized"
        assert check(urlencode({each: fields[each] for each in fields if each != name})) == "unauthorized"
    assert check(urlencode({**fields, "chat_type": "private"})) == "unauthorized"


def test_another_bots_data_are_refused() -> None:
    assert check(signed(FIELDS, OTHER_TOKEN)) == "unauthorized"


@pytest.mark.parametrize("name", [*FIELDS, "hash"])
def test_a_field_that_comes_twice_is_refused(name: str) -> None:
    text = signed(FIELDS)
    value = {**FIELDS, "hash": hash_of(FIELDS, TOKEN)}[name]

    assert check(f"{text}&{name}={quote(value)}") == "unauthorized"
    assert check(f"{name}={quote(value)}&{text}") == "unauthorized"
    assert check(f"{text}&%{ord(name[0]):02x}{name[1:]}={quote(value)}") == "unauthorized"


def test_a_line_break_moves_nothing_from_one_field_to_another() -> None:
    honest = {"auth_date": str(int(NOW)), "chat_type": "x\nuser=" + json.dumps(OLGA)}
    moved = {"auth_date": str(int(NOW)), "chat_type": "x", "user": json.dumps(OLGA)}
    assert hash_of(honest, TOKEN) == hash_of(moved, TOKEN)  # the signed lines are the same

    assert check(signed(honest)) == "unauthorized"


@pytest.mark.parametrize(
    ("age_s", "outcome"),
    [
        (0, "accepted"),
        (VALID_S, "accepted"),
        (VALID_S + 1, "expired"),
        (10 * VALID_S, "expired"),
        (-CLOCK_SKEW_S, "accepted"),
        (-CLOCK_SKEW_S - 1, "unauthorized"),
    ],
)
def test_data_are_valid_for_an_hour_and_not_before_they_were_made(age_s: float, outcome: str) -> None:
    found = check(signed({**FIELDS, "auth_date": str(int(NOW - age_s))}))

    assert ("accepted" if isinstance(found, InitData) else found) == outcome


def test_expired_data_of_a_forger_say_nothing_about_their_age() -> None:
    assert check(signed({**FIELDS, "auth_date": "1"}, OTHER_TOKEN)) == "unauthorized"


@pytest.mark.parametrize("auth_date", ["", "-1", "1e9", " 1800000000", "١٨٠٠٠٠٠٠٠٠", "9" * 13, "18_00"])
def test_a_date_that_is_no_number_is_refused(auth_date: str) -> None:
    assert check(signed({**FIELDS, "auth_date": auth_date})) == "unauthorized"


@pytest.mark.parametrize(
    "user",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"id": "1001"}',
        '{"id": true}',
        '{"id": 0}',
        '{"id": -5}',
        '{"id": 1.0}',
        '{"id": 4503599627370496}',
        "[" * 1000,
    ],
)
def test_data_without_a_person_are_refused(user: str) -> None:
    assert check(signed({**FIELDS, "user": user})) == "unauthorized"


def test_names_of_any_script_come_through_and_odd_types_are_left_out() -> None:
    names = {"id": 7, "first_name": "<b>\u202eЮлия</b> 🧠", "last_name": "یولیا", "language_code": 5}

    found = check(signed({**FIELDS, "user": json.dumps(names, ensure_ascii=False)}))

    assert isinstance(found, InitData)
    assert (found.name, found.language_code) == ("<b>\u202eЮлия</b> 🧠 یولیا", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "&",
        "=",
        "hash=",
        "a",
        "hash=" + "0" * 64,
        "a=1&hash=" + "é" * 64,
        "a=%ff&hash=" + "0" * 64,
        "&".join(f"a{n}=1" for n in range(100)),
        "a=" + "x" * LONGEST,
        "\x00=\x00",
        "\ud800=1",
    ],
)
def test_what_is_no_init_data_is_refused(text: str) -> None:
    assert check(text) == "unauthorized"


def test_signed_data_beyond_the_bound_are_refused() -> None:
    assert check(signed({**FIELDS, "start_param": "x" * LONGEST})) == "unauthorized"


@given(st.text(max_size=300))
def test_no_text_is_accepted_or_raises(text: str) -> None:
    assert check(text) == "unauthorized"
