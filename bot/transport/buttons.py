"""The table of buttons: who may press each, and if a press waits for the running answer (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

STOP_BUTTON, HELP_BUTTON, RESET_BUTTON, WHY_BUTTON, FACTS_BUTTON = "stop", "help", "reset", "why", "facts"
FORGET_BUTTON = "forget"
REMINDERS_BUTTON, TIMEZONE_BUTTON = "reminders", "timezone"
MODEL_BUTTON, VOICE_BUTTON = "model", "voice"
DETAILS_BUTTON = "memory"
"""First words of the data of our buttons, before any colon. Each is the name of a command too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonRule:
    """The treatment of a button's presses."""

    pressers: Literal["everybody", "asker", "owners"] = "everybody"
    """People who may press it. "owners" may change the chat's memory; the dispatch checks it.

    "asker" is the person whose question or record it is. Only the handler knows this person, so it checks itself.
    """
    needs_access: bool = True
    """False if people without access to the bot may press it too."""
    waits: bool = True
    """True if a press waits in the chat's line, as a command does. False if it acts on the running answer."""
    owner_at: int | None = 0
    """Place of the menu's owner in its data, between colons. 0: the menu belongs to the chat. None: to one button."""
    is_answered_anew: bool = False
    """True if the answer may be a new message. Equal presses of one person that wait together get one."""


BUTTONS: Mapping[str, ButtonRule] = {
    STOP_BUTTON: ButtonRule(pressers="asker", owner_at=None, needs_access=False, waits=False),
    HELP_BUTTON: ButtonRule(needs_access=False, is_answered_anew=True),
    RESET_BUTTON: ButtonRule(pressers="asker", owner_at=2, needs_access=False),
    WHY_BUTTON: ButtonRule(is_answered_anew=True),
    FACTS_BUTTON: ButtonRule(pressers="asker", owner_at=2),
    FORGET_BUTTON: ButtonRule(pressers="owners", owner_at=None),
    DETAILS_BUTTON: ButtonRule(needs_access=False, owner_at=None, is_answered_anew=True),
    REMINDERS_BUTTON: ButtonRule(pressers="asker"),
    TIMEZONE_BUTTON: ButtonRule(is_answered_anew=True),
    MODEL_BUTTON: ButtonRule(pressers="owners"),
    VOICE_BUTTON: ButtonRule(pressers="owners"),
}
"""All buttons whose presses come back to us. The door, the dispatch and the tests follow it."""


def word_of(data: str) -> str:
    """Return the word of the table that the data begins with; "" if it is no button of ours."""
    word = data.split(":")[0]
    return word if word in BUTTONS else ""


def is_same_menu(data: str, other: str) -> bool:
    """Return True if buttons with these data can be on the same menu: of the same command and the same owner."""
    word = word_of(data)
    if not word or word != word_of(other):
        return False
    at = BUTTONS[word].owner_at
    return data == other if at is None else data.split(":")[at : at + 1] == other.split(":")[at : at + 1]
