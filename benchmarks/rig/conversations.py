"""Conversations in the product's own stores: written as chats write them, indexed by its indexer, searched by its recall."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bot.app.stores import open_stores
from bot.features.parts import Stores
from bot.features.settings import load_settings
from memory.errors import RecallTimedOut
from memory.history.fact import Fact
from memory.history.message import Message, Sender, message_id
from memory.keys import ContextRef, context_id
from memory.recall.indexer import BATCH, Indexer
from memory.recall.recall import Candidates, IndexItem, Recall, RecallQuestion
from memory.recall.spaces import Spaces
from rig.locomo import Conversation, Question, Statement

EMBEDDED = "embedded"
_PAGE = 500
_TRIES, _PAUSE_S = 30, 2.0
_LOOKED_UP_S = 24 * 3600.0
"""Questions are asked a day after the last message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """A conversation that is stored and indexed. `index_s`: the time of the indexing."""

    conversation: Conversation
    ref: ContextRef
    turn_ids: dict[str, str]
    messages: Mapping[str, Message]
    facts: Mapping[str, tuple[Fact, ...]]
    """Message id → facts that rest on it."""
    index_s: float


@asynccontextmanager
async def open_bench_stores(directory: Path, embedder: str) -> AsyncGenerator[Stores]:
    """Open embedded stores in the folder. `embedder` is a model of OPENAI_BASE_URL's, or EMBEDDED; the key is OPENAI_API_KEY."""
    is_embedded = embedder == EMBEDDED
    settings = load_settings(
        data_dir=directory,
        openai_api_key=None if is_embedded else os.environ.get("OPENAI_API_KEY"),
        openai_base_url=None if is_embedded else os.environ.get("OPENAI_BASE_URL"),
        openai_embedding_model="" if is_embedded else embedder,
        redis_url=None,
        qdrant_url=None,
    )
    async with open_stores(settings) as stores:
        await stores.reindexer.claim()
        yield stores


async def store_conversation(
    stores: Stores, conversation: Conversation, statements: Sequence[Statement] = (), *, chat: str = ""
) -> StoredConversation:
    """Append every turn as its speaker's message, and index it, with the statements as facts.

    A conversation is stored once in each `chat`.
    """
    names = {"conversation": conversation.name, "chat": chat}
    ref = ContextRef(context_id=context_id("benchmark", names), partition=0)
    messages = list(_messages(conversation))
    for first in range(0, len(messages), _PAGE):
        await stores.history.append(ref, messages[first : first + _PAGE], epoch=0)
    indexer = Indexer(
        redis=stores.redis,
        history=stores.history,
        recall=stores.recall,
        partition=0,
        consumer="benchmark",
        block_ms=1,
    )
    started = time.perf_counter()
    while (await indexer.step()).indexed:
        pass
    if not await stores.recall.count(ref):
        raise RuntimeError(f"nothing of {conversation.name} was indexed")
    facts = _facts(conversation, messages, statements)
    await _index_facts(stores, ref, facts)
    turn_ids = {message.id: turn.id for message, turn in zip(messages, conversation.turns, strict=True)}
    return StoredConversation(
        conversation=conversation,
        ref=ref,
        turn_ids=turn_ids,
        messages={each.id: each for each in messages},
        facts=facts,
        index_s=time.perf_counter() - started,
    )


def _facts(
    conversation: Conversation, messages: Sequence[Message], statements: Sequence[Statement]
) -> dict[str, tuple[Fact, ...]]:
    """Return the facts that rest on each message. A statement without an existing turn is left out."""
    by_turn = {turn.id: message for turn, message in zip(conversation.turns, messages, strict=True)}
    facts: dict[str, tuple[Fact, ...]] = {}
    for number, statement in enumerate(statements):
        cited = [by_turn[each] for each in statement.evidence if each in by_turn]
        for message in cited:
            fact = Fact(
                id=str(number),
                subject=statement.speaker,
                statement=statement.text,
                said_by=message.sender.id if message.sender else None,
                message_ids=tuple(each.id for each in cited),
                valid_from=cited[0].sent_at,
                confidence=1.0,
            )
            facts[message.id] = (*facts.get(message.id, ()), fact)
    return facts


async def _index_facts(stores: Stores, ref: ContextRef, facts: Mapping[str, tuple[Fact, ...]]) -> None:
    ids = list(facts)
    for first in range(0, len(ids), BATCH):
        page = ids[first : first + BATCH]
        current = (await stores.history.get_current({ref: page}))[ref]
        await stores.recall.index(
            [
                IndexItem(
                    ref=ref,
                    epoch=0,
                    message=current.messages[each],
                    people=current.people,
                    session=current.sessions.get(each, 0),
                    facts=facts[each],
                )
                for each in page
            ]
        )


def ask(stored: StoredConversation, question: Question) -> RecallQuestion:
    """Return the question of the conversation's asker, a day after its end."""
    people = _people(stored.conversation)
    askers = [sender_id for sender_id, name in people.items() if name == stored.conversation.asker]
    return RecallQuestion(
        text=question.text,
        people=people,
        asker_id=next(iter(askers), None),
        now=stored.conversation.turns[-1].sent_at + _LOOKED_UP_S,
    )


async def gather(
    stores: Stores, stored: StoredConversation, question: Question, *, by_words_alone: bool = False
) -> Candidates:
    """Return the candidates for a question before ranking; by words alone as if the embedder failed.

    Wait if the index does not answer in time, because other programs take the cores.
    """
    recall = stores.recall
    if by_words_alone:
        recall = Recall(Spaces(serving=replace(recall.spaces.serving, embedder=None)))
    for _ in range(_TRIES):
        try:
            return await recall.gather(stored.ref, 0, ask(stored, question))
        except RecallTimedOut:
            await asyncio.sleep(_PAUSE_S)
    return await recall.gather(stored.ref, 0, ask(stored, question))


def turns_of(stored: StoredConversation, message_ids: Sequence[str]) -> list[str]:
    """Return the ids of the turns of these messages."""
    return [stored.turn_ids[each] for each in message_ids]


def _people(conversation: Conversation) -> dict[int, str]:
    """Return the people by their ids. The bot is none."""
    speakers = enumerate(conversation.speakers, start=1)
    return {sender_id: name for sender_id, name in speakers if name != conversation.bot}


def _messages(conversation: Conversation) -> Iterator[Message]:
    ids = {name: sender_id for sender_id, name in _people(conversation).items()}
    for turn in conversation.turns:
        sender_id = ids.get(turn.speaker)
        yield Message(
            id=message_id("benchmark", conversation.name, turn.id),
            role="assistant" if sender_id is None else "user",
            text=turn.text,
            sent_at=turn.sent_at,
            tokens=0,
            sender=None if sender_id is None else Sender(id=sender_id, name=turn.speaker),
        )
