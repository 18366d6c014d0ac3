"""HTTP calls that can be cancelled at any moment, without losing a connection of the pool.

They use aiohttp, which takes a sixth of httpx's CPU. httpcore 1.0 protects its cleanup by scopes of anyio, which do not
hold off `Task.cancel`: a cancellation may fall between the end of a response and the release of its connection. Then
the connection stays in the pool as busy for ever.
"""

import asyncio
import os
import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
from aiohttp.hdrs import PROXY_AUTHORIZATION

_UNSENT = "not sent"


@dataclass(slots=True)
class HttpCall:
    """Progress of one call. A CONNECT request to a proxy sends nothing of the call yet."""

    was_sent: bool = False


_running: ContextVar[HttpCall | None] = ContextVar("running", default=None)


def open_session(
    url: str,
    *,
    connections: int,
    timeout: aiohttp.ClientTimeout,
    headers: Mapping[str, str] | None = None,
    keep_alive_s: float = 5.0,
    is_traced: bool = False,
) -> aiohttp.ClientSession:
    """Open a pool of up to `connections` connections to the server of `url`, 0 for any number.

    `is_traced`: `tracked` can follow the calls, which takes a fifth more CPU.

    Proxies, and certificates other than certifi's, come from the environment, as with httpx: HTTP_PROXY, HTTPS_PROXY,
    ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR. Idle connections are closed after `keep_alive_s`.
    """
    proxy, credentials = _proxy_of(url)
    is_plain = urlsplit(url).scheme == "http" and not proxy.startswith("https:")
    tracing = aiohttp.TraceConfig()
    tracing.on_request_headers_sent.append(_note_sent)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=connections, keepalive_timeout=keep_alive_s, ssl=True if is_plain else _certificates()
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        middlewares=[_authorise(credentials)] if credentials else [],
        proxy=proxy or None,
        timeout=timeout,
        trace_configs=[tracing] if is_traced else [],
    )


@contextmanager
def tracked() -> Generator[HttpCall]:
    """Follow the one call that the block makes on a traced session.

    If it is cancelled before anything is sent, nothing will be, and `is_unsent` recognises the CancelledError.
    """
    call = HttpCall()
    token = _running.set(call)
    try:
        yield call
    except asyncio.CancelledError:
        if not call.was_sent:
            raise asyncio.CancelledError(_UNSENT) from None
        raise
    finally:
        _running.reset(token)


async def _note_sent(*_: object) -> None:
    """Note that the call's request is about to be written. The CONNECT request to a proxy is not traced."""
    call = _running.get()
    if call is not None:
        call.was_sent = True


def _proxy_of(url: str) -> tuple[str, str]:
    """Return the proxy that the environment names for this URL, and the header with the credentials for it.

    Each is "" if there is none. Raises ValueError for another kind than HTTP, or an address that is none.
    """
    target, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(target.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(target.netloc.rpartition("@")[2]):
        return "", ""
    with suppress(ValueError):  # its text may contain the password
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            user, password = unquote(parts.username or ""), unquote(parts.password or "")
            header = aiohttp.encode_basic_auth(user, password) if user or password else ""
            return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", header
    raise ValueError("the environment names a proxy that is not an HTTP proxy with a valid address")


def _authorise(header: str) -> aiohttp.ClientMiddlewareType:
    """Return a middleware that sends the credentials to the proxy.

    Errors of aiohttp contain the proxy's URL. So the credentials are not in it.
    """

    async def send(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        if request.is_ssl():
            request.update_proxy(request.proxy, None, {PROXY_AUTHORIZATION: header})  # for CONNECT
        else:
            request.headers[PROXY_AUTHORIZATION] = header
        return await handler(request)

    return send


@cache
def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates, which take 30 ms to load."""
    if file := os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context(cafile=file)
    if directory := os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context(capath=directory)
    return ssl.create_default_context(cafile=certifi.where())


def is_unsent(cancelled: asyncio.CancelledError) -> bool:
    """Return True if the cancelled call had sent nothing, and never will."""
    return cancelled.args == (_UNSENT,)
