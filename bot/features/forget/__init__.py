"""/forget: erases one message, and the answers that used it; /forget me: everything that a person said."""

from bot.features.feature import Feature
from bot.transport.controls import FORGET_BUTTON, ButtonRule

FEATURE = Feature(
    build="bot.features.forget.command:build",
    commands={"forget": "everybody"},
    buttons={FORGET_BUTTON: ButtonRule(pressers="asker")},
)
