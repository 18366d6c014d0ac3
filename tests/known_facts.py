"""Chats with messages and facts, written to the store before a program starts."""

import time
from collections.abc import Sequence

from memory.facts.queue import FactQueue, NewFact
from memory.facts.redis_facts import RedisFacts
from memory.history.fact import Fact
from memory.history.message import Message, Sender, message_id
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, context_key, partition_key
from memory.redis.client import RedisClient

SAID_AT = 1_790_000_000.0
"""Unix seconds of the first message."""
BETWEEN_S = 600.0


async def say_lines(redis: RedisClient, ref: ContextRef, sender: Sender, lines: Sequence[str]) -> list[str]:
    """Append lines of a person and return the ids of the messages."""
    history = RedisHistory(redis)
    before = (await history.load(ref, limit=0)).count
    messages = [
        Message(
            id=message_id("said", ref.context_id, n),
            role="user",
            text=line,
            sent_at=SAID_AT + BETWEEN_S * n,
            tokens=5,
            sender=sender,
        )
        for n, line in enumerate(lines, before)
    ]
    await history.append(ref, messages, epoch=0)
    return [message.id for message in messages]


def told(sender: Sender, statement: str, *message_ids: str, about: Sender | str | None = None) -> NewFact:
    """Return a fact that a person told about themselves, about another person, or about a thing."""
    subject = sender if about is None else about
    is_thing = isinstance(subject, str)
    return NewFact(
        subject=subject if is_thing else subject.name,
        subject_id=None if is_thing else subject.id,
        statement=statement,
        said_by=sender.id,
        message_ids=message_ids,
        valid_from=SAID_AT,
        confidence=0.9,
    )


async def learn(redis: RedisClient, ref: ContextRef, *facts: NewFact) -> list[Fact]:
    """Save facts as an extraction does, and return all facts of the context, the newest first."""
    cited = [each for fact in facts for each in fact.message_ids]
    messages = await RedisHistory(redis).get(ref, cited)
    unread = [part for message in messages.values() for part in (message.sequence or 0, message.id)]
    await redis.call("ZADD", context_key(ref, "unread"), *unread)
    # Due for this queue only: its clock is ahead of that of a running bot.
    await redis.call("ZADD", partition_key(ref.partition, "extract"), time.time() + 600, ref.context_id)
    queue = FactQueue(redis, clock=lambda: time.time() + 1200, tokens_per_day=0)
    claim = await queue.claim(ref.partition, lease_s=60)
    assert claim is not None
    assert claim.ref == ref
    assert await queue.save(claim, await queue.load(claim, limit=1000), facts) == "saved"
    await queue.finish(claim)
    return list((await RedisFacts(redis, clock=time.time).list(ref, limit=1000)).facts)
