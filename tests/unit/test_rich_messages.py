"""Rich messages as ordinary ones.

Shapes of NousResearch/hermes-agent#63485, #81368, #94871 and nanocoai/nanoclaw#3151.
"""

import json
from typing import cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.transport.rich_messages import CHARACTERS, as_ordinary
from bot.transport.rich_text import Entity, utf16_slice
from bot.transport.updates import IncomingMessage, full_text, parse_command, parse_update, quote_of

Json = dict[str, object]


def parsed(*blocks: object, **fields: object) -> IncomingMessage:
    raw = {"message_id": 1, "chat": {"id": 7}, "rich_message": {"blocks": list(blocks)}} | fields
    message = parse_update({"update_id": 1, "message": raw}).message
    assert message is not None
    return message


def paragraph(text: object) -> Json:
    return {"type": "paragraph", "text": text}


def items(*labels_and_blocks: tuple[str, list[Json]], **fields: object) -> Json:
    made = [{"label": label, "blocks": blocks} | fields for label, blocks in labels_and_blocks]
    return {"type": "list", "items": made}


BOLD = {"type": "bold", "text": {"type": "italic", "text": "big"}}
LINK = {"text": "More", "url": "https://a.bc"}
CELLS = [[{"text": "day", "is_header": True}, {"text": ["a", BOLD]}], [{"text": "1"}, {"align": "left"}]]


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([{"type": "heading", "size": 1, "text": "Plan"}, paragraph("walk")], "Plan\n\nwalk"),
        ([paragraph(["so ", BOLD, {"type": "custom_emoji", "alternative_text": "🎉"}])], "so big🎉"),
        ([paragraph([{"text": "untyped "}, {"text": "parts"}])], "untyped parts"),
        ([paragraph({"type": "mathematical_expression", "expression": "x^2"})], "x^2"),
        ([{"type": "mathematical_expression", "expression": "e=mc^2"}], "e=mc^2"),
        ([{"type": "pre", "text": "x = 1\n  y", "language": "python"}], "```\nx = 1\n  y\n```"),
        ([items(("1.", [paragraph("one")]), ("4.", [paragraph("four")]))], "1. one\n4. four"),
        (
            [items(("•", [paragraph("a"), items(("◦", [paragraph("b")]))]), ("•", [paragraph("c")]))],
            "• a\n  ◦ b\n• c",
        ),
        ([{"type": "list", "items": [{"value": 7, "blocks": [paragraph("seventh")]}]}], "7. seventh"),
        ([items(("1.", [paragraph("done")]), has_checkbox=True, is_checked=True)], "1. [x] done"),
        ([items(("", [paragraph("open")]), has_checkbox=True)], "• [ ] open"),
        ([{"type": "table", "caption": "Days", "cells": CELLS}], "Days\nday | abig\n1 |"),
        ([{"type": "blockquote", "blocks": [paragraph("said")], "credit": "Ben"}], "> said\n> Ben"),
        ([{"type": "pullquote", "text": "said", "credit": "Ben"}], "> said\n> Ben"),
        ([{"type": "expandable_blockquote", "text": ["sa\n", "id"]}, paragraph("me")], "> sa\n> id\n\nme"),
        # openclaw#133307
        ([paragraph(["see ", {"type": "button", "button": LINK}])], "see More (https://a.bc)"),
        ([{"type": "buttons", "buttons": [LINK, {"text": "Vote", "callback_data": "x"}]}], "More (https://a.bc)\nVote"),
        ([paragraph(["buy ", {"type": "strikethrough", "text": "milk"}, " now"])], "buy ~~milk~~ now"),
        ([{"type": "details", "summary": "More", "blocks": [paragraph("hidden")]}], "More\nhidden"),
        ([paragraph("a"), {"type": "divider"}, {"type": "anchor", "name": "x"}, paragraph("b")], "a\n\nb"),
        (
            [{"type": "map", "location": {"latitude": 1.5, "longitude": 2}, "caption": {"text": "here"}}],
            "(map at 1.50000, 2.00000)\nhere",
        ),
        ([{"type": "novelty", "id": "no", "inner": [{"rows": [[paragraph("new")], "words"]}]}], "new\nwords"),
        ([{"type": "slideshow", "blocks": [paragraph("s")], "caption": {"text": "c", "credit": "d"}}], "s\nc – d"),
        ([paragraph({"type": "novelty", "text": ["in", "line"]})], "inline"),
        (["bare", None, 7, paragraph(None)], "bare"),
    ],
)  # fmt: skip
def test_blocks_are_read_as_lines(blocks: list[object], text: str) -> None:
    message = parsed(*blocks)

    assert (message.kind, full_text(message)) == ("text", text)


