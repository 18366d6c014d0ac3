"""Erases what is left of our contexts in collections that are no space any more, and those that are empty then."""

import secrets
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from memory.keys import SWEEPING_TTL_S, contexts_key, sweeping_key
from memory.recall.space_record import SpacesRecord
from memory.recall.space_register import SpaceRegister
from memory.redis.client import RedisClient, load_script

CONTEXTS_AT_ONCE = 200


class FormerCollections(Protocol):
    """All of our collections on the index server. Every method raises RecallUnavailable."""

    async def list_names(self) -> list[str]:
        """Their names, whatever their space."""
        ...

    async def erase_contexts(self, name: str, context_ids: Collection[str]) -> int:
        """Erase the points of these contexts from this collection; how many there were."""
        ...

    async def delete_if_empty(self, name: str) -> bool:
        """Delete the collection unless it has points of somebody else; whether it is gone."""
        ...


class Sweeper:
    """One step erases some contexts of one collection; only while the record says that nothing is being built."""

    def __init__(
        self,
        redis: RedisClient,
        collections: FormerCollections,
        *,
        register: SpaceRegister,
        partitions: int,
    ) -> None:
        self._redis = redis
        self._collections = collections
        self._register = register
        self._partitions = partitions

    async def sweep(self, record: SpacesRecord) -> bool:
        """Erase what this record leaves; whether that is finished. Interrupted, it is repeated from the beginning.

        Raises RecallUnavailable, StoreUnavailable and StoreFull.
        """
        contexts = await self._contexts()
        kept = record.serving.collection if record.serving else ""
        for name in await self._collections.list_names():
            if name == kept:
                continue
            for start in range(0, len(contexts), CONTEXTS_AT_ONCE):
                async with self._turn(record) as is_ours:
                    if not is_ours:
                        return False
                    await self._collections.erase_contexts(name, contexts[start : start + CONTEXTS_AT_ONCE])
            async with self._turn(record) as is_ours:
                if not is_ours:
                    return False
                await self._collections.delete_if_empty(name)
        return True

    @asynccontextmanager
    async def _turn(self, record: SpacesRecord) -> AsyncGenerator[bool]:
        """Whether one request may be made now.

        The flag goes up before the record is read, and a walk begins only while it is down (`is_sweeping`): so
        nothing is erased from a collection that has meanwhile become the target.
        """
        token = secrets.token_hex(8)
        is_ours = await self._redis.call("SET", sweeping_key(), token, "NX", "EX", SWEEPING_TTL_S)
        try:
            yield bool(is_ours) and await self._register.load() == record
        finally:
            if is_ours:
                await self._redis.run(
                    load_script("memory.redis.scripts", "end_sweeping"), [sweeping_key()], [token]
                )

    async def _contexts(self) -> Sequence[str]:
        found: list[str] = []
        for partition in range(self._partitions):
            found += await self._redis.call("HKEYS", contexts_key(partition))
        return sorted(found)


async def is_sweeping(redis: RedisClient) -> bool:
    """Whether somebody erases from former collections at this moment."""
    return bool(await redis.call("EXISTS", sweeping_key()))
