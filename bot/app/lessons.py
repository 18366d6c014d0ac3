"""Shares among all processes what was learned of models at the endpoint."""

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from bot.agent.abilities import LEARNED_FOR_S, Abilities, Lesson
from memory import keys
from memory.codec import dump_json, parse_json
from memory.errors import MemoryFailure, RecordCorrupt
from memory.redis.client import RedisClient

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
