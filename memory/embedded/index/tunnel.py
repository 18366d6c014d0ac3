"""Requests and answers between the front and a process that has shards: frames over a socket, in any order."""

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

FLUSH = "(flush)"
"""In place of a method: put every collection on the disk. No method of HTTP has parentheses: nobody else can ask it."""
LEAVE = "(leave)"
"""In place of a method: close the collection that the path names, as another process has it now."""

LOADED = 0
"""The number of the answer that nobody asked for: everything is loaded."""

_LENGTHS = struct.Struct(">II")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came over HTTP: the path decoded, the query string not; of the headers those with a key."""

    method: str
    path: str
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """The answer to the request of this number.

    `collections` are those of the process, each with whether it has garbage.
    """

    number: int = LOADED
    status: int = 200
    media_type: str = "application/json"
    body: bytes = b""
    collections: Mapping[str, bool]


class Tunnel(asyncio.Protocol):
    """One end of the socket. Frames are handed to `on_frame` as they come, in order; `on_end` is called once, when the
    other end is gone or this one was closed. A protocol of asyncio, as its streams take twice the time.
    """

    def __init__(self, on_frame: Callable[[dict[str, Any], bytes], None], on_end: Callable[[], None]) -> None:
        self._on_frame = on_frame
        self._on_end = on_end
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self.ended = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(
        cls,
        end: socket.socket,
        on_frame: Callable[[dict[str, Any], bytes], None],
        on_end: Callable[[], None],
    ) -> "Tunnel":
        """Over a connected socket, which it closes."""
        loop = asyncio.get_running_loop()
        _, tunnel = await loop.create_connection(lambda: cls(on_frame, on_end), sock=end)
        return tunnel

    def send(self, header: dict[str, Any], body: bytes) -> None:
        """A frame for the other end; nothing where that is gone."""
        if self._transport is not None and not self.ended.done():
            head = json.dumps(header).encode()
            self._transport.write(_LENGTHS.pack(len(head), len(body)) + head + body)

    def close(self) -> None:
        """Close this end; the other one sees that."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """See asyncio.Protocol."""
        self._received += data
        while len(self._received) >= _LENGTHS.size:
            head, body = _LENGTHS.unpack_from(self._received)
            middle, end = _LENGTHS.size + head, _LENGTHS.size + head + body
            if len(self._received) < end:
                return
            frame = json.loads(self._received[_LENGTHS.size : middle]), bytes(self._received[middle:end])
            del self._received[:end]
            self._on_frame(*frame)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        if not self.ended.done():
            self.ended.set_result(None)
        self._on_end()


def tell_asked(number: int, asked: Asked) -> dict[str, Any]:
    """The header of a request; its number comes back with the answer."""
    return {
        "number": number,
        "method": asked.method,
        "path": asked.path,
        "query": asked.query,
        "headers": asked.headers,
    }


def read_asked(header: dict[str, Any], body: bytes) -> tuple[int, Asked]:
    """A request and its number."""
    headers = tuple((name, value) for name, value in header["headers"])
    asked = Asked(
        method=header["method"], path=header["path"], query=header["query"], headers=headers, body=body
    )
    return header["number"], asked


def tell_told(told: Told) -> dict[str, Any]:
    """The header of an answer."""
    return {
        "number": told.number,
        "status": told.status,
        "media_type": told.media_type,
        "collections": dict(told.collections),
    }


def read_told(header: dict[str, Any], body: bytes) -> Told:
    """An answer."""
    return Told(**header, body=body)
