"""The offline model's reply to a prompt: rules in place of a language model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.offline_model.answer import answer
from simulator.offline_model.prompt import read_prompt
from simulator.offline_model.tools import PlannedCall, plan_call, state_results, tool_names
from simulator.offline_model.words import fold

ACKNOWLEDGEMENT = "Noted. You can ask me about it later."
"""It repeats nothing: the echo of a forgotten message must not stay in a reply."""
_GREETING = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|hola|привет)(?: there| all| everyone|,? \w+)?\W*"
)
_WHO_ARE_YOU = re.compile(r"\b(?:who|what) are you\b|\bwhat can you do\b|^are you there\W*$|^help\W*$")
_THANKS = re.compile(r"(?:many )?(?:thanks|thank you)(?: a lot| very much| so much)?\W*")
_ECHO = re.compile(r"(?:please )?(?:echo|repeat|say)\b[:,]?\s+(\S.*)", re.IGNORECASE | re.DOTALL)

_LONGEST = 50_000
"""Characters."""
_WRITE = re.compile(r"\b(?:write|generate|give|show|send|make)\b")
_AMOUNT = re.compile(r"([0-9]{1,3}(?:[, ][0-9]{3})+|[0-9]{1,9})[ -]*(?:char|symbol|letter)")
_MARKDOWN = re.compile(r"\b(?:markdown|formatting|code)\b")
_SENTENCES = (
    "This is only a demonstration, so nothing depends on it.",
    "The river below the old mill turns twice before it reaches the sea.",
    "Somebody left a lamp burning in the reading room, and nobody put it out.",
    "Each sentence has a number, so a lost one is easy to see.",
    "On market days the square smells of oranges, coffee and rain.",
)

MARKDOWN_SAMPLE = """\
# A heading

Some **bold**, some _italic_, some ~~struck out~~, `inline code` and a [link](https://example.com).

- first
- second, with **weight**
  - nested

1. one
2. two

> A quotation
> over two lines.

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```

| Fruit | Pieces |
|---|---|
| Apples | 3 |

Signs that need care: * _ ` [ ] ( ) < > & # | ~ and emoji 👩‍🚀 🇵🇹 é.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineReply:
    """Either a text or a tool call; exactly one of the two is set."""

    text: str | None = None
    call: PlannedCall | None = None


def reply_to(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> OfflineReply:
    """Return the reply to a Chat Completions prompt; equal prompts get equal replies.

    A tool is called if the newest message plainly asks for it. Its result is stated in the next reply, so that a
    run ends after one round.
    """
    stated = state_results(messages)
    if stated is not None:
        return OfflineReply(text=stated)
    prompt = read_prompt(messages)
    if prompt.has_no_words and not prompt.questions:
        return OfflineReply(text=ACKNOWLEDGEMENT)
    for line in reversed(prompt.lines):
        call = plan_call(line, tools)
        if call:
            return OfflineReply(call=call)
    newest = prompt.lines[-1] if prompt.lines else ""
    text = _sample(newest) or _echo(newest)
    if text is None:
        answers = (_courtesy(each, tools) or answer(each, prompt) for each in prompt.questions)
        text = "\n\n".join(dict.fromkeys(answers)) or _courtesy(newest, tools) or ACKNOWLEDGEMENT
    return OfflineReply(text=text)


def _courtesy(line: str, tools: Sequence[Mapping[str, Any]]) -> str | None:
    plain = fold(line)
    if not plain or _GREETING.fullmatch(plain):
        return f"Hello! {_introduction(tools)}"
    if _WHO_ARE_YOU.search(plain):
        return _introduction(tools)
    return "You're welcome." if _THANKS.fullmatch(plain) else None


def _introduction(tools: Sequence[Mapping[str, Any]]) -> str:
    names = tool_names(tools)
    using = f" I can call tools ({', '.join(names)}): “use {names[0]} …”." if names else ""
    return (
        "I am the offline stand-in for a language model: simple rules, no network."
        " Tell me things and ask me about them later (“what did I tell you about Anna?”)."
        f"{using} I can also echo a text (“echo hello”) and write samples (“show markdown”, “write 5000 characters”)."
    )


def _echo(line: str) -> str | None:
    match = _ECHO.fullmatch(line)
    return match[1] if match else None


def _sample(text: str) -> str | None:
    """Return the sample that `text` asks for, or None."""
    plain = fold(text)
    if not _WRITE.search(plain):
        return None
    amount = _AMOUNT.search(plain)
    if amount:
        return _long_text(int(re.sub(r"\D", "", amount[1])))
    return MARKDOWN_SAMPLE if _MARKDOWN.search(plain) else None


def _long_text(length: int) -> str:
    """Return exactly `length` characters, from 1 to 50,000, of numbered sentences in paragraphs."""
    length = min(max(length, 1), _LONGEST)
    text, number = "", 0
    while len(text) < length:
        number += 1
        end = "\n\n" if number % len(_SENTENCES) == 0 else " "
        text += f"({number}) {_SENTENCES[number % len(_SENTENCES)]}{end}"
    return text[:length] if not text[length - 1].isspace() else f"{text[: length - 1]}."
