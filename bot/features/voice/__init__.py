"""Answers as voice messages, and /voice, which chooses when."""

from bot.features.feature import Feature
from bot.features.voice.settings import VoiceSettings
from bot.transport.controls import ButtonRule

FEATURE = Feature(
    settings=VoiceSettings,
    build="bot.features.voice.command:build",
    page_line="bot.features.voice.command:page_line",
    commands={"voice": "everybody"},
    buttons={"voice": ButtonRule(pressers="owners")},
)
