"""Parsing of raw Bot API updates."""

from dataclasses import replace

import pytest

from bot.features import CONTROLS
from bot.transport.contents import Attachment
from bot.transport.rich_text import Entity, utf16_slice
from bot.transport.updates import (
    Callback,
    Command,
    IncomingMessage,
    Membership,
    ParsedUpdate,
    ReplyTo,
    parse_command,
    parse_update,
)

ANNA: dict[str, object] = {
    "id": 7,
    "is_bot": False,
    "first_name": "Anna",
    "last_name": "Silva",
    "username": "anna",
    "language_code": "pt",
}
GROUP: dict[str, object] = {"id": -100, "type": "supergroup", "title": "Garden"}
PRIVATE: dict[str, object] = {"id": 7, "type": "private", "first_name": "Anna"}
BOLD: dict[str, object] = {"type": "bold", "offset": 0, "length": 2}
PLAIN = IncomingMessage(
    chat_id=-100,
    chat_type="supergroup",
    chat_title="Garden",
    sender_id=7,
    sender_name="Anna Silva",
    language_code="pt",
    message_id=11,
    date=1_700_000_000,
    kind="text",
    text="hello",
)


def raw_message(**fields: object) -> dict[str, object]:
    return {"message_id": 11, "date": 1_700_000_000, "chat": GROUP, "from": ANNA} | fields


def parsed(**fields: object) -> IncomingMessage:
    update = parse_update({"update_id": 5, "message": raw_message(**fields)})
    assert update.message is not None
    return update.message


def test_a_text_message_is_parsed_completely() -> None:
    raw = {"update_id": 5, "message": raw_message(text="hello", brand_new_field={"x": [1]})}

    assert parse_update(raw) == ParsedUpdate(update_id=5, kind="message", message=PLAIN)


def test_an_edited_message_has_its_kind_and_edit_date() -> None:
    raw = {"update_id": 5, "edited_message": raw_message(text="hello", edit_date=1_700_000_009)}

    assert parse_update(raw) == ParsedUpdate(
        update_id=5, kind="edited_message", message=replace(PLAIN, edit_date=1_700_000_009)
    )


def test_a_caption_is_parsed_as_text_with_its_entities() -> None:
    message = parsed(photo=["a photo"], caption="hi", caption_entities=[BOLD], entities=[{"type": "x"}])

    assert (message.kind, message.text) == ("caption", "hi")
    assert message.entities == (Entity(type="bold", offset=0, length=2),)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"photo": ["a photo"]}, "photo"),
        ({"animation": "a file", "document": "a file"}, "animation"),
        ({"venue": "a place", "location": "a place"}, "venue"),
        ({"voice": "a file"}, "voice"),
        ({"new_chat_members": [ANNA]}, "service"),
        ({"giveaway": {}}, "service"),
        ({"something_new": 1}, "unknown"),
        ({"text": ""}, "unknown"),
    ],
)
def test_the_kind_of_content_is_recognised(content: dict[str, object], kind: str) -> None:
    assert (parsed(**content).kind, parsed(**content).text) == (kind, "")


def test_entities_keep_their_options() -> None:
    entities = [
        {"type": "text_mention", "offset": 0, "length": 1, "user": ANNA},
        {"type": "pre", "offset": 1, "length": 1, "language": "py"},
        {"type": "text_link", "offset": 2, "length": 1, "url": "https://a.bc"},
        {"type": "bold", "offset": "3", "length": 1},
        "bold",
    ]

    assert parsed(text="hello", entities=entities).entities == (
        Entity(type="text_mention", offset=0, length=1, user_id=7),
        Entity(type="pre", offset=1, length=1, language="py"),
        Entity(type="text_link", offset=2, length=1, url="https://a.bc"),
    )


@pytest.mark.parametrize(
    ("fields", "thread_id"),
    [
        ({"message_thread_id": 9, "is_topic_message": True}, 9),
        ({"message_thread_id": 9}, None),
        ({"message_thread_id": 9, "is_topic_message": False}, None),
        ({}, None),
    ],
)
def test_only_a_topic_has_a_thread(fields: dict[str, object], thread_id: int | None) -> None:
    assert parsed(text="hello", **fields).thread_id == thread_id


