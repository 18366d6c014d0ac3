"""Opens the models: a client for each chat model of the agents, the summary model, transcription."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import structlog

from bot.agent.abilities import Abilities
from bot.agent.known_models import sees
from bot.agent.model import (
    JsonModel,
    JsonSchema,
    ModelReply,
    OnText,
    PromptMessage,
    ToolSpec,
    Usage,
)
from bot.app.agents import window_of
from bot.errors import ModelUnavailable
from bot.features.parts import Models
from bot.settings import Settings

_OPENAI_FALLBACK = "whisper-1"
"""Takes Ogg files of Telegram that OpenAI's newer models refuse (NousResearch/hermes-agent#68719)."""

_LONGEST_TEXT = 1_000_000
_CHARACTERS_OF_A_TOKEN = 4

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class BookedModel:
    """A JsonModel that books the usage of each answer."""

    model: JsonModel
    book: Callable[[Sequence[Usage]], Awaitable[None]]

    @property
    def name(self) -> str:
        """The name of the model at its endpoint."""
        return self.model.name

    async def chat_json(self, messages: Sequence[PromptMessage], schema: JsonSchema) -> ModelReply:
        """Return the reply of the model when its usage is booked. Raises also the errors of the store."""
        reply = await self.model.chat_json(messages, schema)
        await self.book([reply.usage])
        return reply


class NoModel:
    """The ChatModel for commands that only show prompts: it cannot answer."""

    name = ""

    async def chat(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolSpec], *, on_text: OnText | None = None
    ) -> ModelReply:
        """Raise ModelUnavailable."""
        raise ModelUnavailable


@asynccontextmanager
async def open_models(settings: Settings, names: Iterable[str]) -> AsyncGenerator[Models]:
    """Open these models, or the offline model without an endpoint. All end with the block."""
    from bot.agent.breaker import model_breaker
    from bot.agent.openai_model import Patience, open_openai_model

    names = sorted({*names, *filter(None, [settings.summary_model])})
    abilities = {name: abilities_of(settings, name) for name in names}
    deadline_s = settings.turn_deadline_s
    patience = Patience(idle_s=settings.model_silence_s or deadline_s, whole_s=deadline_s)
    async with AsyncExitStack() as stack:
        base_url, offline_name = settings.openai_base_url, ""
        if settings.is_offline:
            from simulator.offline_model.endpoint import OFFLINE_MODEL, serve_offline_model

            offline_name = "" if settings.models else OFFLINE_MODEL
            base_url = await stack.enter_async_context(serve_offline_model())
            log.warning("offline_model", hint="set OPENAI_API_KEY or OPENAI_BASE_URL for a real model")
        key = settings.api_key
        opened = {
            name: await stack.enter_async_context(
                open_openai_model(
                    model=offline_name or name,
                    patience=patience,
                    breaker=model_breaker(may_be_missing=name in settings.model_names[1:]),
                    api_key=key,
                    base_url=base_url,
                    abilities=abilities[name],
                )
            )
            for name in names
        }
        transcriber = None
        if settings.transcription_model and not settings.is_offline:
            from bot.media.transcriber import open_transcriber  # with the SDK: 25 MB

            transcriber = await stack.enter_async_context(
                open_transcriber(
                    model=settings.transcription_model,
                    api_key=key,
                    base_url=base_url,
                    fallback="" if base_url else _OPENAI_FALLBACK,
                )
            )
        yield Models(
            chat=opened,
            summary=opened.get(settings.summary_model),
            transcriber=transcriber,
            abilities=abilities,
        )


def abilities_of(settings: Settings, model: str) -> Abilities:
    """Return what is known of a model before anything is learned of it."""
    return Abilities(
        never=frozenset() if sees_pictures(settings, model) else frozenset(["images"]),
        longest_text=min(_LONGEST_TEXT, 2 * _CHARACTERS_OF_A_TOKEN * window_of(settings, model)),
    )


def sees_pictures(settings: Settings, model: str) -> bool:
    """Return True if a model sees pictures. The offline model does not.

    OPENAI_VISION is for the chat model of the main agent. The table has the other models.
    """
    if settings.is_offline:
        return False
    return sees(model, settings.openai_vision if model == settings.openai_model else None)
