"""Sample texts to try rendering and splitting on: a long one, and one with Markdown and code."""

import re

from simulator.offline_model.words import fold

_LONGEST = 50_000
"""Characters."""
_DEFAULT_LENGTH = 6_000
"""Characters; more than one Telegram message holds."""
_WRITE = re.compile(r"\b(?:write|generate|give|show|send|make)\b")
_AMOUNT = re.compile(r"([0-9]{1,3}(?:[, ][0-9]{3})+|[0-9]{1,9})[ -]*(?:char|symbol|letter)")
_LONG = re.compile(r"\blong (?:text|message|answer|story|reply)\b")
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


def sample_for(text: str) -> str | None:
    """Return the sample that `text` asks for, or None."""
    plain = fold(text)
    if not _WRITE.search(plain):
        return None
    amount = _AMOUNT.search(plain)
    if amount:
        return long_text(int(re.sub(r"\D", "", amount[1])))
    if _LONG.search(plain):
        return long_text(_DEFAULT_LENGTH)
    return MARKDOWN_SAMPLE if _MARKDOWN.search(plain) else None


def long_text(length: int) -> str:
    """Return exactly `length` characters, from 1 to 50,000, of numbered sentences in paragraphs."""
    length = min(max(length, 1), _LONGEST)
    text, number = "", 0
    while len(text) < length:
        number += 1
        end = "\n\n" if number % len(_SENTENCES) == 0 else " "
        text += f"({number}) {_SENTENCES[number % len(_SENTENCES)]}{end}"
    return text[:length] if not text[length - 1].isspace() else f"{text[: length - 1]}."
