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
from urllib.parse import SplitResult, urlsplit

_LARGEST_HEAD = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class Instead:
    """An answer that does not come from the index. Then the connection is closed, unless it `stays` silent."""

    answer: bytes
    # Pause before each byte, as of a server that trickles.
    pause_s: float = 0.0
    stays: bool = False


@dataclass(slots=True)
class QdrantManners:
    """The server's address, and the Accept-Encoding of each request so far; "" for a request without one."""

    url: str = ""
    accepted: list[str] = field(default_factory=list[str])
    # Answers every request that comes from now on, until it is None again.
    instead: Instead | None = None

    async def serve(
        self, index: SplitResult, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of one connection."""
        taken: socket.socket = writer.get_extra_info("socket")
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        index_reader, index_writer = await asyncio.open_connection(index.hostname, index.port)
        try:
            while True:
                head, body = await _read_message(reader)
                encodings = _header(head, b"accept-encoding")
                self.accepted.append(encodings.decode())
                if self.instead is not None:
                    await _write(self.instead, writer)
                    break
                index_writer.write(head + body)
                for segment in _as_qdrant(*await _read_message(index_reader), accepts=encodings):
                    writer.write(segment)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            index_writer.close()
            writer.close()


@asynccontextmanager
async def qdrant_manners(index_url: str, *, port: int = 0) -> AsyncGenerator[QdrantManners]:
    """Run the server before the index at this `http://` address."""
    index, server = urlsplit(index_url), QdrantManners()
    serving: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(server.serve(index, reader, writer), name="qdrant-manners")
        serving.add(task)
        task.add_done_callback(serving.discard)

    listening = await asyncio.start_server(begin, "127.0.0.1", port, limit=_LARGEST_HEAD)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def _write(instead: Instead, writer: asyncio.StreamWriter) -> None:
    if instead.pause_s:
        for byte in instead.answer:
            writer.write(bytes([byte]))
            await asyncio.sleep(instead.pause_s)
    else:
        writer.write(instead.answer)
        await writer.drain()
    if instead.stays:
        await asyncio.Event().wait()


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
