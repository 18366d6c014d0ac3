"""The prompt of this bot as the offline model reads it: the newest lines, and the statements that may answer them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from typing import Any, Literal, cast

from simulator.offline_model.words import Language, folded_words, language_of, languages

PASSAGE_LENGTH = 300
"""Characters of a text that is quoted in one piece."""
_READ_LENGTH = 8_192
"""Characters of one text that are read, so that no pattern takes long over it."""
_TURNS = 40
"""The most turns for which a reminder waits for a city."""
_DATA_HEADING = re.compile(r"(?![\[(>])(?>[^\n]*?\bdata\b)(?>[^\n]*?\binstruction)[^\n]*+(?<=[.:])")
_TASK_HEADING = re.compile(r"Task from the agent\b[^\n]*:\n")
_REBUILDING = "index of this chat's older messages is being rebuilt"
_INCOGNITO = "Incognito is on:"
_SPOKEN = re.compile(r"\s*\[(\d{4}-\d\d-\d\d[^\]]*)\] ([^:\[\]\"]{1,80}):\s*(.*)", re.DOTALL)
_MARK = re.compile(
    r"[\[(](in reply to|forwarded from|sent through|attached:|paid|the|an?) ?([^\"]*?)(?::? (\".*\"))?[\])]"
)
_ARTIFACT = re.compile(r"\bartifact (a[0-9a-f]{11})\b")
_CUT_MARK = re.compile(r"[\[(](?:attached: |an? )[^\"]*\((?:[\d.,]+ [KMG]?B)\)")
_ATTACHED = {
    "unseen": ("photo", "picture", "sticker, which"),
    "unheard": ("voice", "video message"),
    "reading": ("doc",),
}
"""Sentences about what we do not see, hear or have read, each with words of the marks of such messages."""
_FACT = re.compile(r"\[((?:since|from) \d{4}-\d\d-\d\d[^\]]*)\] ([^:\[\]\"]{1,80}): (\".*\")")
_BULLET = re.compile(r"- (?:([^:\"]{1,40}): )?(.+)")
SENTENCE_END = re.compile(
    r"(?<=[.!?…؟])(?<!\b[A-Za-zА-Я]\.)(?<!\b(?:Mr|Ms|Dr|St|Sr|Hr|Fr|Jr)\.)(?<!\b(?:Mrs|Sra|Dra|bzw)\.)"  # noqa: RUF001
    r"(?<!\b(?:Prof|Srta|Frau)\.)(?!(?<=\b[Nn][or]\.)\s+\d)"
    r"(?!(?<=\d\.)\s+(?:[a-z]|Jan|Feb|Mär|Apr|Mai|Ju[nl]i|Aug|Sep|Okt|Nov|Dez))\s+|\n+"
)
"""Not behind a title, an initial, or "No." with its number, nor in "6. Mai"."""
_WRAP = re.compile(
    r"(?<=[^\n]{40})(?<![.!?:…؟])\n(?=[a-zß-öø-ÿа-яё\u0600-\u06ff])|(?<=[^\n]{65})(?<![.!?:…؟])\n(?=\w)"
)
"""A sentence goes on in the next line: that begins small, or this one is long. In a list neither is so."""
_HEADING = re.compile(
    r"(?:(?<=\n\n)|\A)([^\n:]{1,60}[^\n.!?:,;…؟])\n(?:(?![^\n:]{1,40}: )(?=\S)|\n+(?=[^\n]{40}))|(?<=:)[^\S\n]*\n\s*"
    r"|(?<=\n)([^\n\d:.!?…؟]{1,24})\n(?=\d|\S*\d\S*(?:\n|\Z))"
)
"""A short line, or the end of one with a colon, before what it introduces; also "Wifi" before a line "lake2026"."""
_MENTION = re.compile(r"@\w*bot\b", re.IGNORECASE)
_LEAST_HEAD, _FRAGMENT = 4, 4
"""Least words before a question in the same sentence; most words of an answer to "tell me"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A passage that may answer a question. An empty `speaker` is the person who writes to the bot.

    Of a note the speaker is its subject. `when` begins with the date, "" within a private conversation. `topic` is the
    question that it answers, if we had no answer to it.
    """

    text: str
    source: Literal["person", "document", "note"] = "person"
    speaker: str = ""
    when: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The lines of a message with our reply."""

    speaker: str
    lines: tuple[str, ...]
    reply: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt in pieces.

    `lines` are those of the newest message, `questions` and `fresh` statements those since the last reply. `turns` are
    the last ones before it. `statements` are in the order of the prompt: the last one is the newest.
    """

    lines: tuple[str, ...] = ()
    speaker: str = ""
    questions: tuple[str, ...] = ()
    before: str = ""
    """The line before the question that is answered now."""
    statements: tuple[Statement, ...] = ()
    fresh: tuple[Statement, ...] = ()
    turns: tuple[Turn, ...] = ()
    attached: str = ""
    """"unseen", "unheard" or "reading" if the newest message has a picture, a voice or a document."""
    artifact: str = ""
    """The id of the newest document that is too long for the prompt."""
    has_no_words: bool = False
    """True if the newest message has only marks, as a sticker or a document without a caption."""
    is_incomplete: bool = False
    """True if the instructions say that older messages may be missing now."""
    is_incognito: bool = False
    """True if the instructions say that nothing is kept."""


def read_prompt(messages: Sequence[Mapping[str, Any]]) -> Prompt:
    """Read all messages. Of the system messages only two sentences of the instructions count."""
    prompt = Prompt()
    for message in messages:
        role, text = message.get("role"), text_of(message)[:_READ_LENGTH]
        found: list[Statement] = []
        if role == "system" and _REBUILDING in text_of(message):
            prompt = replace(prompt, is_incomplete=True)
        if role == "system" and _INCOGNITO in text_of(message):
            prompt = replace(prompt, is_incognito=True)
        if role == "assistant" and text:
            turn = Turn(speaker=prompt.speaker, lines=prompt.lines, reply=text)
            prompt = replace(prompt, questions=(), fresh=(), turns=(*prompt.turns, turn)[-_TURNS:])
        elif role == "user" and _DATA_HEADING.match(text):
            found = [each for line in text.splitlines()[1:] for each in read_line(line)]
            prompt = replace(prompt, artifact=artifact_in(text_of(message)) or prompt.artifact)
        elif role == "user":
            prompt, found = _read_user(prompt, _TASK_HEADING.sub("", text, count=1))
        prompt = replace(prompt, statements=(*prompt.statements, *found))
    return prompt


def _read_user(prompt: Prompt, text: str) -> tuple[Prompt, list[Statement]]:
    match = _SPOKEN.fullmatch(text)
    when, speaker, body = match.groups() if match else ("", "", text)
    lines, found = _split_marks(body, Statement(text="", speaker=speaker, when=when))
    marks = "\n".join(line for line in body.splitlines() if line[:1] in ("[", "("))
    own_text = _MENTION.sub("", "\n".join(lines)).strip()
    if len(own_text.split()) <= _FRAGMENT and speaker == prompt.speaker:
        found = [replace(each, topic=_unanswered(prompt)) for each in found]
    attached = next((kind for kind, names in _ATTACHED.items() if any(each in marks for each in names)), "")
    read = replace(
        prompt,
        lines=tuple(own_text.splitlines()),
        has_no_words=bool(body.strip()) and not lines,
        speaker=speaker,
        attached=attached,
        artifact=artifact_in(marks) or prompt.artifact,
        questions=(*prompt.questions, *(each for each in sentences(own_text) if is_question(each))),
        fresh=(*prompt.fresh, *found),
    )
    return read, found


def _unanswered(prompt: Prompt) -> str:
    """Return the last question if we had no sure answer to it; else ""."""
    last = prompt.turns[-1] if prompt.turns and not prompt.fresh else None
    ours = tuple(each.text(key) for each in languages() for key in ("unknown", "unsure"))
    is_open = last is not None and last.reply.startswith(ours)
    return last.lines[-1] if last is not None and is_open and last.lines else ""


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, with its text parts joined; "" if it has none."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = cast("list[Mapping[str, Any]]", content) if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")


def read_line(line: str) -> Iterator[Statement]:
    """Yield the statements of one line of data: `[time] name: "text"`, a fact, or an item of a summary."""
    match, fact, bullet = _SPOKEN.fullmatch(line), _FACT.fullmatch(line), _BULLET.fullmatch(line)
    if match and match[2] != "assistant":
        speaker = "" if match[2] == "user" else match[2]
        yield from _split_marks(unquoted(match[3]), Statement(text="", speaker=speaker, when=match[1]))[1]
    elif fact:
        yield Statement(text=unquoted(fact[3]), source="note", speaker=fact[2], when=fact[1])
    elif bullet and bullet[1] and (bullet[1] == "user" or bullet[1][0].isupper()):
        yield Statement(text=bullet[2], speaker="" if bullet[1] == "user" else bullet[1])
    elif bullet:
        yield Statement(text=line.removeprefix("- "), source="note")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line. A question within a sentence is one of its own."""
    parts = (" ".join(part.split()) for part in SENTENCE_END.split(text) if part.strip())
    return [each for part in parts for each in _apart(part)]


