"""MODELS: names with colons, prices and windows, and problems that name the setting and the entry."""

from pathlib import Path
from typing import Any

import pytest

from bot.app.agents import read_agents, window_of
from bot.errors import SettingsInvalid
from bot.features.pictures.settings import PictureSettings
from bot.features.settings import load_settings
from bot.features.voice.settings import VoiceSettings
from bot.model_choices import ModelChoice, parse_image_model, parse_models


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpt-5", ModelChoice(name="gpt-5")),
        ("llama3:8b", ModelChoice(name="llama3:8b")),
        ("llama3:8b:0:0", ModelChoice(name="llama3:8b", input_price=0, output_price=0)),
        ("gpt-5 : 1.25:10", ModelChoice(name="gpt-5", input_price=1.25, output_price=10)),
        ("a:1:2:1024", ModelChoice(name="a", input_price=1, output_price=2, window=1024)),
        ("phi:3:0:0:8192", ModelChoice(name="phi:3", input_price=0, output_price=0, window=8192)),
        ("ft:gpt-4o:org::id:1:2", ModelChoice(name="ft:gpt-4o:org::id", input_price=1, output_price=2)),
    ],
)
def test_a_colon_separates_only_before_numbers(text: str, expected: ModelChoice) -> None:
    assert parse_models(text) == (expected,)
    assert str(parse_models(text)[0]) == text


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("a:-1:2", "needs the form name[:input_price:output_price[:window]]"),
        ("a:1:nan", "needs the form"),
        ("a:1:", "needs the form"),
        ("a:1", "needs the form"),
        ("a:cheap:2", "needs the form"),
        ("a:1:2x", "needs the form"),
        (":1:2", "needs the form"),
        ("a:", "needs the form"),
        ("a::1:2", "needs the form"),
        ("two words:1:2", "needs the form"),
        ("a:1:2:1023", "a window has at least 1,024 tokens"),
        ("a" * 201, "a name has at most 200 characters"),
    ],
)
def test_a_wrong_entry_is_a_problem_that_names_models_and_the_entry(entry: str, problem: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(models=f"good:1:2, {entry}")

    (told,) = refused.value.problems
    assert told.startswith(f"MODELS: {entry!r}: {problem}")


def test_a_repeated_name_and_too_many_models_are_problems() -> None:
    with pytest.raises(ValueError, match="'a' is named 2 times"):
        parse_models("a:1:2,a")
    with pytest.raises(ValueError, match="at most 30 models"):
        parse_models(",".join(f"m{number}" for number in range(31)))


def test_the_window_of_models_comes_before_the_other_settings_and_the_table() -> None:
    settings = load_settings(openai_model="a", models="a:1:2:2048,gpt-4o", model_context_window=4096)
    assert (window_of(settings, "a"), window_of(settings, "gpt-4o")) == (2048, 128_000)


def test_a_limit_of_money_needs_a_price_of_every_model_that_people_use() -> None:
    with pytest.raises(
        SettingsInvalid, match=r"CHAT_MONEY_PER_DAY: needs prices of b, such as MODELS=b:0.25:2"
    ):
        read_agents(load_settings(openai_model="a", models="a:1:2,b", chat_money_per_day=1.0))
    read_agents(load_settings(openai_model="a", models="a:1:2,b:0:0", chat_money_per_day=1.0))
    with pytest.raises(SettingsInvalid, match="MONEY_PER_MONTH: needs prices of a"):
        read_agents(load_settings(openai_model="a", money_per_month=1.0))


def test_a_limit_of_money_needs_the_price_of_a_sub_agents_own_model(tmp_path: Path) -> None:
    path = tmp_path / "agents.toml"
    path.write_text(
        '[agent]\nprompt = "Help."\ndelegates_to = ["clerk"]\n'
        '[agents.clerk]\ndescription = "Writes."\nprompt = "Write."\nmodel = "c"\n'
    )
    with pytest.raises(SettingsInvalid, match="USER_MONEY_PER_DAY: needs prices of c"):
        read_agents(load_settings(openai_model="a", models="a:1:2", user_money_per_day=1.0, agents_file=path))


def test_the_settings_of_another_process_have_the_same_models() -> None:
    settings = load_settings(models="a:1.5:2:2048,llama3:8b")
    assert settings.environment["MODELS"] == "a:1.5:2:2048,llama3:8b"


@pytest.mark.parametrize(
    ("entry", "name", "price"),
    [
        ("gpt-image-2", "gpt-image-2", None),
        ("gpt-image-2:0.04", "gpt-image-2", 40_000),
        (" org/flux:dev:.5 ", "org/flux:dev", 500_000),
        ("flux:0", "flux", 0),
    ],
)
def test_the_model_of_pictures_may_have_a_price_of_a_picture(
    entry: str, name: str, price: float | None
) -> None:
    model = parse_image_model(entry)
    assert (model.name, model.output_price) == (name, price)
    assert model.cost_of(0, 1) == (price or 0)
    settings = load_settings(openai_image_model=entry, openai_api_key="sk-test")
    assert settings.of(PictureSettings).image_model == model
    assert (
        load_settings(openai_image_model=settings.environment["OPENAI_IMAGE_MODEL"])
        .of(PictureSettings)
        .image_model
        is None
    )


@pytest.mark.parametrize("entry", ["two words", "a:", ":1", "a:-1"])
def test_a_wrong_model_of_pictures_is_a_problem(entry: str) -> None:
    with pytest.raises(SettingsInvalid, match="OPENAI_IMAGE_MODEL: needs the form"):
        load_settings(openai_image_model=entry)


def test_a_limit_of_money_needs_a_price_of_pictures() -> None:
    given: dict[str, Any] = {"openai_model": "a", "openai_api_key": "sk-test", "money_per_month": 1.0}
    with pytest.raises(SettingsInvalid, match="MONEY_PER_MONTH: needs prices of draw"):
        read_agents(load_settings(**given, models="a:1:2", openai_image_model="draw"))
    read_agents(load_settings(**given, models="a:1:2", openai_image_model="draw:0.1"))
    settings, _ = read_agents(load_settings(**given, models="a:1:2,draw:1:2", openai_image_model="draw"))
    assert settings.model_names == ("a",)


def test_a_limit_of_money_needs_a_price_of_speech() -> None:
    given: dict[str, Any] = {"openai_model": "a", "openai_api_key": "sk-test", "models": "a:1:2"}
    assert load_settings(**given).of(VoiceSettings).speech_model == "gpt-4o-mini-tts"
    given["user_money_per_day"] = 1.0
    assert load_settings(**given).of(VoiceSettings).speech_model == ""
    with pytest.raises(SettingsInvalid, match="USER_MONEY_PER_DAY: needs prices of tts"):
        read_agents(load_settings(**given, openai_speech_model="tts"))
    given["models"] = "a:1:2,tts:1:2,gpt-4o-mini-tts:1:2"
    read_agents(load_settings(**given, openai_speech_model="tts"))
    assert load_settings(**given).of(VoiceSettings).speech_model == "gpt-4o-mini-tts"
