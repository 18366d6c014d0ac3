"""Controls of a chat: who may see a command, who may press a button, and if a press waits (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

STOP_BUTTON, HELP_BUTTON, RESET_BUTTON, WHY_BUTTON, FACTS_BUTTON = "stop", "help", "reset", "why", "facts"
FORGET_BUTTON = "forget"
MODEL_BUTTON = "model"
DETAILS_BUTTON = "memory"
"""First words of the data of our buttons, before any colon. Each is the name of a command too."""

Audience = Literal["nobody", "members", "everybody", "owners", "operators"]
"""The people whose menu shows a command. Each of the last three sees what those before it see.

Members are everybody in a group: private menus do not show their commands.

The owners of a chat's memory are the person of a private chat, and the administrators of a group.
"""


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
    is_answered_anew: bool = False
    """True if the answer may be a new message. Equal presses of one person that wait together get one."""


ButtonRules = Mapping[str, ButtonRule]
"""The rule of each button whose presses come back to us, by the first word of its data."""
NO_BUTTONS: ButtonRules = {}


def word_of(data: str) -> str:
    """Return the word that the data of a button begins with."""
    return data.partition(":")[0]


def press_data(word: str, value: object = "", *, owner: object = "") -> str:
    """Return the data of a button. Its menu belongs to a person or record; to the chat if `owner` is ""."""
    return f"{word}:{owner}:{value}"


def is_same_menu(data: str, other: str, rule: ButtonRule) -> bool:
    """Return True if buttons with these data can be on the same menu: of the same command and the same owner.

    A button that acts on the running answer is only the same as itself.
    """
    return data == other or (rule.waits and data.split(":")[:2] == other.split(":")[:2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """The commands and buttons of the bot."""

    commands: Mapping[str, Audience]
    """By name in lower case without the slash, in the order of the menus and of /help."""
    buttons: ButtonRules
