"""The tools `draw` and `edit`, which make pictures for the chat, within the limits of the person who asks.

The journal has the usage of each paid picture, and its bytes wait in Redis for the outbox. So a crash after both does
not pay twice. A picture counts tokens; one with a price of its own counts as one token (bot/model_choices.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated, Literal, Protocol

from pydantic import Field

from bot.agent.context import AgentContext, PictureMaker
from bot.agent.files import MOST_FILES, PICTURES, File, file_id, kind_of
from bot.agent.model import Usage
from bot.agent.tool import Tool
from bot.errors import TelegramFailure, ToolFailed
from bot.features.parts import Built, Parts
from bot.features.pictures.settings import PictureSettings
from bot.media.formats import picture_of
from bot.media.reader import LARGEST_PICTURE, Files
from bot.model_choices import ModelChoice
from bot.turn.hooks import Hooks
from bot.turn.limits import LimitGuard
from bot.turn.question import Question
from memory.artifacts.store import LARGEST_FILE, read_file
from memory.codec import dump_json, parse_json
from memory.keys import context_key
from memory.redis.client import RedisClient

PICTURE_TOKENS = 1_056
"""Tokens of a picture of 1024x1024 in medium quality (OpenAI's guide), for endpoints that do not count them."""
_TOOL_S = 110.0
"""More than the endpoint and a download get (painter.py)."""
_STEP = "picture:"

NO_ROOM = "A picture would exceed the limit of costs for this person, this chat or the bot. Tell the person."
NO_PHOTO = "There is no photo to edit. Ask the person to send one, or to reply to one."
PHOTO_GONE = "The photo cannot be fetched any more. Ask the person to send it again."
UNUSABLE = (
    f"The endpoint gave no picture of a known format and of at most {LARGEST_FILE:,} bytes. Tell the person."
)


class Painter(Protocol):
    """Draws pictures; see painter.py."""

    async def paint(self, prompt: str, *, size: str, photo: bytes | None) -> tuple[bytes, Usage]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """Everything that pictures need. All turns share one."""

    painter: Painter
    model: ModelChoice
    per_day: int
    guard: LimitGuard
    files: Files
    redis: RedisClient

    def open(self, question: Question, context: AgentContext) -> None:
        """Let the agent make pictures. An inline answer is the edit of one message, without files."""
        if not question.to.inline_id:
            pictures = TurnPictures(self, question)
            context.conversation = replace(context.conversation, pictures=pictures)


@dataclass(frozen=True, slots=True)
class TurnPictures:
    """The pictures of one turn."""

    pictures: Pictures
    question: Question

    def paid(self) -> list[Usage]:
        """Return the usages of the pictures of this turn, also of those before a crash."""
        steps = self.question.journal.steps.items()
        paid = [parse_json(list[Usage], line) for name, line in steps if name.startswith(_STEP)]
        return [usage for usages in paid for usage in usages]

    async def make(self, context: AgentContext, prompt: str, *, size: str, edits: bool) -> File:
        """Return a new picture, or an edit of a photo. Raises ToolFailed with the reason for the model.

        A failed picture does not count for the day; one that is stopped does, because the endpoint may charge for it.
        """
        own, journal, call = self.pictures, self.question.journal, str(context.metadata["call"])
        step = f"{_STEP}{call}"
        line = await journal.finished(step)
        paid = parse_json(list[Usage], line) if line else []
        kept = await read_file(own.redis, context.ref, file_id(call, 0)) if paid else None
        if kept is not None:
            return _file(kept, prompt)
        photo = await self._photo() if edits else None
        await self._check_limits(context, call)
        try:
            content, counted = await own.painter.paint(prompt, size=size, photo=photo)
            usage = self._usage(counted)
            context.record.usages.append(usage)
            await journal.record_for_good(step, dump_json(list[Usage], [*paid, usage]))
            return _file(content, prompt)
        except ToolFailed:
            question = self.question
            await own.guard.return_picture(call, user_id=question.user_id, chat_id=question.to.chat_id)
            raise

    async def _check_limits(self, context: AgentContext, call: str) -> None:
        """Count the picture. Raises ToolFailed beyond a limit."""
        own, question = self.pictures, self.question
        if context.record.file_count >= MOST_FILES:
            raise ToolFailed(f"One answer may have {MOST_FILES} files.")
        usages = [*context.record.usages, self._usage(Usage())]
        if not await own.guard.has_room(usages, user_id=question.user_id, chat_id=question.to.chat_id):
            raise ToolFailed(NO_ROOM)
        chat_id = question.to.chat_id
        if not await own.guard.take_picture(
            call, user_id=question.user_id, chat_id=chat_id, at_most=own.per_day
        ):
            minutes = ceil(own.guard.day_ends_in() / 60)
            raise ToolFailed(
                f"The daily number of pictures of this person ({own.per_day}) is used up. The next one is possible at "
                f"00:00 UTC, in {minutes // 60} hours and {minutes % 60} minutes. Tell the person."
            )

    def _usage(self, counted: Usage) -> Usage:
        """Return the usage of a picture. Without tokens of the endpoint it is the usual one."""
        model, prices = self.pictures.model, self.pictures.guard.prices
        if prices.get(model.name) == model:
            return Usage(model=model.name, completion_tokens=1)
        usual = Usage(model=model.name, completion_tokens=PICTURE_TOKENS)
        return counted if counted.completion_tokens else usual

    async def _photo(self) -> bytes:
        """Return the photo to edit. Raises ToolFailed."""
        name = next(self._named_photos(), "") or await self._last_sent()
        if not name:
            raise ToolFailed(NO_PHOTO)
        try:
            content = await self.pictures.files.download(name, at_most=LARGEST_PICTURE)
        except TelegramFailure as error:
            raise ToolFailed(PHOTO_GONE) from error
        if picture_of(content) is None:
            raise ToolFailed(NO_PHOTO)
        return content

    def _named_photos(self) -> Iterator[str]:
        """Yield the file ids of the photos of the question, and of those that it replies to, newest first."""
        for update in reversed(self.question.batch.messages):
            reply = update.message.reply_to
            for file in (update.message.attachment, reply and reply.file):
                if file and (file.kind == "photo" or file.mime_type.startswith("image/")):
                    yield file.file_id

    async def _last_sent(self) -> str:
        """Return the file id of the newest picture that we have sent in this conversation; "" without one."""
        noted = (each for each in reversed(self.question.history.snapshot.newest) if each.note)
        answer = next((each for each in noted if each.role == "assistant"), None)
        if answer is None:
            return ""
        key = context_key(self.question.claim.ref, "telegram")
        found = await self.pictures.redis.call("HGET", key, f"photos:{answer.id}")
        return str(found or "").rpartition(" ")[2]


def _file(content: bytes, prompt: str) -> File:
    """Return the picture as a file of the chat. Raises ToolFailed for one that is too large or of another kind."""
    picture = picture_of(content)
    if picture is None or kind_of(content) not in PICTURES or len(content) > LARGEST_FILE:
        raise ToolFailed(UNUSABLE)
    return File(f"picture.{picture.mime_type.rpartition('/')[2]}", content, prompt)


Prompt = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4000,
        description="What the picture shows. The chat sees these words below it",
    ),
]
Size = Annotated[
    Literal["", "1024x1024", "1536x1024", "1024x1536"],
    Field(description="Width and height. Empty: the endpoint decides"),
]


