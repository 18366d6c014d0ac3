"""Files that people send to the bot, and documents that it sends to them."""

import asyncio
from typing import Any

import pytest

from simulator.api.config import DEFAULT_TOKEN
from simulator.api.world import BEN, OLGA, WEEKEND_PLANS, WORKSHOP
from tests.contract.simulator_rig import Rig, simulator
from tests.sent_files import make_picture, make_voice_note

pytestmark = pytest.mark.slow

MEBIBYTE = 1024 * 1024


async def _fetched(sim: Rig, file_id: str) -> bytes:
    """Return a file as a bot gets it."""
    file = await sim.result("getFile", file_id=file_id)
    answer = await sim.http.get(f"/file/bot{DEFAULT_TOKEN}/{file['file_path']}")
    assert (answer.status_code, len(answer.content)) == (200, file["file_size"])
    return answer.content


async def test_a_photo_has_several_sizes_and_its_caption() -> None:
    picture = make_picture(1000, 500)
    async with simulator() as sim:
        await sim.people.photo(OLGA, "look @ben", data=picture)
        (update,) = await sim.updates()
        message = update["message"]
        fetched = [await _fetched(sim, size["file_id"]) for size in message["photo"]]
    sizes = [(size["width"], size["height"]) for size in message["photo"]]
    assert sizes == [(90, 45), (320, 160), (800, 400), (1000, 500)]
    assert message["caption"] == "look @ben"
    assert message["caption_entities"] == [{"type": "mention", "offset": 5, "length": 4}]
    assert "text" not in message
    assert fetched == [picture] * 4


async def test_each_kind_of_file_has_its_own_fields() -> None:
    async with simulator() as sim:
        note = await sim.people.voice(OLGA, data=make_voice_note(4))
        text = await sim.people.document(OLGA, b"# Plan", name="plan.md", caption="read it")
        song, film, loop, round_note = [
            await sim.page(
                "messages",
                chat_id=OLGA,
                from_id=OLGA,
                duration=9,
                **{kind: await sim.people.upload(b"x", name=name)},
            )
            for kind, name in (
                ("audio", "song.mp3"),
                ("video", "film.mp4"),
                ("animation", "loop.mp4"),
                ("video_note", "note.mp4"),
            )
        ]
    assert (note["voice"]["duration"], note["voice"]["mime_type"]) == (4, "audio/ogg")
    assert (text["document"]["file_name"], text["document"]["mime_type"]) == ("plan.md", "text/markdown")
    assert (text["document"]["file_size"], text["caption"]) == (6, "read it")
    assert (song["audio"]["title"], song["audio"]["duration"]) == ("song", 9)
    assert (film["video"]["file_name"], film["video"]["duration"]) == ("film.mp4", 9)
    assert loop["animation"]["file_id"] == loop["document"]["file_id"]
    assert round_note["video_note"]["length"] == 240


async def test_content_without_a_file_has_its_fields() -> None:
    async with simulator() as sim:
        place = {"latitude": 52.5, "longitude": 13.4}
        contact = {"phone_number": "+49", "first_name": "Ada"}
        said = [
            await sim.people.send(OLGA, sticker="👍"),
            await sim.people.send(OLGA, location=place),
            await sim.people.send(OLGA, contact=contact),
            await sim.people.send(OLGA, poll={"question": "When?", "options": ["now", "later"]}),
            await sim.people.send(OLGA, dice="🎰"),
            await sim.people.send(OLGA, raw={"story": {"chat": {"id": 1, "type": "private"}, "id": 7}}),
        ]
        updates = await sim.updates()
    sticker, location, card, poll, dice, story = said
    assert [update["message"] for update in updates] == said
    assert sticker["sticker"]["emoji"] == "👍"
    assert (location["location"], card["contact"]) == (place, contact)
    assert [option["text"] for option in poll["poll"]["options"]] == ["now", "later"]
    assert 1 <= dice["dice"]["value"] <= 64
    assert story["story"]["id"] == 7


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (
            {"photo": "TEXT"},
            400,
            "That file is no picture: send a PNG, JPEG, GIF or WebP, or send it as a document.",
        ),
        ({"photo": "SIMFILE00000000000001"}, 404, "There is no such file: send it to /api/files first."),
        ({"document": "TEXT", "caption": "x" * 1025}, 400, "The caption is longer than 1024 characters."),
        ({"document": "TEXT", "text": "x"}, 400, "The text of such a message is its caption."),
        ({"sticker": "👍", "caption": "x"}, 400, "Such a message has no caption."),
        ({"caption": "x"}, 400, "A caption belongs to a photo, a document and the like."),
        (
            {"document": "TEXT", "dice": "🎲"},
            422,
            "the request: Value error, a message is one of document and dice.",
        ),
    ],
)
async def test_an_invalid_file_is_refused_in_one_sentence(
    body: dict[str, Any], status: int, sentence: str
) -> None:
    async with simulator() as sim:
        file_id = await sim.people.upload(b"text", name="a.txt")
        given = {name: file_id if value == "TEXT" else value for name, value in body.items()}
        answer = await sim.http.post("/api/messages", json={"chat_id": OLGA, "from_id": OLGA, **given})
    assert (answer.status_code, answer.json()) == (status, {"error": sentence})


