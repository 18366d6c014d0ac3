"""Downloads of files from a server that answers well and badly."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.errors import FileGone, FileTooLarge, TelegramFailure, TelegramUnavailable
from bot.transport.http_server import serve_http
from bot.transport.telegram_api import TelegramFiles, open_files, open_telegram

TOKEN = "4242:secret-token"


def file_at(path: str) -> Response:
    result = {"file_id": "f", "file_unique_id": "u", "file_path": path}
    return Response(json.dumps({"ok": True, "result": result}), media_type="application/json")


OK = file_at("photos/1.jpg")


def refused(description: str) -> Response:
    return JSONResponse(
        {"ok": False, "error_code": 400, "description": f"Bad Request: {description}"}, status_code=400
    )


@dataclass
class Server:
    """A server with responses in order: of getFile (`found`), and of the file. The last one repeats."""

    found: list[Response] = field(default_factory=lambda: [OK])
    files: list[Callable[[], Response]] = field(default_factory=list[Callable[[], Response]])
    asked: list[str] = field(default_factory=list[str])

    async def get_file(self, request: Request) -> Response:
        self.asked.append("getFile")
        return self.found.pop(0) if len(self.found) > 1 else self.found[0]

    async def file(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        return (self.files.pop(0) if len(self.files) > 1 else self.files[0])()


@asynccontextmanager
async def files_of(server: Server, connections: int = 10) -> AsyncGenerator[TelegramFiles]:
    routes = [
        Route(f"/bot{TOKEN}/getFile", server.get_file, methods=["POST"]),
        Route(f"/file/bot{TOKEN}/{{path:path}}", server.file),
    ]
    async with (
        serve_http(Starlette(routes=routes), port=0) as http,
        open_telegram(token=TOKEN, api_url=http.origin) as api,
        open_files(api.find_file, token=TOKEN, api_url=http.origin, connections=connections) as files,
    ):
        yield files


def content(data: bytes) -> Callable[[], Response]:
    return lambda: Response(data)


def status(code: int) -> Callable[[], Response]:
    return lambda: Response(status_code=code)


def unannounced(data: bytes) -> Callable[[], Response]:
    """Respond without a Content-Length, in pieces."""

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(data), 100):
            yield data[at : at + 100]

    return lambda: StreamingResponse(pieces())


async def test_a_file_is_downloaded_whole() -> None:
    server = Server(files=[content(b"abc" * 100)])
    async with files_of(server) as files:
        assert await files.download("f", at_most=300) == b"abc" * 100

    assert server.asked == ["getFile", f"/file/bot{TOKEN}/photos/1.jpg"]


@pytest.mark.parametrize("answer", [content(b"x" * 301), unannounced(b"x" * 100_000)])
async def test_a_file_over_the_limit_is_given_up_and_not_requested_again(
    answer: Callable[[], Response],
) -> None:
    server = Server(files=[answer])
    async with files_of(server) as files:
        with pytest.raises(FileTooLarge):
            await files.download("f", at_most=300)

    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("description", "error"),
    [
        ("file is too big", FileTooLarge),
        ("wrong file_id or the file is temporarily unavailable", FileGone),
        ("invalid file_id", FileGone),
    ],
)
async def test_failed_downloads_are_distinguished(description: str, error: type[TelegramFailure]) -> None:
    async with files_of(Server(found=[refused(description)], files=[content(b"")])) as files:
        with pytest.raises(error):
            await files.download("f", at_most=300)


@pytest.mark.parametrize("first", [status(404), status(502)])
async def test_a_temporarily_missing_file_is_downloaded_later(first: Callable[[], Response]) -> None:
    server = Server(files=[first, content(b"abc")])
    async with files_of(server) as files:
        assert await files.download("f", at_most=300) == b"abc"

    assert server.asked.count("getFile") == 2


async def test_downloads_cancelled_at_any_moment_keep_no_connection() -> None:
    async with files_of(Server(files=[unannounced(b"abc" * 100)]), connections=1) as files:
        for steps in range(250):
            download = asyncio.create_task(files.download("f", at_most=300), name="cancelled")
            for _ in range(steps):
                await asyncio.sleep(0)
            download.cancel()
            await asyncio.gather(download, return_exceptions=True)

        async with asyncio.timeout(5):
            assert await files.download("f", at_most=300) == b"abc" * 100


async def test_no_error_contains_the_token() -> None:
    async with files_of(Server(files=[status(500)])) as files:
        with pytest.raises(TelegramUnavailable) as down:
            await files.download("f", at_most=300)
    async with files_of(Server(files=[status(404)])) as gone_files:
        with pytest.raises(FileGone) as gone:
            await gone_files.download("f", at_most=300)
    async with open_files(_nowhere, token=TOKEN, api_url="http://127.0.0.1:1") as unreached:
        with pytest.raises(TelegramUnavailable) as unreachable:
            await unreached.download("f", at_most=300)

    for failure in (down, gone, unreachable):
        assert "secret" not in f"{failure.value!r} {failure.value.__cause__!r}"


@pytest.mark.parametrize("path", ["{other}/secret", "//{host}/secret", "../../{other}/secret"])
async def test_no_path_leads_to_another_server(path: str) -> None:
    asked: list[str] = []

    async def tell(request: Request) -> Response:
        asked.append(request.url.path)
        return Response(b"secret")

    async with serve_http(Starlette(routes=[Route("/{path:path}", tell)]), port=0) as other:
        path = path.format(other=other.origin, host=other.origin.removeprefix("http://"))
        async with files_of(Server(found=[file_at(path)], files=[content(b"own")])) as files:
            with suppress(TelegramFailure):
                assert await files.download("f", at_most=300) == b"own"

    assert asked == []


@pytest.mark.parametrize("path", ["a\nb", "a\x00b", "\ud800", "x" * 100_000])
async def test_an_invalid_path_is_a_failure_like_others(path: str) -> None:
    async with files_of(Server(found=[file_at(path)], files=[status(404)])) as files:
        with pytest.raises(TelegramFailure):
            await files.download("f", at_most=300)


async def _nowhere(_: str) -> str:
    return "photos/1.jpg"