def test_an_anonymous_administrator_writes_as_the_chat() -> None:
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group"}

    message = parsed(text="hello", sender_chat=GROUP, **{"from": anonymous})

    assert (message.sender_id, message.sender_name, message.is_from_bot) == (-100, "Garden", False)


def test_a_channel_post_has_no_sender() -> None:
    update = parse_update(
        {"update_id": 5, "channel_post": {"message_id": 1, "chat": {"id": -5, "type": "channel"}}}
    )

    assert update.message is not None
    assert (update.message.sender_id, update.message.sender_name, update.message.date) == (None, "", 0)


@pytest.mark.parametrize(
    ("person", "name"),
    [
        ({"id": 1, "first_name": "A", "last_name": "B", "username": "u"}, "A B"),
        ({"id": 1, "first_name": "A"}, "A"),
        ({"id": 1, "username": "u"}, "u"),
        ({"id": 1}, "1"),
    ],
)
def test_a_person_gets_the_best_available_name(person: dict[str, object], name: str) -> None:
    assert parsed(text="hello", **{"from": person}).sender_name == name


def test_a_reply_has_its_replied_message() -> None:
    replied = {
        "message_id": 3,
        "chat": GROUP,
        "from": ANNA,
        "caption": "a picture of the garden",
        "photo": [
            {"file_id": "small", "width": 9, "height": 9},
            {"file_id": "large", "width": 90, "height": 90},
        ],
    }

    message = parsed(text="hello", reply_to_message=replied, quote={"text": "the garden", "position": 13})

    assert message.reply_to == ReplyTo(
        message_id=3,
        sender_id=7,
        sender_name="Anna Silva",
        text="a picture of the garden",
        quote="the garden",
        file=Attachment(kind="photo", file_id="large", unique_id="", width=90, height=90),
        note="a photo",
        author_id=7,
    )


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"forward_origin": {"type": "user", "sender_user": ANNA, "date": 1}}, "Anna Silva"),
        ({"forward_origin": {"type": "hidden_user", "sender_user_name": "Shy"}}, "Shy"),
        ({"forward_origin": {"type": "chat", "sender_chat": GROUP}}, "Garden"),
        (
            {"forward_origin": {"type": "channel", "chat": {"id": -9, "title": "News"}, "message_id": 4}},
            "News",
        ),
        ({"forward_origin": {"type": "of 2031"}}, "somebody"),
        ({"forward_from": ANNA, "forward_date": 1}, "Anna Silva"),
        ({"forward_from_chat": GROUP, "forward_from": ANNA, "forward_date": 1}, "Garden"),
        ({"forward_sender_name": "Shy", "forward_date": 1}, "Shy"),
        ({"forward_date": 1}, "somebody"),
        ({"forward_origin": "x"}, "somebody"),
        ({}, ""),
    ],
)
def test_a_forward_has_its_original_author(fields: dict[str, object], name: str) -> None:
    assert parsed(text="hello", **fields).forwarded_from == name


def test_messages_of_an_album_share_one_id() -> None:
    assert parsed(photo=[], media_group_id="g1").media_group_id == "g1"


@pytest.mark.parametrize(
    ("content", "attachment"),
    [
        (
            {
                "photo": [
                    {"file_id": "s", "file_unique_id": "us", "width": 90, "height": 60, "file_size": 900},
                    {"file_id": "l", "file_unique_id": "ul", "width": 1280, "height": 853},
                    {"file_id": "m", "file_unique_id": "um", "width": 320, "height": 213, "file_size": 9},
                ],
                "caption": "look",
            },
            Attachment(kind="photo", file_id="l", unique_id="ul", width=1280, height=853),
        ),
        (
            {"voice": {"file_id": "v", "file_unique_id": "u", "duration": 7, "mime_type": "audio/ogg"}},
            Attachment(kind="voice", file_id="v", unique_id="u", duration_s=7, mime_type="audio/ogg"),
        ),
        (
            {"document": {"file_id": "d", "file_name": "a.pdf", "file_size": 20_000_001}},
            Attachment(kind="document", file_id="d", unique_id="", size=20_000_001, file_name="a.pdf"),
        ),
        (
            {"video_note": {"file_id": "n", "length": 240, "duration": 5}},
            Attachment(kind="video_note", file_id="n", unique_id="", duration_s=5, width=240, height=240),
        ),
        (
            {"animation": {"file_id": "a", "width": 2, "height": 1}, "document": {"file_id": "a"}},
            Attachment(kind="animation", file_id="a", unique_id="", width=2, height=1),
        ),
        ({"photo": []}, None),
        ({"photo": ["x"]}, None),
        ({"sticker": {"file_id": ""}}, None),
        ({"text": "hello"}, None),
    ],
)
def test_the_file_of_a_message_is_parsed(content: dict[str, object], attachment: Attachment | None) -> None:
    assert parsed(**content).attachment == attachment


