"""The contents of a file, or the reason for its sender."""

from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, get_args

import pytest
from PIL import Image as Pillow

from bot.errors import (
    FileGone,
    FileTooLarge,
    MediaReason,
    MediaUnreadable,
    TelegramFailure,
    TelegramUnavailable,
)
from bot.media.isolated import FileProcess, PdfReader
from bot.media.reader import LONGEST_SOUND_S, UNSURE, Media, MediaReader
from bot.observe.metrics import MEDIA
from bot.transport.updates import Attachment
from bot.transport.words import words_for
from tests.documents import HEIC, JPEG
from tests.sent_files import make_picture, make_voice_note
from tests.unit.agent.kit import sample


def picture(kind: str, *, frames: int = 1, size: tuple[int, int] = (64, 48), **how: Any) -> bytes:
    """Return a red picture, followed by blue frames."""
    red, blue, written = Pillow.new("RGB", size, "red"), Pillow.new("RGB", size, "blue"), BytesIO()
    more = {"save_all": True, "append_images": [blue] * (frames - 1)} if frames > 1 else {}
    red.save(written, kind, **more, **how)
    return written.getvalue()


MP3 = b"ID3\x04\x00\x00 music"


@dataclass
class Files:
    """A source with one file for every request."""

    data: bytes = b""
    failure: TelegramFailure | None = None
    asked: list[int] = field(default_factory=list[int])

    async def download(self, file_id: str, *, at_most: int) -> bytes:
        self.asked.append(at_most)
        if self.failure:
            raise self.failure
        return self.data


@dataclass
class Ear:
    heard: str = "hello"
    endings: list[str] = field(default_factory=list[str])

    async def transcribe(self, data: bytes, *, ending: str) -> str:
        self.endings.append(ending)
        return self.heard


def reader(files: Files, *, ear: Ear | None = None, largest: int = 20_000_000) -> MediaReader:
    pdfs = PdfReader(at_most=100)
    return MediaReader(files, transcriber=ear, pdfs=pdfs, largest=largest, document_chars=100)


def attached(kind: str, **about: Any) -> Attachment:
    return Attachment(kind=kind, file_id="f", unique_id="u", **about)


async def read(
    kind: str, data: bytes, *, ear: Ear | None = None, eyes: str = "gpt-4o", **about: Any
) -> Media:
    return await reader(Files(data), ear=ear).read(attached(kind, **about), eyes=eyes)


async def why_not(reading: MediaReader, attachment: Attachment, *, eyes: str = "gpt-4o") -> MediaUnreadable:
    with pytest.raises(MediaUnreadable) as caught:
        await reading.read(attachment, eyes=eyes)
    return caught.value


async def test_a_photo_becomes_an_image_with_format_size_and_tokens() -> None:
    media = await read("photo", make_picture(1280, 960), width=90, height=60)

    assert media.image is not None
    assert (media.image.mime_type, media.image.tokens, media.about) == ("image/png", 765, "1280×960")


async def test_a_picture_sent_as_a_document_is_an_image_under_any_name() -> None:
    media = await read("document", JPEG, file_name="notes.txt", mime_type="text/plain")

    assert media.image is not None
    assert media.image.mime_type == "image/jpeg"


@pytest.mark.parametrize("kind", ["voice", "audio", "video_note"])
async def test_a_recording_is_transcribed_under_the_extension_of_its_real_format(kind: str) -> None:
    ear = Ear("three lemons")
    media = await read(kind, MP3, ear=ear, mime_type="audio/ogg")

    assert (media.transcript, media.about, ear.endings) == ("three lemons", "transcribed", ["mp3"])


async def test_a_recording_sent_as_a_document_is_transcribed() -> None:
    media = await read("document", make_voice_note(), ear=Ear("hi"), file_name="memo.ogg")

    assert media.transcript == "hi"


async def test_a_text_is_read_up_to_its_limit() -> None:
    assert await read("document", b"x" * 100) == Media(document="x" * 100)
    assert await read("document", b"x" * 101) == Media(document="x" * 100, is_cut=True)


@pytest.mark.parametrize(
    ("attachment", "data", "reason"),
    [
        (attached("photo"), b"no picture", "no-picture"),
        (attached("voice"), b"no ogg", "unheard"),
        (attached("video"), b"", "moving"),
        (attached("animation"), b"", "moving"),
        (attached("document", mime_type="video/mp4"), b"", "moving"),
        (attached("document"), b"", "empty"),
        (attached("document"), b" \n\t", "empty"),
        (attached("document"), b"PK\x03\x04", "unknown"),
        (attached("document"), b"\x00\x01\x02", "unknown"),
    ],
)
async def test_an_unreadable_file_has_a_reason(attachment: Attachment, data: bytes, reason: str) -> None:
    assert (await why_not(reader(Files(data), ear=Ear()), attachment)).reason == reason


@pytest.mark.parametrize("kind", ["photo", "document"])
async def test_a_picture_is_not_read_for_a_model_without_vision(kind: str) -> None:
    assert (await why_not(reader(Files(make_picture())), attached(kind), eyes="")).reason == "unseen"


async def test_without_a_transcriber_no_recording_is_fetched() -> None:
    files = Files(make_voice_note())

    assert (await why_not(reader(files), attached("voice"))).reason == "deaf"
    assert files.asked == []
    assert (await why_not(reader(files), attached("document"))).reason == "deaf"


