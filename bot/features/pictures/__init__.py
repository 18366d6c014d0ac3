"""The tools `draw` and `edit`."""

from bot.features.feature import Feature
from bot.features.pictures.settings import PictureSettings

FEATURE = Feature(
    settings=PictureSettings,
    build="bot.features.pictures.pictures:build",
    tools={name: f"bot.features.pictures.pictures:{name}" for name in ("draw", "edit")},
    needs=lambda settings: settings.of(PictureSettings).image_model is not None,
)
