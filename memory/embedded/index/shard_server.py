"""The process that has shards: `python -m memory.embedded.index.shard_server`, its socket to the front as stdin.

The engine holds the interpreter whatever it does, so that it lives apart from whoever listens for requests, and what
takes it long (loading, closing, filling a shard that is to take the place of another) is done in a second such process.
"""

import argparse
import asyncio
import ctypes
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from memory.embedded.index.api_key import load_api_key
from memory.embedded.index.app import build_app
from memory.embedded.index.collections import Collections
from memory.embedded.index.flushing import FlushTimes, flush, keep_flushed
from memory.embedded.index.folders import settle
from memory.embedded.index.tunnel import FLUSH, LEAVE, Asked, Told, Tunnel, read_asked, tell_told

_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Serve until the front is gone; then flush and close."""
    parser = argparse.ArgumentParser(prog="shard_server")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument(
        "--only", nargs=2, metavar=("COLLECTION", "SHARD"), help="a new shard, not every collection there is"
    )
    wanted = parser.parse_args()
    os.umask(0o077)
    _die_with_front()
    directory: Path = wanted.directory / "collections"
    shards = dict([wanted.only]) if wanted.only else settle(directory)
    collections = Collections.open(directory, shards)
    app = build_app(collections, load_api_key(wanted.directory / "api-key"))
    asyncio.run(_Server(app, collections).serve(socket.socket(fileno=os.dup(sys.stdin.fileno()))))
    return 0


class _Server:
    def __init__(self, app: ASGIApp, collections: Collections) -> None:
        self._app = app
        self._collections = collections
        self._answering = set[asyncio.Task[None]]()
        self._tunnel: Tunnel | None = None

    async def serve(self, end: socket.socket) -> None:
        front_is_gone = asyncio.Event()
        self._tunnel = await Tunnel.open(end, self._begin, front_is_gone.set)
        flushing = asyncio.create_task(keep_flushed(self._collections, FlushTimes()), name="index flushing")
        try:
            self._tell(Told(collections=self._garbage()))
            await front_is_gone.wait()
        finally:
            flushing.cancel()
            await asyncio.gather(flushing, *self._answering, return_exceptions=True)
            self._collections.close()

    def _begin(self, header: dict[str, Any], body: bytes) -> None:
        task = asyncio.create_task(self._answer(*read_asked(header, body)))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer(self, number: int, asked: Asked) -> None:
        exchange = _Exchange(asked)
        try:
            await self._do(asked, exchange)
        finally:
            self._tell(
                Told(
                    number=number,
                    status=exchange.status,
                    media_type=exchange.media_type,
                    body=bytes(exchange.answer),
                    collections=self._garbage(),
                )
            )

    def _tell(self, told: Told) -> None:
        if self._tunnel is not None:
            self._tunnel.send(tell_told(told), told.body)

    async def _do(self, asked: Asked, exchange: "_Exchange") -> None:
        if asked.method == FLUSH:
            for collection in self._collections:
                await flush(collection)
        elif asked.method == LEAVE:
            self._collections.leave(asked.path)
        else:
            await self._app(exchange.scope, exchange.receive, exchange.send)
            return
        exchange.status = 200

    def _garbage(self) -> dict[str, bool]:
        return {collection.name: collection.has_garbage for collection in self._collections}


class _Exchange:
    """A request and its answer, as the framework wants to see them. Where no answer comes its status is 500."""

    def __init__(self, asked: Asked) -> None:
        self.status = 500
        self.media_type = "application/json"
        self.answer = bytearray()
        self._body = asked.body
        self.scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": asked.method,
            "path": asked.path,
            "query_string": asked.query.encode("latin-1"),
            "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in asked.headers],
        }

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.media_type = dict(message["headers"])[b"content-type"].decode("latin-1")
        else:
            self.answer += message.get("body", b"")


def _die_with_front() -> None:
    """On Linux, at once; elsewhere, and where it is gone already, the end of the socket says so."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
