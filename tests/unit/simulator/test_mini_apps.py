"""Launch data of Mini Apps, checked by the steps of core.telegram.org/bots/webapps."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest

from simulator.api.config import DEFAULT_TOKEN, SimulatorConfig
from simulator.api.errors import PageError
from simulator.api.mini_apps import Launch, open_web_app
from simulator.api.page_api import content_security_policy
from simulator.api.simulation import Simulation, build_simulation
from simulator.api.world import BEN, OLGA, WEEKEND_PLANS, Message
from tests.page_http import hash_of

pytestmark = pytest.mark.slow

PAGE = "https://bot.example:8443/app/"
BUTTON = f"{PAGE}?link=mAbc"
NOW = 1_764_000_000


def build(**changes: Any) -> Simulation:
    config = SimulatorConfig(mini_app_url=PAGE, clock=lambda: NOW)
    return build_simulation(replace(config, **changes))


def send_button(sim: Simulation, url: str = BUTTON, *, chat_id: int = OLGA) -> int:
    keyboard = {"inline_keyboard": [[{"text": "Open", "web_app": {"url": url}}]]}
    number = sim.world.next_message_id(chat_id)
    bot = sim.world.bot.id
    sim.world.put_message(
        Message(id=number, chat_id=chat_id, sender_id=bot, date=NOW, text="x", reply_markup=keyboard)
    )
    return number


def fragment_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(url.partition("#")[2], strict_parsing=True))


def is_signed(init_data: str, token: str) -> bool:
    """Check as Telegram documents: drop the hash, sort the decoded lines, derive the key from the token."""
    pairs = [pair.split("=", 1) for pair in init_data.split("&")]
    received = {name: unquote(value) for name, value in pairs}
    given = received.pop("hash")
    return given == hash_of(received, token)


def open_by_button(sim: Simulation, **changes: Any) -> str:
    launch = Launch(chat_id=OLGA, from_id=OLGA, message_id=send_button(sim), url=BUTTON)
    return open_web_app(sim, replace(launch, **changes))


def test_a_press_of_a_button_opens_its_address_with_data_signed_for_the_person() -> None:
    sim = build()

    url = open_by_button(sim, theme_params={"bg_color": "#ffffff"})

    assert url.partition("#")[0] == BUTTON
    fragment = fragment_of(url)
    assert list(fragment) == ["tgWebAppData", "tgWebAppVersion", "tgWebAppPlatform", "tgWebAppThemeParams"]
    assert (fragment["tgWebAppPlatform"], fragment["tgWebAppThemeParams"]) == (
        "web",
        '{"bg_color":"#ffffff"}',
    )
    assert is_signed(fragment["tgWebAppData"], DEFAULT_TOKEN)
    assert not is_signed(fragment["tgWebAppData"], "4242:another-token")
    data = dict(parse_qsl(fragment["tgWebAppData"]))
    assert data.keys() == {"query_id", "user", "auth_date", "signature", "hash"}
    assert data["auth_date"] == str(NOW)
    assert json.loads(data["user"]) == {
        "id": OLGA,
        "first_name": "Olga",
        "last_name": "Marin",
        "username": "olga",
        "language_code": "en",
        "allows_write_to_pm": True,
    }


@pytest.mark.parametrize("name", ["Ann & Bob = 100 % + #1", 'Zoë\n\t"quoted"', "🧠 \u202eevil", "hash=1"])
def test_the_signature_holds_for_any_name(name: str) -> None:
    sim = build()
    sim.world.people[OLGA] = replace(sim.world.people[OLGA], first_name=name)

    init_data = fragment_of(open_by_button(sim))["tgWebAppData"]

    assert is_signed(init_data, DEFAULT_TOKEN)
    assert json.loads(dict(parse_qsl(init_data))["user"])["first_name"] == name


def test_a_link_in_a_group_opens_the_main_mini_app_and_does_not_name_the_group() -> None:
    sim = build()

    url = open_web_app(sim, Launch(chat_id=WEEKEND_PLANS, from_id=BEN, start_param="mAbc_-9"))

    assert url.partition("#")[0] == f"{PAGE}?tgWebAppStartParam=mAbc_-9"
    init_data = fragment_of(url)["tgWebAppData"]
    assert is_signed(init_data, DEFAULT_TOKEN)
    data = dict(parse_qsl(init_data))
    assert (data["start_param"], data["chat_type"], json.loads(data["user"])["id"]) == (
        "mAbc_-9",
        "group",
        BEN,
    )
    assert int(data["chat_instance"])
    assert str(abs(WEEKEND_PLANS)) not in data["chat_instance"]
    assert "query_id" not in data


def test_open_app_opens_the_main_mini_app_without_a_parameter() -> None:
    url = open_web_app(build(), Launch(chat_id=BEN, from_id=BEN))

    assert url.partition("#")[0] == PAGE
    data = dict(parse_qsl(fragment_of(url)["tgWebAppData"]))
    assert data.keys() == {"user", "auth_date", "signature", "hash"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"url": f"{PAGE}?link=mOther"}, "The message has no such button."),
        ({"message_id": None}, "There is no such message in this chat."),
        ({"from_id": BEN}, "That person is not in this chat."),
        ({"chat_id": BEN}, "That person is not in this chat."),
    ],
)
def test_nobody_gets_data_signed_for_an_address_without_a_button(
    changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(PageError) as refusal:
        open_by_button(build(), **changes)
    assert str(refusal.value) == sentence


def test_a_button_that_leads_to_another_origin_does_not_open() -> None:
    sim = build()
    url = "https://bot.example/app/"
    launch = Launch(chat_id=OLGA, from_id=OLGA, message_id=send_button(sim, url), url=url)

    with pytest.raises(PageError) as refusal:
        open_web_app(sim, launch)

    assert str(refusal.value) == "The chat page only opens Mini Apps of https://bot.example:8443."


def test_a_simulator_without_a_mini_app_opens_none() -> None:
    with pytest.raises(PageError) as refusal:
        open_by_button(build(mini_app_url=None))
    assert str(refusal.value) == "The simulator does not know a Mini App of this bot."


@pytest.mark.parametrize(
    ("mini_app_url", "framed"), [(PAGE, "frame-src https://bot.example:8443;"), (None, "frame-src 'none';")]
)
def test_the_chat_page_may_frame_the_mini_app_and_nothing_else(mini_app_url: str | None, framed: str) -> None:
    policy = content_security_policy(mini_app_url)

    assert f" {framed} " in policy
    assert policy.startswith("default-src 'none';")
    assert "frame-ancestors 'none'" in policy