def test_a_message_has_a_note_on_its_content() -> None:
    assert parsed(dice={"emoji": "🎲", "value": 2}).note == "a dice 🎲 that shows 2"
    assert parsed(text="hello").note == ""


def test_a_topics_first_message_is_no_replied_message() -> None:
    created = {"message_id": 9, "chat": GROUP, "from": ANNA, "forum_topic_created": {"name": "t"}}

    assert parsed(text="hello", reply_to_message=created).reply_to is None


def test_a_migration_has_the_id_of_the_other_chat() -> None:
    assert parsed(migrate_to_chat_id=-1001).event.migrate_to_chat_id == -1001
    assert parsed(migrate_from_chat_id=-1).event.migrate_from_chat_id == -1


def test_a_pressed_button_has_its_data_and_message() -> None:
    raw = {
        "update_id": 6,
        "callback_query": {
            "id": "q",
            "from": ANNA,
            "data": "stop",
            "message": raw_message(text="hello", reply_markup=_keyboard("stop")),
        },
    }

    rule = CONTROLS.buttons["stop"]
    assert parse_update(raw, CONTROLS.buttons) == ParsedUpdate(
        update_id=6,
        kind="callback_query",
        message=PLAIN,
        callback=Callback(id="q", data="stop", rule=rule, sender_id=7, language_code="pt"),
    )


def _keyboard(*data: str) -> dict[str, object]:
    return {"inline_keyboard": [[{"text": "✓", "callback_data": each}] for each in data]}


@pytest.mark.parametrize(
    ("data", "shown", "under"),
    [
        ("facts:7:p:10:", ["facts:7:d:0:0123456789abcdef"], "menu"),  # the list has another page meanwhile
        ("facts:8:p:0:", ["facts:7:p:0:"], "another"),  # the list of another person
        ("facts:7:p:0:", ["why"], "another"),
        ("reset:7:all:3", ["reset:7:chat:2"], "menu"),
        ("reset:8:chat:3", ["reset:7:chat:3"], "another"),
        ("model::0", ["https", "model::1"], "menu"),
        ("stop:7:5", ["stop:7:5"], "menu"),
        ("stop:7:alone:5", ["stop:7:5"], "another"),  # would delete the message
        ("buy", ["buy"], "another"),
        ("", [""], "another"),
    ],
)
def test_a_press_tells_if_its_message_is_the_menu(data: str, shown: list[str], under: str) -> None:
    message = raw_message(text="hello", reply_markup=_keyboard(*shown))
    raw = {"update_id": 6, "callback_query": {"id": "q", "from": ANNA, "data": data, "message": message}}

    callback = parse_update(raw, CONTROLS.buttons).callback

    assert callback is not None
    assert callback.under == under


@pytest.mark.parametrize("keyboard", [None, [], {"inline_keyboard": [None, [None, "a"], {"text": "b"}]}])
def test_a_press_under_a_message_without_a_keyboard_is_not_on_a_menu(keyboard: object) -> None:
    message = raw_message(text="hello", reply_markup=keyboard)
    raw = {"update_id": 6, "callback_query": {"id": "q", "from": ANNA, "data": "stop", "message": message}}

    callback = parse_update(raw, CONTROLS.buttons).callback

    assert callback is not None
    assert callback.under == "another"


