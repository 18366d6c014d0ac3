"""What the chat page sends; anything else is answered with one sentence."""

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.requests import Request

from simulator.api.errors import PageError
from simulator.api.faults import Fault, FaultKind
from simulator.api.forwarding import Forward, Origin
from simulator.api.gatherings import Gathering, Newcomer
from simulator.api.memberships import MemberAction, UpgradeOrder
from simulator.api.payloads import parse_json
from simulator.api.people import ButtonPress

_MAX_BODY = 1024 * 1024
_MAX_TIMES = 1_000_000
_DAY_MS = 86_400_000

Name = Annotated[str, Field(min_length=1, max_length=128)]
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
    """A message, and who does something to it."""

    chat_id: int
    from_id: int
    message_id: int


class TopicBody(Body):
    """Without `message_thread_id` a new topic; with it and a name another name; with it alone: delete it."""

    chat_id: int
    from_id: int
    message_thread_id: int | None = None
    name: Name | None = None


class UpgradeBody(Body):
    chat_id: int
    from_id: int
    order: UpgradeOrder = "old_first"


class FaultBody(Body):
    """`times`: 1, or without end where `probability` or `for_ms` is given."""

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
    language_code: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$")] = "en"

    def newcomer(self) -> Newcomer:
        return Newcomer(**self.model_dump())


class ChatBody(Body):
    """`migrate_to_chat_id`: a group that was upgraded; calls for it get the error that names the new id."""

    title: Name
    type: Literal["group", "supergroup"]
    is_forum: bool = False
    members: tuple[int, ...] = ()
    admins: tuple[int, ...] = ()
    topics: tuple[Name, ...] = ()
    migrate_to_chat_id: int | None = None
    has_bot: bool = True

    def gathering(self) -> Gathering:
        return Gathering(**self.model_dump())


async def read_body(request: Request, kind: type[BodyT]) -> BodyT:
    """Raises PageError; other sites' pages are kept out by asking for JSON, which they may not send."""
    body = await read_bytes(request, content_type="application/json", most=_MAX_BODY)
    try:
        given = parse_json(body.decode())
        return kind.model_validate(given)
    except ValidationError as error:
        raise PageError(_sentence(error), status=422) from None
    except ValueError:
        raise PageError("The request is not JSON in UTF-8.") from None


async def read_bytes(request: Request, *, content_type: str, most: int) -> bytes:
    """The body. Raises PageError for another type, and for more than `most` bytes."""
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
