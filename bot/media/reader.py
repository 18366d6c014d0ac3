"""Reads the file that came with a message: what it shows, what is said in it, what is written in it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import structlog

from bot.agent.daemon_thread import call_in_daemon_thread
from bot.agent.model import Image
from bot.errors import FileGone, FileTooLarge, MediaReason, MediaUnreadable, TelegramFailure
from bot.media.notes import duration
from bot.media.pdf import PdfProblem, PdfReading, PdfText
from bot.media.pictures import Picture, picture_of
from bot.media.sight import picture_tokens
from bot.media.sounds import container_of
from bot.media.texts import read_text
from bot.observe.metrics import MEDIA
from bot.transport.updates import Attachment
from memory.characters import well_formed

LONGEST_SOUND_S = 20 * 60
"""Of a recording that is transcribed; longer ones would not be heard within a turn."""
LARGEST_SOUND = 25_000_000
"""Bytes that OpenAI's transcription endpoint takes."""
LARGEST_PICTURE = 20_000_000

_SOUNDS = ("voice", "audio", "video_note")
_MOVING = ("video", "animation", "live_photo")
READ_KINDS = (*_SOUNDS, *_MOVING, "photo", "document")
"""The kinds of attachments that are read, or of which is said why not. What others are, their note tells."""
_AT_ONCE = 16
"""Files that are read at the same time: so many are in memory, whatever is sent."""

_PDF_REASONS: Mapping[PdfProblem, MediaReason] = {
    "encrypted": "pdf-encrypted",
    "corrupt": "pdf-corrupt",
    "empty": "pdf-empty",
    "scanned": "pdf-scanned",
    "too_much": "pdf-too-much",
}

log = structlog.get_logger()


class Files(Protocol):
    """Where files come from. Raises FileTooLarge, FileGone and the other TelegramFailure errors."""

    async def download(self, file_id: str, *, at_most: int) -> bytes: ...


class Transcriber(Protocol):
    """Writes down what is said in a recording; see `OpenAITranscriber.transcribe`."""

    async def transcribe(self, data: bytes, *, ending: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """What a file gave: one of a picture, what was heard, and a document's text (`pages` of a PDF).

    `about` is what to add to the message's note. `is_cut`: there is more of the document than was read.
    """

    about: str = ""
    image: Image | None = None
    heard: str = ""
    document: str | None = None
    pages: int | None = None
    is_cut: bool = False


class MediaReader:
    """Reads files. Safe to share between turns."""

    def __init__(
        self,
        files: Files,
        *,
        transcriber: Transcriber | None,
        pdfs: PdfReading,
        largest: int,
        document_chars: int,
    ) -> None:
        """`largest`: bytes that are fetched of one file. Without a `transcriber` nothing is heard."""
        self._files = files
        self._transcriber = transcriber
        self._pdfs = pdfs
        self._largest = largest
        self._document_chars = document_chars
        self._turnstile = asyncio.Semaphore(_AT_ONCE)

    async def read(self, attachment: Attachment, *, eyes: str) -> Media:
        """What the file gives. `eyes` is the model that would see a picture, "" for one that does not see.

        Raises MediaUnreadable, with the words for its sender; whether it was read is counted.
        """
        try:
            async with self._turnstile:
                media = await self._read(attachment, eyes)
        except MediaUnreadable as problem:
            MEDIA.labels(attachment.kind, problem.reason).inc()
            raise
        MEDIA.labels(attachment.kind, "read").inc()
        return media

    async def _read(self, attachment: Attachment, eyes: str) -> Media:
        if attachment.kind == "photo":
            return await self._see(attachment, eyes)
        if attachment.kind in _SOUNDS:
            return await self._hear(attachment)
        if attachment.kind in _MOVING or attachment.mime_type.startswith("video/"):
            raise MediaUnreadable("moving")
        return await self._read_document(attachment, eyes)

    async def _see(self, attachment: Attachment, eyes: str) -> Media:
        if not eyes:
            raise MediaUnreadable("unseen")
        data = await self._fetch(attachment, LARGEST_PICTURE)
        picture = picture_of(data)
        if picture is None:
            raise MediaUnreadable("no-picture")
        return _shown(data, picture, eyes)

    async def _hear(self, attachment: Attachment) -> Media:
        if self._transcriber is None:
            raise MediaUnreadable("deaf")
        if attachment.duration_s > LONGEST_SOUND_S:
            raise MediaUnreadable(
                "too-long", duration=duration(attachment.duration_s), limit=LONGEST_SOUND_S // 60
            )
        return await self._written_down(await self._fetch(attachment, LARGEST_SOUND))

    async def _written_down(self, data: bytes) -> Media:
        ending = container_of(data)
        if ending is None:
            raise MediaUnreadable("unheard")
        if self._transcriber is None:
            raise MediaUnreadable("deaf")
        heard = await self._transcriber.transcribe(data, ending=ending)
        if not heard:
            raise MediaUnreadable("silent")
        return Media(about="transcribed", heard=well_formed(heard)[: self._document_chars])

    async def _read_document(self, attachment: Attachment, eyes: str) -> Media:
        data = await self._fetch(attachment, self._largest)
        if not data:
            raise MediaUnreadable("empty")
        if (picture := picture_of(data)) is not None:
            if not eyes:
                raise MediaUnreadable("unseen")
            return _shown(data, picture, eyes)
        if data[:1024].find(b"%PDF-") >= 0:  # some writers put something before it, and readers bear it
            return await self._read_pdf(data)
        text = await call_in_daemon_thread(lambda: read_text(data), name="read-text")  # 20 MB take a while
        if text is not None:
            return self._read_plain(text)
        if container_of(data) is not None:
            return await self._written_down(data)
        raise MediaUnreadable("unknown")

    def _read_plain(self, text: str) -> Media:
        if not text.strip():
            raise MediaUnreadable("empty")
        return Media(document=text[: self._document_chars], is_cut=len(text) > self._document_chars)

    async def _read_pdf(self, data: bytes) -> Media:
        result = await self._pdfs.read(data)
        if isinstance(result, PdfText):
            return Media(document=well_formed(result.text), pages=result.pages, is_cut=result.is_cut)
        raise MediaUnreadable(_PDF_REASONS[result])

    async def _fetch(self, attachment: Attachment, at_most: int) -> bytes:
        at_most = min(at_most, self._largest)
        megabytes = max(at_most // 1_000_000, 1)
        if attachment.size > at_most:
            raise MediaUnreadable("too-large", limit=megabytes)
        try:
            return await self._files.download(attachment.file_id, at_most=at_most)
        except FileTooLarge as error:
            raise MediaUnreadable("too-large", limit=megabytes) from error
        except FileGone as error:
            raise MediaUnreadable("gone") from error
        except TelegramFailure as error:
            log.warning("file_not_fetched", kind=attachment.kind, failure=type(error).__name__)
            raise MediaUnreadable("not-fetched") from error


def _shown(data: bytes, picture: Picture, eyes: str) -> Media:
    if len(data) > LARGEST_PICTURE:
        raise MediaUnreadable("too-large", limit=LARGEST_PICTURE // 1_000_000)
    tokens = picture_tokens(eyes, picture.width, picture.height)
    return Media(
        about=f"{picture.width}×{picture.height}",
        image=Image(data=data, mime_type=picture.mime_type, tokens=tokens),
    )