def test_a_press_under_a_message_that_telegram_does_not_describe_is_of_an_unknown_one() -> None:
    message = {"chat": GROUP, "message_id": 5, "date": 0}
    raw = {"update_id": 6, "callback_query": {"id": "q", "from": ANNA, "data": "model:0", "message": message}}

    callback = parse_update(raw, CONTROLS.buttons).callback

    assert callback is not None
    assert callback.under == "unknown"


def test_a_change_of_membership_has_both_statuses() -> None:
    bot = {"id": 99, "is_bot": True, "first_name": "Bot"}
    change = {
        "chat": GROUP,
        "from": ANNA,
        "old_chat_member": {"status": "left", "user": bot},
        "new_chat_member": {"status": "member", "user": bot},
    }

    assert parse_update({"update_id": 6, "my_chat_member": change}) == ParsedUpdate(
        update_id=6,
        kind="my_chat_member",
        message=replace(PLAIN, message_id=0, date=0, kind="membership", text=""),
        membership=Membership(old_status="left", new_status="member"),
    )


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({}, ParsedUpdate(update_id=0, kind="unknown")),
        ({"update_id": True}, ParsedUpdate(update_id=0, kind="unknown")),
        ({"update_id": 1, "new_kind": {"chat": GROUP}}, ParsedUpdate(update_id=1, kind="unknown")),
        ({"update_id": 1, "poll": {}}, ParsedUpdate(update_id=1, kind="poll")),
        ({"update_id": 1, "message": []}, ParsedUpdate(update_id=1, kind="message")),
        (
            {"update_id": 1, "message": {"chat": {"id": "7"}, "message_id": 1}},
            ParsedUpdate(update_id=1, kind="message"),
        ),
        ({"update_id": 1, "message": {"chat": PRIVATE}}, ParsedUpdate(update_id=1, kind="message")),
        ({"update_id": 1, "my_chat_member": {}}, ParsedUpdate(update_id=1, kind="my_chat_member")),
    ],
)
def test_unreadable_fields_stay_empty(raw: dict[str, object], expected: ParsedUpdate) -> None:
    assert parse_update(raw) == expected


def command(text: str, length: int, offset: int = 0) -> Command | None:
    entity = Entity(type="bot_command", offset=offset, length=length)
    return parse_command(replace(PLAIN, text=text, entities=(entity,)))


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("/reset", 6, Command(name="reset", argument="", mention="")),
        ("/Reset  all \n", 6, Command(name="reset", argument="all", mention="")),
        ("/reset@OtherBot 😀 all", 15, Command(name="reset", argument="😀 all", mention="OtherBot")),
        ("/", 1, None),
        ("/reset", 60, None),
        ("/reset", -1, None),
    ],
)
def test_a_leading_command_is_parsed(text: str, length: int, expected: Command | None) -> None:
    assert command(text, length) == expected


def test_a_command_inside_the_text_is_no_command() -> None:
    assert command("say /reset", 6, offset=4) is None
    assert parse_command(replace(PLAIN, text="/reset")) is None


@pytest.mark.parametrize(
    ("offset", "length", "part"),
    [(0, 2, "😀"), (2, 1, "a"), (0, 1, ""), (1, 2, ""), (2, 9, ""), (-1, 3, ""), (3, 0, "")],
)
def test_a_range_is_extracted_by_utf16_units(offset: int, length: int, part: str) -> None:
    assert utf16_slice("😀a", offset, length) == part


def test_all_names_and_texts_can_be_stored() -> None:
    person = {"id": 1, "first_name": "O\ud800", "last_name": "\udfff"}
    message = parse_update(
        {
            "message": {
                "message_id": 1,
                "chat": {"id": 1, "title": "\ud800"},
                "from": person,
                "text": "\udc00 hi",
            }
        }
    ).message

    assert message is not None
    assert (message.sender_name, message.chat_title, message.text) == (
        "O\ufffd \ufffd",
        "\ufffd",
        "\ufffd hi",
    )


@pytest.mark.parametrize("date", [10**30, -1, True, 1.5, "1760000000"])
def test_an_impossible_date_is_none(date: object) -> None:
    message = parse_update(
        {"message": {"message_id": 1, "chat": {"id": 1}, "date": date, "edit_date": date}}
    ).message

    assert message is not None
    assert (message.date, message.edit_date) == (0, None)
