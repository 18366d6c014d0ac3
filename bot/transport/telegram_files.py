"""Fetches the files that people sent, from Telegram, within a limit."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol
from urllib.parse import quote

import httpx

from bot.errors import FileGone, FileTooLarge, TelegramUnavailable
from memory.http_calls import shielded, track_request

_TRIES = 2
_SILENCE_S = 20


class FileFinder(Protocol):
    """Where a file is: the part of TelegramApi that is needed here."""

    async def find_file(self, file_id: str) -> str: ...


class TelegramFiles:
    """The files of the Bot API. No error's text carries a URL: the token is in it."""

    def __init__(self, finder: FileFinder, client: httpx.AsyncClient) -> None:
        self._finder = finder
        self._client = client

    async def download(self, file_id: str, *, at_most: int) -> bytes:
        """The whole file. What cannot be had is asked for once more: Telegram moves files, and a way may be cut.

        Raises FileTooLarge when more than `at_most` bytes come, or Telegram itself gives no files of that size;
        FileGone when there is no such file (any more); TelegramUnavailable.
        """
        for _ in range(_TRIES - 1):
            try:
                return await self._fetch(file_id, at_most)
            except (FileGone, TelegramUnavailable):
                pass
        return await self._fetch(file_id, at_most)

    async def _fetch(self, file_id: str, at_most: int) -> bytes:
        # Quoted: a path that is a whole URL would have us ask another server, one of our own network perhaps.
        path = quote(await self._finder.find_file(file_id), errors="replace")
        try:
            return await shielded(self._get(path, at_most))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise TelegramUnavailable(type(error).__name__) from None

    async def _get(self, path: str, at_most: int) -> bytes:
        async with self._client.stream("GET", path) as answer:
            return await _content(answer, at_most)


@asynccontextmanager
async def open_files(
    finder: FileFinder, *, token: str, api_url: str, connections: int = 100
) -> AsyncGenerator[TelegramFiles]:
    """The files of the Bot API at `api_url`; connections, so many at most, are closed at the end."""
    async with httpx.AsyncClient(
        base_url=f"{api_url}/file/bot{token}/",
        timeout=httpx.Timeout(_SILENCE_S, connect=5),
        limits=httpx.Limits(max_connections=connections),
        event_hooks={"request": [track_request]},
    ) as client:
        yield TelegramFiles(finder, client)


async def _content(answer: httpx.Response, at_most: int) -> bytes:
    if answer.status_code in (400, 404, 410):
        raise FileGone
    if not answer.is_success:
        raise TelegramUnavailable(f"HTTP {answer.status_code} for a file")
    announced = answer.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > at_most:
        raise FileTooLarge
    content = bytearray()
    async for piece in answer.aiter_bytes():
        content += piece
        if len(content) > at_most:
            raise FileTooLarge
    return bytes(content)
