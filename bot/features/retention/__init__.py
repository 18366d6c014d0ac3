"""/retention: how long the messages of a chat are kept."""

from bot.features.feature import Feature
from bot.transport.controls import ButtonRule

FEATURE = Feature(
    build="bot.features.retention.command:build",
    commands={"retention": "everybody"},
    buttons={"retention": ButtonRule(pressers="owners")},
    page_line="bot.features.retention.command:limit_line",
)
