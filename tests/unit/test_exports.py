"""Exports of other services: each format as it is in the world, and files that nobody should trust."""

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, cast

import pytest

from memory.transfer import foreign
from memory.transfer.archives import BadArchive
from memory.transfer.export_survey import CutExport, Survey, UnknownExport, read_export, survey_export
from memory.transfer.foreign import ForeignMessage, Reading
from memory.transfer.json_stream import BadJson, JsonReader
from memory.transfer.telegram_export import bot_api_id, peer_id
from tests.exports import chatgpt_conversation, claude_conversation, telegram_chat, telegram_message

NOW = 1_760_000_000.0


def packed(document: Any) -> bytes:
    return document if isinstance(document, bytes) else json.dumps(document).encode()


def read(document: Any) -> list[ForeignMessage]:
    return list(read_export(lambda: io.BytesIO(packed(document)), Reading(now=NOW)))


def survey(document: Any, **options: Any) -> Survey:
    return survey_export(lambda: io.BytesIO(packed(document)), now=NOW, **options)


def zip_of(files: dict[str, Any], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, packed(content))
    return whole.getvalue()


def test_a_message_of_telegram_keeps_its_date_writer_text_and_edit() -> None:
    text = ["See ", {"type": "link", "text": "example.org"}, " and ", {"type": "bold", "text": "this"}]
    chat = telegram_chat(
        [telegram_message(5, text, edited_unixtime="1600000060", edited="2020-09-13T14:27:40")]
    )

    (message,) = read(chat)

    assert message.text == "See example.org and this"
    assert (message.sender_id, message.sender_name, message.telegram_id) == (7, "Anna", 5)
    assert (message.sent_at, message.edited_at) == (1_600_000_000, 1_600_000_060)


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"photo": "photos/photo_1@13-09-2020.jpg", "width": 5, "height": 5}, "a photo"),
        ({"file": "voice/audio_1.ogg", "media_type": "voice_message"}, "a voice message"),
        ({"file": "s.webp", "media_type": "sticker", "sticker_emoji": "🙂"}, "a sticker 🙂"),
        ({"file": "a.mp3", "media_type": "audio_file", "title": "So (What)", "performer": "Miles"},
         "an audio file, So What by Miles"),
        ({"file": "files/plan (1).pdf", "mime_type": "application/pdf"}, "a document, plan 1 .pdf"),
        ({"file": "(File not included. Change data exporting settings to download.)", "file_name": "x.pdf"},
         "a document, x.pdf"),
        ({"location_information": {"latitude": 1.5, "longitude": 2.5}}, "a location"),
        ({"location_information": {}, "place_name": "Café", "address": "Main St"}, "a venue, Café, Main St"),
        ({"contact_information": {"first_name": "Bo", "last_name": "", "phone_number": "1"}}, "a contact, Bo"),
        ({"poll": {"question": "When?", "answers": [{"text": "Today", "voters": 1}, {"text": "Never"}]}},
         "a poll: When (Today; Never)"),
    ],
)  # fmt: skip
def test_an_attachment_of_telegram_becomes_a_note(fields: dict[str, Any], note: str) -> None:
    (message,) = read(telegram_chat([telegram_message(1, "", **fields)]))

    assert message.note == note


def test_forwarded_messages_and_results_of_bots_are_not_the_senders_words() -> None:
    forwarded = telegram_message(1, "News", forwarded_from="A channel")
    hidden = telegram_message(2, "Rumour", forwarded_from=None)
    through = telegram_message(3, "A GIF", via_bot="@gif")

    first, second, third = read(telegram_chat([forwarded, hidden, through]))

    assert (first.forwarded_from, second.forwarded_from) == ("A channel", "somebody")
    assert third.via_bot


@pytest.mark.parametrize("kind", ["blockquote", "pre"])
def test_a_quotation_in_a_message_of_telegram_is_not_the_senders(kind: str) -> None:
    text = [{"type": kind, "text": "I live\nin Zurich"}, "Is it so?"]

    (message,) = read(telegram_chat([telegram_message(1, text)]))

    assert message.text == "> I live\n> in Zurich\nIs it so?"


