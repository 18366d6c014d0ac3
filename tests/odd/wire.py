"""Builders of raw replies: events of a stream, whole completions and refusals, however odd."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

HELLO = "Here you are."
"""The answer of an endpoint that has nothing odd left to say."""
HOLD = b""
"""A piece after which the endpoint waits until the chat shows the preview of the row."""
DONE = b"data: [DONE]\n\n"
CALL_ID = "call_a1"
USAGE: Json = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
REMINDER: Json = {"when": "in 20 minutes", "text": "Water the plants"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP response, sent piece by piece. `cuts` closes the connection after the last piece."""

    pieces: tuple[bytes, ...]
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Json = field(default_factory=dict[str, Any])
    cuts: bool = False


Reply = Answer | Callable[[Json], Answer]
"""A response, or a function from the request to it."""


def event(data: object) -> bytes:
    """Return one event. A text is sent as it is, anything else as JSON."""
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def chunk(*, finish: str | None = None, usage: Json | None = None, **delta: Any) -> bytes:
    """Return the event of a chunk with this delta."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body: Json = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "odd"}
    return event(body | {"choices": [choice]} | ({"usage": usage} if usage else {}))


def texts(*pieces: str) -> tuple[bytes, ...]:
    """Return the first chunks of a text, with its role."""
    return (chunk(role="assistant", content=""), *(chunk(content=piece) for piece in pieces))


def raw(*pieces: bytes, cuts: bool = False) -> Answer:
    """Return a stream of exactly these bytes."""
    return Answer(pieces=pieces, cuts=cuts)


def said(*pieces: str, finish: str = "stop", **last: Any) -> Answer:
    """Return an ordinary stream of these pieces, with an odd finish reason or last delta."""
    return raw(*texts(*pieces), chunk(finish=finish, **last), DONE)


def in_twelves(text: str) -> tuple[str, ...]:
    """Return the text in pieces of 12 characters."""
    return tuple(text[at : at + 12] for at in range(0, len(text), 12))


def whole(message: Json, *, finish: str = "stop", **fields: Any) -> Json:
    """Return the body of a completion that is not streamed."""
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion", "model": "odd", "choices": [choice], **fields}


def plain(text: str) -> Callable[[Json], Answer]:
    """Return an answer in the form that the request asks for, as every sound endpoint does."""

    def answer(request: Json) -> Answer:
        return said(text) if request.get("stream") else as_json(whole({"content": text}))

    return answer


def as_json(body: object, *, status: int = 200, **headers: str) -> Answer:
    """Return a JSON response. A text is sent as it is. `_` in the name of a header is a hyphen."""
    content = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(pieces=(content.encode(),), status=status, content_type="application/json", headers=named)


def error(message: str, **fields: Any) -> Json:
    """Return OpenAI's form of an error."""
    return {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": None} | fields
    }


def call_piece(arguments: Any = None, *, name: str | None = None, **fields: Any) -> Json:
    """Return a piece of a call, as it stands in a delta. Without `name` and `arguments` they are absent."""
    function = {"name": name, "arguments": arguments}
    return fields | {"function": {key: value for key, value in function.items() if value is not None}}


def called(*pieces: Json, finish: str = "tool_calls", **message: Any) -> Answer:
    """Return a stream with each of these pieces of calls in a chunk, after a delta of `message`."""
    first = (chunk(**message),) if message else ()
    deltas = (chunk(tool_calls=[piece]) for piece in pieces)
    return raw(chunk(role="assistant", content=None), *first, *deltas, chunk(finish=finish), DONE)


def reminds(arguments: Any = None, *, name: str = "set_reminder", **fields: Any) -> Json:
    """Return a whole call of `set_reminder` with these raw arguments."""
    given = json.dumps(REMINDER) if arguments is None else arguments
    return call_piece(given, name=name, **{"index": 0, "id": CALL_ID, "type": "function"} | fields)


async def send_pieces(answer: Answer, shown: asyncio.Event) -> AsyncIterator[bytes]:
    """Yield the pieces of a response. Wait at each HOLD until `shown` is set."""
    for piece in answer.pieces:
        if piece is HOLD:
            await shown.wait()
        else:
            yield piece
            await asyncio.sleep(0)
