"""/memory: what is remembered of a chat, and the details of a receipt."""

from bot.features.feature import Feature
from bot.transport.controls import DETAILS_BUTTON, ButtonRule

FEATURE = Feature(
    build="bot.features.memory.command:build",
    commands={"memory": "everybody"},
    buttons={DETAILS_BUTTON: ButtonRule(needs_access=False, is_answered_anew=True)},
)
