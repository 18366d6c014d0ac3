"""What the bot can do: a folder for each feature, and their list. The app, the menus, /help and the tests follow it."""

from bot.features import (
    catchup,
    facts,
    forget,
    memory,
    models,
    new,
    pictures,
    reminders,
    reset,
    start,
    stop,
    usage,
    voice,
    why,
)
from bot.features.feature import Feature
from bot.transport.controls import Controls

FEATURES: tuple[Feature, ...] = (
    start.FEATURE,
    new.FEATURE,
    catchup.FEATURE,
    memory.FEATURE,
    facts.FEATURE,
    reminders.FEATURE,
    why.FEATURE,
    forget.FEATURE,
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
