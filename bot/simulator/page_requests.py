"""What the chat page sends; anything else is answered with one sentence."""

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from bot.simulator.errors import PageError
from bot.simulator.faults import Fault, FaultKind
from bot.simulator.payloads import parse_json
from bot.simulator.people import Gathering, Line

_MAX_BODY = 1024 * 1024
_MAX_TIMES = 1_000_000

Name = Annotated[str, Field(min_length=1, max_length=128)]
BodyT = TypeVar("BodyT", bound="Body")


class Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LineBody(Body):
    chat_id: int
    from_id: int
    text: str
    reply_to_message_id: int | None = None
    message_thread_id: int | None = None

    def line(self) -> Line:
        return Line(**self.model_dump())


class EditBody(Body):
    chat_id: int
    from_id: int
    message_id: int
    text: str

    def line(self) -> Line:
        return Line(chat_id=self.chat_id, from_id=self.from_id, text=self.text)


class CallbackBody(Body):
    chat_id: int
    from_id: int
    message_id: int
    data: str


class BlockBody(Body):
    chat_id: int
    blocked: bool


class FaultBody(Body):
    chat_id: int | None = None
    method: str | None = None
    error: FaultKind
    retry_after: int = Field(default=1, ge=1, le=86_400)
    times: int = Field(default=1, ge=1, le=_MAX_TIMES)

    def fault(self) -> Fault:
        return Fault(**self.model_dump())


class PersonBody(Body):
    first_name: Name
    username: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{2,31}$")] | None = None
    is_operator: bool = False


class ChatBody(Body):
    """`migrate_to_chat_id`: a group that was upgraded; calls for it get the error that names the new id."""

    title: Name
    type: Literal["group", "supergroup"]
    is_forum: bool = False
    members: tuple[int, ...] = ()
    admins: tuple[int, ...] = ()
    topics: tuple[Name, ...] = ()
    migrate_to_chat_id: int | None = None

    def gathering(self) -> Gathering:
        return Gathering(**self.model_dump())


async def read_body(request: Request, kind: type[BodyT]) -> BodyT:
    """Raises PageError; other sites' pages are kept out by asking for JSON, which they may not send."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise PageError("Send the request as application/json.", status=415)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BODY:
            raise PageError("The request is too long.", status=413)
    try:
        given = parse_json(bytes(body).decode())
        return kind.model_validate(given)
    except ValidationError as error:
        raise PageError(_sentence(error), status=422) from None
    except ValueError:
        raise PageError("The request is not JSON in UTF-8.") from None


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the request"
    return f"{place}: {first['msg']}."
