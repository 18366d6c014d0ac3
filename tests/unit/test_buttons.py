"""The table of buttons: every word has a handler, its data fits, and its refusals can be shown."""

import re
from pathlib import Path
from zoneinfo import available_timezones

import pytest

from bot import features
from bot.features import CONTROLS, FEATURES
from bot.features.feature import Feature
from bot.transport.controls import press_data, word_of
from bot.transport.texts import details_buttons
from bot.transport.updates import parse_update
from bot.transport.words import LANGUAGES, menu_descriptions, words_for
from bot.turn.batch import dump_stop, with_nothing_else
from bot.turn.menus import ListPress
from memory.erasure import ErasureReceipt
from memory.history.store import RecordCounts

LARGEST = 2**52 - 1
"""The largest id of a chat or person (Bot API)."""
_NOTICES = re.compile(r'notice=call\.words\(\s*"([a-z-]+)"')


BUTTONS = CONTROLS.buttons


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.build)
def test_what_a_feature_declares_has_its_texts_in_every_language(feature: Feature) -> None:
    for language in LANGUAGES:
        for name, audience in feature.commands.items():
            if audience != "nobody":
                assert menu_descriptions(language)[f"menu-{name}"]
                assert f"/{name}" in words_for(language)(f"help-{name}", place="group")


def test_each_word_is_a_command_and_only_exceptions_do_not_wait_or_need_access() -> None:
    assert set(BUTTONS) <= set(CONTROLS.commands)
    assert {word for word, rule in BUTTONS.items() if not rule.waits} == {"stop"}
    open_to_all = {word for word, rule in BUTTONS.items() if not rule.needs_access}
    assert open_to_all == {"stop", "help", "reset", "memory"}


LARGE_RECEIPT = ErasureReceipt(
    erased=RecordCounts(
        messages=99_999, facts=999, reminders=50, summaries=999, ledger_turns=9_999, artifacts=999, talk=1_000
    ),
    left=RecordCounts(messages=9),
    vectors_erased=99_999,
)
LONGEST = {
    "stop": with_nothing_else(dump_stop(-LARGEST, 2**31)),
    "reset": press_data("reset", f"topic:{LARGEST}", owner=-LARGEST),
    "facts": ListPress(verb="delete", owner=-LARGEST, first=999_999, token="0" * 16).dump("facts"),
    "forget": max(press_data("forget", owner=-(2**63)), press_data("forget", "me", owner=LARGEST), key=len),
    "reminders": ListPress(verb="delete", owner=-LARGEST, first=999_999, token="0" * 8).dump("reminders"),
    "memory": details_buttons(words_for("en"), LARGE_RECEIPT)[0].data,
    "timezone": max((press_data("timezone", zone) for zone in available_timezones()), key=len),
    "model": press_data("model", "0" * 16),
    "import": press_data("import", "go", owner=-(2**63)),
    "retention": press_data("retention", "36500+:9999999999"),
}
"""Words whose data have ids, names or numbers. Stories show the others, and their Bot API refuses longer data."""


@pytest.mark.parametrize("word", LONGEST)
def test_the_longest_data_of_each_button_has_at_most_64_bytes(word: str) -> None:
    assert word_of(LONGEST[word]) == word
    assert len(LONGEST[word].encode()) <= 64


@pytest.mark.parametrize("data", ["", ":", "buy:1", "Why", "whyever", " why", "unknown", "why\n"])
def test_other_data_is_no_button(data: str) -> None:
    press = {"id": "1", "from": {"id": 7}, "data": data, "message": {"message_id": 5, "chat": {"id": 7}}}
    callback = parse_update({"update_id": 1, "callback_query": press}, BUTTONS).callback
    assert callback is not None
    assert callback.rule is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_notice_fits_the_200_characters_of_an_alert(language: str) -> None:
    folder = Path(features.__file__).parent
    keys = {key for path in folder.rglob("*.py") for key in _NOTICES.findall(path.read_text("utf-8"))}
    assert keys > {"facts-outdated", "reset-not-yours", "button-unknown"}
    keys |= {
        "reset-expired",
        "button-gone",
        "administrators-only",
        "cannot-check",
        "stop-not-yours",
        "answer-written",
    }
    for key in keys:
        assert len(words_for(language)(key, command="/reminders")) <= 200, key
