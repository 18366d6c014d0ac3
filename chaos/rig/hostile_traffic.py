"""Hostile traffic to a webhook from a cheap separate process: `python -m chaos.rig.hostile_traffic ORDER`.

ORDER is a JSON object (`Order`). At its end it prints one line of JSON (`TrafficCounts`).
"""

import asyncio
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from random import Random

_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
_TAIL = 12
"""A status line that is cut by the end of a chunk has fewer bytes than this before the cut."""
_TICK_S = 0.01
_UNANSWERED_AT_MOST = 32
"""Limit of open requests per connection. The server gets no more until it has answered."""
_WITHIN_S = 3.0
"""The connections beside the small requests come one after the other within this time."""
_REST_S = 1.0
"""Before a connection that was ended comes again."""
_BIG = 100 << 20
_PIECE = b"a" * 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The traffic:

    small requests per second, and the rest during the whole time. `big`: bodies of 100 MB at a time;
    `slow`: connections that send a byte a second; `idle`: connections that send nothing.
    """

    port: int
    path: str
    secret: str
    seconds: float
    per_second: int
    big: int
    slow: int
    idle: int
    seed: int


@dataclass(slots=True, kw_only=True)
class TrafficCounts:
    """The responses:

    to small requests by status, to the others by kind and status ("closed": none). `longest_open_s`: the
    longest life of a slow or silent connection.
    """

    seconds: float = 0.0
    sent: int = 0
    answers: Counter[str] = field(default_factory=Counter[str])
    others: Counter[str] = field(default_factory=Counter[str])
    reconnections: int = 0
    longest_open_s: float = 0.0
    megabytes: float = 0.0


class _Small(asyncio.Protocol):
    """A connection for small requests, many at once. It reconnects when it is closed."""

    def __init__(self, tally: TrafficCounts) -> None:
        self._tally = tally
        self._tail = b""
        self.unanswered = 0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.unanswered = 0

    def data_received(self, data: bytes) -> None:
        told = self._tail + data
        found = _STATUS.findall(told)
        self._tail = told[-_TAIL:] if not _STATUS.search(told[-_TAIL:]) else b""
        self.unanswered -= len(found)
        for status in found:
            self._tally.answers[status.decode()] += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._tail = b""

    def send(self, requests: Sequence[bytes]) -> None:
        """Send the requests at once."""
        assert self.transport is not None
        self.unanswered += len(requests)
        self._tally.sent += len(requests)
        self.transport.write(b"".join(requests))


async def run(order: Order) -> TrafficCounts:
    """Send everything for this time and return the counts."""
    tally, random = TrafficCounts(), Random(order.seed)
    ends_at = time.monotonic() + order.seconds
    beside = [
        *(_again(partial(_send_big, order, tally, number), ends_at) for number in range(order.big)),
        *(_again(partial(_send_slowly, order, tally, number), ends_at) for number in range(order.slow)),
        *(_again(partial(_send_nothing, order, tally), ends_at, rest_s=5) for _ in range(order.idle)),
    ]
    tasks = [asyncio.create_task(_later(each, random.uniform(0, _WITHIN_S))) for each in beside]
    await _send_small(order, tally, random, ends_at)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return tally


async def _send_small(order: Order, tally: TrafficCounts, random: Random, ends_at: float) -> None:
    strangers, broken = _small_requests(order)
    connections = [_Small(tally) for _ in range(16)]
    begun = last = time.monotonic()
    due = 0.0
    while (now := time.monotonic()) < ends_at:
        due = min(due + (now - last) * order.per_second, order.per_second)
        last = now
        share = int(due) // len(connections) + 1
        for connection in connections:
            if connection.transport is None:
                tally.reconnections += 1
                await _connect(order, connection)
            if connection.transport is not None and due >= 1 and connection.unanswered < _UNANSWERED_AT_MOST:
                room = _UNANSWERED_AT_MOST - connection.unanswered
                requests = broken if connection is connections[0] else strangers
                batch = [random.choice(requests) for _ in range(min(share, int(due), room))]
                connection.send(batch)
                due -= len(batch)
        await asyncio.sleep(_TICK_S)
    tally.seconds = time.monotonic() - begun
    await asyncio.sleep(0.5)  # for the last answers
    for connection in connections:
        if connection.transport is not None:
            connection.transport.abort()


async def _connect(order: Order, connection: _Small) -> None:
    try:
        await asyncio.get_running_loop().create_connection(lambda: connection, "127.0.0.1", order.port)
    except OSError:
        return


def _small_requests(order: Order) -> tuple[list[bytes], list[bytes]]:
    """Return small requests that must be refused, each for another reason: without the secret, and with it."""
    wrong = [
        b"",
        b"wrong",
        order.secret.encode()[:-1],
        order.secret.encode() + b"x",
        b"\xff\xfe",
        "thé".encode(),
    ]
    whole = json.dumps({"update_id": 999_999_999, "message": {"text": "junk"}}).encode()
    headers = [b"X-Telegram-Bot-Api-Secret-Token: " + secret + b"\r\n" for secret in wrong]
    refused = [_post(order, header, whole) for header in (b"", *headers)]
    right = f"X-Telegram-Bot-Api-Secret-Token: {order.secret}\r\n".encode()
    broken = [_post(order, right, body) for body in (b"{", b"[]", b'{"update_id": "1"}', b"\xff" * 20)]
    return refused, broken


def _post(order: Order, headers: bytes, body: bytes) -> bytes:
    head = f"POST {order.path} HTTP/1.1\r\nHost: localhost\r\n".encode() + headers
    return head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _send_big(order: Order, tally: TrafficCounts, number: int) -> None:
    """Send 100 MB with or without a length, with the right or a wrong secret, until it is answered or cut off."""
    is_chunked, is_right = bool(number & 1), bool(number & 2)
    kind = f"big body{', chunked' if is_chunked else ''}, {'right' if is_right else 'wrong'} secret"
    reader, writer = await asyncio.open_connection("127.0.0.1", order.port)
    size = b"Transfer-Encoding: chunked" if is_chunked else b"Content-Length: %d" % _BIG
    piece = b"%x\r\n%s\r\n" % (len(_PIECE), _PIECE) if is_chunked else _PIECE
    answer = asyncio.create_task(reader.readline())
    try:
        writer.write(_head(order, order.secret if is_right else "wrong") + size + b"\r\n\r\n")
        for _ in range(_BIG // len(_PIECE)):
            if answer.done():
                break
            writer.write(piece)
            await writer.drain()
            tally.megabytes += len(piece) / (1 << 20)
    except ConnectionError:
        pass
    await _note_answer(tally, kind, answer, writer)


async def _send_slowly(order: Order, tally: TrafficCounts, number: int) -> None:
    """Send a byte a second:

    of the head, of one endless head line, of the body with the right or a wrong secret.
    """
    kind, secret, rest = [
        ("slow head", "wrong", b""),
        ("endless head", "wrong", b""),
        ("slow body, right secret", order.secret, b"Content-Length: 1000\r\n\r\n"),
        ("slow body, wrong secret", "wrong", b"Content-Length: 1000\r\n\r\n"),
    ][number % 4]
    reader, writer = await asyncio.open_connection("127.0.0.1", order.port)
    answer = asyncio.create_task(reader.readline())
    begun = time.monotonic()
    writer.write(_head(order, secret) + rest)
    ended: asyncio.Task[bytes] | None = None
    try:
        while ended is None or not ended.done():
            if kind == "endless head":
                writer.write(b"X-Junk: " + _PIECE[:4000] + b"\r\n")
            else:
                writer.write(b"x")
            await writer.drain()
            await asyncio.wait([ended or answer], timeout=1)
            if answer.done() and ended is None:
                ended = asyncio.create_task(reader.read())
    except ConnectionError:
        pass
    finally:
        if ended is not None:
            ended.cancel()
    tally.longest_open_s = max(tally.longest_open_s, time.monotonic() - begun)
    await _note_answer(tally, kind, answer, writer)


async def _send_nothing(order: Order, tally: TrafficCounts) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", order.port)
    begun = time.monotonic()
    answer = asyncio.create_task(reader.readline())
    await asyncio.wait([answer])
    tally.longest_open_s = max(tally.longest_open_s, time.monotonic() - begun)
    await _note_answer(tally, "idle", answer, writer)


async def _note_answer(
    tally: TrafficCounts, kind: str, answer: "asyncio.Task[bytes]", writer: asyncio.StreamWriter
) -> None:
    await asyncio.wait([answer], timeout=5)
    line = b"" if not answer.done() or answer.exception() else answer.result()
    answer.cancel()
    found = _STATUS.match(line)
    tally.others[f"{kind}: {found[1].decode() if found else 'closed'}"] += 1
    writer.transport.abort()


async def _later(work: Coroutine[None, None, None], seconds: float) -> None:
    try:
        await asyncio.sleep(seconds)
        await work
    finally:
        work.close()


async def _again(send: Callable[[], Awaitable[None]], ends_at: float, *, rest_s: float = _REST_S) -> None:
    while time.monotonic() < ends_at:
        with suppress(OSError):
            await send()
        await asyncio.sleep(rest_s)


def _head(order: Order, secret: str) -> bytes:
    return (
        f"POST {order.path} HTTP/1.1\r\nHost: localhost\r\nX-Telegram-Bot-Api-Secret-Token: {secret}\r\n"
    ).encode()


def main() -> None:
    """Read the order, send the traffic, print the counts."""
    tally = asyncio.run(run(Order(**json.loads(sys.argv[1]))))
    sys.stdout.write(json.dumps({each.name: getattr(tally, each.name) for each in fields(tally)}))


def read_tally(printed: bytes) -> TrafficCounts:
    """Parse the output of the process."""
    told = json.loads(printed)
    answers, others = Counter[str](told.pop("answers")), Counter[str](told.pop("others"))
    return TrafficCounts(**told, answers=answers, others=others)


if __name__ == "__main__":
    main()
