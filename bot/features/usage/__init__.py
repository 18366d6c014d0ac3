"""/usage and /stats: today's usage, the bot's work, the costs of a month."""

from bot.features.feature import Feature

FEATURE = Feature(
    build="bot.features.usage.command:build", commands={"usage": "everybody", "stats": "operators"}
)
