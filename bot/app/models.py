"""Opens the models: a client for each chat model of the agents, the summary model, transcription."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field

import structlog

from bot.agent.abilities import LEARNED_FOR_S, Abilities, Lesson
from bot.agent.known_models import sees
from bot.agent.model import JsonModel, JsonSchema, ModelReply, OnText, PromptMessage, ToolSpec, Usage
from bot.app.agents import window_of
from bot.errors import ModelUnavailable
from bot.features.parts import Models
from bot.settings import Settings
from memory import keys
from memory.codec import dump_json, parse_json
from memory.errors import MemoryFailure, RecordCorrupt
from memory.redis.client import RedisClient

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
    from bot.agent.openai_model import Patience, model_breaker, open_openai_model

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


LOOK_S = 30.0
"""Seconds until a process knows what another one has learned."""
_KEY = keys.global_key("abilities")


@dataclass(slots=True)
class SharedLessons:
    """The lessons about all models of this process at one endpoint, also in Redis."""

    redis: RedisClient
    # By the name of the model.
    abilities: Mapping[str, Abilities]
    base_url: str | None
    _has_learned: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Save what this process learns at once, and look for the others' lessons every LOOK_S. Never returns."""
        for each in self.abilities.values():
            each.on_lesson = self._has_learned.set
        while True:
            with suppress(MemoryFailure):  # the loops that need the store log it
                await self.load()
                if self._has_learned.is_set():
                    self._has_learned.clear()
                    await self._save()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._has_learned.wait()

    async def load(self) -> None:
        """Take the lessons of other processes."""
        for model, lessons in (await load_lessons(self.redis, self.base_url)).items():
            if model in self.abilities:
                self.abilities[model].merge(lessons)

    async def _save(self) -> None:
        for model, abilities in self.abilities.items():
            if lessons := abilities.lessons():
                await self.redis.call(
                    "HSET", _KEY, _field(self.base_url, model), dump_json(list[Lesson], lessons)
                )
        await self.redis.call("EXPIRE", _KEY, int(LEARNED_FOR_S))


async def load_lessons(redis: RedisClient, base_url: str | None) -> dict[str, list[Lesson]]:
    """Return all lessons about models at this endpoint, also expired ones, by the name of the model."""
    stored: Mapping[str, str] = await redis.call("HGETALL", _KEY)
    prefix = _field(base_url, "")
    lessons: dict[str, list[Lesson]] = {}
    for name, line in stored.items():
        if name.startswith(prefix):
            with suppress(RecordCorrupt):
                lessons[name.removeprefix(prefix)] = parse_json(list[Lesson], line)
    return lessons


def _field(base_url: str | None, model: str) -> str:
    """Return the field of a model. The endpoint's address may have a password, so its digest is used."""
    return f"{hashlib.sha256((base_url or '').encode()).hexdigest()[:12]} {model}"
