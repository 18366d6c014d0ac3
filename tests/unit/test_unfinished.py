"""Unfinished Markdown, as a preview shows it."""

import pytest

from bot.transport.rendering import render
from bot.transport.unfinished import ending, without_loose_ends

ANSWER = """## Plan

Some **bold text**, `code`, ~~old~~ and [a link](https://a.bc/d), *it* too.

| a | b |
|---|---|
| 1 | **2** |

- one
- two **b**

```python
x = 1
```

> quote

Title
---
1. last"""


@pytest.mark.parametrize(
    ("so_far", "shown"),
    [
        ("", ""),
        ("# ", ""),
        ("a **bo", "a **bo**"),
        ("a **bold*", "a **bold**"),
        ("a **bold**", "a **bold**"),
        ("a *it", "a *it*"),
        ("a ~~b **c", "a ~~b **c**~~"),
        ("a **", "a "),
        ("2 * 3 and a_b", "2 * 3 and a_b"),
        ("a `co", "a `co`"),
        ("a `", "a "),
        ("**a `co", "**a `co`**"),
        ("a ``b`", "a ``b``"),
        ("a `b` ``` `", "a `b` "),
        ("a\n" + "`\n" * 5_000, "a\n"),
        ("a [li", "a li"),
        ("a [link](https://a.b", "a link"),
        ("a [link](https://a.bc)", "a [link](https://a.bc)"),
        ("text\n--", "text"),
        ("text\n- ", "text"),
        ("| a | b |", ""),
        ("| a | b |\n|--|-", ""),
        ("| a | b |\n|--|--|\n| 1", "| a | b |\n|--|--|\n| 1"),
        ("```py\nx = **1", "```py\nx = **1"),
        ("```py\nx = 1\n``", "```py\nx = 1"),
        ("```py\nx = 1\n```", "```py\nx = 1\n```"),
        ("```py\n*x\n```\n\n**b", "```py\n*x\n```\n\n**b**"),
    ],
)
def test_open_markup_is_closed_and_incomplete_markup_is_held_back(so_far: str, shown: str) -> None:
    assert without_loose_ends(so_far) == shown


def test_a_growing_answer_never_shows_raw_markup() -> None:
    for end in range(len(ANSWER) + 1):
        text = render(without_loose_ends(ANSWER[:end])).text

        assert not set(text) & set("*~`[]#"), ANSWER[:end]


def test_a_finished_answer_is_shown_in_its_final_form() -> None:
    assert render(without_loose_ends(ANSWER)) == render(ANSWER)


def test_only_the_end_of_a_very_long_text_is_rendered() -> None:
    lines = "".join(f"line {number}\n" for number in range(9_000))
    ends = [ending(lines[:length]) for length in range(16_000, 80_000, 500)]

    assert all(
        lines[: 16_000 + at * 500].endswith(end) and end.startswith("line") for at, end in enumerate(ends)
    )
    assert max(map(len, ends)) <= 16_000
    assert min(map(len, ends)) > 7_900
    assert ending(lines[:15_000]) == lines[:15_000]
    assert (
        len({len(lines[:length]) - len(ending(lines[:length])) for length in range(24_000, 32_000, 100)}) == 1
    )


def test_the_end_of_a_long_code_block_is_code() -> None:
    before = "```sh\nls\n```\nNow look:\n\n~~~~python\n"
    code = "".join(f"x = {number}  # ``` no end\n" for number in range(3_000))

    assert ending(before + code).startswith("~~~~python\nx = ")
    assert not ending(f"{before}{code}~~~~\n" + "words\n" * 4_000).startswith("~")
