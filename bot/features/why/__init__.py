"""/why: what an answer was made of."""

from bot.features.feature import Feature
from bot.transport.controls import WHY_BUTTON, ButtonRule

FEATURE = Feature(
    build="bot.features.why.command:build",
    commands={"why": "everybody"},
    buttons={WHY_BUTTON: ButtonRule(is_answered_anew=True)},
)
