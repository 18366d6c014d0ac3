"""Gets pages of the public internet, and of nothing else: addresses are checked once they are known, at every redirect."""

import asyncio
import codecs
import ipaddress
import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import httpx

from bot.agent.daemon_thread import call_in_daemon_thread
from bot.errors import ToolFailed
from bot.tools.public_addresses import Address, is_public

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
"""The addresses of a host name, for a port. Raises OSError where there are none."""

LARGEST_BODY = 2_000_000
"""Bytes, as they come and unpacked."""
REDIRECTS_AT_MOST = 5
LONGEST_URL = 2_000
_TRIED_ADDRESSES = 3
_CONNECT_S = 5.0
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
_LONGEST_TYPE = 200
"""Characters of a content type that are read."""
_TEXT_TYPES = re.compile(r"text/.+|application/(?:[\w.-]+\+)?(?:json|xml)|application/(?:yaml|javascript)")
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
"""Of a content type. The standard library's search, which is httpx's, takes seconds for a header full of semicolons."""
_CHARSETS = re.compile(
    r"ascii|utf-(?:8|16|32)(?:-\w+)?|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gb\w+|big5\w*|shift_ji\w+|euc_\w+|iso2022_\w+"
)
"""Those that decode in linear time: punycode and its like do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What was found: `url` is where it was, after all redirects, `kind` its media type."""

    url: str
    kind: str
    text: str


async def resolve(host: str, port: int) -> Sequence[Address]:
    """All addresses that the machine's resolver gives. Names that take long hold up nobody else's: the loop has few threads."""
    found = await call_in_daemon_thread(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), name="resolve"
    )
    return list(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedHttp:
    """The client. `ports` of None are the scheme's own.

    Connections go to the very address that was checked, so that a name which leads elsewhere a moment later gains
    nothing. Proxies of the environment are not used: what they reach cannot be checked. Each page has a connection of its
    own, and there are no cookies: sites that share an address, as many do, share neither.
    """

    resolve: Resolve = resolve
    allows: Callable[[Address], bool] = is_public
    ports: frozenset[int] | None = None
    timeout_s: float = 20.0
    trusted: Callable[[], ssl.SSLContext] = field(default_factory=lambda: _certificate_authorities)

    async def get(self, url: str) -> Page:
        """The page. Raises ToolFailed, in words that name no address, for all that is refused or does not answer."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self._follow(url)
        except TimeoutError as error:
            raise ToolFailed(f"The page did not come within {self.timeout_s:g} seconds.") from error
        except httpx.HTTPError as error:
            raise ToolFailed("The server did not answer as it should.") from error

    async def _follow(self, asked: str) -> Page:
        url = _parse(asked)
        for _ in range(REDIRECTS_AT_MOST + 1):
            found = await self._visit(url)
            if isinstance(found, Page):
                return found
            url = found
        raise ToolFailed(f"The page leads on more than {REDIRECTS_AT_MOST} times.")

    async def _visit(self, url: httpx.URL) -> Page | httpx.URL:
        """The page, or where it leads on to."""
        async with httpx.AsyncHTTPTransport(verify=self.trusted(), trust_env=False) as transport:
            response = await self._send(transport, url)
            try:
                if response.status_code in _REDIRECTS and "location" in response.headers:
                    return _join(url, response.headers["location"])
                if response.status_code != 200:
                    raise ToolFailed(f"The server answered {response.status_code}.")
                kind, charset = _content_type(response)
                return Page(url=str(url), kind=kind, text=_decode(await _body(response), charset))
            finally:
                await response.aclose()

    async def _send(self, transport: httpx.AsyncHTTPTransport, url: httpx.URL) -> httpx.Response:
        """Ask the first of the addresses that takes a connection."""
        host, port = url.raw_host.decode("ascii").rstrip("."), _port(url)
        headers = {
            "host": url.netloc.decode("ascii"),
            "accept": "*/*",
            "accept-encoding": "gzip",
            "connection": "close",
            "user-agent": "Mnemogram",
        }
        timeout = httpx.Timeout(self.timeout_s, connect=_CONNECT_S).as_dict()
        failure: httpx.HTTPError | None = None
        for address in (await self._checked(host, port))[:_TRIED_ADDRESSES]:
            request = httpx.Request(
                "GET",
                url.copy_with(host=str(address)),
                headers=headers,
                extensions={"sni_hostname": host, "timeout": timeout},
            )
            try:
                return await transport.handle_async_request(request)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise ToolFailed("The server cannot be reached.") from failure

    async def _checked(self, host: str, port: int) -> Sequence[Address]:
        """The host's addresses. One that is not public spoils them all: who names it so means harm."""
        if port not in (self.ports if self.ports is not None else _PORTS.values()):
            raise ToolFailed("Only pages on the usual ports can be read.")
        try:
            addresses = await self.resolve(host, port)
        except (OSError, UnicodeError, ValueError) as error:
            raise ToolFailed("There is no such host.") from error
        if not addresses or not all(map(self.allows, addresses)):
            raise ToolFailed("This address is not of the public internet: it cannot be read.")
        return addresses


def _port(url: httpx.URL) -> int:
    return _PORTS[url.scheme] if url.port is None else url.port


@cache
def _certificate_authorities() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)  # 30 ms each time


