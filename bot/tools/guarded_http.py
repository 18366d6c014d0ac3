"""Gets pages of the public internet only: addresses are checked after their resolution, at every redirect."""

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
from ipaddress import IPv4Address, IPv6Address

import httpx

from bot.agent.daemon_thread import call_in_daemon_thread
from bot.errors import ToolFailed

Address = IPv4Address | IPv6Address

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All public IPv6 that IANA has assigned. Other addresses are local, reserved, or embed another address."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""RFC 6052: the last four bytes are the IPv4 address behind it."""
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",  # Azure's host: a public number, but the platform of the machine itself answers
        "192.0.0.0/24",  # IETF protocol assignments; 192.0.0.192 is Oracle's metadata
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # IETF protocol assignments, Teredo among them
        "2002::/16",  # 6to4: embeds any IPv4 address
        "3fff::/20",  # documentation, unknown to older ipaddress modules
    )
)

Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]
"""Returns the addresses of a host name for a port. Raises OSError if there are none."""

LARGEST_BODY = 2_000_000
"""Bytes of a body, packed and unpacked."""
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
"""The charset in a content type. The standard library and httpx take seconds for a header full of semicolons."""
_CHARSETS = re.compile(
    r"ascii|utf-(?:8|16|32)(?:-\w+)?|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gb\w+|big5\w*|shift_ji\w+|euc_\w+|iso2022_\w+"
)
"""Charsets that decode in linear time, unlike punycode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: `url` is its address after all redirects, `kind` its media type."""

    url: str
    kind: str
    text: str


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Return all addresses of the machine's resolver. Slow names do not block the few threads of the loop."""
    entries = await call_in_daemon_thread(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), name="resolve"
    )
    return list(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedHttp:
    """An HTTP client for public addresses. Without `ports` only the usual port of a scheme is allowed.

    Connections go to the checked address itself, so that a later change of the name has no effect. Proxies of the
    environment are ignored, because their targets cannot be checked. Each page has its own connection and no cookies:
    many sites share an address.
    """

    resolve: Resolve = resolve
    allows: Callable[[Address], bool] = field(default_factory=lambda: is_public)
    ports: frozenset[int] | None = None
    timeout_s: float = 20.0
    trusted: Callable[[], ssl.SSLContext] = field(default_factory=lambda: _certificate_authorities)

    async def get(self, url: str) -> Page:
        """Return the page. Raises ToolFailed, without an address in its text, for every refusal and failure."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self._follow(url)
        except TimeoutError as error:
            raise ToolFailed(f"The page did not arrive within {self.timeout_s:g} seconds.") from error
        except httpx.HTTPError as error:
            raise ToolFailed("The server did not answer as it should.") from error

    async def _follow(self, text: str) -> Page:
        url = _parse(text)
        for _ in range(REDIRECTS_AT_MOST + 1):
            result = await self._visit(url)
            if isinstance(result, Page):
                return result
            url = result
        raise ToolFailed(f"The page redirects more than {REDIRECTS_AT_MOST} times.")

    async def _visit(self, url: httpx.URL) -> Page | httpx.URL:
        """Return the page, or the target of its redirect."""
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
        """Send the request to the first address that accepts a connection."""
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
        """Return the addresses of a host. One that is not public is a sign of an attack and refuses them all."""
        if port not in (self.ports if self.ports is not None else _PORTS.values()):
            raise ToolFailed("Only pages on the usual ports can be read.")
        try:
            addresses = await self.resolve(host, port)
        except (OSError, UnicodeError, ValueError) as error:
            raise ToolFailed("The host does not exist.") from error
        if not addresses or not all(map(self.allows, addresses)):
            raise ToolFailed("This address is not on the public internet, so it cannot be read.")
        return addresses


def _port(url: httpx.URL) -> int:
    return _PORTS[url.scheme] if url.port is None else url.port


@cache
def _certificate_authorities() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)  # 30 ms each time


def _parse(text: str) -> httpx.URL:
    """Return the URL. Raises ToolFailed."""
    if len(text) > LONGEST_URL:
        raise ToolFailed(f"The address is longer than {LONGEST_URL} characters.")
    try:
        url = httpx.URL(text)
        url.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        raise ToolFailed("This is not a web address.") from error
    if url.scheme not in _PORTS or not url.host:
        raise ToolFailed("Only addresses that begin with http:// or https:// can be read.")
    if url.userinfo:
        raise ToolFailed("An address with a user name or a password cannot be read.")
    return url.copy_with(fragment=None)


def _join(base: httpx.URL, location: str) -> httpx.URL:
    try:
        joined = base.join(location[: LONGEST_URL + 1])
    except (httpx.InvalidURL, ValueError) as error:
        raise ToolFailed("The page redirects to something that is not a web address.") from error
    if base.scheme == "https" and joined.scheme == "http":
        raise ToolFailed("The page redirects from https to http.")
    return _parse(str(joined))


def _content_type(response: httpx.Response) -> tuple[str, str]:
    header = response.headers.get("content-type", "")[:_LONGEST_TYPE]
    kind = header.partition(";")[0].strip().lower()
    if not _TEXT_TYPES.fullmatch(kind):
        raise ToolFailed("This is not a text: only pages and other texts can be read.")
    charset = _CHARSET.search(header)
    return kind, charset[1] if charset else "utf-8"


async def _body(response: httpx.Response) -> bytes:
    """Return the body, unpacked piece by piece. Raises ToolFailed if it is larger than LARGEST_BODY."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("", "identity", "gzip", "x-gzip"):
        raise ToolFailed("The page has an unsupported content encoding.")
    body = bytearray()
    try:
        async for piece in _unpacked(response.aiter_raw(), is_packed="gzip" in packing):
            body += piece
            if len(body) > LARGEST_BODY:
                raise ToolFailed(f"The page is larger than {LARGEST_BODY:,} bytes.")
    except zlib.error as error:
        raise ToolFailed("The page has a broken content encoding.") from error
    return bytes(body)


async def _unpacked(pieces: AsyncIterator[bytes], *, is_packed: bool) -> AsyncIterator[bytes]:
    """Yield the pieces, each unpacked to at most LARGEST_BODY and one byte: a gzip bomb grows a thousandfold.

    Data after the end of the packed body is not read: zlib would copy all of it for each piece.
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
        await asyncio.sleep(0)  # one read may give thousands of pieces, and other chats need the loop


def _decode(body: bytes, charset: str) -> str:
    """Return the text. Bytes outside of its charset become �."""
    try:
        name = codecs.lookup(charset).name
    except (LookupError, ValueError):
        name = "utf-8"
    return body.decode(name if _CHARSETS.fullmatch(name) else "utf-8", errors="replace")


def is_public(address: Address) -> bool:
    """Return True if a connection to this address goes to the public internet.

    Return False for loopback, private, link-local (metadata services), carrier-grade NAT, multicast and reserved
    addresses, also if a standard embeds one in an IPv6 address. A private NAT64 prefix looks public.
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
        if address.scope_id is not None or address not in _GLOBAL_UNICAST:
            return False
    is_special = address.is_multicast or address.is_reserved or address.is_unspecified
    is_taken = any(address.version == network.version and address in network for network in _NOT_PUBLIC)
    return address.is_global and not is_special and not is_taken
