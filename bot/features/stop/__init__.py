"""/stop and the Stop button. A running turn is stopped by a signal (bot/turn/chat_events.py)."""

from bot.features.feature import Feature
from bot.transport.controls import STOP_BUTTON, ButtonRule

FEATURE = Feature(
    build="bot.features.stop.command:build",
    commands={"stop": "everybody"},
    buttons={STOP_BUTTON: ButtonRule(pressers="asker", needs_access=False, waits=False)},
)