def test_marks_of_a_rich_text_are_entities_of_the_text() -> None:
    user = {"id": 9, "first_name": "Anna", "last_name": "Silva"}
    message = parsed(
        paragraph("😀"),
        paragraph(
            [
                {"type": "bot_command", "text": "/go", "bot_command": "go"},
                " ",
                {"type": "url", "text": [BOLD, " page"], "url": "https://a.bc/d_e"},
                " ",
                {"type": "text_mention", "text": "boss", "user": user},
                " ",
                {"type": "mention", "text": "@mnemo_bot", "username": "mnemo_bot"},
            ]
        ),
    )

    covered = [utf16_slice(message.text, each.offset, each.length) for each in message.entities]
    assert covered == ["/go", "big page", "boss", "@mnemo_bot"]
    assert [each.user_id for each in message.entities] == [None, None, 9, None]
    assert full_text(message) == "😀\n\n/go big page (https://a.bc/d_e) boss (@Anna Silva) @mnemo_bot"


def test_a_command_at_the_beginning_is_a_command() -> None:
    message = parsed(paragraph([{"type": "bot_command", "text": "/remind"}, " at nine"]))

    command = parse_command(message)
    assert command is not None
    assert (command.name, command.argument) == ("remind", "at nine")


@pytest.mark.parametrize(
    ("line", "name"), [("/new", "new"), ("/remind at nine", "remind"), ("/usr/bin", ""), ("a /b", "")]
)
def test_a_command_that_is_not_marked_is_a_command_too(line: str, name: str) -> None:
    command = parse_command(parsed(paragraph(line)))

    assert (command.name if command else "") == name


def test_a_name_that_is_not_marked_is_a_mention_too() -> None:
    message = parsed(paragraph("😀 ask @mnemo_bot or me@mail.example"))

    assert message.entities == (Entity(type="mention", offset=7, length=10),)


def test_all_files_are_attachments_and_those_after_the_first_leave_a_word() -> None:
    photo = {
        "type": "photo",
        "photo": [{"file_id": "p", "width": 9, "height": 9}],
        "caption": {"text": "tent"},
    }
    voice = {"type": "voice_note", "voice_note": {"file_id": "v", "duration": 7}}

    message = parsed(paragraph("look"), {"type": "collage", "blocks": [photo, photo, voice]})
    alone = parsed(voice)

    assert message.attachment is not None
    assert (message.kind, message.note, message.attachment.file_id) == ("caption", "a photo", "p")
    assert message.text == "look\n\ntent\n(another photo)\ntent\n(another voice message)"
    assert [each.kind for each in message.more_files] == ["photo", "voice"]
    assert (alone.kind, alone.note, alone.text) == ("voice", "a voice message of 0:07", "")


def test_a_quoted_and_a_pinned_rich_message_are_read() -> None:
    rich = {"rich_message": {"blocks": [paragraph("we meet at noon")]}}
    body: Json = {"message_id": 2, "from": {"id": 9, "first_name": "Zoe"}, **rich}
    reply = parsed(paragraph("why?"), reply_to_message=body)
    outside = parsed(paragraph("why?"), external_reply={"origin": {"sender_user_name": "Zoe"}} | rich)
    raw: Json = {"message_id": 1, "chat": {"id": 7}, "pinned_message": body}
    pin = parse_update({"update_id": 1, "message": raw}).message

    for message in (reply, outside):
        quote = quote_of(message, 1)
        assert quote is not None
        assert (quote.sender_name, quote.text) == ("Zoe", "we meet at noon")
    assert pin is not None
    assert pin.note == "Somebody pinned a message of Zoe: we meet at noon"


def test_an_ordinary_text_wins() -> None:
    assert parsed(paragraph("rich"), text="plain").text == "plain"


@pytest.mark.parametrize("rich", ["null", "7", '"x"', "[]", "{}", '{"blocks": {}}', '{"blocks": [[], {}]}'])
def test_an_empty_rich_message_is_unknown_content(rich: str) -> None:
    message = parsed(rich_message=json.loads(rich))

    assert (message.kind, message.text) == ("unknown", "")


def test_depth_and_size_are_bounded() -> None:
    block: Json = paragraph("deep")
    for _ in range(300):
        block = {"type": "blockquote", "blocks": [block]}
    inline: object = "deep"
    for _ in range(300):
        inline = [inline]

    assert parsed(paragraph("top"), block, paragraph(inline)).text == "top"
    large = parsed(*[paragraph("😀 words " * 1_000)] * 100)
    assert len(large.text) <= CHARACTERS


leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
KEYS = "type text blocks items label cells caption url user photo location summary credit expression novelty"
TYPES = "paragraph list table photo url mention map details blockquote novelty"
trees: st.SearchStrategy[object] = st.recursive(
    leaves | st.sampled_from(TYPES.split()),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=5)
    ),
    max_leaves=30,
)


@example({"type": None, "text": None, "blocks": ["0"], "summary": {"type": "url"}})
@given(trees)
def test_no_tree_makes_the_reader_fail(tree: object) -> None:
    message = parsed(rich_message={"blocks": tree})
    raw = as_ordinary({"rich_message": {"blocks": tree}})

    text = str(raw.get("text") or raw.get("caption") or "")
    assert message.text == text
    for entity in cast("list[Json]", raw.get("entities") or raw.get("caption_entities") or []):
        assert 0 <= cast("int", entity["offset"]) <= len(text.encode("utf-16-le")) // 2
