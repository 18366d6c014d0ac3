"""Settings: secrets, and dependent values."""

from pathlib import Path

import pytest

from bot.app.stores import connections_for
from bot.errors import SettingsInvalid
from bot.features.settings import AllSettings, load_settings
from bot.settings import WEBHOOK_CONNECTIONS


@pytest.fixture(autouse=True)
def nothing_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove `.env` and the developer's settings."""
    monkeypatch.chdir(tmp_path)
    for name in AllSettings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_password_is_secret_in_its_encoded_and_decoded_form() -> None:
    settings = load_settings(redis_url="redis://user:p%40ss%2Fword@127.0.0.1:1/0")

    assert {"p%40ss%2Fword", "p@ss/word"} <= set(settings.secrets)


@pytest.mark.parametrize(
    "name", ["qdrant_url", "openai_base_url", "telegram_api_url", "otel_exporter_otlp_endpoint"]
)
def test_the_password_in_any_url_is_secret(name: str) -> None:
    settings = load_settings(**{name: "http://user:pass%2Dword@127.0.0.1:1"})

    assert {"pass%2Dword", "pass-word"} <= set(settings.secrets)


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_the_password_of_a_proxy_is_secret(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("https_proxy", f"{scheme}user:proxy-word@127.0.0.1:1")

    assert "proxy-word" in load_settings().secrets


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("redis_url", "redis://:hidden@127.0.0.1:port"),
        ("redis_url", "redis://:hid/den@127.0.0.1:6379"),
        ("redis_url", "redis+sentinel://:hidden@one:26379,two:port/0"),
        ("qdrant_url", "http://user:hidden@127.0.0.1:99999"),
        ("openai_base_url", "http://user:hid/den@127.0.0.1"),
    ],
)
def test_an_invalid_port_is_refused_without_the_password(name: str, url: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(**{name: url})

    (problem,) = refused.value.problems
    assert problem.startswith(f"{name.upper()}: has a port that is no number")
    assert "hid" not in problem


def test_the_hosts_of_a_qdrant_cluster_need_a_scheme_each() -> None:
    with pytest.raises(
        SettingsInvalid, match="QDRANT_URL: names several hosts: write http:// or https:// before each"
    ):
        load_settings(qdrant_url="http://user:hidden@one:6333,two:6333")


def test_several_sentinels_are_listed_with_their_ports() -> None:
    assert load_settings(redis_url="redis+sentinel://:word@one:26379,two:26380,[::1]:26381/0").redis_url


def test_a_url_without_a_password_adds_no_empty_secret() -> None:
    assert all(load_settings(redis_url="redis://127.0.0.1:1/0").secrets)


@pytest.mark.parametrize("given", [{}, {"worker_concurrency": 1000}, {"partitions": 1024}])
def test_there_are_enough_connections_for_all_concurrent_work(given: dict[str, int]) -> None:
    settings = load_settings(**given)
    at_once = settings.worker_concurrency + WEBHOOK_CONNECTIONS + 3 * settings.partitions

    assert connections_for(settings) > at_once


@pytest.mark.parametrize(
    ("given", "told"),
    [({"user_money_per_day": "nan"}, "USER_MONEY_PER_DAY:"), ({"recall_k": -1}, "RECALL_K:")],
)
def test_a_wrong_setting_of_memory_is_reported_in_one_line(given: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(**given)

    (problem,) = refused.value.problems
    assert problem.startswith(told)


def test_on_another_endpoint_the_chat_model_writes_summaries_unless_another_is_set() -> None:
    own = {"openai_base_url": "http://127.0.0.1:1/v1", "openai_model": "qwen3"}

    assert load_settings(**own).summary_model == "qwen3"
    assert load_settings(**own, openai_summary_model="tiny").summary_model == "tiny"
    assert load_settings(**own, openai_summary_model="").summary_model == ""
    assert load_settings(openai_model="gpt-5.4").summary_model == "gpt-5.4-nano"


TOKEN = "123456:ABC-DEF"


def test_the_page_is_at_the_public_url_or_else_at_the_origin_of_the_webhook() -> None:
    webhook = "https://bot.example:8443/some/path"

    public = load_settings(public_url="https://page.example/", webhook_url=webhook, telegram_bot_token=TOKEN)
    derived = load_settings(webhook_url=webhook, telegram_bot_token=TOKEN)
    assert public.page_url(None) == "https://page.example/app/"
    assert derived.page_url(None) == "https://bot.example:8443/app/"


def test_without_a_public_address_only_the_simulators_people_have_a_page() -> None:
    at = "http://127.0.0.1:8080"

    assert load_settings(telegram_bot_token=TOKEN).page_url(at) is None
    assert load_settings().page_url(at) == f"{at}/app/"
    assert load_settings().page_url(None) is None


@pytest.mark.parametrize(
    ("listening_at", "reached_at"),
    [
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080/app/"),
        ("http://[::]:8080", "http://[::1]:8080/app/"),
        ("http://localhost:8080", "http://127.0.0.1:8080/app/"),
        ("http://192.168.1.7:8080", "http://192.168.1.7:8080/app/"),
    ],
)
def test_the_simulators_page_has_an_address_that_a_browser_reaches(
    listening_at: str, reached_at: str
) -> None:
    assert load_settings().page_url(listening_at) == reached_at


@pytest.mark.parametrize(
    "url", ["http://bot.example", "bot.example", "https://bot.example/other", "https://a:b@bot.example"]
)
def test_a_public_url_that_cannot_lead_to_the_page_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="PUBLIC_URL: must be"):
        load_settings(public_url=url)
