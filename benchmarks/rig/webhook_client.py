"""Posts updates to a webhook over keep-alive connections, as Telegram does; its own process, run by ingest.py.

`python benchmarks/rig/webhook_client.py URL SECRET UPDATES CONNECTIONS CHATS FIRST_ID` prints one line of JSON.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(slots=True, kw_only=True)
class Load:
    """What to post where. Each chat has one connection, so that its updates arrive in order."""

    host: str
    port: int
    path: str
    secret: str
    updates: int
    connections: int
    chats: int
    first_id: int
    latencies: list[float] = field(default_factory=list[float])
    statuses: Counter[int] = field(default_factory=Counter[int])


async def run(load: Load) -> dict[str, object]:
    """Post everything; the figures."""
    requests: list[list[bytes]] = [[] for _ in range(load.connections)]
    for number in range(load.updates):
        chat = number % load.chats
        requests[chat % load.connections].append(_request(load, load.first_id + number, chat))
    streams = [await asyncio.open_connection(load.host, load.port) for _ in requests]
    began = time.perf_counter()
    await asyncio.gather(
        *(_post(load, *stream, share) for stream, share in zip(streams, requests, strict=True))
    )
    seconds = time.perf_counter() - began
    for _, writer in streams:
        writer.close()
    ranked = sorted(load.latencies)
    return {
        "rate": len(ranked) / seconds,
        "p50_ms": ranked[len(ranked) // 2] * 1000,
        "p99_ms": ranked[len(ranked) * 99 // 100] * 1000,
        "statuses": dict(load.statuses),
    }


async def _post(
    load: Load, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, requests: list[bytes]
) -> None:
    for request in requests:
        began = time.perf_counter()
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])
        await reader.readexactly(length)
        load.latencies.append(time.perf_counter() - began)
        load.statuses[int(head[9:12])] += 1


def _request(load: Load, update_id: int, chat: int) -> bytes:
    person = {"id": 5000 + chat, "is_bot": False, "first_name": f"Person {chat}", "language_code": "en"}
    message = {
        "message_id": update_id,
        "from": person,
        "chat": {"id": 5000 + chat, "first_name": f"Person {chat}", "type": "private"},
        "date": int(time.time()),
        "text": f"message {update_id}: a line of about eighty characters, as people write in a chat",
    }
    body = json.dumps({"update_id": update_id, "message": message}).encode()
    head = (
        f"POST {load.path} HTTP/1.1\r\nHost: {load.host}:{load.port}\r\nContent-Type: application/json\r\n"
        f"X-Telegram-Bot-Api-Secret-Token: {load.secret}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def main() -> None:
    """Read the arguments, post, print."""
    url, secret, *numbers = sys.argv[1:]
    updates, connections, chats, first_id = map(int, numbers)
    parts = urlsplit(url)
    load = Load(
        host=parts.hostname or "",
        port=parts.port or 80,
        path=parts.path,
        secret=secret,
        updates=updates,
        connections=connections,
        chats=chats,
        first_id=first_id,
    )
    print(json.dumps(asyncio.run(run(load))))


if __name__ == "__main__":
    main()
