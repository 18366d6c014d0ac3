"""The table of buttons: every word has a handler, its data fits, and its refusals can be shown."""

import re
from pathlib import Path
from typing import cast
from zoneinfo import available_timezones

import pytest

from bot import turn
from bot.transport.buttons import BUTTONS, word_of
from bot.transport.fact_lists import FactPress
from bot.transport.reminder_lists import press_data
from bot.transport.texts import details_buttons
from bot.transport.words import LANGUAGES, words_for
from bot.turn.batch import dump_stop, with_nothing_else
from bot.turn.commands import COMMANDS, Commands
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions
from bot.turn.speech import VOICE_CHOICES
from memory.erasure import ErasureReceipt
from memory.history.corrections import AwaitedCorrection
from memory.keys import RecordCounts

LARGEST = 2**52 - 1
"""The largest id of a chat or person (Bot API)."""
_NOTICES = re.compile(r'notice=call\.words\(\s*"([a-z-]+)"')


async def _run(call: CommandCall) -> Reply:
    raise NotImplementedError(call)


async def _correct(call: CommandCall, awaited: AwaitedCorrection) -> Reply:
    raise NotImplementedError(call, awaited)


def _commands(*words: str) -> Commands:
    permissions = cast("Permissions", None)
    handlers, buttons = dict.fromkeys(COMMANDS, _run), dict.fromkeys(words, _run)
    return Commands(handlers, buttons=buttons, correct=_correct, permissions=permissions)


def test_every_button_that_waits_needs_a_handler_and_only_those_have_one() -> None:
    waiting = [word for word, rule in BUTTONS.items() if rule.waits]
    _commands(*waiting)
    for wrong in (waiting[1:], [*waiting, "stop"], [*waiting, "buy"]):
        with pytest.raises(ValueError, match="not as in the tables"):
            _commands(*wrong)


def test_each_word_is_a_command_and_only_stop_does_not_wait() -> None:
    assert set(BUTTONS) <= set(COMMANDS)
    assert [word for word, rule in BUTTONS.items() if not rule.waits] == ["stop"]
    rules = {word: (rule.pressers, rule.needs_access) for word, rule in BUTTONS.items()}
    assert rules == {
        "stop": ("asker", False),
        "help": ("everybody", False),
        "reset": ("asker", False),
        "why": ("everybody", True),
        "facts": ("asker", True),
        "forget": ("owners", True),
        "memory": ("everybody", False),
        "reminders": ("asker", True),
        "timezone": ("everybody", True),
        "model": ("owners", True),
        "voice": ("owners", True),
    }


LARGE_RECEIPT = ErasureReceipt(
    erased=RecordCounts(
        messages=99_999, facts=999, reminders=50, summaries=999, ledger_turns=9_999, artifacts=999, talk=1_000
    ),
    left=RecordCounts(messages=9),
    vectors_erased=99_999,
)
LONGEST = {
    "stop": with_nothing_else(dump_stop(-LARGEST, 2**31)),
    "help": "help",
    "reset": f"reset:topic:{-LARGEST}:{LARGEST}",
    "why": "why",
    "facts": FactPress(verb="delete", owner=-LARGEST, first=999_999, token="0" * 16).dump(),
    "forget": f"forget:{-(2**63)}",
    "reminders": press_data(999_999, "0" * 8),
    "memory": details_buttons(words_for("en"), LARGE_RECEIPT)[0].data,
    "timezone": max((f"timezone:{zone}" for zone in available_timezones()), key=len),
    "model": f"model:{'0' * 16}",
    "voice": max((f"voice:{choice}" for choice in VOICE_CHOICES), key=len),
}


@pytest.mark.parametrize("word", BUTTONS)
def test_the_longest_data_of_each_button_has_at_most_64_bytes(word: str) -> None:
    assert word_of(LONGEST[word]) == word
    assert len(LONGEST[word].encode()) <= 64


@pytest.mark.parametrize("data", ["", ":", "buy:1", "Why", "whyever", " why", "unknown", "why\n"])
def test_other_data_is_no_button(data: str) -> None:
    assert word_of(data) == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_notice_fits_the_200_characters_of_an_alert(language: str) -> None:
    folder = Path(turn.__file__).parent / "commands"
    keys = {key for path in folder.glob("*.py") for key in _NOTICES.findall(path.read_text("utf-8"))}
    assert keys > {"facts-outdated", "reset-not-yours", "button-gone"}
    keys |= {"reset-expired", "administrators-only", "cannot-check", "stop-not-yours", "answer-written"}
    for key in keys:
        assert len(words_for(language)(key, command="/reminders")) <= 200, key
