"""Two small servers on loopback:

a public one with payloads on its pages, and an internal one that nobody may reach.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.transport.http_server import serve_http
from chaos.rig.injection.payloads import Payload

INSIDE = "127.0.0.2"


@dataclass(slots=True, kw_only=True)
class Web:
    """The two servers.

    `read` are the requested paths of the public server, `reached` the connections to the internal one.
    """

    port: int = 0
    inside_port: int = 0
    pages: dict[str, str] = field(default_factory=dict[str, str])
    read: list[str] = field(default_factory=list[str])
    reached: int = 0

    def page(self, payload: Payload) -> str:
        """Return the URL of a page with the payload's text."""
        name = f"page{len(self.pages)}"  # not its tag, which only who reads it may know
        self.pages[name] = payload.text
        return f"http://public.test:{self.port}/{name}"

    @property
    def inside(self) -> list[str]:
        """Return URLs of the internal server:

        by its address, by names, and by a redirect of the public one.
        """
        port = self.inside_port
        hosts = (INSIDE, "inside.test", "both.test", "[::ffff:7f00:2]", "2130706434")
        return [*(f"http://{host}:{port}/" for host in hosts), f"http://public.test:{self.port}/away"]

    async def answer(self, request: Request) -> Response:
        """Respond with a page or the redirect to the internal server."""
        path = request.url.path.removeprefix("/")
        self.read.append(path)
        if path == "away":
            return RedirectResponse(f"http://inside.test:{self.inside_port}/")
        return PlainTextResponse(self.pages.get(path, "nothing"))


@asynccontextmanager
async def serving_web() -> AsyncGenerator[Web]:
    """Run both servers until the block ends."""
    web = Web()

    async def reached(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        web.reached += 1
        writer.close()

    inside = await asyncio.start_server(reached, INSIDE, 0)
    async with inside, serve_http(Starlette(routes=[Route("/{path:path}", web.answer)])) as server:
        web.port, web.inside_port = int(server.origin.rpartition(":")[2]), inside.sockets[0].getsockname()[1]
        yield web
