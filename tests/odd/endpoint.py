"""An HTTP server on loopback that plays one row of the table at a time."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.transport.http_connection import CYCLE
from bot.transport.http_server import serve_http
from tests.odd.row import OTHER, Play, Row
from tests.odd.wire import HELLO, Answer, plain, send_pieces
from tests.scripted_embeddings import Embeddings, embeddings_body


@dataclass(slots=True, kw_only=True)
class OddEndpoint:
    """The running server. `shown` releases the response that waits until the chat shows its preview."""

    base_url: str = ""
    play: Play | None = None
    shown: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, row: Row) -> Play:
        """Begin a row. Requests of an earlier row's model get an ordinary answer from now on."""
        self.shown = asyncio.Event()
        self.play = Play(row=row)
        return self.play

    async def complete(self, request: Request) -> Response:
        """Answer a request of the model as the row says."""
        body, play, reply = await request.json(), self.play, None
        if play is not None and body["model"] in (play.row.model, OTHER):
            play.requests.append(body)
            play.came_at.append(time.monotonic())
            reply = play.reply_to(body) if body["model"] == play.row.model else None
        reply = reply or plain(HELLO)
        answer = reply if isinstance(reply, Answer) else reply(body)
        return StreamingResponse(
            self._send(request, answer),
            status_code=answer.status,
            media_type=answer.content_type,
            headers=answer.headers,
        )

    async def _send(self, request: Request, answer: Answer) -> AsyncIterator[bytes]:
        async for piece in send_pieces(answer, self.shown):
            yield piece
        if answer.cuts:
            request.scope["extensions"][CYCLE].transport.close()
            await asyncio.Event().wait()  # cancelled when the connection is gone

    async def embed(self, request: Request) -> Response:
        """Return vectors of the words."""
        return JSONResponse(embeddings_body(await request.json(), Embeddings()))


@asynccontextmanager
async def odd_endpoint() -> AsyncGenerator[OddEndpoint]:
    """Serve until the block ends."""
    endpoint = OddEndpoint()
    routes = [
        Route("/v1/chat/completions", endpoint.complete, methods=["POST"]),
        Route("/v1/embeddings", endpoint.embed, methods=["POST"]),
    ]
    async with serve_http(Starlette(routes=routes)) as server:
        endpoint.base_url = f"{server.origin}/v1"
        yield endpoint
