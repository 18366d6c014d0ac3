"""Requests of the chat page. A malformed one fails with one sentence."""

import secrets
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.requests import Request

from simulator.api.contents import CAPTIONED, FILE_KINDS, file_content, poll_content, sticker_content
from simulator.api.entities import Entity, parse_entities
from simulator.api.errors import ApiError, PageError
from simulator.api.faults import Fault, FaultKind
from simulator.api.groups import Gathering, MemberAction, Newcomer, UpgradeOrder
from simulator.api.mini_apps import Launch
from simulator.api.payloads import parse_json
from simulator.api.people import ButtonPress, Forward, Line, Origin
from simulator.api.simulation import Simulation

_MAX_BODY = 1024 * 1024
_MAX_TIMES = 1_000_000
_DAY_MS = 86_400_000

Name = Annotated[str, Field(min_length=1, max_length=128)]
LanguageCode = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$")]
Seconds = Annotated[int, Field(ge=1, le=86_400)]
BodyT = TypeVar("BodyT", bound="Body")


class Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ForwardBody(Body):
    chat_id: int
    from_id: int
    from_chat_id: int
    message_ids: Annotated[tuple[int, ...], Field(min_length=1, max_length=100)]
    message_thread_id: int | None = None
    origin: Origin = "user"
    channel_title: Name = "A channel"
    comment: str = ""

    def forward(self) -> Forward:
        return Forward(**self.model_dump())


class CallbackBody(Body):
    chat_id: int
    from_id: int
    message_id: int
    data: str
    any_data: bool = False

    def press(self) -> ButtonPress:
        return ButtonPress(**self.model_dump())


class InlineQueryBody(Body):
    chat_id: int
    from_id: int
    query: Annotated[str, Field(max_length=256)]


class InlineResultBody(Body):
    chat_id: int
    from_id: int
    inline_query_id: str
    result_id: str
    message_thread_id: int | None = None