def _apart(sentence: str) -> list[str]:
    """Split a sentence where a question begins: "I'm in Rome so where does Anna live"."""
    language = language_of(sentence[:200])
    middle = language.search("midway", sentence) if len(sentence) < _READ_LENGTH // 4 else None
    head = sentence[: middle.start()] if middle else ""
    if middle is None or len(head.split()) < _LEAST_HEAD or language.fullmatch("asking", sentence):
        return [sentence]
    return [head, *_apart(sentence[middle.end() :])]


def unwrapped(text: str) -> str:
    """Return the text of a document with headings before what they introduce, and with whole sentences in a line."""
    return _HEADING.sub(_joined, _WRAP.sub(" ", text))


def _joined(heading: re.Match[str]) -> str:
    title = heading[1] or heading[2] or ""
    is_same = not title or (
        not heading[2] and heading.string[heading.end()].islower()
    )  # "RENTAL CONTRACT\nbetween …"
    return f"{title}{' ' if is_same else ': '}"


def is_question(text: str, language: Language | None = None) -> bool:
    """Return True if `text` ends with a question mark or begins like a question in its language."""
    language = language or language_of(text[:200])
    plain = language.spelled(_MENTION.sub("", text).strip())
    if language.search("keep", plain):  # "can you remember that …?"
        return False
    if plain.endswith(("?", "؟")) or plain.startswith("¿"):
        return True
    words, asks = folded_words(plain[:100]), language.words("asks")
    led = [*dropwhile(language.words("led").__contains__, words)]
    begins = {*words[:1]} & language.words("does") or asks & {
        *(words if language.name == "persian" else led[:1])
    }
    is_exclaimed = any(language.search("exclaims", " ".join(each)) for each in (words, led))
    return bool(begins and not is_exclaimed) or any(
        language.fullmatch(each, plain[:200]) for each in ("asking", "everything", "inverted")
    )


