"""The setting of retention."""

from pydantic import Field

from bot.settings import Settings


class RetentionSettings(Settings):
    """The operator's limit."""

    retention_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Erase messages of this age in days, with all that rests on them; 0 = keep them for ever. People "
        "choose less for a chat with /retention.",
    )
