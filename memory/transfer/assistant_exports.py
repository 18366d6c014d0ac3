"""Reads `conversations.json` of ChatGPT and of Claude: a list of conversations, one object after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from memory.history.message import Role
from memory.history.transcript import quote
from memory.transfer.foreign import (
    ForeignChat,
    ForeignMessage,
    Messages,
    Reading,
    clean_name,
    clean_text,
    plain_name,
)
from memory.transfer.json_stream import JsonReader

LARGEST_CONVERSATION = 64_000_000
"""Bytes that one conversation may take in memory, about."""
_SHOWN_OF_FILE = 4_000
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "human": "user"}
_WORDS = ("text", "voice_note")
"""Blocks of Claude with words of the conversation."""
_HIDDEN = "is_visually_hidden_from_conversation"


def read_conversations(reader: JsonReader, reading: Reading) -> Messages:
    """Yield the messages of a document that has begun with a list. Another document yields none.

    Tools' messages, hidden ones and the model's thoughts are left out. Sets `reading.service` once it is known.
    """
    for found in reading.objects(reader, at_most=LARGEST_CONVERSATION):
        if isinstance(found.get("mapping"), dict) and reading.service in (None, "ChatGPT"):
            reading.service, read = "ChatGPT", _chatgpt_messages
            key, title, created_at = found.get("conversation_id") or found.get("id"), "title", _seconds(found)
        elif isinstance(found.get("chat_messages"), list) and reading.service in (None, "Claude"):
            reading.service, read = "Claude", _claude_messages
            key, title, created_at = found.get("uuid"), "name", _iso(found.get("created_at"))
        else:
            continue
        name = clean_name(found.get(title))
        chat = ForeignChat(number=reading.new_chat(), key=_key(key) or f"{name}:{created_at}", title=name)
        reading.chats[chat.number] = chat
        yield from _dated(read(found, reading, chat), reading.possible_date(created_at))
        del reading.chats[chat.number]


def _dated(messages: Messages, created_at: float | None) -> Messages:
    """Give a message without a date the one of the message before, or of the conversation."""
    before = created_at
    for message in messages:
        before = message.sent_at or before
        yield message if message.sent_at is not None else replace(message, sent_at=before)


def _chatgpt_messages(found: Mapping[str, Any], reading: Reading, chat: ForeignChat) -> Messages:
    for key, message in _shown_branch(found):
        author = _object(message.get("author"))
        role = _ROLES.get(str(author.get("role")))
        content, metadata = _object(message.get("content")), _object(message.get("metadata"))
        is_aside = message.get("recipient", "all") not in ("all", None) or metadata.get(_HIDDEN) is True
        if role is None or is_aside or content.get("content_type") not in ("text", "multimodal_text"):
            reading.leave_out("of tools and hidden ones")
            continue
        texts, notes = _chatgpt_parts(content.get("parts"))
        files = [plain_name(_object(each).get("name")) for each in _list(metadata.get("attachments"))]
        notes += [f"a document, {name}" for name in files if name]
        text = clean_text("\n".join(texts))
        if not text.strip() and not notes:
            reading.leave_out("without content")
            continue
        yield ForeignMessage(
            chat=chat.number,
            key=_key(message.get("id")) or key,
            role=role,
            sent_at=reading.possible_date(_seconds(message)),
            text=text,
            note="; ".join(notes),
        )


def _shown_branch(found: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the messages from the root to `current_node`, the branch that ChatGPT shows.

    Without it they lead to the newest leaf.
    """
    nodes = cast("dict[str, Any]", found["mapping"])
    at: object = found.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        leaves = [key for key, node in nodes.items() if not _object(node).get("children")]
        at = max(
            leaves, key=lambda key: _seconds(_object(_object(nodes[key]).get("message"))) or 0, default=None
        )
    branch: list[tuple[str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        node = _object(nodes[at])
        if message := _object(node.get("message")):
            branch.append((at, message))
        at = node.get("parent")
    return branch[::-1]


def _chatgpt_parts(parts: object) -> tuple[list[str], list[str]]:
    """Return the texts of a message, and notes on its pictures and recordings."""
    texts: list[str] = []
    notes: list[str] = []
    for part in _list(parts):
        known = _object(part)
        kind = str(known.get("content_type"))
        if isinstance(part, str):
            texts += [part] if part.strip() else []
        elif kind == "audio_transcription" and isinstance(known.get("text"), str):
            texts.append(known["text"])
        elif kind == "image_asset_pointer":
            notes.append("a picture")
    return texts, notes


def _claude_messages(found: Mapping[str, Any], reading: Reading, chat: ForeignChat) -> Messages:
    for number, each in enumerate(cast("list[object]", found["chat_messages"])):
        message = _object(each)
        role = _ROLES.get(str(message.get("sender")))
        blocks = [_object(block) for block in _list(message.get("content"))]
        texts = [
            block["text"] for block in blocks if block.get("type") in _WORDS and _is_text(block.get("text"))
        ]
        if not texts and _is_text(message.get("text")):
            texts = [message["text"]]
        notes = list(_claude_files(message))
        if role is None or not (texts or notes):
            reading.leave_out("of tools and hidden ones" if role is None else "without content")
            continue
        yield ForeignMessage(
            chat=chat.number,
            key=_key(message.get("uuid")) or str(number),
            role=role,
            sent_at=reading.possible_date(_iso(message.get("created_at"))),
            text=clean_text("\n".join(texts)),
            note="; ".join(notes),
        )


def _claude_files(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield notes on the attached files. A long text that is pasted is one of them, with its words."""
    for each in _list(message.get("attachments")):
        known = _object(each)
        name = plain_name(known.get("file_name"))
        words = known.get("extracted_content")
        about = f"a document, {name}" if name else "a document"
        shown = quote(clean_text(str(words)[:_SHOWN_OF_FILE]))
        yield f"{about}: {shown}" if _is_text(words) else about
    for each in _list(message.get("files")):
        name = plain_name(_object(each).get("file_name"))
        yield f"a file, {name}" if name else "a file"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _object(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _key(value: object) -> str:
    return value[:200] if isinstance(value, str) else ""


def _seconds(found: Mapping[str, Any]) -> float | None:
    value = found.get("create_time")
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 2**53:
        return None
    return float(value)


def _iso(value: object) -> float | None:
    try:
        moment = datetime.fromisoformat(str(value))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