def test_of_all_chats_each_has_the_id_that_bots_know_and_service_notes_are_counted() -> None:
    service = {"id": 9, "type": "service", "date": "2020-09-13T14:26:40", "action": "invite_members"}
    chats = [
        telegram_chat([telegram_message(1, "a")], kind="private_supergroup", number=1234567890),
        telegram_chat([telegram_message(1, "b"), service], kind="private_group", number=66),
        telegram_chat([telegram_message(1, "c")], kind="saved_messages", number=7),
    ]
    found = survey(
        {
            "about": "Here is the data you requested",
            "personal_information": {"user_id": 7},
            "chats": {"about": "", "list": chats[:2]},
            "left_chats": {"about": "", "list": chats[2:]},
        }
    )

    assert found.service == "Telegram"
    assert [found.chats[each.number].chat_id for each in found.counts] == [-1001234567890, -66, 7]
    assert found.left_out == {"service notes": 1}
    assert bot_api_id("personal_chat", "5") is None


def test_writers_of_telegram_without_a_name_or_an_id() -> None:
    deleted = telegram_message(1, "deleted account") | {"from": None}
    channel = telegram_message(2, "post", sender="channel1234567890", name="News")
    nobody = telegram_message(3, "nobody")
    del nobody["from"], nobody["from_id"]

    found = [(each.sender_id, each.sender_name) for each in read(telegram_chat([deleted, channel, nobody]))]

    assert found == [(7, "Deleted account"), (-1_001_234_567_890, "News"), (None, "")]


@pytest.mark.parametrize("text", [None, 5, {}, [], [None, 5, ["x"], {"type": "bold"}], [{"text": {"a": 1}}]])
def test_a_text_of_telegram_without_words_is_left_out(text: Any) -> None:
    found = survey(telegram_chat([telegram_message(1, text), telegram_message(2, "words")]))

    assert (found.messages, found.left_out) == (1, {"without content": 1})


def test_a_message_that_is_nested_too_deeply_is_refused() -> None:
    deep = packed(telegram_chat([telegram_message(1, "words"), telegram_message(2, "DEEP")]))
    deep = deep.replace(b'"DEEP"', b"[" * 5_000 + b"]" * 5_000)

    with pytest.raises(BadJson, match="nested too deeply"):
        survey(deep)


def test_ids_of_older_and_odd_exports() -> None:
    assert [peer_id(each) for each in ("user5", 5, "channel6", "chat7", "user", None, "user-1")] == [
        *(5, 5, -1_000_000_000_006, -7),
        *(None, None, None),
    ]


def test_mistakes_of_telegram_desktop_are_mended() -> None:
    """telegramdesktop/tdesktop#27571 writes `\\x01`, and telegramdesktop/tdesktop#24961 names without marks."""
    text = packed(telegram_chat([telegram_message(1, "one TWO three", more=[{"document_id": 0}])])).decode()
    text = text.replace("TWO", "\\x01\\\\x01\\x1F")
    text = text.replace('"document_id": 0', '"document_id": video_files/sticker (2).webm\n')

    (message,) = read(text.encode())

    assert message.text == "one \x01\\x01\x1f three"


def test_a_date_that_cannot_be_is_the_one_of_the_message_before() -> None:
    messages = [
        telegram_message(1, "a", sent_at=1_600_000_000),
        telegram_message(2, "of 1970", sent_at=0) | {"date": "1970-01-01T00:00:00"},
        telegram_message(3, "of 2100", sent_at=4_102_444_800) | {"date": "2100-01-01T00:00:00"},
        telegram_message(4, "broken", sent_at=0) | {"date_unixtime": "soon", "date": "never"},
    ]

    assert [each.sent_at for each in read(telegram_chat(messages))] == [1_600_000_000] * 4
    alone = survey(telegram_chat(messages[1:2]))
    assert (alone.messages, alone.left_out) == (0, {"without a date": 1})


