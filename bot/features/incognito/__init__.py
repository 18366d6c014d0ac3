"""/incognito: the bot may use its memory, and keeps nothing of what is said."""

from bot.features.feature import Feature
from bot.transport.controls import ButtonRule

FEATURE = Feature(
    build="bot.features.incognito.command:build",
    page_line="bot.features.incognito.command:page_line",
    commands={"incognito": "owners"},
    buttons={"incognito": ButtonRule(pressers="owners", is_answered_anew=True)},
)
