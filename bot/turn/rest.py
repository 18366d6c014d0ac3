"""The rest of an answer if other updates wait: a stop drops it, a question gets it out of the way as one file."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.inbox.records import Claim
from bot.transport.controls import RESET_BUTTON, STOP_BUTTON
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.rendering import render_messages
from bot.transport.rich_text import RichText
from bot.transport.updates import IncomingMessage
from bot.transport.words import Words, words_for
from bot.turn.batch import stops_turn
from bot.turn.delivery import Rest
from bot.turn.outbox import Part, Waiting, plan_changes, plan_document
from memory.errors import Forgotten
from memory.history.message import Message
from memory.history.redis_history import RedisHistory, stop_answer
from memory.history.selectors import TokenCounter
from memory.keys import ContextRef
from memory.redis.client import RedisClient


@dataclass(frozen=True, slots=True, kw_only=True)
class RestOfAnswer:
    """Decides what becomes of an outbox while other updates wait. All its answers can be repeated after a crash."""

    redis: RedisClient
    may_change: Callable[[IncomingMessage, int], Awaitable[bool]]
    """Tells if a person may change the memory of the message's chat, and so may stop other people's answers."""
    answer_press: Callable[[WaitingUpdate, str], Awaitable[None]]
    """Shows the person who pressed a sentence of the catalogue; nothing for a message."""
    tokenizer: TokenCounter

    async def plan(self, claim: Claim, left: Sequence[Part], waiting: Waiting) -> Rest | None:
        """Return the change of the outbox; None if it goes on. Raises the store's errors.

        A press that confirms a reset leaves the outbox to the reset, which erases and counts it.
        """
        updates = list(map(parse_waiting, waiting.payloads))
        if is_reset_press(updates[0]):
            return Rest(parts=())
        stops = [each for each in updates if await self._stops(each, waiting.first_update)]
        words = words_for((stops or updates)[0].message.language_code)
        if stops:
            return await self._stop(claim.ref, left, stops, words)
        if all(map(_is_stop_press, updates)):
            return None
        return await self._shorten(claim.ref, left, words)

    async def _stops(self, update: WaitingUpdate, first_update: int | None) -> bool:
        if update.admission.action == "stop":
            return True
        press = update.callback
        if press is None or first_update is None or not stops_turn(press.data, first_update):
            return False
        is_own = press.data.split(":")[1:2] == [str(press.sender_id)]
        return is_own or await self.may_change(update.message, press.sender_id)

    async def _stop(
        self, ref: ContextRef, left: Sequence[Part], stops: Sequence[WaitingUpdate], words: Words
    ) -> Rest | None:
        """Drop what was not sent, and say so. The history keeps what was sent of the answer."""
        dropped = [part for part in left if is_stoppable(part)]
        if not dropped:
            return None
        for each in stops:
            await self.answer_press(each, "stopped")
        notice = words("stopped-sending")
        if unsent := [part for part in dropped if part.message_id and not _is_made(part)]:
            await self._cut(ref, unsent[0], notice)
        rich = RichText(text=notice)
        first = replace(_bare(dropped[0]), rich=rich, message_id="", edits=None, number=left[0].number)
        parts = [first, *(part for part in left if part not in dropped)]
        changed = plan_changes(parts, first, edits=(), deletes=[each.edits for each in dropped if each.edits])
        return Rest(parts=_numbered(changed), stopped_by=[each.update_id for each in stops])

    async def _cut(self, ref: ContextRef, unsent: Part, notice: str) -> None:
        """Keep of the answer what its reader got before this part. A reset has erased it already."""
        message = await self._find(ref, unsent.message_id)
        if message is None:
            return
        texts = [each.text for each in render_messages(message.text)]
        # Behind a voice, or in place of a file, the texts are numbered from 1.
        ends = [at for at in (unsent.number, unsent.number - 1) if texts[at : at + 1] == [unsent.rich.text]]
        sent = texts[: (ends or [unsent.number])[0]]
        text = "\n\n".join(sent) or notice
        with suppress(Forgotten):
            tokens = self.tokenizer.count(text)
            await stop_answer(self.redis, ref, message.id, text=text, tokens=tokens, epoch=unsent.epoch)

    async def _find(self, ref: ContextRef, message_id: str) -> Message | None:
        return (await RedisHistory(self.redis).get(ref, [message_id])).get(message_id) if message_id else None

    async def _shorten(self, ref: ContextRef, left: Sequence[Part], words: Words) -> Rest | None:
        """Put the whole answer as one file in place of its messages, if there are several left.

        In a chat that takes no files it is a sentence.
        """
        texts = [part for part in left if part.kind == "text" or _is_whole(part)]
        if len(texts) < 2:
            return None
        blank, others = replace(_bare(texts[0]), edits=None), [part for part in left if part not in texts]
        if any(part.is_without_file for part in texts):
            note = replace(blank, rich=RichText(text=words("rest-not-shown")))
            return Rest(parts=_numbered([note, *others]))
        known = await self._find(ref, texts[0].message_id)
        files = [part.rich.text for part in texts if _is_whole(part)]
        written = [known.text] if known else []
        source = [*files, *written, "\n\n".join(each.rich.text for each in texts)][0]
        blank = replace(blank, caption=words("whole-in-file"))
        parts = [plan_document(source, blank, words), *others]
        deletes = [each.edits for each in texts if each.edits]
        return Rest(parts=_numbered(plan_changes(parts, blank, edits=(), deletes=deletes)))


def is_reset_press(update: WaitingUpdate) -> bool:
    """Return True for a press of the button that erases."""
    return update.callback is not None and update.callback.data.split(":")[0] == RESET_BUTTON


def is_stoppable(part: Part) -> bool:
    """Return True for the parts of an answer, and for what follows the first message of another reply.

    A reminder is sent, and so is the edit of an inline message, which would show nothing else for ever.
    """
    if part.kind == "delete" or part.inline_id:
        return False
    return part.number > 0 or (bool(part.message_id) and part.update_id > 0)


def _is_stop_press(update: WaitingUpdate) -> bool:
    return update.callback is not None and update.callback.data.split(":")[0] == STOP_BUTTON


def _is_whole(part: Part) -> bool:
    """Return True for the file with a whole answer."""
    return part.kind == "document" and not part.file_id


def _is_made(part: Part) -> bool:
    """Return True for a file that a tool has made: it is no part of the answer's text."""
    return bool(part.file_id) and part.kind != "voice"


def _bare(part: Part) -> Part:
    """Return the part as a blank text."""
    return replace(part, kind="text", buttons=(), file_id="", file_name="", instead="", caption="")


def _numbered(parts: Sequence[Part]) -> list[Part]:
    """Return the parts with numbers that follow the first one's."""
    return [replace(part, number=parts[0].number + at) for at, part in enumerate(parts)]
