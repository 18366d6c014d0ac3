"""Replies: from a text to the parts of the outbox, also as a document or in place of older messages."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import ChatMigrated, MessageGone, TelegramRefused, ThreadGone
from bot.transport.rich_text import Entity, RichText, utf16_length
from bot.transport.telegram_api import Button
from bot.transport.words import words_for
from bot.turn.outbox import (
    LongAnswers,
    Part,
    dump_part,
    next_form,
    parse_part,
    plan_files,
    plan_reply,
    plan_spoken,
    plan_texts_of,
    with_stop_button,
)
from memory.history.ledger import LedgerFile

WORDS = words_for("en")
BLANK = Part(
    update_id=1,
    number=0,
    chat_id=-5,
    thread_id=7,
    reply_to=9,
    rich=RichText(text=""),
    epoch=2,
    message_id="m",
)


def _plan(
    text: str,
    *,
    long_answers: LongAnswers = "parts",
    edits: tuple[int, ...] = (),
    deletes: tuple[int, ...] = (),
) -> list[Part]:
    return plan_reply(text, BLANK, words=WORDS, long_answers=long_answers, edits=edits, deletes=deletes)


def _paragraphs(count: int) -> str:
    return "\n\n".join(f"Paragraph {number}. " + "word " * 700 for number in range(count))


def test_a_short_answer_is_one_message_that_replies_to_its_question() -> None:
    (part,) = _plan("**hello**")

    assert (part.kind, part.rich.text, part.reply_to, part.thread_id) == ("text", "hello", 9, 7)
    assert (part.message_id, part.epoch, part.edits) == ("m", 2, None)


def test_an_empty_answer_only_deletes_messages() -> None:
    parts = _plan("", edits=(3,), deletes=(4,))

    assert [(part.kind, part.edits, part.message_id) for part in parts] == [
        ("delete", 3, ""),
        ("delete", 4, ""),
    ]
    assert _plan("") == []


def test_a_text_that_renders_to_nothing_is_sent_unrendered() -> None:
    assert [part.rich.text for part in _plan("[]: #")] == ["[]: #"]


@pytest.mark.parametrize("unseen", ["\u200b", "\x00", "\x07\x1b", "\u202a\u2028", "\u030a", "\r"])
def test_a_text_that_telegram_treats_as_empty_is_replaced_by_a_sentence(unseen: str) -> None:
    assert [part.rich.text for part in _plan(unseen)] == [WORDS("nothing-to-show")]


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((41,), [("text", 41), ("text", None), ("delete", 50)]),
        ((41, 42, 43), [("text", 41), ("text", 42), ("delete", 43), ("delete", 50)]),
    ],
)
def test_texts_replace_older_messages_and_the_rest_is_deleted(
    edits: tuple[int, ...], expected: list[tuple[str, int | None]]
) -> None:
    parts = _plan(_paragraphs(2), edits=edits, deletes=(50,))

    assert [(part.kind, part.edits) for part in parts] == expected
    assert len({dump_part(part) for part in parts}) == len(parts)
    assert [parse_part(dump_part(part)) for part in parts] == parts


@pytest.mark.parametrize("count", [5, 10])
def test_by_default_ten_messages_need_no_document(count: int) -> None:
    assert [part.kind for part in _plan(_paragraphs(count))] == ["text"] * count


@pytest.mark.parametrize("count", [11, 300])
def test_no_answer_has_more_than_ten_messages(count: int) -> None:
    text = _paragraphs(count)

    beginning, document = _plan(text, edits=(41,))

    assert utf16_length(beginning.rich.text) <= 4096
    assert beginning.rich.text.startswith("Paragraph 0. word")
    assert beginning.rich.text.endswith(WORDS("rest-in-file", name="answer.md"))
    assert (document.kind, document.file_name, document.rich.text) == ("document", "answer.md", text)


@pytest.mark.parametrize("count", [1, 9, 10, 30])
def test_a_spoken_answer_counts_its_voice_as_a_message(count: int) -> None:
    parts = plan_spoken(_paragraphs(count), BLANK, file_id="v", words=WORDS)

    assert len(parts) == (count + 1 if count < 10 else 3)
    assert [part.number for part in parts] == list(range(len(parts)))
    assert {part.kind for part in parts} == (
        {"voice", "text"} if count < 10 else {"voice", "text", "document"}
    )


def test_a_chat_without_files_gets_ten_messages_and_a_sentence_in_place_of_a_document() -> None:
    _, document = _plan(_paragraphs(30))

    texts = plan_texts_of(document)

    assert len(texts) == 9
    assert texts[-1].rich.text.endswith(WORDS("rest-not-shown"))
    assert all(utf16_length(part.rich.text) <= 4096 for part in texts)
    assert not plan_texts_of(_plan(_paragraphs(5), long_answers="document")[1])[-1].rich.text.endswith(
        WORDS("rest-not-shown")
    )


def test_an_inline_answer_is_one_message_that_says_that_it_is_cut() -> None:
    (part,) = plan_reply(_paragraphs(30), replace(BLANK, inline_id="i", rich=RichText(text="?")), words=WORDS)

    assert part.rich.text.startswith("?\n\nParagraph 0.")
    assert part.rich.text.endswith(WORDS("inline-cut"))
    assert utf16_length(part.rich.text) <= 4096


@given(
    count=st.integers(1, 13),
    files=st.integers(0, 3),
    is_comment=st.booleans(),
    long_answers=st.sampled_from(["parts", "document"]),
    is_spoken=st.booleans(),
)
def test_in_comments_every_part_replies_and_elsewhere_only_the_first(
    count: int, files: int, is_comment: bool, long_answers: LongAnswers, is_spoken: bool
) -> None:
    blank = replace(BLANK, thread_id=None, is_comment=is_comment)
    text = _paragraphs(count)
    if is_spoken:
        parts = plan_spoken(text, blank, file_id="v", words=WORDS, long_answers=long_answers)
    else:
        parts = plan_reply(text, blank, words=WORDS, long_answers=long_answers)
    made = [LedgerFile(id=str(at), name="a.csv") for at in range(files)]
    parts += plan_files(made, blank, first_number=len(parts), words=WORDS)

    assert parts[0].reply_to == 9
    assert {part.reply_to for part in parts[1:]} <= ({9} if is_comment else {None})
    assert [part.number for part in parts] == list(range(len(parts)))
    assert len(parts) - files <= 10


def test_a_refused_comment_keeps_its_thread_as_long_as_it_can() -> None:
    bold = replace(FULL, thread_id=None, edits=None, is_comment=True)

    plain = next_form(bold, TelegramRefused("can't parse entities"))

    assert plain is not None
    assert (plain.reply_to, plain.rich.entities) == (9, ())
    loose = next_form(plain, TelegramRefused("message to be replied not found"))
    assert loose is not None
    assert loose.reply_to is None
    assert next_form(loose, TelegramRefused()) is None


@pytest.mark.parametrize(
    ("count", "edits", "is_stoppable"), [(9, (41,), True), (9, (), False), (2, (41,), False)]
)
def test_a_long_answer_keeps_the_stop_button_of_its_preview_until_its_end(
    count: int, edits: tuple[int, ...], is_stoppable: bool
) -> None:
    stop = Button(text="Stop", data="stop:1:2")
    parts = _plan(_paragraphs(count), edits=edits)

    shown = with_stop_button(parts, stop)

    assert [part.buttons for part in shown[:2]] == [(stop,) if is_stoppable else (), ()]
    assert [(part.kind, part.edits, part.keeps_text, part.number) for part in shown[count:]] == (
        [("delete", 41, True, count)] if is_stoppable else []
    )


def test_up_to_four_messages_need_no_document() -> None:
    assert [part.kind for part in _plan(_paragraphs(4), long_answers="document")] == ["text"] * 4


@pytest.mark.parametrize(
    "text",
    [
        _paragraphs(9),
        "Here:\n\n```python\n" + "print(1)\n" * 450 + "```\n\nDone.",
        "~~~\n" + "🎉\n" * 1200 + "~~~",
        "An open block:\n```\n" + "x = 1\n" * 700,
    ],
)
def test_a_long_answer_can_be_sent_as_its_beginning_and_a_document(text: str) -> None:
    beginning, document = _plan(text, long_answers="document", edits=(41,))

    assert utf16_length(beginning.rich.text) <= 4096
    assert beginning.rich.text.endswith(WORDS("rest-in-file", name="answer.md"))
    assert (beginning.edits, beginning.reply_to) == (41, 9)
    assert (document.kind, document.file_name, document.rich.text) == ("document", "answer.md", text)
    assert (document.message_id, document.edits, document.thread_id) == ("m", None, 7)


def test_code_that_fits_into_a_message_stays_in_it() -> None:
    text = "```\n" + "x" * 3000 + "\n```\nand\n```\n" + "y" * 3000 + "\n```"

    assert {part.kind for part in _plan(text, long_answers="document")} == {"text"}


FULL = Part(
    update_id=1,
    number=0,
    chat_id=-5,
    thread_id=7,
    reply_to=9,
    rich=RichText(text="hi", entities=(Entity(type="bold", offset=0, length=2),)),
    epoch=0,
    edits=41,
)


def test_each_refusal_simplifies_the_part() -> None:
    forms = [FULL]
    for refusal in (MessageGone(), ThreadGone(), TelegramRefused("can't parse entities")):
        form = next_form(forms[-1], refusal)
        assert form is not None
        forms.append(form)

    assert [(f.edits, f.thread_id, f.reply_to, bool(f.rich.entities)) for f in forms] == [
        (41, 7, 9, True),
        (None, 7, 9, True),
        (None, None, None, True),
        (None, None, None, False),
    ]
    for refusal in (MessageGone(), ThreadGone(), TelegramRefused()):
        assert next_form(forms[-1], refusal) is None


def test_a_refused_part_keeps_only_the_buttons_that_come_back_to_the_bot() -> None:
    help_button = Button(text="Help", data="help")
    page, link = (
        Button(text="Open", web_app="https://a.example/app/"),
        Button(text="Look", url="https://t.me"),
    )

    plain = next_form(replace(FULL, buttons=(page, help_button, link), edits=None), TelegramRefused())

    assert plain is not None
    assert plain.buttons == (help_button,)


def test_buttons_are_stored_with_what_they_have() -> None:
    buttons = (
        Button(text="Stop", data="stop:1"),
        Button(text="Look", url="https://t.me/mem_bot?start=m1"),
        Button(text="Open", web_app="https://bot.example/app/"),
    )
    line = dump_part(replace(BLANK, buttons=buttons))

    assert json.loads(line)["buttons"] == [
        {"text": "Stop", "data": "stop:1"},
        {"text": "Look", "url": "https://t.me/mem_bot?start=m1"},
        {"text": "Open", "web_app": "https://bot.example/app/"},
    ]
    assert parse_part(line).buttons == buttons


def test_a_moved_chat_drops_old_messages_and_topics() -> None:
    moved = next_form(FULL, ChatMigrated(-1009))

    assert moved is not None
    assert (moved.chat_id, moved.thread_id, moved.reply_to, moved.edits) == (-1009, None, None, None)
    assert next_form(moved, ChatMigrated(-1009)) is None
