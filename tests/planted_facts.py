"""Facts in a store, as an extraction would have saved them."""

from collections.abc import Sequence

from memory.codec import dump_json
from memory.history.fact import Fact
from memory.keys import ContextRef, context_key
from memory.redis.client import RedisClient


async def plant_facts(redis: RedisClient, ref: ContextRef, facts: Sequence[Fact]) -> None:
    """Save these facts, each with its place in the index of the messages that it cites."""
    for fact in facts:
        await redis.call("HSET", context_key(ref, "facts"), fact.id, dump_json(Fact, fact))
        await redis.call("ZADD", context_key(ref, "fact_order"), fact.valid_from, fact.id)
        if fact.is_standing:
            await redis.call("ZADD", context_key(ref, "standing"), 0, standing_member(fact))
        for message_id in fact.message_ids:
            cited = await redis.call("HGET", context_key(ref, "cited"), message_id)
            ids = f"{cited} {fact.id}" if cited else fact.id
            await redis.call("HSET", context_key(ref, "cited"), message_id, ids)


def standing_member(fact: Fact) -> str:
    """Return the entry of a standing wish in the list of its writer."""
    return f"{fact.said_by}:{fact.valid_from:017.3f}:{fact.id}"
