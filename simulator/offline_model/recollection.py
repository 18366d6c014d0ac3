"""What a prompt holds that the offline model may answer from: each earlier or quoted message, with who and when."""

# ruff: noqa: RUF001 - typographic quotes and dashes are meant as they stand

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from bot.agent.prompt.text import (
    DIGEST_HEADING,
    HAPPENED,
    LEDGER_HEADING,
    RECORD_HEADING,
    TASK_HEADING,
    UNANSWERED_HEADING,
)
from memory.history.summary import LABELS
from simulator.offline_model.marks import Unmarked, take_marks

# A Telegram message's length; what is longer is read up to here, so that no pattern takes long over it.
_READ_LENGTH = 4_096
Source = Literal["person", "note", "own"]

_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?(?: UTC)?"
    r"|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{4}(?:,? \d\d:\d\d)?"
    r"|(?:an?|\d+) (?:second|minute|hour|day|week|month|year)s? ago|yesterday|just now",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:[-*•>–]|\d{1,3}[.)])\s+")
_MARK = re.compile(r"\s*\[([^\]]{1,80})\] ([^:\[\]“\"«]{1,80}):\s(.*)", re.DOTALL)
_BRACKET = re.compile(r"\s*\[([^\]]{1,80})\]\s*")
_TAG = re.compile(r"\s*<([A-Za-z][\w-]*)((?:\s[^<>]*)?)>(.*)</\1>\s*", re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w-]+)=[\"']([^\"']*)[\"']")
_QUOTED = re.compile(r"[“\"«](.+)[”\"»]")
_HEAD = re.compile(r"([^“\"«:]{1,40}?(?:\([^)]{1,40}\)|\[[^\]]{1,40}\]|, [^“\"«]{1,40}?)?):\s+(\S.*)")
_SPEAKER_PREFIX = re.compile(r"([^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2}):\s+(?=\S)")
_HEADING = re.compile(r"\b(?:recall|earlier|memor|previous|relevant|quote|history|context)", re.IGNORECASE)
_BOT_MENTION = re.compile(r"@\w*bot\b", re.IGNORECASE)
_HEAD_NOISE = re.compile(r"\b(?:said|wrote|says|on|at)\b|[\[\](),:;—-]|\bUTC\b")
_SUMMARY_LABEL = re.compile(rf"(?:{'|'.join(LABELS)}):(?: |$)")
_RECORD_HEADINGS = (LEDGER_HEADING, UNANSWERED_HEADING, RECORD_HEADING, DIGEST_HEADING)
_OWN_NAMES = frozenset({"assistant", "bot", "mnemogram", "you", "me"})
_TEXT_KEYS = ("text", "content", "quote", "message")
_SPEAKER_KEYS = ("speaker", "sender", "from", "author", "name", "role")
_TIME_KEYS = ("when", "time", "at", "date", "timestamp", "sent_at", "age")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recollection:
    """One thing that was said; `source` "note" is a line of a system message that quotes nobody."""

    text: str
    source: Source = "person"
    speaker: str | None = None
    when: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What the last user message wants, who asks if the prompt marks speakers, and what it may be answered from.

    `raw` still has a mark such as "Olga: ", which may as well be "Add: ". `recollections` are in the order of
    the prompt, so the last of equals is the newest.
    """

    raw: str
    text: str
    speaker: str | None
    recollections: tuple[Recollection, ...]


def read_ask(messages: Sequence[Mapping[str, Any]]) -> Ask:
    """The last user message of a prompt with all that stands before it, save the first system message."""
    messages = [message for message in messages if not _is_record(message)]
    users = [index for index, message in enumerate(messages) if message.get("role") == "user"]
    if not users:
        return Ask(raw="", text="", speaker=None, recollections=())
    last = messages[users[-1]]
    unmarked = take_marks(text_of(last).removeprefix(TASK_HEADING).lstrip())
    quoted, rest = _split_block(unmarked.text)
    mark = _from_mark(rest)
    raw = mark.text if mark else rest.strip()[:_READ_LENGTH]
    speaker, text = (mark.speaker, raw) if mark else _split_speaker(raw, marked=True)
    marked = speaker is not None or last.get("name") is not None
    earlier = _recollections(messages[: users[-1]], marked=marked)
    return Ask(
        raw=raw,
        text=_BOT_MENTION.sub("", text).strip(),
        speaker=_name_of(last) or speaker,
        recollections=(*earlier, *quoted, *_replied_to(unmarked)),
    )


def _is_record(message: Mapping[str, Any]) -> bool:
    """Whether it tells of tools, not of what somebody said."""
    return message.get("role") == "user" and text_of(message).startswith(_RECORD_HEADINGS)


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, its text parts joined; "" when it has none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = cast("list[Mapping[str, Any]]", content) if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def read_line(line: str) -> Recollection | None:
    """One line of a block of quoted messages; None for a blank one and for a heading.

    The line may be `[2026-11-20 18:03 UTC] Olga: "text"` with the text in JSON, a JSON object, an XML element,
    or prose such as `Olga said: “text”`.
    """
    return _from_mark(line) or _from_json(line) or _from_tag(line) or _from_prose(line[:_READ_LENGTH])


def _recollections(messages: Sequence[Mapping[str, Any]], *, marked: bool) -> Iterable[Recollection]:
    systems = [
        index for index, message in enumerate(messages) if message.get("role") in ("system", "developer")
    ]
    instructions = systems[0] if systems else -1
    for index, message in enumerate(messages):
        role, text = message.get("role"), text_of(message)
        if role == "user":
            yield from _from_user(message, text, marked=marked)
        elif role == "assistant" and text:
            yield Recollection(text=text[:_READ_LENGTH], source="own")
        elif index in systems and index != instructions:
            yield from filter(None, map(read_line, text.splitlines()))


def _from_user(message: Mapping[str, Any], text: str, *, marked: bool) -> Iterable[Recollection]:
    unmarked = take_marks(text)
    quoted, rest = _split_block(unmarked.text)
    yield from (*quoted, *_replied_to(unmarked))
    mark = _from_mark(rest)
    if mark:
        yield replace(mark, speaker=unmarked.origin or mark.speaker)
        return
    bracket = _BRACKET.match(rest)
    when = _TIME.search(bracket[1]) if bracket else None
    if bracket and when:
        rest = rest[bracket.end() :]
    speaker, said = _split_speaker(rest, marked=marked or when is not None)
    if said.strip():
        yield Recollection(
            text=said.strip()[:_READ_LENGTH],
            speaker=unmarked.origin or _name_of(message) or speaker,
            when=when[0] if when else None,
        )


def _replied_to(unmarked: Unmarked) -> list[Recollection]:
    return [_said(said, whose, None) for whose, said in unmarked.quoted if said.strip()]


def _split_block(text: str) -> tuple[list[Recollection], str]:
    """The quoted data lines of a user message, and the rest; one line alone is no block."""
    lines = text.splitlines()
    if len(lines) < 2:
        return [], text
    quoted: list[Recollection] = []
    rest: list[str] = []
    introduced = False
    for line in lines:
        introduced = (introduced and bool(line.strip())) or _is_heading(line)
        if introduced and _SUMMARY_LABEL.match(line):
            quoted += [Recollection(text=line.partition(": ")[2], source="note")] if ": " in line else []
            continue
        read = read_line(line) if introduced or _is_data(line) else None
        if read:
            quoted.append(read)
        else:
            rest.append(line)
    kept = [line for line in rest if not _is_heading(line)]
    return (quoted, "\n".join(kept)) if quoted else ([], text)


def _is_heading(line: str) -> bool:
    return line.rstrip().endswith(":") and bool(_HEADING.search(line))


def _is_data(line: str) -> bool:
    if _from_json(line) or _from_tag(line):
        return True
    return bool(
        _QUOTED.search(line[:_READ_LENGTH])
        and (_BULLET.match(line) or _BRACKET.match(line))
        and _TIME.search(line)
    )


def _split_speaker(text: str, *, marked: bool) -> tuple[str | None, str]:
    match = _SPEAKER_PREFIX.match(text) if marked else None
    if match and all(word[0].isupper() for word in match[1].split()):
        return match[1], text[match.end() :]
    return None, text


def _name_of(message: Mapping[str, Any]) -> str | None:
    name = message.get("name")
    return name.replace("_", " ") if isinstance(name, str) and name else None


def _from_mark(text: str) -> Recollection | None:
    """A text that begins with when and by whom it was written; it may be a JSON string."""
    match = _MARK.fullmatch(text)
    when = _time_in(match[1]) if match else None
    said = match[3].strip() if match else ""
    if not match or when is None or not said:
        return None
    try:
        quoted: object = json.loads(said) if said.startswith('"') else said
    except ValueError:
        quoted = said
    return _said(quoted if isinstance(quoted, str) else said, match[2].strip(), when)


def _from_json(line: str) -> Recollection | None:
    if not line.strip().startswith("{"):
        return None
    try:
        value: object = json.loads(line.strip().rstrip(","))
    except (ValueError, RecursionError):
        return None
    return _from_fields(cast("dict[str, Any]", value)) if isinstance(value, dict) else None


def _from_tag(line: str) -> Recollection | None:
    match = _TAG.fullmatch(line)
    if not match:
        return None
    fields: dict[str, Any] = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(match[2])}
    return _from_fields({**fields, "text": html.unescape(match[3]).strip()})


def _from_fields(fields: Mapping[str, Any]) -> Recollection | None:
    text = _first_text(fields, _TEXT_KEYS)
    if not text:
        return None
    speaker = _first_text(fields, _SPEAKER_KEYS)
    return _said(text, speaker, _first_text(fields, _TIME_KEYS))


def _first_text(fields: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    return next((value for key in keys if isinstance(value := fields.get(key), str) and value), None)


def _from_prose(line: str) -> Recollection | None:
    bullet = _BULLET.match(line)
    plain = (line[bullet.end() :] if bullet else line).strip()
    if not plain or plain.endswith(":"):
        return None
    quoted = _QUOTED.search(plain)
    outside = plain[: quoted.start()] + " " + plain[quoted.end() :] if quoted else ""
    if quoted and len(outside) <= 100:
        return _said(quoted[1], _speaker_in(outside), _time_in(outside))
    bracket = _BRACKET.match(plain)
    body = plain[bracket.end() :] if bracket else plain
    head = _HEAD.fullmatch(body)
    about = f"{bracket[1] if bracket else ''} {head[1] if head else ''}"
    if not (bracket or head):
        return Recollection(text=plain, source="note")
    return _said(head[2] if head else body, _speaker_in(about), _time_in(about))


def _said(text: str, speaker: str | None, when: str | None) -> Recollection:
    own = speaker is not None and speaker.casefold() in _OWN_NAMES
    anonymous = own or (speaker or "").casefold() in ("user", "")
    if speaker == HAPPENED:
        return Recollection(text=text[:_READ_LENGTH], source="note", when=when)
    return Recollection(
        text=text[:_READ_LENGTH],
        source="own" if own else "person",
        speaker=None if anonymous else speaker,
        when=when,
    )


def _speaker_in(about: str) -> str | None:
    words = _HEAD_NOISE.sub(" ", _TIME.sub(" ", about)).split()
    return " ".join(words) if 0 < len(words) <= 4 else None


def _time_in(about: str) -> str | None:
    match = _TIME.search(about)
    return match[0] if match else None
