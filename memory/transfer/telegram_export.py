"""Reads `result.json` of Telegram Desktop: one chat, or all chats of an account."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast

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

LARGEST_MESSAGE = 2_000_000
_SUPERGROUPS = frozenset(["private_supergroup", "public_supergroup", "private_channel", "public_channel"])
_TYPES = frozenset(
    [
        "personal_chat",
        "bot_chat",
        "saved_messages",
        "replies",
        "verification_codes",
        "private_group",
        *_SUPERGROUPS,
    ]
)
_MOST_ID = 10**13
_PEER = re.compile(r"(user|chat|channel)?(\d{1,15})")
_MEDIA: Mapping[str, str] = {
    "sticker": "a sticker",
    "video_message": "a video message",
    "voice_message": "a voice message",
    "animation": "an animation",
    "video_file": "a video",
    "audio_file": "an audio file",
}
_QUOTATIONS = frozenset(["blockquote", "expandable_blockquote", "pre"])
"""Parts of a text that are no words of its writer."""
_NOT_INCLUDED = re.compile(r"\(File .*\)$")


def read_telegram(reader: JsonReader, reading: Reading) -> Messages:
    """Yield the messages of a document that has begun with an object. Another document yields none.

    Sets `reading.service` once it is known. Service notes are left out: they are nobody's words.
    """
    yield from _read_chat(reader, reading, is_root=True)


def bot_api_id(kind: str, number: object) -> int | None:
    """Return the id that the Bot API gives to a chat of this type."""
    if not isinstance(number, int) or not 0 < number < _MOST_ID:
        return None
    if kind in _SUPERGROUPS:
        return -(10**12) - number
    if kind == "private_group":
        return -number
    return number if kind in {"personal_chat", "bot_chat", "saved_messages"} else None


def peer_id(value: object) -> int | None:
    """Return the sender id of `user123`, `channel123`, or of the bare number of older exports."""
    found = _PEER.fullmatch(str(value)) if isinstance(value, str | int) else None
    if found is None:
        return None
    number = int(found[2])
    if found[1] == "channel":
        return -(10**12) - number
    return -number if found[1] == "chat" else number


def _read_chat(reader: JsonReader, reading: Reading, *, is_root: bool) -> Messages:
    """Read one chat, or the root of all chats. Their fields may come in any order."""
    number = reading.new_chat()
    about: dict[str, Any] = {}
    for name in reader.fields():
        event = reader.next()
        if name == "messages" and event[0] == "start_array":
            reading.chats.setdefault(number, ForeignChat(number=number, key=""))
            _note(reading, number, about)
            yield from _read_messages(reader, reading, number)
        elif is_root and name in ("chats", "left_chats") and event[0] == "start_map":
            yield from _read_list(reader, reading)
        elif name in ("name", "type", "id") and event[0] in ("string", "number", "null"):
            about[name] = event[1]
        else:
            reader.skip(event)
    if number in reading.chats and (not is_root or about):
        _note(reading, number, about)


def _read_list(reader: JsonReader, reading: Reading) -> Messages:
    for name in reader.fields():
        event = reader.next()
        if name != "list" or event[0] != "start_array":
            reader.skip(event)
            continue
        reading.service = "Telegram"
        for each in reader.items():
            if each[0] == "start_map":
                yield from _read_chat(reader, reading, is_root=False)
            else:
                reader.skip(each)


def _note(reading: Reading, number: int, about: Mapping[str, Any]) -> None:
    kind = about.get("type")
    if kind in _TYPES:
        reading.service = "Telegram"
    key = about.get("id")
    reading.chats[number] = ForeignChat(
        number=number,
        key=str(key) if isinstance(key, int) else "",
        title=clean_name(about.get("name")),
        chat_id=bot_api_id(str(kind), key),
    )


def _read_messages(reader: JsonReader, reading: Reading, number: int) -> Messages:
    before: float | None = None
    for fields in reading.objects(reader, at_most=LARGEST_MESSAGE):
        if reading.service is None and not _looks_ours(fields):
            continue
        reading.service = "Telegram"
        message = _message(fields, reading, number, before)
        if message is not None:
            before = message.sent_at or before
            yield message


def _looks_ours(fields: Mapping[str, Any]) -> bool:
    return fields.get("type") in ("message", "service") and "date" in fields


def _message(
    fields: Mapping[str, Any], reading: Reading, number: int, before: float | None
) -> ForeignMessage | None:
    if fields.get("type") != "message":
        reading.leave_out("service notes")
        return None
    text, note = clean_text(_text(fields)), _note_on(fields)
    if not text.strip() and not note:
        reading.leave_out("without content")
        return None
    telegram_id = fields.get("id")
    is_numbered = isinstance(telegram_id, int) and 0 < telegram_id < 2**53
    key = str(telegram_id) if is_numbered else _digest(fields)
    sender_id, forwarded = peer_id(fields.get("from_id")), "forwarded_from" in fields
    return ForeignMessage(
        chat=number,
        key=key,
        role="user",
        sent_at=reading.possible_date(_date(fields, "date")) or before,
        text=text,
        sender_id=sender_id,
        sender_name=clean_name(fields.get("from")) or ("Deleted account" if sender_id else ""),
        note=note,
        forwarded_from=(clean_name(fields["forwarded_from"]) or "somebody") if forwarded else "",
        forwarded_id=peer_id(fields.get("forwarded_from_id")) if forwarded else None,
        via_bot="via_bot" in fields,
        edited_at=reading.possible_date(_date(fields, "edited")),
        telegram_id=telegram_id if is_numbered else None,
    )


def _digest(fields: Mapping[str, Any]) -> str:
    """Return an id for a message without one: of its date, writer and text."""
    known = [fields.get(name) for name in ("date", "date_unixtime", "from_id", "text")]
    return "x" + hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:24]


def _date(fields: Mapping[str, Any], name: str) -> float | None:
    """Return the Unix seconds. Older exports have only the clock of the exporting computer, which is read as UTC."""
    exact = fields.get(f"{name}_unixtime")
    if isinstance(exact, str | int | float) and not isinstance(exact, bool):
        try:
            return float(exact)
        except (ValueError, OverflowError):
            pass
    try:
        local = datetime.fromisoformat(str(fields.get(name)))
        return (local if local.tzinfo else local.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _text(fields: Mapping[str, Any]) -> str:
    """Return the text, which is a string or a list of strings and entities."""
    return "".join(_pieces(fields.get("text") or fields.get("text_entities"))).strip("\n")


def _pieces(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            known = cast("dict[str, object]", each) if isinstance(each, dict) else {"text": each}
            text = known.get("text")
            if isinstance(text, str) and str(known.get("type")) in _QUOTATIONS:
                yield f"\n> {'> '.join(text.splitlines(keepends=True))}\n"
            elif isinstance(text, str):
                yield text


def _note_on(fields: Mapping[str, Any]) -> str:
    """Return a note on the message's attachment, in the words of the bot's own notes."""
    if "photo" in fields:
        return "a photo"
    if kind := _MEDIA.get(str(fields.get("media_type"))):
        names = [plain_name(fields.get(name)) for name in ("title", "performer")]
        about = " by ".join(filter(None, names)) if kind == "an audio file" else ""
        emoji = clean_name(fields.get("sticker_emoji")) if kind == "a sticker" else ""
        return f"{kind}, {about}" if about else f"{kind} {emoji}".strip()
    if "file" in fields:
        path = _NOT_INCLUDED.sub("", str(fields.get("file_name") or fields["file"]))
        name = plain_name(path.replace("\\", "/").rpartition("/")[2])
        return f"a document, {name}" if name else "a document"
    return _note_on_data(fields)


def _note_on_data(fields: Mapping[str, Any]) -> str:
    poll, contact = fields.get("poll"), fields.get("contact_information")
    if isinstance(poll, dict):
        known = cast("dict[str, object]", poll)
        listed = list(map(plain_name, _pieces(known.get("answers"))))
        options = f" ({'; '.join(filter(None, listed))})" if any(listed) else ""
        return f"a poll: {plain_name(known.get('question'))}{options}"
    if isinstance(contact, dict):
        names = [
            plain_name(cast("dict[str, object]", contact).get(each)) for each in ("first_name", "last_name")
        ]
        return ", ".join(filter(None, ["a contact", " ".join(filter(None, names))]))
    if "location_information" in fields:
        place = [plain_name(fields.get(each)) for each in ("place_name", "address")]
        return ", ".join(["a venue" if any(place) else "a location", *filter(None, place)])
    if "game_title" in fields:
        return f"a game, {plain_name(fields['game_title'])}"
    return ""
