"""The HTTP side: the webhook, health and metrics."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.observe import metrics
from bot.transport.webhook import Webhook

WhatIsDown = Callable[[], Awaitable[dict[str, str]]]
"""Names what is down, each with one sentence; empty when all is well."""


def create_http_app(*, webhook: Webhook | None, what_is_down: WhatIsDown, webhook_path: str) -> ASGIApp:
    """The app; without a webhook (a worker) the rest. Updates go to the webhook at once: it has to be cheap to refuse."""

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        down = await what_is_down()
        status = "down" if down else "ok"
        return JSONResponse({"status": status, "down": down}, 503 if down else 200)

    async def show_metrics(_: Request) -> Response:
        return Response(metrics.render(), media_type=metrics.CONTENT_TYPE)

    async def take_nothing(_: Request) -> Response:
        return JSONResponse({"ok": False, "error": "this process takes no updates"}, 404)

    rest = Starlette(
        routes=[
            Route(webhook_path, take_nothing, methods=["POST"]),
            Route("/health/live", live),
            Route("/health/ready", ready),
            Route("/metrics", show_metrics),
        ]
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        is_update = scope["type"] == "http" and scope["path"] == webhook_path and scope["method"] == "POST"
        await (webhook if webhook is not None and is_update else rest)(scope, receive, send)

    return app
