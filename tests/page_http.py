"""The memory page over HTTP without its bot, and data that are signed as Telegram signs them."""

import hashlib
import hmac
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from bot.page.api import PageApp
from bot.settings import PAGE_PATH, WEBHOOK_PATH
from bot.transport.http_server import HttpServer, create_http_app, serve_http


@asynccontextmanager
async def serve_page(page: PageApp | None, *, port: int = 0) -> AsyncGenerator[HttpServer]:
    """Serve the page, or the same server without one."""

    async def nothing_is_down() -> dict[str, str]:
        return {}

    app = create_http_app(
        webhook=None, what_is_down=nothing_is_down, webhook_path=WEBHOOK_PATH, page=page, page_path=PAGE_PATH
    )
    async with serve_http(app, port=port) as server:
        yield server


def hash_of(fields: Mapping[str, str], token: str) -> str:
    """Return the hash of initData as Telegram documents it, written down independently of our code."""
    secret = hmac.new(b"WebAppData", token.encode(), hashlib.sha256).digest()
    lines = "\n".join(sorted(f"{name}={value}" for name, value in fields.items()))
    return hmac.new(secret, lines.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
