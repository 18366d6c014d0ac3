"""/catchup: what was said in a group."""

from bot.features.feature import Feature

FEATURE = Feature(build="bot.features.catchup.command:build", commands={"catchup": "members"})
