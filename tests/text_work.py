"""Hostile texts, the functions that read texts of models and people, and the CPU time that these take."""

import gc
import signal
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time

from bot.agent.fact_model import holds_secret
from bot.agent.loose_json import find_values, find_whole_items, parse_object, read_calls
from bot.agent.openai_failures import Refusal, failure_of, lacking_abilities, quote_endpoint, wait_s
from bot.agent.prompt.text import without_marks
from bot.agent.thoughts import AnswerText
from bot.agent.tool_output import preview
from bot.errors import ToolFailed
from bot.features.reminders.tools import WITHOUT_ZONE
from bot.features.voice.speech import spoken_text
from bot.tools.read_web_page import readable_text
from bot.transport.rendering import render_messages
from bot.transport.rich_text import Entity, RichText, utf16_length
from bot.transport.splitting import split
from bot.transport.unfinished import ending, with_closed_code, without_loose_ends
from bot.transport.words import words_for
from bot.turn.outbox import Part, plan_reply
from bot.turn.preview import Preview
from memory.characters import as_read, one_line, well_formed
from memory.history.message import render_text
from memory.recall.lexicon.analyser import analyse_message, analyse_question
from memory.tokens import tokenizer_for

_INLINE_MARKS = (
    "* ** _ __ ~ ~~ ` ``` || [ ] ( ) ![ ](x) [a](b [a](<b < > <b> <? <!A <![CDATA[ \\ \\` \\( \\[ $ $$ & &amp;"
    " ^ : @"
)
_BLOCK_MARKS = [
    "# ",
    "> ",
    "- ",
    "+ ",
    "1. ",
    "- [ ] ",
    "[^1]: ",
    "[a]: u\n",
    "---\n",
    "===\n",
    "```\n",
    "~~~\n",
    "    x\n",
]
_BLANKS = [" ", "  \n", "\n", "\n\n", "\t", "\r\n", "\r"]
_ROWS = ["|a", "a|b\n-|-\n", "| a |\n"]
_PLAIN = [
    "a",
    "a ",
    "1",
    "1.",
    "1 ",
    ".",
    "! ",
    "?",
    "…",
    "。",
    "'",
    '"',
    ")",
    "{",
    "}",
    '{"',
    "[1,",
    "上",
    "http://",
    "www.",
    "a@b.c ",
]
_TAGS = [
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "<!--",
    "◁",
    "eyJ-",
    "pin:",
    "key_",
    "pwd_a_",
    "/*",
]
MARKS: Sequence[str] = tuple(
    dict.fromkeys([*_INLINE_MARKS.split(), *_BLOCK_MARKS, *_BLANKS, *_ROWS, *_PLAIN, *_TAGS])
)
"""Marks of Markdown, of blocks, of tables, and of the other forms that our patterns read."""
CATEGORIES: Mapping[str, str] = {
    "Lu": "A",
    "Ll": "ß",
    "Lt": "ǅ",
    "Lm": "ʰ",
    "Lo": "日",
    "Mn": "\u0301",
    "Mc": "\u0903",
    "Me": "\u20dd",
    "Nd": "٣",
    "Nl": "Ⅷ",
    "No": "²",
    "Pc": "‿",
    "Pd": "—",
    "Ps": "⦅",
    "Pe": "⦆",
    "Pi": "«",
    "Pf": "»",
    "Po": "¿",
    "Sm": "∑",
    "Sc": "€",
    "Sk": "¨",
    "So": "©",
    "Zs": "\u00a0",
    "Zl": "\u2028",
    "Zp": "\u2029",
    "Cc": "\x01",
    "Cf": "\u200b",
    "Cs": "\ud800",
    "Co": "\ue000",
    "Cn": "\u0378",
}
"""One character of each category of Unicode."""
JOINED: Sequence[str] = (
    "\u200d",
    "🇩",
    "\u1100",
    "\u1161",
    "\u094d",
    "\U0001f3fb",
    "👩‍",
    "\U000e0067",
    "\ufe0f",
)
"""Characters that readers see as one with their neighbours."""
UNITS: Sequence[str] = (*MARKS, *CATEGORIES.values(), *JOINED)