def _split_marks(text: str, like: Statement) -> tuple[list[str], list[Statement]]:
    """Return the lines that the person wrote, and all statements of the text.

    Lines of marks tell of a reply, a forwarded message or a document. The prompt quotes the text of a forwarded
    message with `> `, and a person's own line that looks like a mark.
    """
    lines: list[str] = []
    forwarded: list[str] = []
    is_quoting = False
    found: list[Statement] = []
    for line in text.splitlines():
        mark = _MARK.fullmatch(line)
        if mark is None and is_quoting and line.startswith(">"):
            forwarded.append(line[2:])
        elif mark is None:
            lines.append(line)
        elif mark[1] in ("forwarded from", "sent through"):
            like, is_quoting = replace(like, speaker=mark[2]) if mark[1][0] == "f" else like, True
        elif mark[1] == "in reply to":
            if mark[2] != "you":
                found += _passages(unquoted(mark[3] or ""), replace(like, speaker=mark[2]))
        else:
            found += _passages(unquoted(mark[3] or '""'), replace(like, source="document"))
    return lines, [*found, *_passages("\n".join([*forwarded, *lines]), like)]


def artifact_in(text: str) -> str:
    """Return the id of the last document that the text names; "" without any."""
    return next(iter(_ARTIFACT.findall(text)[::-1]), "")


def is_mark(text: str) -> bool:
    """Return True for the mark of a document, also if its end is cut off: nobody has said that."""
    return _CUT_MARK.match(text) is not None or bool(artifact_in(text))


def _passages(text: str, like: Statement) -> list[Statement]:
    """Return a short text in one piece. Others are in sentences, without questions, and so are lines of a document."""
    is_listed = like.source == "document" and text.strip().count("\n") > 1
    text = unwrapped(text) if like.source == "document" else text
    parts = sentences(text)
    if len(text) <= PASSAGE_LENGTH and not is_listed and not any(map(is_question, parts)):
        parts = [" ".join(text.split())] if text.strip() else []
    return [replace(like, text=part) for part in parts if not is_question(part)]


def unquoted(text: str) -> str:
    """Return the text of a JSON string, or the text itself."""
    found = _loaded(text)
    return text if found is None else str(found)


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a text is, or an empty one."""
    found = _loaded(text)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
