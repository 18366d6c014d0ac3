"""Has a server that was begun again write its append-only file anew, where a power cut may have torn a transaction.

Of a transaction that the cut tore, Redis (7.0.15 tried) and Valkey before 9.1.2 leave the beginning in the file, and
append to it: single commands then count as its parts, and are gone with it at the next start, though they were
acknowledged; with the next EXEC the half of it happens after all (valkey-io/valkey pull request 4342). What the server
has in memory is right, so a rewriting mends the file.
"""

from collections.abc import Mapping
from typing import Any

from memory.errors import CommandRefused
from memory.redis.client import RedisClient
from memory.redis.durability import ask_info, server_of, version_numbers

_VALKEY_MENDS_FROM = (9, 1, 2)
_NEVER = -1


class FileMender:
    """Any number of processes may do this: a server that has rewritten its file since it began is left alone."""

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis

    async def step(self) -> bool:
        """Have the file rewritten where none was since the server began; whether it was begun. On a cluster, of all
        primaries, if one needs it.

        Raises StoreUnavailable, and CommandRefused where BGREWRITEAOF is not allowed.
        """
        if not await self._is_needed():
            return False
        try:
            await self._redis.ask_each("BGREWRITEAOF")
        except CommandRefused:
            if await self._is_needed():
                raise
            return False  # another process was faster
        return True

    async def _is_needed(self) -> bool:
        servers = await ask_info(self._redis, "server")
        if not any(map(leaves_torn_transactions, servers)):
            return False
        return any(map(_was_never_rewritten, await ask_info(self._redis, "persistence")))


def leaves_torn_transactions(server: Mapping[str, Any]) -> bool:
    """Does a server that says this of itself (INFO server) begin behind the half of a transaction? One that says
    nothing counts as one that does.
    """
    name, version = server_of(server)
    return not (name == "Valkey" and version_numbers(version) >= _VALKEY_MENDS_FROM)


def _was_never_rewritten(persistence: Mapping[str, Any]) -> bool:
    is_under_way = persistence.get("aof_rewrite_in_progress") or persistence.get("aof_rewrite_scheduled")
    is_on = persistence.get("aof_enabled") and not is_under_way
    return bool(is_on) and persistence.get("aof_last_rewrite_time_sec") == _NEVER
