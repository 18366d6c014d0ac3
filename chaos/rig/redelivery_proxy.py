"""A webhook proxy that delivers each update one to five times, to several `serve` at once."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from bot.settings import WEBHOOK_PATH
from bot.transport.http_server import SECRET_HEADER, serve_http
from chaos.rig.system import SECRET

MOST_COPIES = 5
_TIMEOUT_S = 20.0


@dataclass(slots=True, kw_only=True)
class RedeliveryProxy:
    """The proxy.

    `ports` are those of the running `serve`; `bodies` has every update by its id. `outcomes` counts the
    responses, `accepted` those for a new update. An interrupted response is in neither, but its update
    may have been accepted.
    """

    http: httpx.AsyncClient
    random: Random
    url: str = ""
    ports: list[int] = field(default_factory=list[int])
    bodies: dict[int, bytes] = field(default_factory=dict[int, bytes])
    outcomes: Counter[str] = field(default_factory=Counter[str])
    accepted: Counter[int] = field(default_factory=Counter[int])

    async def take(self, request: Request) -> Response:
        """Post the copies at the same time. One 200 is enough; otherwise Telegram keeps the update."""
        try:
            body = await request.body()
        except ClientDisconnect:
            return Response()
        self.bodies[json.loads(body)["update_id"]] = body
        statuses = await self.post(body, copies=self.random.randint(1, MOST_COPIES))
        return Response(status_code=200 if 200 in statuses else 503)

    async def post(self, body: bytes, *, copies: int) -> Sequence[int]:
        """Post this many copies at the same time to the `serve` in turn.

        Return the statuses, 0 without one.
        """
        first = self.random.randrange(max(1, len(self.ports)))
        ports = [self.ports[(first + copy) % len(self.ports)] for copy in range(copies)] if self.ports else []
        return await asyncio.gather(*(self._post(body, port) for port in ports))

    async def post_all_again(self, *, at_once: int = 20) -> Counter[int]:
        """Post every update again, twice at the same time, and return the statuses."""
        gate, statuses = asyncio.Semaphore(at_once), Counter[int]()

        async def again(body: bytes) -> None:
            async with gate:
                statuses.update(await self.post(body, copies=2))

        await asyncio.gather(*(again(body) for body in list(self.bodies.values())))
        return statuses

    async def _post(self, body: bytes, port: int) -> int:
        headers = {SECRET_HEADER: SECRET, "content-type": "application/json"}
        url = f"http://127.0.0.1:{port}{WEBHOOK_PATH}"
        try:
            answer = await self.http.post(url, content=body, headers=headers)
        except httpx.HTTPError:
            self.outcomes["no answer"] += 1
            return 0
        told: dict[str, Any] = answer.json() if answer.status_code == 200 else {}
        outcome = str(told.get("outcome", answer.status_code))
        self.outcomes[outcome] += 1
        if outcome == "accepted":
            self.accepted[json.loads(body)["update_id"]] += 1
        return answer.status_code


@asynccontextmanager
async def open_redelivery_proxy(random: Random) -> AsyncGenerator[RedeliveryProxy]:
    """Run the proxy on its own port."""
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(trust_env=False, timeout=_TIMEOUT_S, limits=limits) as http:
        multiplier = RedeliveryProxy(http=http, random=random)
        app = Starlette(routes=[Route(WEBHOOK_PATH, multiplier.take, methods=["POST"])])
        async with serve_http(app) as server:
            multiplier.url = server.origin
            yield multiplier
