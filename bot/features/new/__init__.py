"""/new: a new conversation."""

from bot.features.feature import Feature

FEATURE = Feature(build="bot.features.new.command:build", commands={"new": "owners"})
