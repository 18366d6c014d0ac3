"""/import, and files with histories of other services that people send: a button imports them."""

from bot.features.feature import Feature
from bot.transport.controls import ButtonRule

FEATURE = Feature(
    build="bot.features.imports.command:build",
    commands={"import": "owners"},
    buttons={"import": ButtonRule(pressers="owners")},
)