async def test_a_premium_person_may_write_longer_captions() -> None:
    async with simulator() as sim:
        person = await sim.people.new_person("Dora", is_premium=True, language_code="pt-br")
        message = await sim.people.photo(person, "x" * 1025)
    assert len(message["caption"]) == 1025
    assert (message["from"]["is_premium"], message["from"]["language_code"]) == (True, "pt-br")


async def test_a_file_of_more_than_20_mb_is_too_big_for_a_bot() -> None:
    async with simulator() as sim:
        files = [
            await sim.people.upload(bytes(size), name="a.bin") for size in (20 * MEBIBYTE, 20 * MEBIBYTE + 1)
        ]
        assert (await sim.result("getFile", file_id=files[0]))["file_size"] == 20 * MEBIBYTE
        refusals = [
            await sim.refusal("getFile", file_id=files[1]),
            await sim.refusal("getFile", file_id="SIMFILE99999999999999"),
            await sim.refusal("getFile", file_id="nonsense"),
        ]
    assert refusals == [
        "Bad Request: file is too big",
        "Bad Request: wrong file_id or the file is temporarily unavailable",
        "Bad Request: invalid file_id",
    ]


async def test_a_file_is_fetched_with_the_token_only() -> None:
    async with simulator() as sim:
        path = (await sim.result("getFile", file_id=await sim.people.upload(b"x")))["file_path"]
        statuses = [
            (await sim.http.get(f"/file/bot{token}/{path}")).status_code
            for token in (DEFAULT_TOKEN, "4242:another", "nonsense")
        ]
    assert statuses == [200, 401, 401]


async def test_the_page_shows_pictures_and_downloads_other_files() -> None:
    async with simulator() as sim:
        shown = [
            await sim.http.get(f"/api/files/{await sim.people.upload(data, name=name)}")
            for data, name in ((make_picture(), "a.png"), (b"<script>", "a.html"), (b"<svg/>", "a.svg"))
        ]
        refused = await sim.http.post("/api/files", content=b"x", headers={"content-type": "text/plain"})
        empty = await sim.http.post("/api/files", headers={"content-type": "application/octet-stream"})
    assert [(one.headers["content-type"], one.headers["content-disposition"]) for one in shown] == [
        ("image/png", "inline"),
        ("application/octet-stream", "attachment"),
        ("application/octet-stream", "attachment"),
    ]
    assert (refused.status_code, empty.status_code) == (415, 400)


async def _send_document(sim: Rig, data: bytes, **parameters: str) -> dict[str, Any]:
    files = {"document": ("../Отчёт.md", data, "text/markdown")}
    answer = await sim.http.post(f"/bot{DEFAULT_TOKEN}/sendDocument", data=parameters, files=files)
    return answer.json()


async def test_a_document_is_sent_by_upload_and_again_by_its_id() -> None:
    async with simulator() as sim:
        entities = '[{"type": "bold", "offset": 0, "length": 3}]'
        sent = await _send_document(
            sim, b"--x\r\n\xff\x00\r\n--", chat_id=str(OLGA), caption="the rest", caption_entities=entities
        )
        document = sent["result"]["document"]
        again = await sim.result("sendDocument", chat_id=BEN, document=document["file_id"])
        fetched = await _fetched(sim, document["file_id"])
    assert (document["file_name"], document["mime_type"]) == ("Отчёт.md", "text/markdown")
    assert sent["result"]["caption_entities"] == [{"type": "bold", "offset": 0, "length": 3}]
    assert again["document"] == document
    assert fetched == b"--x\r\n\xff\x00\r\n--"


async def test_an_invalid_document_is_refused() -> None:
    async with simulator() as sim:
        refusals = [
            (await _send_document(sim, b"x", chat_id=str(OLGA), caption="x" * 1025))["description"],
            (await _send_document(sim, b"", chat_id=str(OLGA)))["description"],
            await sim.refusal("sendDocument", chat_id=OLGA, document="attach://other"),
            (await _send_document(sim, b"x", chat_id="5"))["description"],
            await sim.refusal("sendDocument", chat_id=OLGA),
            await sim.refusal("sendDocument", chat_id=OLGA, document="nonsense"),
            await sim.refusal(
                "sendDocument", chat_id=WORKSHOP, message_thread_id=99, document=await sim.people.upload(b"x")
            ),
        ]
    assert refusals == [
        "Bad Request: message caption is too long",
        "Bad Request: file must be non-empty",
        "Bad Request: there is no document in the request",
        "Bad Request: chat not found",
        "Bad Request: there is no document in the request",
        "Bad Request: wrong file identifier/HTTP URL specified",
        "Bad Request: message thread not found",
    ]


