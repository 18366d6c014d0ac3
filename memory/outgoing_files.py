"""Files of a context that wait in Redis until its outbox has sent them."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from memory.keys import FILES_TTL_S, ContextRef, context_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

LARGEST_FILE = 5 * 1024 * 1024
"""Bytes of one file."""


@dataclass(frozen=True, slots=True)
class OutgoingFiles:
    """Keeps the files of one context. A part of the outbox names each by its id (bot/turn/outbox.py).

    They are erased when the outbox is empty, by a reset, and FILES_TTL_S after the newest.
    """

    redis: RedisClient
    ref: ContextRef
    _: KW_ONLY
    epoch: Callable[[], int]

    async def keep(self, content: bytes, *, file_id: str) -> None:
        """Store a file of at most LARGEST_FILE. The same id replaces it. Raises Forgotten after a reset, StoreFull."""
        call = keep_file(
            self.ref,
            expected_epoch=self.epoch(),
            file_id=file_id,
            content=b64encode(content).decode(),  # the client decodes every reply as UTF-8
            ttl=FILES_TTL_S,
        )
        await self.redis.run(call)


async def read_file(redis: RedisClient, ref: ContextRef, file_id: str) -> bytes | None:
    """Return the bytes of a kept file; None if they have expired or were erased."""
    content = await redis.call("HGET", context_key(ref, "files"), file_id)
    return None if content is None else b64decode(str(content))


@lua_script("memory.redis.scripts")
def keep_file(
    ref: ContextRef, *, expected_epoch: int, file_id: str, content: str, ttl: int
) -> ScriptCall: ...
