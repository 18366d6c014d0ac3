"""The tools `draw` and `edit`."""

from bot.features.feature import Feature

FEATURE = Feature(build="bot.features.pictures.pictures:build")
