"""/model: the model that answers in a chat or topic."""

from bot.features.feature import Feature
from bot.transport.controls import MODEL_BUTTON, ButtonRule

FEATURE = Feature(
    build="bot.features.models.command:build",
    commands={"model": "everybody"},
    buttons={MODEL_BUTTON: ButtonRule(pressers="owners")},
)
