"""Reads the files of a turn's messages: pictures, voices, documents."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from bot.agent.context import AgentContext, Journal
from bot.agent.model import Image
from bot.agent.tool_output import READ_ARTIFACT, keep_artifact
from bot.errors import MediaUnreadable
from bot.media.reader import READ_KINDS, SHOWN_WHOLE, Media, MediaReader, document_note, extend_note
from bot.transport.gating import BotIdentity, strip_mention
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import Attachment
from bot.transport.words import Words
from memory.codec import dump_json, parse_json
from memory.history.ledger import LedgerEntry
from memory.history.transcript import quote

PICTURES_AT_MOST = 10
"""Pictures of one turn: the size of an album."""
PICTURE_BYTES_AT_MOST = 30_000_000
"""Size of all pictures of one turn. Some endpoints take requests of 50 MB, in which pictures are base64."""
_AT_ONCE = 3
"""Files of one turn that are read at the same time, so that a hundred in one bundle do not fill the memory."""

_TOOL = "read_document"
"""The name of the reading of a document in the ledger."""
_UNREADABLE_NOTES = {
    "unseen": "which you cannot see",
    "deaf": "which could not be heard: there is nothing here that hears",
    "silent": "in which no word can be heard",
    "moving": "which you cannot watch",
}
_UNREADABLE_NOTE = "which could not be read"
_LEFT_OUT = "left out: there were too many"

log = structlog.get_logger()


class _Room:
    """The room for the files of one turn: a few at a time, and the first pictures that fit into one request."""

    def __init__(self) -> None:
        self.turnstile = asyncio.Semaphore(_AT_ONCE)
        self._pictures = self._bytes = 0

    @property
    def is_full(self) -> bool:
        """True if there is no room for another picture."""
        return self._pictures >= PICTURES_AT_MOST

    def take(self, media: Media) -> Media:
        """Return the file's content, without its picture if there is no room for it."""
        if media.image is None:
            return media
        size = len(media.image.data)
        if self.is_full or self._bytes + size > PICTURE_BYTES_AT_MOST:
            return Media(about=extend_note(media.about, _LEFT_OUT))
        self._pictures, self._bytes = self._pictures + 1, self._bytes + size
        return media


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMessage:
    """A message with the content of its file."""

    text: str
    """Its words without a leading mention of the bot, then the transcript of a voice."""
    note: str = ""
    """One line for the model about the file."""
    images: tuple[Image, ...] = ()
    problem: str = ""
    """A sentence for the person if the file cannot be read. It is said if there is nothing else to answer."""
    ledger: tuple[LedgerEntry, ...] = ()
    """Entries for the turn's ledger, with which a document's artifact is forgotten together with its message."""


class MessageReader:
    """Reads the messages of a turn that have files."""

    def __init__(self, media: MediaReader, *, bot: BotIdentity, eyes_of: Callable[[str, str], str]) -> None:
        """`eyes_of` returns the model of an agent ("": the main one) with a chosen model ("": the default).

        It returns "" for a model that cannot see pictures.
        """
        self._media = media
        self._bot = bot
        self._eyes_of = eyes_of

    async def read(
        self,
        updates: Sequence[WaitingUpdate],
        *,
        journal: Journal,
        context: AgentContext,
        words: Words,
    ) -> dict[int, ReadMessage]:
        """Return the messages of these updates by update id.

        Transcripts and documents are journaled, so that a resumed turn does not read them again; pictures are
        fetched again. The caller sets the deadline. Raises Fenced, Forgotten, TurnStopped and the store's errors.
        """
        journaled = [await journal.finished(_step(update)) for update in updates]
        eyes, room = self._eyes_of(context.agent_name, context.conversation.model), _Room()
        async with asyncio.TaskGroup() as group:
            fetching = [
                None if line else group.create_task(self._fetch(update, eyes, room), name="read-media")
                for update, line in zip(updates, journaled, strict=True)
            ]
        reads: dict[int, ReadMessage] = {}
        for update, line, fetched in zip(updates, journaled, fetching, strict=True):
            reads[update.update_id] = (
                parse_json(ReadMessage, str(line))
                if fetched is None
                else await self._finish(
                    update, fetched.result(), journal=journal, context=context, words=words
                )
            )
        return reads

    async def _fetch(self, update: WaitingUpdate, eyes: str, room: _Room) -> Media | MediaUnreadable | None:
        """Return the content of the file, or the reason why it has none; None for a message without such a file."""
        attachment = update.message.attachment
        if attachment is None or attachment.kind not in READ_KINDS:
            return None
        async with room.turnstile:
            if room.is_full and eyes and attachment.kind == "photo":
                return Media(about=_LEFT_OUT)
            try:
                return room.take(await self._media.read(attachment, eyes=eyes))
            except MediaUnreadable as problem:
                # A new error: the traceback of this one holds the whole file.
                return MediaUnreadable(problem.reason, **problem.variables)

    async def _finish(
        self,
        update: WaitingUpdate,
        media: Media | MediaUnreadable | None,
        *,
        journal: Journal,
        context: AgentContext,
        words: Words,
    ) -> ReadMessage:
        message, text = update.message, strip_mention(update.message, bot=self._bot)
        attachment = message.attachment
        if media is None or attachment is None:
            return ReadMessage(text=text, note=message.note)
        base = message.note or _plain_note(attachment)
        if isinstance(media, MediaUnreadable):
            log.info("media_unreadable", kind=attachment.kind, reason=media.reason)
            return ReadMessage(
                text=text,
                note=extend_note(base, _UNREADABLE_NOTES.get(media.reason, _UNREADABLE_NOTE)),
                problem=words(f"media-{media.reason}", **media.variables),
            )
        if media.image is not None:
            return ReadMessage(text=text, note=extend_note(base, media.about), images=(media.image,))
        read = ReadMessage(
            text="\n\n".join(filter(None, [text, media.transcript])), note=extend_note(base, media.about)
        )
        if media.document is not None:
            read = await _keep_document(update, read, media, context)
        await journal.record(_step(update), dump_json(ReadMessage, read))
        return read


async def _keep_document(
    update: WaitingUpdate, read: ReadMessage, media: Media, context: AgentContext
) -> ReadMessage:
    """Put the document into the note. A long one becomes an artifact; a second try replaces the first one's."""
    text, artifact = media.document or "", None
    if len(text) > SHOWN_WHOLE and context.artifacts is not None:
        artifact = await keep_artifact(text, context.artifacts, tool=_TOOL, key=_step(update))
    artifact_id = artifact.id if artifact else ""
    note = document_note(text, pages=media.pages, artifact_id=artifact_id, is_cut=media.is_cut)
    entries = (_entry(update, text, artifact_id),) if artifact_id else ()
    return replace(read, note=extend_note(read.note, note), ledger=entries)


def _entry(update: WaitingUpdate, text: str, artifact_id: str) -> LedgerEntry:
    attachment = update.message.attachment
    name = attachment.file_name if attachment else ""
    return LedgerEntry(
        id=_step(update),
        kind="tool",
        agent="",
        name=_TOOL,
        input=f'{{"file_name": {quote(name)}}}',
        output=(
            f"Its text is artifact {artifact_id} ({len(text):,} characters): "
            f'{READ_ARTIFACT}(artifact_id="{artifact_id}").'
        ),
        artifact_id=artifact_id,
    )


def _plain_note(attachment: Attachment) -> str:
    return f"a {attachment.kind.replace('_', ' ')}"


def _step(update: WaitingUpdate) -> str:
    return f"read:{update.update_id}"
