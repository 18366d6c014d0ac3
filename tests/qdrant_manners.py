"""A server before the index that sends its answers as Qdrant does: `python -m tests.qdrant_manners URL PORT`.

Qdrant 1.19 compresses if a request accepts it. Then the head of an answer and its body are two segments, and without
TCP_NODELAY the second waits until the client confirms the first, which a client on Linux does after 40 ms.
"""

import asyncio
import gzip
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_LARGEST_HEAD = 2**16


@dataclass(slots=True)
class QdrantManners:
    """The server's address, and the Accept-Encoding of each request so far; "" for a request without one."""

    url: str = ""
    accepted: list[str] = field(default_factory=list[str])


@asynccontextmanager
async def qdrant_manners(index_url: str, *, port: int = 0) -> AsyncGenerator[QdrantManners]:
    """Run the server before the index at this `http://` address."""
    place, seen = urlsplit(index_url), QdrantManners()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken: socket.socket = writer.get_extra_info("socket")
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        index_reader, index = await asyncio.open_connection(place.hostname, place.port)
        try:
            while True:
                head, body = await _read_message(reader)
                encodings = _header(head, b"accept-encoding")
                seen.accepted.append(encodings.decode())
                index.write(head + body)
                for segment in _as_qdrant(*await _read_message(index_reader), accepts=encodings):
                    writer.write(segment)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            index.close()
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", port, limit=_LARGEST_HEAD)
    seen.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    async with listening:
        yield seen


def _as_qdrant(head: bytes, body: bytes, *, accepts: bytes) -> list[bytes]:
    """Return the segments of an answer."""
    if b"gzip" not in accepts:
        return [head + body]
    small = gzip.compress(body, compresslevel=1)
    kept = [line for line in head.split(b"\r\n") if line and not line.lower().startswith(b"content-length")]
    length = b"content-length: %d" % len(small)
    return [b"\r\n".join([*kept, b"content-encoding: gzip", length, b"", b""]), small]


async def _read_message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    return head, await reader.readexactly(int(_header(head, b"content-length") or 0))


def _header(head: bytes, name: bytes) -> bytes:
    lines = (line.partition(b":") for line in head.split(b"\r\n"))
    return next((value.strip() for each, _, value in lines if each.lower() == name), b"")


async def main() -> None:
    """Serve until the process is ended."""
    async with qdrant_manners(sys.argv[1], port=int(sys.argv[2])):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