async def _draw(context: AgentContext, prompt: Prompt, size: Size = "") -> File:
    """Draw a picture. The chat gets it with your answer. Only use it if the person wants a picture now."""
    return await _maker(context).make(context, prompt, size=size, edits=False)


async def _edit(context: AgentContext, prompt: Prompt, size: Size = "") -> File:
    """Change a photo: that of the person's message, else of the message that it replies to, else your last picture."""
    return await _maker(context).make(context, prompt, size=size, edits=True)


draw = Tool.from_function(_draw, name="draw", timeout_s=_TOOL_S)
edit = Tool.from_function(_edit, name="edit", timeout_s=_TOOL_S)


def _maker(context: AgentContext) -> PictureMaker:
    pictures = context.conversation.pictures
    if pictures is None:
        raise ToolFailed("No picture can be made here.")
    return pictures


async def build(parts: Parts) -> Built:
    """Open the model that draws and return the hook that lets tools use it; nothing without such a model."""
    settings = parts.settings.of(PictureSettings)
    model = settings.image_model
    if model is None:
        return Built()
    from bot.features.pictures.painter import open_painter  # with the SDK: 25 MB

    opened = open_painter(model=model.name, api_key=settings.api_key, base_url=settings.openai_base_url)
    pictures = Pictures(
        painter=await parts.outside.stack.enter_async_context(opened),
        model=model,
        per_day=settings.pictures_per_day,
        guard=parts.guard,
        files=parts.outside.files,
        redis=parts.stores.redis,
    )
    return Built(hooks=Hooks(before_run=(pictures.open,)))
