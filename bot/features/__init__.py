"""What the bot can do: a folder for each feature, and their list. The app, the menus, /help and the tests follow it."""

from typing import TYPE_CHECKING

from bot.features import (
    catchup,
    facts,
    forget,
    imports,
    incognito,
    memory,
    models,
    new,
    pictures,
    reminders,
    reset,
    retention,
    start,
    stop,
    usage,
    voice,
    why,
)
from bot.features.feature import Feature, load_object
from bot.settings import Settings
from bot.tools import CORE_TOOLS
from bot.transport.controls import Controls

if TYPE_CHECKING:
    from bot.transport.words import Words
    from memory.history.store import HistorySnapshot

FEATURES: tuple[Feature, ...] = (
    start.FEATURE,
    new.FEATURE,
    catchup.FEATURE,
    memory.FEATURE,
    facts.FEATURE,
    reminders.FEATURE,
    why.FEATURE,
    forget.FEATURE,
    incognito.FEATURE,
    retention.FEATURE,
    imports.FEATURE,
    reset.FEATURE,
    stop.FEATURE,
    models.FEATURE,
    voice.FEATURE,
    pictures.FEATURE,
    usage.FEATURE,
)
"""All features, in the order of the menus and of /help."""
CONTROLS = Controls(
    commands={name: audience for each in FEATURES for name, audience in each.commands.items()},
    buttons={word: rule for each in FEATURES for word, rule in each.buttons.items()},
)
_TOOLS = {name: (at, each) for each in FEATURES for name, at in each.tools.items()}
ALL_TOOLS = dict(sorted((CORE_TOOLS | {name: at for name, (at, _) in _TOOLS.items()}).items()))
"""Name → `module:function` of every tool that an agents file may list."""
BUILT_IN_TOOLS = {
    name: at for name, at in ALL_TOOLS.items() if name not in _TOOLS or _TOOLS[name][1].needs is None
}
"""The tools that exist with any settings."""


def page_lines(settings: Settings, words: "Words", snapshot: "HistorySnapshot") -> list[str]:
    """Return what the features say about a chat on its page."""
    makers = [load_object(each.page_line) for each in FEATURES if each.page_line]
    return [line for make in makers if (line := make(settings, words, snapshot))]


def missing_tools(settings: Settings) -> set[str]:
    """Return the names of the tools that do not exist with these settings."""
    return {name for each in FEATURES if each.needs and not each.needs(settings) for name in each.tools}
