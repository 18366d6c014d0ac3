"""HTTP calls that can be cancelled at any moment, without losing a connection of the pool.

All of them use aiohttp, which takes a sixth of httpx's CPU. httpcore 1.0, under httpx, loses a connection for
ever in a few hundred cancelled calls.
"""

import asyncio
import os
import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp
import certifi
from aiohttp.hdrs import PROXY_AUTHORIZATION

from memory.proxy import SOCKS_PORT, proxy_of

_UNSENT = "not sent"


@dataclass(slots=True)
class HttpCall:
    """Progress of one call. A CONNECT request to a proxy sends nothing of the call yet."""

    was_sent: bool = False


class SocksProxyFailed(aiohttp.ClientConnectionError):
    """The SOCKS proxy of the environment made no connection, so nothing was sent."""


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

    Proxies, and certificates other than certifi's, come from the environment: see `proxy_of` and `certificates`. Idle
    connections are closed after `keep_alive_s`.
    """
    proxy = urlsplit(proxy_of(url) or "")
    place = f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}"
    user, password = unquote(proxy.username or ""), unquote(proxy.password or "")
    is_socks = proxy.scheme.startswith("socks")
    is_plain = urlsplit(url).scheme == "http" and proxy.scheme != "https"
    options: dict[str, Any] = {
        "limit": connections,
        "keepalive_timeout": keep_alive_s,
        "ssl": True if is_plain else certificates(),
    }
    middlewares: list[aiohttp.ClientMiddlewareType] = []
    connector = aiohttp.TCPConnector
    if is_socks:
        from aiohttp_socks import ProxyConnector

        # The proxy resolves the names: where Telegram is blocked, so are its names.
        connector = partial(
            ProxyConnector,
            proxy.hostname or "",
            proxy.port or SOCKS_PORT,
            username=user or None,
            password=password or None,
            rdns=True,
        )
        middlewares = [_errors_of_socks]
    elif user or password:
        middlewares = [_authorise(aiohttp.encode_basic_auth(user, password))]
    tracing = aiohttp.TraceConfig()
    tracing.on_request_headers_sent.append(_note_sent)
    return aiohttp.ClientSession(
        connector=connector(**options),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        middlewares=middlewares,
        proxy=place if proxy.scheme and not is_socks else None,
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


async def _errors_of_socks(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Raise the proxy's errors as one of aiohttp."""
    from aiohttp_socks import ProxyConnectionError, ProxyError, ProxyTimeoutError

    try:
        return await handler(request)
    except (ProxyConnectionError, ProxyError, ProxyTimeoutError) as error:
        raise SocksProxyFailed(str(error)) from None


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
def certificates() -> ssl.SSLContext:
    """Return certifi's certificates with those of SSL_CERT_FILE and SSL_CERT_DIR. Loading takes 30 ms.

    Those of a private authority come on top: Telegram and the model must stay trusted.
    """
    trusted = ssl.create_default_context(cafile=certifi.where())
    file, directory = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or directory:
        trusted.load_verify_locations(cafile=file or None, capath=directory or None)
    return trusted


def is_unsent(cancelled: asyncio.CancelledError) -> bool:
    """Return True if the cancelled call had sent nothing, and never will."""
    return cancelled.args == (_UNSENT,)