def test_messages_without_ids_are_the_same_in_each_export() -> None:
    first, second = telegram_message(1, "a"), telegram_message(1, "b")
    del first["id"], second["id"]

    keys = [each.key for each in read(telegram_chat([first, second]))]

    assert keys == [each.key for each in read(telegram_chat([first, second]))]
    assert len(set(keys)) == 2
    assert all(each.telegram_id is None for each in read(telegram_chat([first])))


def test_of_chatgpt_the_branch_that_is_shown_is_read() -> None:
    found = chatgpt_conversation("c1", ["Old question", "Old answer"])
    found["mapping"]["edit"] = {
        "parent": "root",
        "children": [],
        "message": {
            "id": "m-edit",
            "author": {"role": "user"},
            "create_time": None,
            "content": {"content_type": "multimodal_text", "parts": [
                {"content_type": "image_asset_pointer"},
                {"content_type": "audio_transcription", "text": "spoken"},
                "New question",
            ]},
            "metadata": {"attachments": [{"name": "plan.pdf"}]},
        },
    }  # fmt: skip
    found["current_node"] = "edit"

    (message,) = read([found])

    assert (message.role, message.text) == ("user", "spoken\nNew question")
    assert message.note == "a picture; a document, plan.pdf"
    assert message.sent_at == 1_700_000_000, "without a date of its own it has the conversation's"


@pytest.mark.parametrize(
    "change",
    [
        {"author": {"role": "tool"}},
        {"author": {"role": "system"}},
        {"recipient": "python"},
        {"content": {"content_type": "thoughts", "thoughts": []}},
        {"content": {"content_type": "user_editable_context", "user_profile": "x"}},
        {"content": {"content_type": "code", "language": "json", "text": "{}"}, "recipient": "browser"},
        {"content": {"content_type": "tether_browsing_display", "result": "x", "summary": None}},
        {"content": {"content_type": "text", "parts": None}},
        {"content": {"content_type": "text", "parts": [None, 5, "", {"x": 1}]}},
        {"author": None},
        {"metadata": {"is_visually_hidden_from_conversation": True}},
        {"content": None},
    ],
)
def test_tools_thoughts_and_hidden_messages_of_chatgpt_are_left_out(change: dict[str, Any]) -> None:
    found = chatgpt_conversation("c1", ["Question", "Answer"])
    found["mapping"]["n1"]["message"] |= change

    assert [each.text for each in read([found])] == ["Question"]


def test_a_tree_of_chatgpt_without_its_end_or_with_a_ring_is_read_once() -> None:
    found = chatgpt_conversation("c1", ["Question", "Answer"]) | {"current_node": None}
    ring = chatgpt_conversation("c2", ["One", "Two"])
    ring["mapping"]["n0"]["parent"] = "n1"

    assert [each.text for each in read([found, ring])] == ["Question", "Answer", "One", "Two"]


def test_odd_conversations_of_chatgpt_harm_no_other() -> None:
    """danny-avila/LibreChat#15229: newer exports leave out metadata; daugaard47/ChatGPT_Conversations_To_Markdown#4."""
    bare: dict[str, Any] = chatgpt_conversation("bare", ["Question", "Answer"])
    bare |= {"title": None, "create_time": "soon"}
    for node in bare["mapping"].values():
        if node["message"]:
            node["message"] |= {"metadata": None, "recipient": None, "create_time": 1_700_000_000}
    odd: list[Any] = [
        "a text",
        None,
        {"title": "no tree"},
        chatgpt_conversation("empty", ["x"]) | {"mapping": {}},
        chatgpt_conversation("nodes", ["x"]) | {"mapping": {"n0": None, "n1": 5, "n2": {"children": "n1"}}},
        chatgpt_conversation("lost", ["x"]) | {"current_node": ["n0"]},
    ]

    found = read([*odd[:5], bare])

    assert [each.text for each in found] == ["Question", "Answer"]
    assert [each.text for each in read([odd[5]])] == ["x"]


