"""Settings of answers as voice messages."""

from collections.abc import Collection
from typing import Literal

from pydantic import Field

from bot.settings import ModelName, Settings, UsageLimits


class VoiceSettings(Settings):
    """The model that speaks, and when it does."""

    openai_speech_model: ModelName = Field(
        "gpt-4o-mini-tts",
        description="The model that speaks answers; with OPENAI_BASE_URL and unset: none. Empty: none. A limit of "
        "money needs its price in MODELS.",
    )
    voice_replies: Literal["never", "when_spoken_to", "always"] = Field(
        "never",
        description="Answer with a voice message: never, when_spoken_to (if it answers one) or always. People "
        "change it with /voice.",
    )

    @property
    def other_models(self) -> Collection[str]:
        """The models of features, which do not chat."""
        return (*super().other_models, self.openai_speech_model)

    @property
    def paid_models(self) -> Collection[str]:
        """The models of features that need a price under a limit of money."""
        speaking = () if self.is_offline else (self.speech_model,)
        return (*super().paid_models, *speaking)

    @property
    def speech_model(self) -> str:
        """The model that speaks answers, empty for none, as for the one that hears.

        Under a limit of money the default one speaks only if it has a price.
        """
        model = self.at_openai("openai_speech_model")
        is_priced = any(each.name == model and each.input_price is not None for each in self.models)
        is_named = "openai_speech_model" in self.model_fields_set
        limits = self.of(UsageLimits)
        is_limited = limits.user_money_per_day or limits.chat_money_per_day or limits.money_per_month
        return model if is_priced or is_named or not is_limited else ""