async def test_silence_has_a_reason() -> None:
    assert (await why_not(reader(Files(MP3), ear=Ear("")), attached("audio"))).reason == "silent"


async def test_a_long_recording_is_not_fetched() -> None:
    files = Files(MP3)
    problem = await why_not(reader(files, ear=Ear()), attached("voice", duration_s=LONGEST_SOUND_S + 1))

    assert (problem.reason, problem.variables) == ("too-long", {"duration": "20:01", "limit": 20})
    assert files.asked == []


async def test_a_large_file_is_not_fetched_and_the_reason_names_the_limit() -> None:
    files = Files(b"x")
    problem = await why_not(reader(files), attached("document", size=20_000_001))

    assert (problem.reason, problem.variables) == ("too-large", {"limit": 20})
    assert files.asked == []
    assert await reader(files).read(attached("document", size=20_000_000), eyes="") == Media(document="x")


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(FileTooLarge(), "too-large"), (FileGone(), "gone"), (TelegramUnavailable(), "not-fetched")],
)
async def test_an_unavailable_file_has_a_reason(failure: TelegramFailure, reason: str) -> None:
    assert (await why_not(reader(Files(failure=failure)), attached("document"))).reason == reason


async def test_the_results_of_reading_are_counted() -> None:
    def counted(outcome: str) -> float:
        return sample(MEDIA, "mnemogram_media_total", kind="photo", outcome=outcome)

    was_read, was_unseen = counted("read"), counted("unseen")
    await read("photo", make_picture())
    await why_not(reader(Files(make_picture())), attached("photo"), eyes="")

    assert (counted("read"), counted("unseen")) == (was_read + 1, was_unseen + 1)


@pytest.mark.parametrize("reason", get_args(MediaReason))
def test_each_reason_has_its_sentence(reason: MediaReason) -> None:
    variables: dict[str, str | int] = {"limit": 20, "duration": "20:01"}

    assert words_for("en")(f"media-{reason}", **variables).endswith(".")


async def test_any_transcription_can_be_stored() -> None:
    media = await read("voice", make_voice_note(), ear=Ear("a\ud800b"), duration_s=3)

    assert media.transcript == "a\ufffdb"


@pytest.mark.parametrize(
    "data",
    [
        HEIC,
        HEIC.replace(b"ftypheic", b"ftypmif1"),
        picture("AVIF"),
        picture("TIFF"),
        picture("BMP"),
        picture("JPEG2000"),
        picture("GIF", frames=3),
        picture("WEBP", frames=3),
    ],
    ids=["heic", "mif1", "avif", "tiff", "bmp", "jp2", "gif", "webp"],
)
async def test_a_picture_in_any_format_is_seen_whatever_its_name_says(data: bytes) -> None:
    ear = Ear()
    media = await read("document", data, ear=ear, file_name="film.mp4", mime_type="video/mp4")

    assert media.image is not None
    assert (media.image.mime_type, media.about, ear.endings) == ("image/jpeg", "64×48", [])
    red, *others = Pillow.open(BytesIO(media.image.data)).convert("RGB").resize((1, 1)).tobytes()
    assert red > 180 > 60 > max(others)


async def test_a_photo_of_a_camera_is_turned_and_made_smaller() -> None:
    turned = Pillow.Exif()
    turned[0x0112] = 6
    media = await read("document", picture("TIFF", size=(3_000, 1_500), exif=turned))

    assert media.about == "1024×2048"


@pytest.mark.parametrize(
    "data",
    [HEIC[:300], b"\x00\x00\x00\x0cJXL \r\n\x87\n" + b"\x00" * 40, picture("TIFF")[:60]],
    ids=["cut-heic", "jxl", "cut-tiff"],
)
async def test_a_picture_that_cannot_be_converted_is_no_recording(data: bytes) -> None:
    ear = Ear()

    assert (await why_not(reader(Files(data), ear=ear), attached("document"))).reason == "no-picture"
    assert ear.endings == []


async def test_a_picture_of_too_many_pixels_is_refused_before_it_is_unpacked() -> None:
    small = FileProcess("picture", at_most=64 * 48 - 1)
    reading = MediaReader(Files(HEIC), transcriber=None, converter=small)

    assert (await why_not(reading, attached("document"))).reason == "no-picture"


async def test_source_code_with_the_mime_type_of_a_video_is_read() -> None:
    media = await read("document", b"const a = 1;\n", file_name="a.ts", mime_type="video/mp2t")

    assert media.document == "const a = 1;\n"


async def test_a_drawing_is_read_as_its_source() -> None:
    drawing = b'<svg xmlns="http://www.w3.org/2000/svg"><text>hi</text></svg>'

    assert (await read("document", drawing, mime_type="image/svg+xml")).document == drawing.decode()


async def test_a_text_of_uncertain_encoding_says_so_to_the_model() -> None:
    assert (await read("document", "Имя".encode("koi8_r"))).about == UNSURE
    assert (await read("document", b"name")).about == ""


async def test_a_text_of_unknown_encoding_gets_a_sentence() -> None:
    assert (await why_not(reader(Files(bytes(range(128, 256)))), attached("document"))).reason == "encoding"