PATTERNS: Mapping[str, Callable[[int], str]] = {
    "openers and closers": lambda size: "a**b" + "c* " * (size // 3),
    "runs of backticks": lambda size: "".join(f"e{'`' * run}" for run in range(1, int((2 * size) ** 0.5))),
    "nested items": lambda size: "".join(f"{'  ' * level}* a\n" for level in range(int(size**0.5))),
    "no end of a fraction": lambda size: "{a: 1." + "0" * size + "1}",
    "blanks behind a name": lambda size: "[TOOL_CALLS]x" + " " * size,
    "blanks behind a thought": lambda size: "<think>" + " " * size + "x",
    "blanks before a word": lambda size: "x\n" + " " * size + "x",
    "lists without an end": lambda size: "[1," * 400 + "1," * (size // 2),
    "a repeated letter": lambda size: "T" * size,
    "comments without an end": lambda size: "x/*" * (size // 3),
    "a repeated word": lambda size: "court" * (size // 5),
}
"""Hostile texts that are no repetition of one or two units. Several slow down other parsers of Markdown:
commonmark/commonmark.js#129, commonmark/cmark#255, mity/md4c#57, Python-Markdown/markdown#1617. A model repeats one
word up to its limit: anthropics/claude-code#82803.
"""

_PEOPLE = {1: "Anna Smith", 2: "王小明", 3: "Will May"}
_TOKENS = tokenizer_for("gpt-4o")
_WORDS = words_for("en")
_BLANK = Part(
    update_id=1, number=0, chat_id=1, thread_id=None, reply_to=None, rich=RichText(text=""), epoch=0
)


def _read_stream(text: str, *, begins_inside: bool = False) -> str:
    answer = AnswerText(begins_inside=begins_inside)
    for at in range(0, len(text), 50):
        answer.add(text[at : at + 50])
    answer.finish()
    answer.calls()
    return answer.text()


def _preview(text: str) -> str:
    shown = Preview(_WORDS, edits=())
    shown.text = text
    return shown.look().text


def _split_formatted(text: str) -> list[RichText]:
    """Split the text with a format on every tenth character, and a code block in its second half."""
    size = utf16_length(text)
    bold = [Entity(type="bold", offset=at, length=5) for at in range(0, size // 2 - 5, 10)]
    return split(
        RichText(text=text, entities=(*bold, Entity(type="pre", offset=size // 2, length=size - size // 2)))
    )


def _explain(text: str) -> None:
    refusal = Refusal(status=400, message=text, body=text)
    failure_of(refusal)
    lacking_abilities(refusal, ("turns", "system", "tools", "stream", "images"))
    wait_s({}, text, now=0)
    quote_endpoint(text, [text])


def _read_arguments(text: str) -> None:
    for arguments in (text, f'{{a: "{text}"}}'):
        try:
            parse_object(arguments)
        except ToolFailed:
            continue


FUNCTIONS: Mapping[str, Callable[[str], object]] = {
    "render": render_messages,
    "reply": lambda text: plan_reply(text, _BLANK, words=_WORDS, long_answers="document"),
    "speak": spoken_text,
    "preview": _preview,
    "split": lambda text: split(RichText(text=text)),
    "split formatted": _split_formatted,
    "unfinished": lambda text: (without_loose_ends(text), ending(text), with_closed_code(text)),
    "thoughts": _read_stream,
    "thoughts inside": lambda text: _read_stream(text, begins_inside=True),
    "prompt": lambda text: without_marks(text, is_group=True),
    "message": lambda text: render_text(text, note="a photo", forwarded_from=text[:100]),
    "characters": lambda text: (one_line(text, 100), as_read(text), well_formed(text)),
    "tokens": lambda text: (_TOKENS.cut_middle(text, 500), _TOKENS.head(text, 500)),
    "index": lambda text: analyse_message(text, _PEOPLE),
    "question": lambda text: analyse_question(text, _PEOPLE, asker_id=1, now=1_700_000_000.0),
    "artifact": lambda text: preview(text, at_most=3_000),
    "page": readable_text,
    "calls": read_calls,
    "arguments": _read_arguments,
    "values": lambda text: (list(find_values(text, repairing=False)), list(find_whole_items(text))),
    "repairs": lambda text: list(find_values(text, repairing=True)),
    "failures": _explain,
    "secrets": holds_secret,
    "when": WITHOUT_ZONE.fullmatch,
}
"""All that reads a text of a model, of a person or of a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hostile:
    """A hostile text of any size."""

    name: str
    build: Callable[[int], str]


def alone() -> list[Hostile]:
    """Return each unit repeated before a letter, so that nothing ends with it, and the other patterns."""
    return [
        *(Hostile(name=f"{unit!r}… x", build=_repeat(unit, after="x")) for unit in UNITS),
        *(Hostile(name=name, build=build) for name, build in PATTERNS.items()),
    ]


def in_pairs(first: str, second: str) -> list[Hostile]:
    """Return two units by turns, and a run of one before a run of the other."""
    return [
        Hostile(name=f"{first + second!r}", build=_repeat(first + second)),
        Hostile(
            name=f"{first!r}… {second!r}…",
            build=lambda size: _repeat(first)(size // 2) + _repeat(second)(size // 2),
        ),
    ]


def _repeat(unit: str, *, after: str = "") -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size] + after


def cpu_s(function: Callable[[str], object], text: str, *, limit_s: float) -> float:
    """Return the seconds of CPU that a call takes; infinite if these are more than `limit_s`.

    The garbage collector waits, because its time depends on all that other tests have left.
    """
    gc.disable()
    begun = process_time()
    try:
        with _time_limit(limit_s):
            function(text)
        return process_time() - begun
    except TimeoutError:
        return float("inf")
    finally:
        gc.enable()


@contextmanager
def _time_limit(seconds: float) -> Generator[None]:
    """Raise TimeoutError in the block after so many seconds of CPU. Regular expressions notice signals too."""

    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
