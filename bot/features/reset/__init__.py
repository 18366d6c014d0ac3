"""/reset: erases a topic, a chat, or another chat."""

from bot.features.feature import Feature
from bot.transport.controls import RESET_BUTTON, ButtonRule

FEATURE = Feature(
    build="bot.features.reset.command:build",
    commands={"reset": "owners"},
    buttons={RESET_BUTTON: ButtonRule(pressers="asker", needs_access=False)},
)
