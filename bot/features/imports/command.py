"""A file with a history gets a button that imports it into the sender's private chat, and then one that forgets it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO

import structlog

from bot.errors import FileTooLarge, TelegramFailure, TurnStopped
from bot.features.parts import Built, Parts
from bot.inbox.signals import run_until
from bot.media.reader import LARGEST_FILE, Files
from bot.transport.contents import Attachment
from bot.transport.controls import press_data
from bot.transport.forms import context_keys
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button, TelegramApi
from bot.transport.texts import details_buttons, forgotten_text
from bot.transport.words import Words
from bot.turn.commands import CommandCall, MaybeHandler
from bot.turn.commit import Reply
from bot.turn.delivery import Rates
from bot.turn.hooks import Hooks
from bot.turn.store import MetaField
from memory.codec import Id, dump_json, parse_json
from memory.errors import RecordCorrupt
from memory.history.contexts import dump_entry
from memory.history.message import Sender
from memory.history.selectors import TokenCounter
from memory.recall.recall import Recall
from memory.redis.client import RedisClient
from memory.transfer.archives import is_own_export
from memory.transfer.export_survey import CutExport, Survey, UnknownExport, survey_export
from memory.transfer.foreign import Service
from memory.transfer.json_stream import BadJson
from memory.transfer.move_in import Destination, ImportGone, MoveIn, StoredImport, forget_import, list_imports

WORD = "import"
"""The command, the first word of its buttons, and the name of its choice."""
MOST_UNPACKED = 500_000_000
"""Bytes of a sent zip's files together: reading more would keep a core for minutes."""
LISTED_AT_MOST = 8
_WITHIN_S = 3600.0
_PROGRESS_EVERY_S = 3.0
_KINDS = ("application/json", "application/zip", "application/x-zip-compressed")
_ENDINGS = (".json", ".jsonl", ".zip")
_OWN_COMMAND = "mnemogram import"

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedFile:
    """The newest file whose button waits to be pressed."""

    update_id: Id
    file_id: str
    messages: int
    service: Service


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCommand:
    """Looks at files, imports one when its button is pressed, and forgets imports. A crash goes on where it was."""

    redis: RedisClient
    recall: Recall
    files: Files
    telegram: TelegramApi
    rates: Rates
    tokenizer: TokenCounter
    bot_id: int
    clock: Callable[[], float]

    def takes(self, call: CommandCall) -> tuple[str, MaybeHandler] | None:
        """Take a document of a private chat that may be a history. Its content decides later."""
        attachment = call.message.attachment
        is_private = call.message.chat_type == "private" and not call.message.is_direct
        if not is_private or attachment is None or not _may_be_history(attachment):
            return None
        return "history_file", self.look

    async def look(self, call: CommandCall) -> Reply | None:
        """Return the offer to import the file. None for one that is no history: it is a document like others."""
        attachment = call.message.attachment
        if attachment is None:
            return None
        try:
            data = await self.files.download(attachment.file_id, at_most=LARGEST_FILE)
        except FileTooLarge:
            return Reply(text=call.words("import-too-large", limit=LARGEST_FILE // 1_000_000))
        except TelegramFailure:
            return None
        try:
            survey = await self._survey(data)
        except UnknownExport:
            if is_own_export(lambda: BytesIO(data)):
                return Reply(text=call.words("import-own", command=_OWN_COMMAND))
            return Reply(text=call.words("import-unknown")) if data.startswith(b"PK") else None
        except CutExport as cut:
            return Reply(text=call.words("import-cut", count=cut.read))
        except BadJson:
            return Reply(text=call.words("import-bad"))
        count = survey.messages
        if not count:
            return Reply(text=call.words("import-empty", service=survey.service))
        offer = OfferedFile(
            update_id=call.update.update_id,
            file_id=attachment.file_id,
            messages=count,
            service=survey.service,
        )
        return Reply(
            text=call.words("import-offer", service=survey.service, count=count),
            buttons=[_go_button(call.words, offer)],
            meta={"choices": call.snapshot.choices.with_feature(WORD, dump_json(OfferedFile, offer))},
        )

    async def run(self, call: CommandCall) -> Reply:
        """Say how to import, and list the imports with a button for each that forgets it.

        Operators import into groups; their administrators can forget that here.
        """
        found = (await list_imports(self.redis, call.ref))[-LISTED_AT_MOST:]
        how = call.words("import-how", limit=LARGEST_FILE // 1_000_000)
        lines = [call.words("import-private") if call.is_group else how]
        if found:
            lines.append("\n".join([_line(call.words, each) for each in found]))
        return Reply(text="\n\n".join(lines), buttons=[_forget_button(call.words, each) for each in found])

    async def press(self, call: CommandCall) -> Reply | None:
        """Import the offered file, or forget an import; the result takes the place of the button."""
        if call.argument == "forget":
            return await self._forget(call, call.owner)
        offer = _offer_in(call)
        if call.argument != "go" or offer is None or call.owner != str(offer.update_id):
            return Reply(notice=call.words("button-unknown"))
        return await self._import(call, offer)

    async def _import(self, call: CommandCall, offer: OfferedFile) -> Reply:
        words = call.words
        try:
            data = await self.files.download(offer.file_id, at_most=LARGEST_FILE)
            survey = await self._survey(data)
        except (TelegramFailure, UnknownExport, CutExport, BadJson):
            return Reply(text=words("import-gone"))
        work = self._move_in(call, survey, data)
        progress = _Progress(command=self, call=call, of=survey.messages)
        try:
            stored = await run_until(progress.follow(work), call.wait_for_end(), within_s=_WITHIN_S)
        except TurnStopped:
            await self._take_back(call, work)
            text = words("import-cancelled")
        except (TimeoutError, ImportGone):
            return Reply(text=words("import-paused"), buttons=[_go_button(words, offer)])
        else:
            log.info("history_imported", service=survey.service, messages=survey.messages, added=stored.added)
            return Reply(
                text=_result(words, survey, stored, added=0 if progress.was_whole else stored.added),
                buttons=[_forget_button(words, stored)] if stored.added or not stored.forgotten else [],
                meta=_without_offer(call),
            )
        return Reply(text=text, meta=_without_offer(call))

    async def _survey(self, data: bytes) -> Survey:
        now = self.clock()
        return await asyncio.to_thread(
            survey_export, lambda: BytesIO(data), now=now, most_unpacked=MOST_UNPACKED
        )

    def _move_in(self, call: CommandCall, survey: Survey, data: bytes) -> MoveIn:
        now = self.clock()
        message = call.message
        keys = context_keys(self.bot_id, call.update.anchor_id, message.thread_id)
        name = message.chat_title or call.snapshot.people.get(call.person_id, "")
        return MoveIn(
            redis=self.redis,
            place=Destination(
                ref=call.ref,
                registered=dump_entry(keys, title=message.chat_title, created_at=now),
                person=Sender(id=call.person_id, name=name),
                bot_id=self.bot_id,
                own_chat=message.chat_id,
            ),
            survey=survey,
            open_file=lambda: BytesIO(data),
            tokenizer=self.tokenizer,
            now=now,
            most_unpacked=MOST_UNPACKED,
        )

    async def _take_back(self, call: CommandCall, work: MoveIn) -> None:
        """Forget what a cancelled import has appended."""
        for stored in await list_imports(self.redis, call.ref):
            if stored.id == work.id and not stored.is_whole:
                await forget_import(
                    self.redis,
                    call.ref,
                    stored,
                    epoch=call.snapshot.epoch,
                    recall=self.recall,
                    for_good=False,
                )

    async def _forget(self, call: CommandCall, name: str) -> Reply:
        found = [each for each in await list_imports(self.redis, call.ref) if each.id == name]
        if not found:
            return Reply(notice=call.words("button-unknown"))
        receipt = await forget_import(
            self.redis, call.ref, found[0], epoch=call.snapshot.epoch, recall=self.recall
        )
        text = forgotten_text(call.words, receipt, key="import-forgotten")
        return Reply(text=text, buttons=details_buttons(call.words, receipt))

    async def show(self, call: CommandCall, text: str) -> None:
        """Show the progress in the message of the button, if there is room for a call now."""
        wait = await self.rates.reserve(call.message.chat_id, "edit")
        if wait is None:
            return
        await asyncio.sleep(wait)
        with suppress(TelegramFailure):
            await self.telegram.edit_message(
                call.message.chat_id, call.message.message_id, RichText(text=text)
            )


@dataclass(slots=True, kw_only=True)
class _Progress:
    """Runs an import, and shows how far it is every few seconds."""

    command: ImportCommand
    call: CommandCall
    of: int
    was_whole: bool = False
    """True if the file had been imported before."""
    _shown_at: float = field(default=0.0)

    async def follow(self, work: MoveIn) -> StoredImport:
        """Return the finished import. Raises what it does."""
        epoch, loop = self.call.snapshot.epoch, asyncio.get_running_loop()
        stored = await work.begin(epoch=epoch)
        if stored.is_whole:
            self.was_whole = True
            return stored
        async for step in work.run(stored, epoch=epoch):
            stored = step
            if loop.time() - self._shown_at >= _PROGRESS_EVERY_S and not step.is_whole:
                self._shown_at = loop.time()
                text = self.call.words("import-progress", done=step.done or 0, count=self.of)
                await self.command.show(self.call, text)
        return stored


def _may_be_history(attachment: Attachment) -> bool:
    is_named = attachment.file_name.lower().endswith(_ENDINGS)
    return attachment.kind == "document" and (is_named or attachment.mime_type in _KINDS)


def _result(words: Words, survey: Survey, stored: StoredImport, *, added: int) -> str:
    forgotten = stored.forgotten
    if forgotten == survey.messages:
        return words("import-all-forgotten", service=survey.service)
    lines = [words("import-done", service=survey.service, count=added)]
    if known := survey.messages - added - forgotten:
        lines.append(words("import-known", count=known))
    if forgotten:
        lines.append(words("import-stays-forgotten", count=forgotten))
    return "\n".join(lines)


def _offer_in(call: CommandCall) -> OfferedFile | None:
    line = call.snapshot.choices.of_features.get(WORD)
    with suppress(RecordCorrupt):
        return parse_json(OfferedFile, line) if line else None
    return None


def _without_offer(call: CommandCall) -> dict[MetaField, str]:
    return {"choices": call.snapshot.choices.with_feature(WORD, "")}


def _go_button(words: Words, offer: OfferedFile) -> Button:
    data = press_data(WORD, "go", owner=offer.update_id)
    return Button(text=words("import-button", count=offer.messages), data=data)


def _forget_button(words: Words, stored: StoredImport) -> Button:
    text = words("import-forget-button", service=stored.record.service, count=stored.added)
    return Button(text=text, data=press_data(WORD, "forget", owner=stored.id))


def _line(words: Words, stored: StoredImport) -> str:
    record = stored.record
    day = datetime.fromtimestamp(record.started_at, UTC).date()
    return words("import-line", service=record.service, count=stored.added, date=day)


async def build(parts: Parts) -> Built:
    """Return the command, its buttons, and the hook that takes files."""
    command = ImportCommand(
        redis=parts.stores.redis,
        recall=parts.stores.recall,
        files=parts.outside.files,
        telegram=parts.outside.telegram,
        rates=parts.previews.rates,
        tokenizer=parts.tokenizer,
        bot_id=parts.outside.bot.id,
        clock=parts.clock,
    )
    return Built(
        commands={WORD: command.run}, buttons={WORD: command.press}, hooks=Hooks(takes=(command.takes,))
    )
