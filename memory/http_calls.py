"""HTTP calls that can be cancelled at any moment, without losing a connection of the pool.

The calls of every turn use aiohttp, which takes a sixth of httpx's CPU (`open_session`, `tracked`). `shielded` is for
clients that are built on httpx.

httpcore 1.0 protects its cleanup by scopes of anyio, which do not hold off `Task.cancel`. A cancellation may fall
between the end of a response and the release of its connection, or before the first byte is sent. Then the connection
stays in the pool as busy for ever. Under load this happens once in a few hundred cancelled calls, and the bot goes
silent when all connections are lost. `shielded` cancels a call only at points that httpcore handles.
"""

import asyncio
import os
import ssl
from collections.abc import Awaitable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

import aiohttp
import certifi
from aiohttp.hdrs import PROXY_AUTHORIZATION

from memory.proxy import SOCKS_PORT, proxy_of

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

_BEFORE_SENDING = frozenset({"connection.connect_tcp.started", "http11.send_request_headers.started"})
"""Events of httpcore's trace at which an exception leaves the connection closed, or unchanged."""
_SENDING = "http11.send_request_headers.started"
_ENDING = frozenset(
    {
        "http11.receive_response_body.complete",
        "http11.receive_response_body.failed",
        "http11.response_closed.started",
    }
)
"""The connection is released from the first of these events on."""

_abandoned: set[asyncio.Task[Any]] = set()
"""Abandoned calls that have not ended yet: an event loop keeps no strong reference to its tasks."""
_UNSENT = "not sent"


@dataclass(slots=True)
class HttpCall:
    """Progress of one call. A CONNECT request to a proxy sends nothing of the call yet.

    `can_be_cancelled`: the request is under way, and httpcore closes the connection if the task is
    cancelled now.
    """

    was_sent: bool = False
    is_abandoned: bool = False
    can_be_cancelled: bool = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Record an event. httpcore calls this at every step."""
        if self.is_abandoned and event in _BEFORE_SENDING:
            raise asyncio.CancelledError
        if event == _SENDING:
            self.can_be_cancelled = info["request"].method != b"CONNECT"
            self.was_sent = self.was_sent or self.can_be_cancelled
        elif event in _ENDING:
            self.can_be_cancelled = False


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
    """Return the certificates of SSL_CERT_FILE or SSL_CERT_DIR, else certifi's. Loading takes 30 ms."""
    if file := os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context(cafile=file)
    if directory := os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context(capath=directory)
    return ssl.create_default_context(cafile=certifi.where())


async def shielded(call: Awaitable[T], state: HttpCall | None = None) -> T:
    """Await the call in a task of its own, on a client that has `track_request` as a request hook.

    A cancelled caller returns at once. A request that was not sent never will be, and `is_unsent`
    recognises its CancelledError. A request under way is cancelled; if its response has begun, it finishes
    unobserved. A handshake goes on up to the client's timeout, because httpcore leaks the socket of a
    cancelled handshake.
    """
    progress = state or HttpCall()

    async def run() -> T:
        _running.set(progress)
        return await call

    task = asyncio.create_task(run(), name="http-call")
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        progress.is_abandoned = True
        if progress.can_be_cancelled:
            task.cancel()
        _abandoned.add(task)
        task.add_done_callback(_forget)
        if not progress.was_sent:
            raise asyncio.CancelledError(_UNSENT) from None
        raise


def is_unsent(cancelled: asyncio.CancelledError) -> bool:
    """Return True if the cancelled call had sent nothing, and never will."""
    return cancelled.args == (_UNSENT,)


def is_abandoned() -> bool:
    """Return True inside a call whose caller was cancelled."""
    call = _running.get()
    return call is not None and call.is_abandoned


async def track_request(request: "httpx.Request") -> None:
    """Request hook of the client: lets `shielded` follow each request."""
    call = _running.get()
    if call is not None:
        if call.is_abandoned:
            raise asyncio.CancelledError
        call.can_be_cancelled = False
        request.extensions["trace"] = call.trace


def _forget(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # otherwise asyncio logs it as never retrieved
