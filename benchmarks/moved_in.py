"""Recall of conversations that were imported, beside that of the same conversations as live talk. See benchmarks/README.md."""

import argparse
import asyncio
import io
import json
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recall import read_folds
from rig.conversations import (
    EMBEDDED,
    StoredConversation,
    gather,
    open_bench_stores,
    store_conversation,
    turns_of,
)
from rig.locomo import Conversation, read_conversations
from rig.prompt_share import distinct
from rig.retrieval import Judged, judge
from rig.table import print_table

from bot.features.parts import Stores
from memory.history.contexts import dump_entry
from memory.history.message import Message, Sender, message_id
from memory.history.store import BEFORE_ALL
from memory.keys import ContextRef, context_id
from memory.recall.indexer import Indexer
from memory.recall.ranking import RankerWeights, load_weights, rank
from memory.recall.recall import LIST_LIMIT
from memory.tokens import tokenizer_for
from memory.transfer.export_survey import survey_export
from memory.transfer.move_in import Destination, MoveIn

_PAGE = 500


def as_telegram(conversation: Conversation) -> Any:
    """Return the conversation as Telegram Desktop exports a group of its speakers."""
    ids = {name: number for number, name in enumerate(conversation.speakers, start=1)}
    messages = [
        {
            "id": number,
            "type": "message",
            "date": datetime.fromtimestamp(turn.sent_at, UTC).isoformat(),
            "date_unixtime": str(int(turn.sent_at)),
            "from": turn.speaker,
            "from_id": f"user{ids[turn.speaker]}",
            "text": turn.text,
        }
        for number, turn in enumerate(conversation.turns, start=1)
    ]
    return {"name": conversation.name, "type": "private_group", "id": 5, "messages": messages}


def as_chatgpt(conversation: Conversation) -> Any:
    """Return the conversation as ChatGPT exports it: the first speaker is the person, the other one the assistant."""
    nodes: dict[str, Any] = {}
    for number, turn in enumerate(conversation.turns):
        nodes[str(number)] = {
            "parent": str(number - 1) if number else None,
            "message": {
                "id": str(number),
                "author": {"role": "user" if turn.speaker == conversation.speakers[0] else "assistant"},
                "create_time": turn.sent_at,
                "content": {"content_type": "text", "parts": [turn.text]},
            },
        }
    return [{"id": "c", "title": "", "current_node": str(len(nodes) - 1), "mapping": nodes}]


async def imported(
    stores: Stores, conversation: Conversation, write: Callable[[Conversation], Any]
) -> StoredConversation:
    """Import the written conversation, and index it."""
    names = {"conversation": conversation.name, "chat": write.__name__}
    ref = ContextRef(context_id=context_id("benchmark", names), partition=0)
    data, now = json.dumps(write(conversation)).encode(), time.time()
    work = MoveIn(
        redis=stores.redis,
        place=Destination(
            ref=ref,
            registered=dump_entry(names, title="", created_at=now),
            person=Sender(id=1, name=conversation.speakers[0]),
        ),
        survey=survey_export(lambda: io.BytesIO(data), now=now),
        open_file=lambda: io.BytesIO(data),
        tokenizer=tokenizer_for("gpt-4o"),
        now=now,
    )
    async for _ in work.run(await work.begin(epoch=0), epoch=0):
        pass
    return await _indexed(stores, conversation, ref)


async def _indexed(stores: Stores, conversation: Conversation, ref: ContextRef) -> StoredConversation:
    indexer = Indexer(
        redis=stores.redis,
        history=stores.history,
        recall=stores.recall,
        partition=0,
        consumer="b",
        block_ms=1,
    )
    while (await indexer.step()).indexed:
        pass
    after, messages = BEFORE_ALL, dict[str, Any]()
    while page := await stores.history.page(ref, after_sequence=after, limit=_PAGE, whole=True):
        messages |= {each.id: each for each in page}
        after = page[-1].sequence or 0
    turn_ids = {each: turn.id for each, turn in zip(messages, conversation.turns, strict=True)}
    return StoredConversation(
        conversation=conversation, ref=ref, turn_ids=turn_ids, messages=messages, facts={}, index_s=0.0
    )


async def live_with_assistant(stores: Stores, conversation: Conversation) -> StoredConversation:
    """Store live talk whose second speaker is the assistant, as ChatGPT's file has it."""
    first = conversation.speakers[0]
    ref = ContextRef(context_id=context_id("benchmark", {"live": conversation.name}), partition=0)
    messages = [
        Message(
            id=message_id("live", conversation.name, turn.id),
            role="user" if turn.speaker == first else "assistant",
            text=turn.text,
            sent_at=turn.sent_at,
            tokens=0,
            sender=Sender(id=1, name=first) if turn.speaker == first else None,
        )
        for turn in conversation.turns
    ]
    for at in range(0, len(messages), _PAGE):
        await stores.history.append(ref, messages[at : at + _PAGE], epoch=0)
    return await _indexed(stores, conversation, ref)


async def answers(stores: Stores, stored: StoredConversation, weights: RankerWeights) -> list[Judged]:
    """Return the best messages for each question of the conversation."""
    found: list[Judged] = []
    for question in stored.conversation.questions:
        candidates = await gather(stores, stored, question)
        best: list[str] = []
        if candidates.messages:
            ranking = rank(
                candidates.question, candidates.messages, listed=candidates.listed, weights=weights
            )
            best = [each.message.id for each in distinct(stored, ranking.best(LIST_LIMIT))]
        ids = turns_of(stored, best)
        found.append(Judged(conversation=stored.conversation.name, question=question, found=ids))
    return found


async def main() -> None:
    """Store every conversation three times, ask all its questions, and print recall."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--conversations", type=int)
    chosen = options.parse_args()
    folds, judged = read_folds(), dict[str, list[Judged]]()
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        async with open_bench_stores(Path(directory), EMBEDDED) as stores:
            for conversation in read_conversations(chosen.data)[: chosen.conversations]:
                weights = folds.get(conversation.name, load_weights())
                for name, stored in {
                    "live talk": await store_conversation(stores, conversation),
                    "result.json": await imported(stores, conversation, as_telegram),
                    "live talk with an assistant": await live_with_assistant(stores, conversation),
                    "conversations.json": await imported(stores, conversation, as_chatgpt),
                }.items():
                    judged.setdefault(name, []).extend(await answers(stores, stored, weights))
                _print(judged)


def _print(judged: dict[str, list[Judged]]) -> None:
    rows = list[list[str]]()
    for name, found in judged.items():
        rows.append([name, str(len(found)), *(f"{each.mean:.2f}" for each in judge(found).values())])
    print_table("LoCoMo", ["memory", "questions", "recall@5", "recall@10", "recall@25"], rows)


if __name__ == "__main__":
    asyncio.run(main())
