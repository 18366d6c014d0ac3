"""The tools `draw` and `edit`."""

from bot.features.feature import Feature

FEATURE = Feature(
    build="bot.features.pictures.pictures:build",
    tools={name: f"bot.features.pictures.tools:{name}" for name in ("draw", "edit")},
    needs=lambda settings: settings.image_model is not None,
)
