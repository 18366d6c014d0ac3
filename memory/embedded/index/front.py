"""What listens for the index: it reads requests, has them answered, and knows nothing of what is asked."""

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from memory.embedded.index.app import MAX_BODY_BYTES
from memory.embedded.index.switchboard import Switchboard
from memory.embedded.index.tunnel import Asked

_KEY_HEADERS = ("api-key", "authorization")


def build_front(switchboard: Switchboard) -> ASGIApp:
    """The application that puts every request through; keys are checked where it is answered."""

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            asked = await _read(Request(scope, receive))
        except ClientDisconnect:
            return
        told = await switchboard.ask(asked)
        headers = [
            (b"content-length", str(len(told.body)).encode()),
            (b"content-type", told.media_type.encode("latin-1")),
        ]
        await send({"type": "http.response.start", "status": told.status, "headers": headers})
        await send({"type": "http.response.body", "body": told.body})

    return front


async def _read(request: Request) -> Asked:
    """The request, of a body that is too long only so much that this is seen."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            break
    return Asked(
        method=request.method,
        path=request.scope["path"],
        query=request.scope["query_string"].decode("latin-1"),
        headers=tuple((name, request.headers[name]) for name in _KEY_HEADERS if name in request.headers),
        body=bytes(body),
    )