def test_odd_messages_of_claude_harm_no_other() -> None:
    """osteele/claude-chat-viewer#5: blocks of new kinds; spoken words are one of them."""
    odd: list[Any] = [
        None,
        {"sender": None, "text": "x"},
        {"sender": "human", "text": None, "content": None, "attachments": None, "files": None},
        {"sender": "human", "text": "", "content": [None, 5, {"type": "text", "text": None}]},
        {
            "sender": "assistant",
            "content": [{"type": "token_budget"}, {"type": "tool_result", "content": []}],
        },
    ]
    found = claude_conversation("k1", []) | {"name": None}
    found["chat_messages"] = [
        *odd,
        {"sender": "human", "content": [{"type": "voice_note", "title": "Voice", "text": "spoken"}]},
    ]

    (message,) = read([found, {"uuid": "k2", "chat_messages": []}])

    assert (message.role, message.text) == ("user", "spoken")


def test_of_claude_pasted_texts_are_kept_with_the_message() -> None:
    """rodboev in kenn-io/agentsview#913, theyv in lugia19/Claude-QoL#43: such messages looked empty."""
    found = claude_conversation(
        "k1",
        [
            {"sender": "human", "text": "", "attachments": [
                {"file_name": "paste.txt", "extracted_content": "a long poem"}
            ]},
            {"sender": "assistant", "text": "unused", "content": [
                {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "A fine poem"},
                {"type": "tool_use", "name": "search", "input": {}},
            ]},
            {"sender": "human", "text": "Thanks", "files": [{"file_name": "cat.png"}]},
        ],
    )  # fmt: skip

    first, second, third = read([found])

    assert first.note == 'a document, paste.txt: "a long poem"'
    assert (second.role, second.text) == ("assistant", "A fine poem")
    assert (third.text, third.note) == ("Thanks", "a file, cat.png")
    assert second.sent_at == 1_740_823_260


ODD: Sequence[Any] = (
    None,
    True,
    5,
    -1,
    1e308,
    10**30,
    "",
    "x",
    "\ud800",
    [],
    [[]],
    [None, 5],
    {},
    {"type": []},
)


def changed(document: Any) -> Iterator[Any]:
    """Yield the document with each of its values replaced by each odd one, in turn."""
    yield from ODD
    if not isinstance(document, dict | list):
        return
    parts = cast("Any", document)
    for key in list[Any](parts) if isinstance(document, dict) else range(len(parts)):
        for other in changed(parts[key]):
            copy = parts.copy()
            copy[key] = other
            yield copy


@pytest.mark.parametrize(
    "document",
    [
        telegram_chat(
            [
                telegram_message(
                    1,
                    ["a", {"type": "bold", "text": "b"}],
                    forwarded_from="Bo",
                    forwarded_from_id="user5",
                    edited_unixtime="1600000060",
                    poll={"question": "When?", "answers": [{"text": "Today"}]},
                ),
                telegram_message(2, "", file="a.mp3", media_type="audio_file", title="So", performer="M"),
                telegram_message(3, "", contact_information={"first_name": "Bo"}, location_information={}),
            ]
        ),
        {"chats": {"list": [telegram_chat([telegram_message(1, "a")])]}},
        [chatgpt_conversation("c1", ["Question", "Answer"])],
        [
            claude_conversation(
                "k1",
                [
                    {"sender": "human", "text": "a", "attachments": [{"extracted_content": "b"}]},
                    {
                        "sender": "assistant",
                        "content": [{"type": "text", "text": "c"}],
                        "files": [{"file_name": "d"}],
                    },
                ],
            )
        ],
    ],
    ids=["chat", "all chats", "ChatGPT", "Claude"],
)
def test_no_value_in_the_place_of_another_breaks_the_reader(document: Any) -> None:
    for each in changed(document):
        with suppress(UnknownExport, BadJson, CutExport):
            found = survey(each)
            assert found.messages == len(read(each))


@pytest.mark.parametrize(
    "document",
    [
        b"", b"hello", b"%PDF-1.7", b"{}", b"[]", b"[1, 2]", b'"text"', b"\xff\xfe{", {"messages": [{"role": "user"}]},
        [{"id": 1}], {"chats": 5}, {"messages": [{"type": {"x": 1}, "date": 1}]}, {"name": "x", "messages": [5]},
        b"[" * 1000, zip_of({"a.txt": b"hello"}),
        zip_of({"user.json": {"id": 1}, "x.json": b"{broken"}),
    ],
)  # fmt: skip
def test_another_file_is_unknown(document: Any) -> None:
    with pytest.raises(UnknownExport):
        survey(document)


