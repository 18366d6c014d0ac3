"""The stored quotation of an update, and its use."""

from typing import Any

import pytest

from bot.transport.updates import (
    QUOTED_CHARACTERS,
    IncomingMessage,
    parse_update,
    quote_of,
    quotes_message,
    without_content,
    without_quotations,
)
from memory.history.message import Quote

BOT_ID = 99
BEN: dict[str, Any] = {"id": 8, "is_bot": False, "first_name": "Ben"}
BOT: dict[str, Any] = {"id": BOT_ID, "is_bot": True, "first_name": "Mnemogram"}
CHECKLIST: dict[str, Any] = {"title": "Trip", "tasks": [{"id": 1, "text": "pack"}, {"id": 2, "text": "go"}]}
POLL: dict[str, Any] = {
    "question": "Tea?",
    "options": [{"persistent_id": "a", "text": "yes"}, {"persistent_id": "b", "text": "no"}],
}
CHOSEN: dict[str, Any] = {"reply_to_checklist_task_id": 2, "reply_to_poll_option_id": "b"}
CHAT: dict[str, Any] = {"id": -5, "type": "group", "title": "Garden"}


def raw_update(**fields: Any) -> dict[str, Any]:
    message = {
        "message_id": 11,
        "date": 1,
        "chat": CHAT,
        "from": {"id": 7, "first_name": "Anna"},
        "text": "yes",
    }
    return {"update_id": 5, "message": message | fields}


def replied(sender: dict[str, Any] = BEN, **content: Any) -> dict[str, Any]:
    return {"message_id": 3, "date": 1, "chat": CHAT, "from": sender, **content}


def message_of(raw: dict[str, Any]) -> IncomingMessage:
    message = parse_update(raw).message
    assert message is not None
    return message


def quote_in(raw: dict[str, Any]) -> Quote | None:
    return quote_of(message_of(raw), BOT_ID)


def message_kept_of(raw: dict[str, Any], *, keeps_quoted: bool = True) -> IncomingMessage:
    return without_quotations(message_of(raw), keeps_quoted=keeps_quoted)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"text": "where is the key?"}, "where is the key?"),
        ({"caption": "the barn", "photo": []}, "the barn"),
        ({"photo": []}, "(a photo)"),
        ({"sticker": {"emoji": "😀"}}, "(a sticker 😀)"),
        ({"checklist": CHECKLIST}, "go (a checklist: Trip – tasks: pack; go)"),
        ({"poll": POLL}, "no (a poll: Tea? – options: yes; no)"),
    ],
)
def test_a_reply_quotes_text_caption_or_note(content: dict[str, Any], text: str) -> None:
    raw = raw_update(reply_to_message=replied(**content), **CHOSEN)

    assert quote_in(raw) == Quote(telegram_message_id=3, sender_name="Ben", text=text, sender_id=BEN["id"])


def test_the_selected_part_wins_over_the_whole_message() -> None:
    raw = raw_update(reply_to_message=replied(text="a long story"), quote={"text": "long", "position": 2})

    assert quote_in(raw) == Quote(telegram_message_id=3, sender_name="Ben", text="long", sender_id=BEN["id"])


def test_a_quotation_of_the_bot_is_marked() -> None:
    raw = raw_update(reply_to_message=replied(BOT, text="It rains."))

    assert quote_in(raw) == Quote(telegram_message_id=3, sender_name="", text="It rains.")


def test_a_long_text_is_quoted_in_part() -> None:
    quote = quote_in(raw_update(reply_to_message=replied(text="x" * 5_000)))

    assert quote is not None
    assert quote.text == "x" * (QUOTED_CHARACTERS - 1) + "…"


@pytest.mark.parametrize("fields", [{}, {"reply_to_message": replied()}, {"external_reply": {}}])
def test_a_reply_to_an_empty_message_has_no_quotation(fields: dict[str, Any]) -> None:
    assert quote_in(raw_update(**fields)) is None


