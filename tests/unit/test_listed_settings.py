"""The operators' page lists the settings in effect, and no secret in any of them."""

from collections.abc import Mapping
from typing import Any, get_args

import pytest
from pydantic import SecretStr

from bot.features.settings import AllSettings, load_settings
from bot.page.operations import list_settings
from bot.settings import Settings

CANARY = "canary0secret"
SECRETS: Mapping[str, str] = {
    "telegram_bot_token": f"4242:{CANARY}-token",
    "webhook_secret": f"{CANARY}-webhook",
    "redis_url": f"redis://user:{CANARY}@redis.example:6379/0",
    "qdrant_api_key": f"{CANARY}-qdrant",
    "openai_api_key": f"sk-{CANARY}",
}
ADDRESSES: Mapping[str, str] = {
    "telegram_api_url": f"https://user:{CANARY}@api.example",
    "webhook_url": f"https://user:{CANARY}@bot.example",
    "public_url": "https://bot.example",
    "qdrant_url": f"https://user:{CANARY}@qdrant.example:6333,https://user:{CANARY}@second.example",
    "openai_base_url": f"https://user:{CANARY}@models.example/v1?key={CANARY}",
    "otel_exporter_otlp_endpoint": f"https://traces.example/otlp?token={CANARY}",
}


def by_name(settings: Settings) -> dict[str, Mapping[str, Any]]:
    return {row["name"].lower(): row for row in list_settings(settings)}


def test_a_secret_is_only_known_to_be_set() -> None:
    rows = by_name(load_settings(**SECRETS, **ADDRESSES))

    assert CANARY not in str(rows)
    assert {name: rows[name]["value"] for name in SECRETS} == dict.fromkeys(SECRETS, "set")
    assert rows["openai_base_url"]["value"] == "https://***@models.example/v1?***"
    assert rows["qdrant_url"]["value"] == "https://***@qdrant.example:6333,https://***@second.example"


def test_every_secret_and_every_address_is_in_this_test() -> None:
    fields = AllSettings.model_fields
    secret = {
        name for name, field in fields.items() if SecretStr in (field.annotation, *get_args(field.annotation))
    }
    assert secret == set(SECRETS)
    assert {name for name in fields if name.endswith(("_url", "_endpoint"))} - secret == set(ADDRESSES)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_that_stands_in_another_setting_is_masked(name: str) -> None:
    secret = load_settings(**SECRETS).secrets[0]
    rows = by_name(load_settings(**SECRETS, openai_model=f"model-{secret}"))
    assert rows["openai_model"]["value"] == "model-***"
    assert rows[name]["value"] == "set"


def test_values_are_as_the_environment_has_them() -> None:
    rows = by_name(load_settings(operator_ids="7,5", streaming=False, recall_k=25))

    assert (rows["operator_ids"]["value"], rows["operator_ids"]["is_default"]) == ("5,7", False)
    assert (rows["streaming"]["value"], rows["streaming"]["is_default"]) == ("false", False)
    assert (rows["recall_k"]["value"], rows["recall_k"]["is_default"]) == ("25", True)
    assert (rows["redis_url"]["value"], rows["openai_vision"]["value"]) == ("", "")
    assert all(row["description"] for row in rows.values())


def test_another_process_gets_the_same_settings() -> None:
    settings = load_settings(**SECRETS, **ADDRESSES, operator_ids="7,5", streaming=False)

    assert load_settings(**{name.lower(): value for name, value in settings.environment.items()}) == settings