def test_a_cut_file_tells_how_much_was_whole() -> None:
    whole = packed(telegram_chat([telegram_message(number, "text") for number in range(1, 4)]))

    with pytest.raises(CutExport) as cut:
        survey(whole[:-40])

    assert cut.value.read == 2


def test_names_in_a_zip_are_no_paths_and_its_kind_is_told_by_content() -> None:
    conversations = [chatgpt_conversation("c1", ["Question", "Answer"])]
    data = zip_of({"../../etc/passwd": conversations, "C:\\a.png": b"\x89PNG", "user.json": {"id": 1}})

    assert survey(data).messages == 2


def test_conversations_in_several_files_of_a_zip_are_all_read() -> None:
    data = zip_of(
        {
            "conversations-000.json": [chatgpt_conversation("c1", ["a"])],
            "conversations-001.json": [chatgpt_conversation("c2", ["b", "c"])],
        }
    )

    assert [each.messages for each in survey(data).counts] == [1, 2]


@pytest.mark.slow
def test_a_bomb_in_a_zip_is_refused_before_it_is_whole() -> None:
    bomb = packed(telegram_chat([telegram_message(1, "a" * 100_000_000)]))

    with pytest.raises(BadArchive, match="grows far beyond its size"):
        survey(zip_of({"result.json": bomb}))
    chat = telegram_chat([telegram_message(number, f"text {number * 7919}") for number in range(1, 2000)])
    with pytest.raises(BadArchive):
        survey(zip_of({"result.json": chat}), most_unpacked=10_000)


def test_a_damaged_or_protected_zip_is_refused() -> None:
    data = zip_of({"result.json": telegram_chat([telegram_message(n, f"text {n}") for n in range(1, 500)])})
    locked = bytearray(data)
    locked[6] |= 1
    at = data.rfind(b"PK\x01\x02")
    locked[at + 8] |= 1

    for bad in (data[:-30], bytes(locked)):
        with pytest.raises(BadJson):
            survey(bad)
    broken = data[:200] + bytes(300) + data[500:]
    with pytest.raises((BadJson, CutExport, UnknownExport)):
        survey(broken)


def test_a_zip_with_too_many_names_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.transfer.archives.MOST_NAMES_BYTES", 100)

    with pytest.raises(BadArchive, match="too many files"):
        survey(zip_of({f"{number}.json": b"{}" for number in range(50)}))


def test_too_many_messages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert foreign.MOST_MESSAGES < 10_000_000
    monkeypatch.setattr("memory.transfer.export_survey.MOST_MESSAGES", 3)

    with pytest.raises(BadJson, match="more than 3 messages"):
        survey(telegram_chat([telegram_message(number, "x") for number in range(1, 6)]))


class Endless:
    """A text without an end."""

    def __init__(self) -> None:
        self._pieces: Iterator[bytes] = iter([b'["'])

    def read(self, size: int, /) -> bytes:
        return next(self._pieces, b"a" * size)


@pytest.mark.slow
def test_a_text_without_an_end_is_refused() -> None:
    reader = JsonReader(Endless())
    reader.next()

    with pytest.raises(BadJson, match="too long"):
        reader.next()


def test_an_object_that_is_too_large_is_left_out_and_the_rest_is_read() -> None:
    huge = telegram_message(1, [{"type": "plain", "text": "x" * 1000}] * 3000)

    found = survey(telegram_chat([huge, telegram_message(2, "after")]))

    assert (found.messages, found.left_out) == (1, {"too large": 1})


def test_the_same_content_has_the_same_fingerprint() -> None:
    chat = telegram_chat([telegram_message(1, "a"), telegram_message(2, "b")])

    same = survey(json.dumps(chat, indent=3).encode())

    assert same.fingerprint == survey(chat).fingerprint == survey(zip_of({"x": chat})).fingerprint
    longer = telegram_chat([*chat["messages"], telegram_message(3, "c")])
    assert survey(longer).fingerprint != same.fingerprint
