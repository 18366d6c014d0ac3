"""The setting of facts."""

from pydantic import Field

from bot.settings import Settings


class FactSettings(Settings):
    """The switch of facts."""

    facts: bool | None = Field(
        None,
        description="Extract facts about people after the reply. Unset: if there is a summary model. "
        "In groups an administrator turns them on with /facts on.",
    )

    @property
    def extracts_facts(self) -> bool:
        """True if facts are extracted, which needs a summary model."""
        return self.facts is not False and bool(self.summary_model)
