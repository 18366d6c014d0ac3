"""Downloads of the Bot API's files, with errors of our own.

No text of an error carries the token or a URL, because the URL contains the token.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import quote

import aiohttp
from yarl import URL

from bot.errors import FileGone, FileTooLarge, TelegramUnavailable
from memory.causes import find_cause
from memory.http_calls import open_session

_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=20)


class TelegramFiles:
    """The files of the Bot API."""

    def __init__(
        self, find_file: Callable[[str], Awaitable[str]], session: aiohttp.ClientSession, url: str
    ) -> None:
        self._find_file = find_file
        self._session = session
        self._url = url

    async def download(self, file_id: str, *, at_most: int) -> bytes:
        """Return the whole file. A failure is retried once, because Telegram moves files and connections break.

        Raises FileTooLarge if the file exceeds `at_most` bytes or the Bot API's own limit, FileGone if it does not
        exist (any more), and TelegramUnavailable.
        """
        try:
            return await self._fetch(file_id, at_most)
        except (FileGone, TelegramUnavailable):
            return await self._fetch(file_id, at_most)

    async def _fetch(self, file_id: str, at_most: int) -> bytes:
        # Quoted, because a path that is a whole URL would send us to another server, perhaps inside our network.
        path = quote(await self._find_file(file_id), errors="replace")
        try:
            async with self._session.get(URL(f"{self._url}/{path}"), allow_redirects=False) as response:
                return await _content(response, at_most)
        except (aiohttp.ClientError, OSError) as error:
            cause = find_cause(error) or type(error).__name__
        raise TelegramUnavailable(cause)


@asynccontextmanager
async def open_files(
    find_file: Callable[[str], Awaitable[str]], *, token: str, api_url: str, connections: int = 100
) -> AsyncGenerator[TelegramFiles]:
    """Open the files of the Bot API at `api_url`, with up to `connections` connections."""
    async with open_session(api_url, connections=connections, timeout=_TIMEOUT) as session:
        yield TelegramFiles(find_file, session, f"{api_url}/file/bot{token}")


async def _content(response: aiohttp.ClientResponse, at_most: int) -> bytes:
    if response.status in (400, 404, 410):
        raise FileGone
    if not 200 <= response.status < 300:
        raise TelegramUnavailable(f"HTTP {response.status} for a file")
    if (response.content_length or 0) > at_most:
        raise FileTooLarge
    content = bytearray()
    async for piece in response.content.iter_any():
        content += piece
        if len(content) > at_most:
            raise FileTooLarge
    return bytes(content)