@pytest.mark.parametrize(
    ("origin", "name", "author"),
    [
        ({"type": "user", "sender_user": BEN}, "Ben", BEN["id"]),
        ({"type": "hidden_user", "sender_user_name": "Shy"}, "Shy", None),
        ({"type": "chat", "sender_chat": CHAT, "author_signature": "x"}, "Garden", CHAT["id"]),
        ({"type": "channel", "chat": {"id": -9, "title": "News"}, "message_id": 4}, "News", -9),
        ({"type": "new"}, "somebody", None),
    ],
)
def test_a_reply_to_another_chat_names_its_origin(
    origin: dict[str, Any], name: str, author: int | None
) -> None:
    raw = raw_update(external_reply={"origin": origin, "photo": []}, quote={"text": "soon"})

    assert quote_in(raw) == Quote(telegram_message_id=0, sender_name=name, text="soon", sender_id=author)
    assert quote_of(message_kept_of(raw), BOT_ID) == quote_in(raw)


@pytest.mark.parametrize(
    "fields",
    [
        {"reply_to_message": replied(text="x" * 5_000, entities=[{"type": "bold"}])},
        {"reply_to_message": replied(photo=[{"file_id": "p"}])},
        {"reply_to_message": replied(BOT, text="a long story"), "quote": {"text": "long", "entities": []}},
        {"external_reply": {"origin": {"type": "user", "sender_user": BEN}, "voice": {"file_id": "v"}}},
    ],
)
def test_a_stored_update_gives_the_same_bounded_quotation(fields: dict[str, Any]) -> None:
    raw = raw_update(**fields)

    kept = message_kept_of(raw)

    assert quote_of(kept, BOT_ID) == quote_in(raw) is not None
    assert len(str(kept)) < 2_000
    assert without_quotations(kept, keeps_quoted=True) == kept
    assert kept.text == "yes"


def test_a_selected_part_is_stored_without_the_rest_of_the_message() -> None:
    raw = raw_update(reply_to_message=replied(text="SECRET and more"), quote={"text": "more"})

    assert "SECRET" not in str(message_kept_of(raw))


def test_a_command_stores_the_id_of_its_replied_message_without_the_text() -> None:
    raw = raw_update(
        reply_to_message=replied(text="SECRET"),
        quote={"text": "SECRET"},
        external_reply={"origin": {"type": "user", "sender_user": BEN}, "text": "SECRET"},
        pinned_message=replied(text="SECRET"),
    )

    kept = message_kept_of(raw, keeps_quoted=False)

    assert "SECRET" not in str(kept)
    reply = kept.reply_to
    assert reply is not None
    assert (reply.message_id, reply.sender_id) == (3, 8)


def test_a_stripped_message_keeps_its_position_and_author() -> None:
    photo = {"photo": [{"file_id": "SECRET"}], "caption": "SECRET", "forward_sender_name": "SECRET"}

    kept = without_content(message_of(raw_update(reply_to_message=replied(text="SECRET"), **photo)))

    assert "SECRET" not in str(kept)
    assert (kept.message_id, kept.chat_id, kept.sender_id) == (11, -5, 7)


def test_a_quotation_is_recognised_by_its_words() -> None:
    quoting = raw_update(reply_to_message=replied(text="words"))

    assert quotes_message(message_of(quoting), 3)
    assert not quotes_message(message_of(quoting), 4)
    assert not quotes_message(message_kept_of(quoting, keeps_quoted=False), 3)


def test_a_file_that_was_read_replaces_its_note_and_stands_beside_a_caption() -> None:
    bare = message_kept_of(raw_update(reply_to_message=replied(photo=[{"file_id": "p"}])))
    captioned = message_kept_of(
        raw_update(reply_to_message=replied(photo=[{"file_id": "p"}], caption="barn"))
    )
    quotes = [quote_of(each, BOT_ID, file="a photo, 1×1") for each in (bare, captioned)]

    assert [(each.text, each.file) for each in quotes if each] == [
        ("", "a photo, 1×1"),
        ("barn", "a photo, 1×1"),
    ]
    assert [each.shown for each in quotes if each] == ["(a photo, 1×1)", "barn (a photo, 1×1)"]


def test_a_command_stores_no_file_of_another_message_and_an_edit_only_the_file() -> None:
    message = message_of(raw_update(reply_to_message=replied(voice={"file_id": "v"}, caption="SECRET")))
    command = without_quotations(message, keeps_quoted=False)
    edit = without_quotations(message, keeps_quoted=False, keeps_file=True)

    assert command.reply_to is not None
    assert command.reply_to.file is None
    assert edit.reply_to is not None
    assert edit.reply_to.file is not None
    assert "SECRET" not in str(edit)
