"""The contents of a file, or the reason for its sender."""

from dataclasses import dataclass, field
from typing import Any, get_args

import pytest

from bot.errors import (
    FileGone,
    FileTooLarge,
    MediaReason,
    MediaUnreadable,
    TelegramFailure,
    TelegramUnavailable,
)
from bot.media.pdf import PdfReader
from bot.media.reader import LONGEST_SOUND_S, Media, MediaReader
from bot.observe.metrics import MEDIA
from bot.transport.updates import Attachment
from bot.transport.words import words_for
from tests.documents import JPEG
from tests.sent_files import make_picture, make_voice_note
from tests.unit.agent.kit import sample

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
