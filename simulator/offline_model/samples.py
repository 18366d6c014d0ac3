"""Demonstration texts of the offline model: long ones, Markdown and code, to try rendering and splitting on."""

# ruff: noqa: RUF001 - the words of three languages are meant as they stand

import re

from simulator.offline_model.words import fold

_LONGEST = 50_000  # characters
_DEFAULT_LENGTH = 6_000  # more than one Telegram message holds
_WRITE = re.compile(r"\b(?:write|generate|give|show|send|make|напиши|escribe)\b")
_AMOUNT = re.compile(
    r"([0-9]{1,3}(?:[, ][0-9]{3})+|[0-9]{1,9})[ -]*(char|symbol|letter|word|simbolo|caracter|palabra|симв|знак|слов)"
)
_LONG = re.compile(r"\b(?:long (?:text|message|answer|story|reply)|длинн\w+ текст|texto largo)\b")
_SENTENCES = (
    "This is only a demonstration, so nothing depends on what it says.",
    "The river below the old mill turns twice before it reaches the sea.",
    "Somebody left a lamp burning in the reading room, and nobody put it out.",
    "Counting the sentences shows whether one was lost or came twice.",
    "On market days the square smells of oranges, coffee and rain.",
    "A letter that arrives late is still a letter, and it was kept with the others.",
    "Half of remembering is to have written it down; the other half is to find it again.",
)
_PER_PARAGRAPH = 5

MARKDOWN_SAMPLE = """\
# A heading

Some **bold**, some _italic_, some ~~struck out~~, `inline code` and a [link](https://example.com).

## Lists

- first
- second, with **weight**
  - nested
- third

1. one
2. two
3. three

> A quotation
> over two lines.

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```

| Fruit | Pieces |
|---|---|
| Apples | 3 |
| Plums | 12 |

Signs that need care: * _ ` [ ] ( ) < > & # | ~ and emoji 👩‍🚀 🇵🇹 é.
"""

CODE_SAMPLE = '''\
Here is a small program:

```python
"""Count the words of a text."""

import re
import sys
from collections import Counter


def count_words(text: str) -> Counter[str]:
    """How often each word occurs, whatever its case."""
    return Counter(re.findall(r"\\w+", text.casefold()))


def main() -> None:
    counts = count_words(sys.stdin.read())
    for word, times in counts.most_common(10):
        print(f"{times:6}  {word}")


if __name__ == "__main__":
    main()
```

Run it with `python count_words.py < book.txt`.
'''


def sample_for(text: str) -> str | None:
    """The demonstration that `text` asks for, or None; a long text has at most 50,000 characters."""
    plain = fold(text)
    if not _WRITE.search(plain):
        return None
    amount = _AMOUNT.search(plain)
    if amount:
        count = int(re.sub(r"\D", "", amount[1]))
        return words_text(count) if amount[2] in ("word", "palabra", "слов") else long_text(count)
    if _LONG.search(plain):
        return long_text(_DEFAULT_LENGTH)
    if re.search(r"\bmarkdown\b|\bformatting\b|маркдаун", plain):
        return MARKDOWN_SAMPLE
    return CODE_SAMPLE if re.search(r"\bcode\b|\bcodigo\b|\bкод\b", plain) else None


def long_text(length: int) -> str:
    """Exactly `length` characters of numbered sentences in paragraphs, within 1 and 50,000."""
    wanted = min(max(length, 1), _LONGEST)
    text = ""
    number = 0
    while len(text) < wanted:
        number += 1
        text += _sentence(number)
    return text[:wanted] if not text[wanted - 1].isspace() else f"{text[: wanted - 1]}."


def words_text(count: int) -> str:
    """Exactly `count` words of numbered sentences, unless that is more than 50,000 characters."""
    pieces = re.findall(r"\S+\s*", long_text(min(max(count, 1) * 12, _LONGEST)))
    return "".join(pieces[: max(count, 1)]).rstrip()


def _sentence(number: int) -> str:
    end = "\n\n" if number % _PER_PARAGRAPH == 0 else " "
    return f"({number}) {_SENTENCES[(number - 1) % len(_SENTENCES)]}{end}"
