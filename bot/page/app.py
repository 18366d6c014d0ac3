"""The memory page under /app/: its files for anybody, and its API for people who open it from Telegram."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from types import MappingProxyType

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from bot.page.api import API_PATH, PageApi, error_response
from bot.page.visitors import PageError
from bot.settings import PAGE_PATH

STATIC_PATH = f"{PAGE_PATH}static/"
_PAGE_FILE = "index.html"
WEB_CLIENTS = ("https://web.telegram.org", "https://*.web.telegram.org")
"""Telegram's clients that show the page in a frame."""
_TYPES: Mapping[str, str] = MappingProxyType(
    {
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json",
    }
)
"""Types of the files that are served; others are not."""


class PageApp:
    """The page. Nothing is served before `publish`; API requests get a 503 before `api` is there."""

    def __init__(self) -> None:
        self.api: PageApi | None = None
        self._headers: Mapping[str, str] | None = None

    def publish(self, *, frame_ancestors: Sequence[str] = ()) -> None:
        """Serve the page. `frame_ancestors` may show it in a frame, besides Telegram's web clients."""
        self._headers = _headers([*WEB_CLIENTS, *frame_ancestors])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request under PAGE_PATH. Every response has the security headers."""
        headers = self._headers
        if headers is None:
            unknown = PageError("not_found", "This bot's memory page has no public address (PUBLIC_URL).")
            return await error_response(unknown)(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        if not scope["path"].startswith(API_PATH):
            return await _file_response(Request(scope))(scope, receive, send_with_headers)
        if self.api is None:
            starting = PageError("unavailable", "The bot is starting. Please try again in a moment.")
            return await error_response(starting)(scope, receive, send_with_headers)
        return await self.api(scope, receive, send_with_headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _StaticFile:
    content: bytes
    media_type: str
    etag: str


def _file_response(request: Request) -> Response:
    """Return the file, 304 if the client has it already, or an error as JSON."""
    file = _read_files().get(request.scope["path"])
    if file is None or request.method not in ("GET", "HEAD"):
        return error_response(PageError("not_found", "There is nothing at this address."))
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.media_type)


@cache
def _read_files() -> Mapping[str, _StaticFile]:
    """Return the files of `static` and its catalogue by path, read at the first request. Other paths do not exist."""
    files: dict[str, _StaticFile] = {}
    static = resources.files("bot.page").joinpath("static")
    for folder, prefix in ((static, ""), (static.joinpath("catalogue"), "catalogue/")):
        for entry in folder.iterdir():
            if media_type := _TYPES.get(PurePosixPath(entry.name).suffix):
                content = entry.read_bytes()
                etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
                file = _StaticFile(content=content, media_type=media_type, etag=etag)
                files[STATIC_PATH + prefix + entry.name] = file
    return files | {PAGE_PATH: files[STATIC_PATH + _PAGE_FILE]}


def _headers(frame_ancestors: Sequence[str]) -> Mapping[str, str]:
    """Return the security headers. No script or style may stand in the page itself, and no other host is asked."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {' '.join(frame_ancestors)}"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