def _parse(text: str) -> httpx.URL:
    """The address to get. Raises ToolFailed."""
    if len(text) > LONGEST_URL:
        raise ToolFailed(f"The address is longer than {LONGEST_URL} characters.")
    try:
        url = httpx.URL(text)
        url.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise ToolFailed("This is no web address.") from error
    if url.scheme not in _PORTS or not url.host:
        raise ToolFailed("Only addresses that begin with http:// or https:// can be read.")
    if url.userinfo:
        raise ToolFailed("An address with a name or a password in it is not read.")
    return url.copy_with(fragment=None)


def _join(base: httpx.URL, location: str) -> httpx.URL:
    try:
        joined = base.join(location[: LONGEST_URL + 1])
    except (httpx.InvalidURL, ValueError) as error:
        raise ToolFailed("The page leads on to what is no web address.") from error
    if base.scheme == "https" and joined.scheme == "http":
        raise ToolFailed("The page leads on from https to http.")
    return _parse(str(joined))


def _content_type(response: httpx.Response) -> tuple[str, str]:
    given = response.headers.get("content-type", "")[:_LONGEST_TYPE]
    kind = given.partition(";")[0].strip().lower()
    if not _TEXT_TYPES.fullmatch(kind):
        raise ToolFailed("This is no text: only pages and other texts can be read.")
    charset = _CHARSET.search(given)
    return kind, charset[1] if charset else "utf-8"


async def _body(response: httpx.Response) -> bytes:
    """The body, unpacked as it comes and no further than LARGEST_BODY. Raises ToolFailed for a larger one."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise ToolFailed("The page is packed in a way that was not asked for.")
    body = bytearray()
    try:
        async for piece in _unpacked(response.aiter_raw(), is_packed="gzip" in packing):
            body += piece
            if len(body) > LARGEST_BODY:
                raise ToolFailed(f"The page is larger than {LARGEST_BODY:,} bytes.")
    except zlib.error as error:
        raise ToolFailed("The page is packed wrongly.") from error
    return bytes(body)


async def _unpacked(pieces: AsyncIterator[bytes], *, is_packed: bool) -> AsyncIterator[bytes]:
    """The pieces, none of them unpacked to more than LARGEST_BODY and a byte: a bomb of gzip grows a thousandfold.

    What comes after the end of what is packed is not asked for: zlib would copy all of it for each piece.
    """
    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    received = 0
    async for piece in pieces:
        received += len(piece)
        if received > LARGEST_BODY:
            raise ToolFailed(f"The page is larger than {LARGEST_BODY:,} bytes.")
        yield unpacking.decompress(piece, LARGEST_BODY + 1) if is_packed else piece
        if unpacking.eof:
            return
        await asyncio.sleep(0)  # a read may bring thousands of pieces, and a chat's turn comes between two


def _decode(body: bytes, charset: str) -> str:
    """The text; what is not of its charset is shown as �."""
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        name = "utf-8"
    return body.decode(name if _CHARSETS.fullmatch(name) else "utf-8", errors="replace")
