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
from tests.sent_files import a_picture, a_voice_note
from tests.unit.agent.kit import sample

MP3 = b"ID3\x04\x00\x00 music"


@dataclass
class Files:
    """One file, however it is asked for."""

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


async def test_a_photo_is_an_image_of_its_own_kind_and_size_with_its_price() -> None:
    media = await read("photo", a_picture(1280, 960), width=90, height=60)

    assert media.image is not None
    assert (media.image.mime_type, media.image.tokens, media.about) == ("image/png", 765, "1280×960")


async def test_a_picture_that_was_sent_as_a_document_is_seen_whatever_its_name_says() -> None:
    media = await read("document", JPEG, file_name="notes.txt", mime_type="text/plain")

    assert media.image is not None
    assert media.image.mime_type == "image/jpeg"


@pytest.mark.parametrize("kind", ["voice", "audio", "video_note"])
async def test_what_is_said_is_written_down_under_the_ending_of_the_real_format(kind: str) -> None:
    ear = Ear("three lemons")
    media = await read(kind, MP3, ear=ear, mime_type="audio/ogg")

    assert (media.transcript, media.about, ear.endings) == ("three lemons", "transcribed", ["mp3"])


async def test_a_recording_that_was_sent_as_a_document_is_heard() -> None:
    media = await read("document", a_voice_note(), ear=Ear("hi"), file_name="memo.ogg")

    assert media.transcript == "hi"


async def test_of_a_text_so_much_is_read_as_is_allowed() -> None:
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
async def test_what_cannot_be_read_has_a_reason(attachment: Attachment, data: bytes, reason: str) -> None:
    assert (await why_not(reader(Files(data), ear=Ear()), attachment)).reason == reason


@pytest.mark.parametrize("kind", ["photo", "document"])
async def test_a_picture_for_a_model_that_does_not_see_is_not_read(kind: str) -> None:
    assert (await why_not(reader(Files(a_picture())), attached(kind), eyes="")).reason == "unseen"


async def test_without_a_transcriber_nothing_is_fetched_to_be_heard() -> None:
    files = Files(a_voice_note())

    assert (await why_not(reader(files), attached("voice"))).reason == "deaf"
    assert files.asked == []
    assert (await why_not(reader(files), attached("document"))).reason == "deaf"


async def test_silence_has_a_reason() -> None:
    assert (await why_not(reader(Files(MP3), ear=Ear("")), attached("audio"))).reason == "silent"


async def test_a_recording_that_is_too_long_is_not_fetched() -> None:
    files = Files(MP3)
    problem = await why_not(reader(files, ear=Ear()), attached("voice", duration_s=LONGEST_SOUND_S + 1))

    assert (problem.reason, problem.variables) == ("too-long", {"duration": "20:01", "limit": 20})
    assert files.asked == []


async def test_a_file_that_is_too_large_is_not_fetched_and_the_limit_is_told() -> None:
    files = Files(b"x")
    problem = await why_not(reader(files), attached("document", size=20_000_001))

    assert (problem.reason, problem.variables) == ("too-large", {"limit": 20})
    assert files.asked == []
    assert await reader(files).read(attached("document", size=20_000_000), eyes="") == Media(document="x")


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(FileTooLarge(), "too-large"), (FileGone(), "gone"), (TelegramUnavailable(), "not-fetched")],
)
async def test_what_telegram_does_not_give_has_a_reason(failure: TelegramFailure, reason: str) -> None:
    assert (await why_not(reader(Files(failure=failure)), attached("document"))).reason == reason


async def test_what_became_of_a_file_is_counted() -> None:
    def counted(outcome: str) -> float:
        return sample(MEDIA, "mnemogram_media_total", kind="photo", outcome=outcome)

    was_read, was_unseen = counted("read"), counted("unseen")
    await read("photo", a_picture())
    await why_not(reader(Files(a_picture())), attached("photo"), eyes="")

    assert (counted("read"), counted("unseen")) == (was_read + 1, was_unseen + 1)


@pytest.mark.parametrize("reason", get_args(MediaReason))
def test_each_reason_has_its_words(reason: MediaReason) -> None:
    variables: dict[str, str | int] = {"limit": 20, "duration": "20:01"}

    assert words_for("en")(f"media-{reason}", **variables).endswith(".")


async def test_what_was_heard_can_be_stored_whatever_the_endpoint_says() -> None:
    media = await read("voice", a_voice_note(), ear=Ear("a\ud800b"), duration_s=3)

    assert media.transcript == "a\ufffdb"
