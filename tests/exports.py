"""Small exports of other services, written from descriptions of their formats."""

import io
import json
from collections.abc import Sequence
from typing import Any

from memory.history.contexts import dump_entry
from memory.history.message import Sender
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from memory.tokens import Tokenizer
from memory.transfer.export_survey import survey_export
from memory.transfer.move_in import Destination, MoveIn, StoredImport

Document = dict[str, Any]


def telegram_message(
    number: int,
    text: Any,
    *,
    sender: str = "user7",
    name: str = "Anna",
    sent_at: int = 1_600_000_000,
    **more: Any,
) -> Document:
    """Return a message as Telegram Desktop writes it."""
    return {
        "id": number,
        "type": "message",
        "date": "2020-09-13T14:26:40",
        "date_unixtime": str(sent_at),
        "from": name,
        "from_id": sender,
        "text": text,
        **more,
    }


def telegram_chat(
    messages: Sequence[Document], *, kind: str = "personal_chat", number: int = 55, name: str = "Trip"
) -> Document:
    """Return a chat as Telegram Desktop writes it."""
    return {"name": name, "type": kind, "id": number, "messages": list(messages)}


def chatgpt_conversation(
    key: str, texts: Sequence[str], *, created_at: float | None = 1_700_000_000.0
) -> Document:
    """Return a conversation of ChatGPT: the texts by turns of the person and the assistant."""
    nodes: Document = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for number, text in enumerate(texts):
        nodes[f"n{number}"] = {
            "id": f"n{number}",
            "parent": f"n{number - 1}" if number else "root",
            "children": [f"n{number + 1}"] if number + 1 < len(texts) else [],
            "message": {
                "id": f"{key}-m{number}",
                "author": {"role": "assistant" if number % 2 else "user"},
                "create_time": created_at and created_at + number,
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
                "metadata": {},
            },
        }
    return {
        "title": f"About {key}",
        "create_time": created_at,
        "conversation_id": key,
        "current_node": f"n{len(texts) - 1}",
        "mapping": nodes,
    }


def claude_conversation(key: str, messages: Sequence[Document], *, name: str = "A talk") -> Document:
    """Return a conversation of Claude's export."""
    return {
        "uuid": key,
        "name": name,
        "created_at": "2025-03-01T10:00:00.000000Z",
        "chat_messages": [
            {
                "uuid": f"{key}-{number}",
                "created_at": f"2025-03-01T10:0{number}:00Z",
                "attachments": [],
                "files": [],
            }
            | message
            for number, message in enumerate(messages)
        ],
    }


def move_in(
    redis: RedisClient,
    ref: ContextRef,
    document: Any,
    *,
    person: Sender | None = None,
    own_chat: int = 1,
    bot_id: int = 0,
    now: float = 1_760_000_000.0,
) -> MoveIn:
    """Return an import of this document into a context."""
    data = json.dumps(document).encode()
    return MoveIn(
        redis=redis,
        place=Destination(
            ref=ref,
            registered=dump_entry({"chat_id": 1}, title="", created_at=now),
            person=person,
            own_chat=own_chat,
            bot_id=bot_id,
        ),
        survey=survey_export(lambda: io.BytesIO(data), now=now),
        open_file=lambda: io.BytesIO(data),
        tokenizer=Tokenizer(encoding="o200k_base"),
        now=now,
    )


async def import_chat(redis: RedisClient, ref: ContextRef, texts: Sequence[str]) -> StoredImport:
    """Import these texts as a chat of Telegram."""
    chat = telegram_chat([telegram_message(number, text) for number, text in enumerate(texts, start=1)])
    return await run_import(redis, ref, move_in(redis, ref, chat))


async def run_import(redis: RedisClient, ref: ContextRef, work: MoveIn) -> StoredImport:
    """Run an import to its end."""
    epoch = (await RedisHistory(redis).load(ref, limit=0)).epoch
    stored = await work.begin(epoch=epoch)
    async for step in work.run(stored, epoch=epoch):
        stored = step
    return stored
