"""Clients of OpenAI-compatible endpoints: the `openai` SDK on aiohttp.

A call can be cancelled at any moment, without losing a connection of the pool.
"""

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from io import BytesIO
from urllib.parse import parse_qsl

import aiohttp
import httpx2
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

from memory.http_calls import open_session

OPENAI_URL = "https://api.openai.com/v1"
_PIECE_BYTES = 2**20
"""A larger body is sent in pieces. aiohttp warns of such bytes, because they hold up the event loop."""


def open_client(
    *, api_key: str | None, base_url: str | None, timeout: Timeout, max_retries: int = 0
) -> AsyncOpenAI:
    """Return a client of the endpoint at `base_url`, by default OpenAI's own. The caller closes it."""
    url, _, query = (base_url or OPENAI_URL).partition("?")
    session = open_session(url, connections=0, timeout=aiohttp.ClientTimeout())
    return AsyncOpenAI(
        api_key=api_key or "none",  # the SDK insists on one; servers without keys ignore it
        base_url=url,
        default_query=dict(
            parse_qsl(query)
        ),  # such as Azure's api-version; the SDK would put it before the path
        max_retries=max_retries,
        timeout=timeout,
        # The session takes proxies and certificates from the environment.
        http_client=DefaultAsyncHttpxClient(transport=_Transport(session), trust_env=False),
    )


class _Transport(httpx2.AsyncBaseTransport):
    """Sends the SDK's requests on an aiohttp session, in half of the CPU that its own transport takes."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        if url.userinfo:  # httpx has made a header of it
            url = url.copy_with(userinfo=b"")
        timeout = request.extensions["timeout"]
        body = await request.aread()
        with _errors_of_httpx():
            response = await self._session.request(
                request.method,
                str(url),
                headers=request.headers,
                data=BytesIO(body) if len(body) > _PIECE_BYTES else body or None,
                allow_redirects=False,
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(sock_connect=timeout["connect"], sock_read=timeout["read"]),
            )
        return httpx2.Response(response.status, headers=response.raw_headers, stream=_Body(response))

    async def aclose(self) -> None:
        await self._session.close()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        with _errors_of_httpx():
            async for data in self._response.content.iter_any():
                yield data

    async def aclose(self) -> None:
        self._response.release()  # closes the connection if the response has not ended


@contextmanager
def _errors_of_httpx() -> Generator[None]:
    try:
        yield
    except TimeoutError as error:
        raise httpx2.ReadTimeout(type(error).__name__) from error
    except (aiohttp.ClientError, OSError) as error:
        raise httpx2.NetworkError(type(error).__name__) from error
