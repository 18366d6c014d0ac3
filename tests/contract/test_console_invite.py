"""`mnemogram invite` on real stores: a link that works once, the list of guests, and revocation."""

import time
from urllib.parse import parse_qs, urlsplit

import pytest

from bot.app.stores import open_stores
from bot.features.settings import load_settings
from bot.transport.people import Redeemed, digest_of
from tests.contract.console_rig import ConsoleRig, on_stores

ANNA = 1001


async def _redeem(user_id: int, code: str) -> Redeemed:
    async with open_stores(load_settings()) as stores:
        return await stores.guests.redeem(user_id, digest_of(code))


def _code(url: str) -> str:
    return parse_qs(urlsplit(url).query)["start"][0]


def test_an_invitation_is_a_link_that_works_for_one_person(console: ConsoleRig) -> None:
    ran = console("invite")
    assert (ran.status, ran.err) == (0, "")
    url = ran.out.splitlines()[0]
    assert url.startswith("https://t.me/mnemogram_bot?start=")
    assert "works for one person, once, until 20" in ran.out
    assert "INVITED_ONLY=true" in ran.out

    assert on_stores(_redeem(ANNA, _code(url))) == "accepted"
    assert on_stores(_redeem(ANNA + 1, _code(url))) == "invalid"


def test_invite_json_is_one_document(console: ConsoleRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INVITED_ONLY", "true")
    document = console("invite", "--json").document
    assert set(document) == {"url", "expires_at", "is_needed"}
    assert document["is_needed"] is True
    assert document["expires_at"] > time.strftime("%Y-%m-%dT", time.gmtime())


def test_guests_are_listed_and_revoked(console: ConsoleRig) -> None:
    assert console("invite", "--guests").out == "Nobody has used an invitation.\n"
    on_stores(_redeem(ANNA, _code(console("invite", "--json").document["url"])))

    (guest,) = console("invite", "--guests", "--json").document
    assert guest["user_id"] == ANNA
    assert "1 guest." in console("invite", "--guests").out
    assert console("invite", "--revoke", str(ANNA)).status == 0
    assert console("invite", "--guests", "--json").document == []
    again = console("invite", "--revoke", str(ANNA))
    assert (again.status, again.err) == (
        1,
        f"{ANNA} is not a guest; `mnemogram invite --guests` lists them\n",
    )


def test_invite_without_telegram_fails_and_names_the_setting(
    console: ConsoleRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "123456:" + "a" * 35)
    monkeypatch.setenv("TELEGRAM_API_URL", "http://127.0.0.1:9")
    ran = console("invite")
    assert (ran.status, ran.out) == (1, "")
    assert "TELEGRAM_API_URL" in ran.err


def test_guests_and_revoke_cannot_be_combined(console: ConsoleRig) -> None:
    assert console("invite", "--guests", "--revoke", "1").status == 2
