"""Small exports of other services, written from descriptions of their formats."""

from collections.abc import Sequence
from typing import Any

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
