"""The text of /why: what an answer was made of, in at most twelve lines."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.agent.model import Usage
from bot.features.why.command import FIRST_WORDS, Memory, why_text
from bot.transport.rich_text import Entity, RichText, utf16_slice
from bot.transport.words import LANGUAGES, words_for
from bot.turn.answer_receipt import AnswerReceipt, CalledTool, LeftOutOfPart, RecalledMessage
from memory.history.fact import Fact
from memory.history.message import Message, Sender
from tests.messages import make_fact

AT = datetime(2026, 11, 21, 18, 30, tzinfo=UTC).timestamp()
EMPTY = AnswerReceipt(message_id="a", at=AT)


def _memory(
    text: str, *, name: str = "Anna", url: str = "", note: str = "", role: Any = "user", number: int = 1
) -> Memory:
    sender = None if role == "assistant" else Sender(id=1, name=name)
    message = Message(id=f"m{number}", role=role, text=text, sent_at=AT, tokens=3, sender=sender, note=note)
    return Memory(message=message, url=url)


def _receipt(used: int = 0, **fields: Any) -> AnswerReceipt:
    recalled = tuple(RecalledMessage(message_id=f"m{number}") for number in range(used))
    return replace(EMPTY, recalled=recalled, **fields)


def _why(
    receipt: AnswerReceipt,
    memories: Sequence[Memory] = (),
    facts: Sequence[Fact] = (),
    *,
    language: str = "en",
) -> RichText:
    return why_text(words_for(language), receipt, memories, facts, which="this")


FULL = _receipt(
    9,
    more_recalled=1,
    window_messages=14,
    summary_id="s1",
    tools=(
        CalledTool(name="add", outcome="ok", seconds=0.1),
        CalledTool(name="add", outcome="ok", seconds=0.1),
        CalledTool(name="read_web_page", outcome="ToolTimeout", seconds=20.0),
    ),
    more_tools=2,
    left_out=(
        LeftOutOfPart(part="recalled", count=3, why="no_room"),
        LeftOutOfPart(part="steps", count=1, why="no_room"),
        LeftOutOfPart(part="prompt", count=1, why="no_room"),
        LeftOutOfPart(part="window", count=120, why="not_selected"),
        LeftOutOfPart(part="window", count=1, why="no_text"),
    ),
    models=(
        Usage(model="gpt-5-mini", prompt_tokens=1_200, completion_tokens=30),
        Usage(model="gpt-5-nano", prompt_tokens=34, completion_tokens=5),
    ),
    micros=1_250,
)
LINK = "https://t.me/c/3001/2/17"


def test_a_full_receipt_names_everything_in_twelve_lines() -> None:
    memories = [
        _memory("The wifi password is quokka.", url=LINK),
        *(_memory(f"line {number}", role="assistant") for number in range(7)),
    ]

    rich = _why(FULL, memories)

    assert rich.text == (
        "What that answer was made of:\n"
        "From memory:\n"
        "• 21 November 2026, Anna: “The wifi password is quokka.”\n"
        "• 21 November 2026, me: “line 0”\n"
        "• 21 November 2026, me: “line 1”\n"
        "• 21 November 2026, me: “line 2”\n"
        "• 21 November 2026, me: “line 3”\n"
        "And 4 more messages. 1 message has been forgotten since.\n"
        "I also read: the latest 14 messages of our conversation, a summary of our earlier conversation.\n"
        "Tools: add, read_web_page (failed), ….\n"
        "Left out for lack of room: 3 memories, 2 other things. Left out as too old: 120 messages.\n"
        "Model: gpt-5-mini, gpt-5-nano. Read: 1,234 tokens. Written: 35 tokens. Cost: 0.00125."
    )
    (link,) = rich.entities
    assert (link.type, link.url) == ("text_link", LINK)
    assert utf16_slice(rich.text, link.offset, link.length) == "21 November 2026"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("told", [0, 3])
def test_no_language_needs_more_than_twelve_lines(language: str, told: int) -> None:
    memories = [_memory("words " * 50, url=LINK)] * 8
    facts = [make_fact(statement="words " * 50, subject="Anna\nBen " * 9)] * told
    receipt = replace(FULL, facts=("f1",) * 3)

    rich = _why(receipt, memories, facts, language=language)

    assert len(rich.text.split("\n")) == 12
    assert len(rich.entities) == 5 - told


def test_facts_that_were_told_stand_behind_the_messages_and_forgotten_ones_are_counted() -> None:
    receipt = replace(EMPTY, facts=("f1", "f2", "f3"))

    assert _why(receipt, (), [make_fact(statement="Anna lives in\nLisbon")]).text == (
        "What that answer was made of:\n"
        "From memory:\n"
        "• 20 November 2025, about Anna: “Anna lives in Lisbon”\n"
        "2 facts have been forgotten since."
    )
    assert _why(receipt).text == "What that answer was made of:\n3 facts have been forgotten since."


def test_an_answer_without_memories_says_so() -> None:
    text = _why(replace(EMPTY, models=(Usage(model="m", prompt_tokens=1, completion_tokens=1),))).text

    assert text == (
        "What that answer was made of:\nFrom memory: nothing.\nModel: m. Read: 1 token. Written: 1 token."
    )


def test_memories_that_had_no_room_were_not_used() -> None:
    left_out = RecalledMessage(message_id="m1", left_out="no_room")
    counted = (LeftOutOfPart(part="recalled", count=1, why="no_room"),)

    text = _why(replace(EMPTY, recalled=(left_out,), left_out=counted)).text

    assert text == (
        "What that answer was made of:\nFrom memory: nothing.\nLeft out for lack of room: 1 memory."
    )


def test_an_answer_whose_memories_are_all_forgotten_does_not_claim_that_it_had_none() -> None:
    assert _why(_receipt(2)).text == ("What that answer was made of:\n2 messages have been forgotten since.")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n\n\tb\r\nc", "a b c"),
        ("left \u202eright\u2066 \u200fend", "left right end"),
        ("**bold** [a](https://b.example) <b>c</b> `d`", "**bold** [a](https://b.example) <b>c</b> `d`"),
        ("word " * 30, ("word " * 12).strip() + "…"),
        ("x" * 200, "x" * FIRST_WORDS + "…"),
        ("👨‍👩‍👧" * 40, "👨‍👩‍👧" * 12 + "…"),
        ("\u202e\x00 ", "…"),
    ],
)
def test_the_first_words_stay_one_line_of_plain_text(text: str, shown: str) -> None:
    rich = _why(_receipt(1), [_memory(text)])

    assert rich.text.split("\n")[2] == f"• 21 November 2026, Anna: “{shown}”"
    assert rich.entities == ()


def test_a_message_without_text_is_shown_by_its_note() -> None:
    assert "Anna, attached: “a photo”" in _why(_receipt(1), [_memory("", note="a photo")]).text


def test_a_name_cannot_break_the_line() -> None:
    text = _why(_receipt(2), [_memory("hi", name="An\nna\u202e"), _memory("hi", name="\u200f")]).text

    assert text.split("\n")[2:4] == ["• 21 November 2026, An na: “hi”", "• 21 November 2026, somebody: “hi”"]


def test_a_link_is_on_the_date_also_after_emoji_and_a_text_that_repeats_the_date() -> None:
    memories = [_memory("🎉" * 9), _memory("21 November 2026", name="21 November 2026", url=LINK)]

    rich = _why(_receipt(2), memories)

    (link,) = rich.entities
    begin = rich.text.split("\n21")[0]
    assert link == Entity(type="text_link", offset=link.offset, length=16, url=LINK)
    assert utf16_slice(rich.text, 0, link.offset).endswith("\n• ")
    assert begin


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "ru",
            [
                "На чём основан этот ответ:",  # noqa: RUF001
                "Из памяти:",
                "• 21 ноября 2026\u202fг., Анна: «привет»",  # noqa: RUF001
                "Ещё я прочитал: 2 последних сообщения нашего разговора.",
                "Модель: м. Прочитано: 1 токен. Написано: 2 токена. Стоимость: 0,00002.",
            ],
        ),
        (
            "fa",
            [
                "پایهٔ آن پاسخ این‌ها بود:",  # noqa: RUF001
                "از حافظه:",
                "• ۳۰ آبان ۱۴۰۵، Анна: «привет»",
                "این‌ها را هم خواندم: ۲ پیام آخر گفتگوی ما.",  # noqa: RUF001
                "مدل: м. خوانده شد: ۱ توکن. نوشته شد: ۲ توکن. هزینه: ۰٫۰۰۰۰۲.",  # noqa: RUF001
            ],
        ),
    ],
)
def test_the_text_is_in_the_readers_language_with_its_calendar_and_digits(
    language: str, lines: list[str]
) -> None:
    receipt = _receipt(
        1, window_messages=2, models=(Usage(model="м", prompt_tokens=1, completion_tokens=2),), micros=20
    )

    text = _why(receipt, [_memory("привет", name="Анна")], language=language).text

    assert text.translate({0x2068: None, 0x2069: None}).split("\n") == lines
