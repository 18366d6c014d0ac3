"""The store's format and its number of partitions: written at the first start, checked at each start."""

from memory import keys
from memory.errors import StoreMismatch
from memory.redis.client import RedisClient
from memory.redis.durability import note_whole_file

STORE_FORMAT = 3
"""Number of the present layout of keys and records. Raise it with a change that older records do not fit."""


async def check_store_format(redis: RedisClient, *, partitions: int, restores: bool = False) -> int:
    """Return the number of partitions, which the first start fixes.

    Raises StoreMismatch for another format, and for a half restored store unless `restores`.

    An empty store gets ours. The format is written first: a store with partitions and no format is of an earlier build.
    With another number of partitions, chats would lose their memory.
    """
    if await redis.call("GET", keys.global_key("partitions")) is None:
        is_new = await redis.call("SET", keys.global_key("format"), STORE_FORMAT, "NX")
        if is_new:
            await note_whole_file(redis)
    stored = await redis.call("GET", keys.global_key("format"))
    if stored != str(STORE_FORMAT):
        raise StoreMismatch(
            f"this store has {f'format {stored}' if stored else 'no format number'}, and this build needs format "
            f"{STORE_FORMAT}: name an empty store, or start the build that wrote this one"
        )
    if not restores and await redis.call("EXISTS", keys.global_key("restoring")):
        raise StoreMismatch(
            "the restore of a backup into this store is incomplete: run `mnemogram restore` with the same file again"
        )
    await redis.call("SET", keys.global_key("partitions"), partitions, "NX")
    return int(await redis.call("GET", keys.global_key("partitions")))
