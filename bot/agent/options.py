"""The table `[options]` of AGENTS_FILE: behaviour of the bot that few operators change."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bot.agent.prompt.parts import PromptOrder

LEAST_COMPRESSION_TOKENS = 500
"""A lower limit would ask a model for a summary after every turn."""


class Options(BaseModel):
    """The table `[options]`: behaviour of the bot that few operators change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # "cached" puts what repeats first, so that providers bill it as cached; "described" recalls before the window.
    prompt_order: PromptOrder = "cached"
    # Messages before and after each recalled message that the prompt also shows.
    recall_neighbours: int = Field(default=0, ge=0, le=3)
    # The share of the chat model's window at which a conversation is compressed.
    compression_trigger: float = Field(default=0.5, ge=0.05, le=0.9)
    # The same in tokens, if that is less; it bounds the cost of each turn. 0: only the share.
    compression_tokens: int = Field(default=16_000, ge=0)
    # Show past turns' tool calls and results to the model.
    ledger_in_prompt: bool = True
    # A tool result with more characters becomes an artifact. It is stored for `artifact_ttl_s` seconds.
    artifact_chars: int = Field(default=8_000, ge=1_000, le=100_000)
    artifact_ttl_s: int = Field(default=7 * 24 * 3600, ge=60)
    # An answer of more than 10 messages is sent as its beginning and a file. "document" does so with more than 4
    # messages, or with long code.
    long_answers: Literal["parts", "document"] = "parts"

    @field_validator("compression_tokens")
    @classmethod
    def _is_not_every_turn(cls, value: int) -> int:
        if 0 < value < LEAST_COMPRESSION_TOKENS:
            raise ValueError(
                f"must be 0 or at least {LEAST_COMPRESSION_TOKENS}, because each compression asks a model"
            )
        return value


DEFAULT_OPTIONS = Options()
