"""Settings of pictures."""

from collections.abc import Collection

from pydantic import Field, field_validator

from bot.environment import check_visible
from bot.model_choices import ModelChoice, parse_image_model
from bot.settings import Choice, Settings


class PictureSettings(Settings):
    """The model that draws, and how often."""

    openai_image_model: Choice = Field(
        None,
        description="The model that draws pictures: name[:price_of_a_picture], or a price of its tokens in MODELS. "
        "Unset: none.",
    )
    pictures_per_day: int = Field(
        5, ge=0, description="Pictures that one person gets a day (UTC). 0: no limit."
    )

    @field_validator("openai_image_model", mode="before")
    @classmethod
    def _parse_image_model(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        check_visible(value.strip())
        return parse_image_model(value)

    @property
    def other_models(self) -> Collection[str]:
        """The models of features, which do not chat."""
        return (*super().other_models, self.openai_image_model.name if self.openai_image_model else "")

    @property
    def priced_models(self) -> tuple[ModelChoice, ...]:
        """The models with a price; of several of one name the last counts: a price in MODELS."""
        return (*([self.image_model] if self.image_model else ()), *super().priced_models)

    @property
    def paid_models(self) -> Collection[str]:
        """The models of features that need a price under a limit of money."""
        model = self.image_model
        return (*super().paid_models, *([model.name] if model and model.output_price is None else ()))

    @property
    def image_model(self) -> ModelChoice | None:
        """The model that draws pictures, None for none: the offline model has no pictures."""
        return None if self.is_offline else self.openai_image_model