async def test_a_photo_of_the_bot_has_sizes_and_anything_else_is_refused() -> None:
    async def send(sim: Rig, data: bytes) -> dict[str, Any]:
        files = {"photo": ("plot.png", data, "image/png")}
        given = {"chat_id": str(OLGA), "caption": "a plot"}
        return (await sim.http.post(f"/bot{DEFAULT_TOKEN}/sendPhoto", data=given, files=files)).json()

    async with simulator() as sim:
        sent = (await send(sim, make_picture(320, 200)))["result"]
        again = await sim.result("sendPhoto", chat_id=BEN, photo=sent["photo"][-1]["file_id"])
        refusals = [(await send(sim, data))["description"] for data in (b"x", make_picture(400, 2), b"")]
    assert (sent["caption"], [each["width"] for each in sent["photo"]]) == ("a plot", [90, 320])
    assert again["photo"] == sent["photo"]
    assert refusals == [
        "Bad Request: IMAGE_PROCESS_FAILED",
        "Bad Request: PHOTO_INVALID_DIMENSIONS",
        "Bad Request: file must be non-empty",
    ]


async def test_only_existing_captions_and_buttons_are_edited() -> None:
    keyboard = {"inline_keyboard": [[{"text": "Stop", "callback_data": "stop"}]]}
    async with simulator() as sim:
        sent = (await _send_document(sim, b"x", chat_id=str(OLGA), caption="one"))["result"]
        document = {"chat_id": OLGA, "message_id": sent["message_id"]}
        text = {
            "chat_id": OLGA,
            "message_id": (await sim.result("sendMessage", chat_id=OLGA, text="one"))["message_id"],
        }
        assert (await sim.result("editMessageCaption", **document, caption="two"))["caption"] == "two"
        with_button = await sim.result("editMessageReplyMarkup", **text, reply_markup=keyboard)
        assert (with_button["text"], with_button["reply_markup"]) == ("one", keyboard)
        assert "reply_markup" not in await sim.result("editMessageReplyMarkup", **text)
        refusals = [
            await sim.refusal("editMessageReplyMarkup", **text),
            await sim.refusal("editMessageCaption", **text, caption="x"),
            await sim.refusal("editMessageText", **document, text="x"),
            await sim.refusal("editMessageCaption", **document, caption="x" * 1025),
        ]
    assert refusals[0].startswith("Bad Request: message is not modified")
    assert refusals[1:] == [
        "Bad Request: there is no caption in the message to edit",
        "Bad Request: there is no text in the message to edit",
        "Bad Request: message caption is too long",
    ]


async def test_an_album_is_a_group_of_messages() -> None:
    async with simulator() as sim:
        sent = await sim.people.album(OLGA, "first", "", "third")
        other = await sim.people.album(OLGA, "", "")
        updates = await sim.updates()
    assert [update["message"] for update in updates] == [*sent, *other]
    assert [message.get("caption") for message in sent] == ["first", None, "third"]
    assert len({message["media_group_id"] for message in sent}) == 1
    assert sent[0]["media_group_id"] != other[0]["media_group_id"]


async def test_an_album_of_one_or_of_mixed_kinds_is_refused() -> None:
    async with simulator() as sim:
        file_id = await sim.people.upload(make_picture(), name="a.png")
        place = {"chat_id": WEEKEND_PLANS, "from_id": BEN}
        sentences = [
            (await sim.http.post("/api/albums", json=place | {"items": items})).json()["error"]
            for items in (
                [{"photo": file_id}],
                [{"photo": file_id}, {"dice": "🎲"}],
                [{"photo": file_id}, {"document": file_id}],
            )
        ]
        assert await sim.pending() == 0
    assert sentences == [
        "An album has 2 to 10 photos, videos, sounds or documents.",
        "An album has 2 to 10 photos, videos, sounds or documents.",
        "Sounds and documents make albums of their own.",
    ]


async def test_a_large_document_is_read_in_one_go() -> None:
    async with simulator() as sim, asyncio.timeout(5):
        sent = await _send_document(sim, b"\r\n--" * (2 * MEBIBYTE), chat_id=str(OLGA))
        huge = await sim.http.post(
            f"/bot{DEFAULT_TOKEN}/sendDocument",
            data={"chat_id": OLGA},
            files={"document": bytes(52 * MEBIBYTE)},
        )
    assert sent["result"]["document"]["file_size"] == 8 * MEBIBYTE
    assert (huge.status_code, huge.json()["description"]) == (413, "Request Entity Too Large")
