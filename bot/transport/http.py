"""The HTTP side: the webhook, health and metrics."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.observe import metrics
from bot.transport.webhook import Webhook

WhatIsDown = Callable[[], Awaitable[dict[str, str]]]
"""Names what is down, each with one sentence; empty when all is well."""


def create_http_app(*, webhook: Webhook | None, what_is_down: WhatIsDown, webhook_path: str) -> Starlette:
    """The app; without a webhook (a worker) the rest."""

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        down = await what_is_down()
        status = "down" if down else "ok"
        return JSONResponse({"status": status, "down": down}, 503 if down else 200)

    async def show_metrics(_: Request) -> Response:
        return Response(metrics.render(), media_type=metrics.CONTENT_TYPE)

    async def take_in(request: Request) -> Response:
        if webhook is None:
            return JSONResponse({"ok": False, "error": "this process takes no updates"}, 404)
        return await webhook(request)

    return Starlette(
        routes=[
            Route(webhook_path, take_in, methods=["POST"]),
            Route("/health/live", live),
            Route("/health/ready", ready),
            Route("/metrics", show_metrics),
        ]
    )