class WebAppBody(Body):
    """A press of a `web_app` button (`message_id` and `url`), of a startapp link, or of "Open App"."""

    chat_id: int
    from_id: int
    message_id: int | None = None
    url: str | None = None
    start_param: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,512}$")] | None = None
    theme_params: dict[str, Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")]] = {}

    @model_validator(mode="after")
    def _is_one_way(self) -> "WebAppBody":
        if self.url is not None and self.start_param is not None:
            raise ValueError("a button has no start_param")
        return self

    def launch(self) -> Launch:
        return Launch(**self.model_dump())


class ReactionBody(Body):
    chat_id: int
    from_id: int
    message_id: int
    emoji: str | None = None


class BlockBody(Body):
    chat_id: int
    blocked: bool


class MemberBody(Body):
    chat_id: int
    from_id: int
    action: MemberAction
    user_id: int | None = None


class TitleBody(Body):
    chat_id: int
    from_id: int
    title: Name


class PlaceBody(Body):
    """A message and the person who acts on it."""

    chat_id: int
    from_id: int
    message_id: int


class TopicBody(Body):
    """A name alone creates a topic, a name with `message_thread_id` renames it, the id alone deletes it."""

    chat_id: int
    from_id: int
    message_thread_id: int | None = None
    name: Name | None = None


class UpgradeBody(Body):
    chat_id: int
    from_id: int
    order: UpgradeOrder = "old_first"


class FaultBody(Body):
    """A fault. `times` is 1 by default, or unlimited with `probability` or `for_ms`."""

    chat_id: int | None = None
    method: str | None = None
    error: FaultKind
    retry_after: Seconds | tuple[Seconds, Seconds] = 1
    hold: bool = False
    description: str = ""
    seconds: float = Field(default=1.0, ge=0, le=600)
    late: bool = False
    times: int | None = Field(default=None, ge=1, le=_MAX_TIMES)
    probability: float = Field(default=1.0, gt=0, le=1)
    seed: int = 0
    for_ms: int | None = Field(default=None, ge=1, le=_DAY_MS)

    @model_validator(mode="after")
    def _range_rises(self) -> "FaultBody":
        if isinstance(self.retry_after, tuple) and self.retry_after[0] > self.retry_after[1]:
            raise ValueError("retry_after is a range that falls")
        return self

    def fault(self, now: float) -> Fault:
        fields = self.model_dump(exclude={"for_ms", "times"})
        is_standing = "probability" in self.model_fields_set or self.for_ms is not None
        return Fault(
            **fields,
            times=self.times if self.times is not None or is_standing else 1,
            until=None if self.for_ms is None else now + self.for_ms / 1000,
        )


class PersonBody(Body):
    first_name: Name
    last_name: Name | None = None
    username: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{2,31}$")] | None = None
    is_operator: bool = False
    is_premium: bool = False
    is_bot: bool = False
    language_code: LanguageCode = "en"

    def newcomer(self) -> Newcomer:
        return Newcomer(**self.model_dump())


class LanguageBody(Body):
    from_id: int
    language_code: LanguageCode


class ChatBody(Body):
    """A chat. With `migrate_to_chat_id` it is an upgraded group: calls for it fail with the new id."""

    title: Name
    type: Literal["group", "supergroup", "channel"]
    is_forum: bool = False
    members: tuple[int, ...] = ()
    admins: tuple[int, ...] = ()
    topics: tuple[Name, ...] = ()
    migrate_to_chat_id: int | None = None
    has_bot: bool = True
    has_comments: bool = False
    has_direct_messages: bool = False

    def gathering(self) -> Gathering:
        return Gathering(**self.model_dump())


async def read_body(request: Request, kind: type[BodyT]) -> BodyT:
    """Parse a JSON body. Raises PageError. Pages of other sites may not send JSON."""
    body = await read_bytes(request, content_type="application/json", most=_MAX_BODY)
    try:
        fields = parse_json(body.decode())
        return kind.model_validate(fields)
    except ValidationError as error:
        raise PageError(_sentence(error), status=422) from None
    except ValueError:
        raise PageError("The request is not JSON in UTF-8.") from None


async def read_bytes(request: Request, *, content_type: str, most: int) -> bytes:
    """Return the body. Raises PageError for another type, and for more than `most` bytes."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != content_type:
        raise PageError(f"Send the request as {content_type}.", status=415)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise PageError("The request is too long.", status=413)
    return bytes(body)


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the request"
    return f"{place}: {first['msg']}."


# Bot API documentation, Dice: the emoji and their maximum values.
_DICE = {"🎲": 6, "🎯": 6, "🎳": 6, "🏀": 5, "⚽": 5, "🎰": 64}
_ICON = b'<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512"/>'


class LocationBody(Body):
    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]


class ContactBody(Body):
    phone_number: Name
    first_name: Name
    last_name: Name | None = None
    user_id: int | None = None


class PollBody(Body):
    question: Name
    options: Annotated[tuple[Name, ...], Field(min_length=1, max_length=12)]
    type: Literal["regular", "quiz"] = "regular"


class RichMessageBody(Body):
    """The RichMessage of formatted text, with blocks as the Bot API sends them to bots."""

    blocks: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=500)]
    is_rtl: bool = False


class ContentBody(Body):
    """At most one kind of content. Files are ids of POST /api/files; `sticker` and `dice` are an emoji.

    `raw` has the Bot API fields of a kind that the simulator does not know.
    """

    photo: str | None = None
    voice: str | None = None
    audio: str | None = None
    video_note: str | None = None
    video: str | None = None
    animation: str | None = None
    document: str | None = None
    sticker: Annotated[str, Field(min_length=1, max_length=8)] | None = None
    location: LocationBody | None = None
    contact: ContactBody | None = None
    poll: PollBody | None = None
    dice: Literal["🎲", "🎯", "🎳", "🏀", "⚽", "🎰"] | None = None
    rich_message: RichMessageBody | None = None
    raw: dict[str, Any] | None = None
    duration: Annotated[int, Field(ge=0, le=86_400)] | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> "ContentBody":
        kinds = [name for name in (*FILE_KINDS, *_OTHER_KINDS) if getattr(self, name) is not None]
        if len(kinds) > 1:
            raise ValueError(f"a message is one of {' and '.join(kinds)}")
        if self.raw is not None and (not self.raw or _OWN_FIELDS & self.raw.keys()):
            raise ValueError("raw holds fields of a kind of message that the simulator does not know")
        return self

    def content(self, sim: Simulation) -> dict[str, Any] | None:
        """Return Bot API fields, or None for a text. Raises PageError for unknown files and bad photos."""
        for kind in FILE_KINDS:
            file_id: str | None = getattr(self, kind)
            if file_id is not None:
                file = sim.files.find(file_id)
                if file is None:
                    raise PageError("There is no such file: send it to /api/files first.", status=404)
                return file_content(kind, file, duration_s=self.duration)
        if self.sticker is not None:
            return sticker_content(self.sticker, sim.files.add(_ICON, name="sticker.svg"))
        if self.poll is not None:
            number = sim.world.next_number()
            return poll_content(self.poll.question, self.poll.options, poll_id=number, kind=self.poll.type)
        if self.dice is not None:
            return {"dice": {"emoji": self.dice, "value": 1 + secrets.randbelow(_DICE[self.dice])}}
        if self.location is not None:
            return {"location": self.location.model_dump()}
        if self.contact is not None:
            return {"contact": self.contact.model_dump(exclude_none=True)}
        if self.rich_message is not None:
            return {"rich_message": self.rich_message.model_dump(exclude_defaults=True)}
        return self.raw


_OWN_FIELD_NAMES = (
    "message_id message_thread_id from chat date edit_date text entities caption caption_entities reply_to_message"
    " quote forward_origin media_group_id reply_markup link_preview_options is_topic_message direct_messages_topic"
    " sender_chat is_automatic_forward"
)
_OWN_FIELDS = frozenset(_OWN_FIELD_NAMES.split())
_OTHER_KINDS = ("sticker", "location", "contact", "poll", "dice", "rich_message", "raw")


class LineBody(ContentBody):
    chat_id: int
    from_id: int
    text: str = ""
    caption: str = ""
    entities: list[dict[str, Any]] | None = None
    reply_to_message_id: int | None = None
    quote: str | None = None
    message_thread_id: int | None = None
    anonymous: bool = False
    as_channel: int | None = None

    def line(self, sim: Simulation) -> Line:
        """Return the message to send. Raises PageError, also for a picture with a text in place of a caption."""
        content = self.content(sim)
        if content is None and self.caption:
            raise PageError("A caption belongs to a photo, a document and the like.")
        if content is not None and self.text:
            raise PageError("The text of such a message is its caption.")
        if self.caption and content is not None and self.raw is None and not CAPTIONED & content.keys():
            raise PageError("Such a message has no caption.")
        return Line(
            chat_id=self.chat_id,
            from_id=self.from_id,
            text=self.text or self.caption,
            entities=read_formatting(self.entities),
            content=content,
            reply_to_message_id=self.reply_to_message_id,
            quote=self.quote,
            anonymous=self.anonymous,
            as_channel=self.as_channel,
            message_thread_id=self.message_thread_id,
        )


class AlbumItem(ContentBody):
    caption: str = ""


class AlbumBody(Body):
    chat_id: int
    from_id: int
    items: Annotated[tuple[AlbumItem, ...], Field(min_length=1, max_length=10)]
    reply_to_message_id: int | None = None
    message_thread_id: int | None = None

    def lines(self, sim: Simulation) -> list[Line]:
        return [
            Line(
                chat_id=self.chat_id,
                from_id=self.from_id,
                text=item.caption,
                content=item.content(sim),
                reply_to_message_id=self.reply_to_message_id,
                message_thread_id=self.message_thread_id,
            )
            for item in self.items
        ]


class EditBody(Body):
    """An edit. `text` is the new caption if the message has content."""

    chat_id: int
    from_id: int
    message_id: int
    text: str
    entities: list[dict[str, Any]] | None = None

    def line(self) -> Line:
        return Line(
            chat_id=self.chat_id,
            from_id=self.from_id,
            text=self.text,
            entities=read_formatting(self.entities),
        )


def read_formatting(raw_entities: list[dict[str, Any]] | None) -> tuple[Entity, ...]:
    """Parse the formatting by a person. Raises PageError if it is invalid."""
    try:
        return tuple(parse_entities(raw_entities))
    except ApiError as error:
        raise PageError(f"The formatting cannot be read: {error}.") from None
