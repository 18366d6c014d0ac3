"""Telegram's side of the webhook, cheap:

each chat has a lane with one update in flight, and refused updates are repeated.
"""

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bot.settings import WEBHOOK_PATH

CONNECTIONS = 40
"""As many as Telegram has by default."""
_ANSWER_WITHIN_S = 60.0
_REST_S = 0.2
"""After an answer that says nothing of when to come again, or none."""


@dataclass(slots=True, kw_only=True)
class Written:
    """A message: the times at which it was written and acknowledged, its result, and its number of tries."""

    update_id: int
    chat_id: int
    text: str
    written_at: float
    acknowledged_at: float | None = None
    outcome: str = ""
    tries: int = 0


@dataclass(slots=True, kw_only=True)
class WebhookClient:
    """The messages in order, and the responses. Times are of `time.time`."""

    ports: Sequence[int]
    secret: str
    most_rest_s: float
    first_id: int = 1
    written: list[Written] = field(default_factory=list[Written])
    statuses: Counter[int] = field(default_factory=Counter[int])
    latencies: list[float] = field(default_factory=list[float])
    """Seconds from a post to its 200."""
    asked_to_wait: int = 0
    """Number of 503 with Retry-After."""
    waiting: int = 0
    """Number of unacknowledged messages."""
    _lanes: dict[int, deque[Written]] = field(default_factory=dict[int, deque[Written]])
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _free: list["_Connection"] = field(default_factory=list["_Connection"])
    _room: asyncio.Semaphore
    _turn: int = 0

    def write(self, chat_id: int, text: str) -> Written:
        """Write in a private chat. The update is posted after the earlier ones of this chat."""
        one = Written(
            update_id=self.first_id + len(self.written), chat_id=chat_id, text=text, written_at=time.time()
        )
        self.written.append(one)
        self.waiting += 1
        if chat_id in self._lanes:
            self._lanes[chat_id].append(one)
        else:
            self._lanes[chat_id] = deque([one])
            task = asyncio.create_task(self._deliver(chat_id), name=f"lane-{chat_id}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return one

    def depth(self, chat_id: int) -> int:
        """Return the number of unacknowledged messages of a chat."""
        return len(self._lanes.get(chat_id, ()))

    @property
    def acknowledged(self) -> list[Written]:
        """Return the messages that got a 200."""
        return [one for one in self.written if one.acknowledged_at is not None]

    async def stop(self) -> None:
        """Stop delivering: waiting updates are never acknowledged."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in self._free:
            connection.close()
        self._free.clear()

    async def _deliver(self, chat_id: int) -> None:
        lane = self._lanes[chat_id]
        while lane:
            rest_s = await self._post(lane[0])
            if rest_s:
                await asyncio.sleep(rest_s)
            else:
                lane.popleft()
                self.waiting -= 1
        del self._lanes[chat_id]

    async def _post(self, one: Written) -> float:
        """Post an update once. Return 0 on success, or the seconds until the next try."""
        async with self._room:
            one.tries += 1
            began = time.time()
            answer = await self._ask(_body(one))
            if answer is None:
                return _REST_S
            self.statuses[answer.status] += 1
            if answer.status == 200:
                one.acknowledged_at, one.outcome = time.time(), answer.outcome
                self.latencies.append(one.acknowledged_at - began)
                return 0.0
        self.asked_to_wait += answer.status == 503 and answer.retry_after_s > 0
        return min(answer.retry_after_s, self.most_rest_s) or _REST_S

    async def _ask(self, body: bytes) -> "_Answer | None":
        """Return the response; None if the connection broke, which leaves the outcome unknown."""
        connection: _Connection | None = self._free.pop() if self._free else None
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                if connection is None:
                    self._turn += 1
                    connection = await _connect(self.ports[self._turn % len(self.ports)], self.secret)
                answer = await connection.ask(body)
        except (OSError, EOFError, TimeoutError):
            if connection is not None:
                connection.close()
            return None
        except asyncio.CancelledError:
            if connection is not None:
                connection.close()
            raise
        if answer.is_last:
            connection.close()
        else:
            self._free.append(connection)
        return answer


@asynccontextmanager
async def open_webhook_client(
    ports: Sequence[int],
    *,
    secret: str,
    most_rest_s: float = 3600,
    connections: int = CONNECTIONS,
    first_id: int = 1,
) -> AsyncGenerator[WebhookClient]:
    """Open lanes to these ports of the webhook in turn. `most_rest_s` limits the used Retry-After."""
    room = asyncio.Semaphore(connections)
    lanes = WebhookClient(ports=ports, secret=secret, most_rest_s=most_rest_s, first_id=first_id, _room=room)
    try:
        yield lanes
    finally:
        await lanes.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: int
    outcome: str
    retry_after_s: float
    is_last: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    head: str

    async def ask(self, body: bytes) -> _Answer:
        self.writer.write(f"{self.head}{len(body)}\r\n\r\n".encode() + body)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        told = await self.reader.readexactly(int(fields["content-length"]))
        status = int(head[9:12])
        return _Answer(
            status=status,
            outcome=json.loads(told)["outcome"] if status == 200 else "",
            retry_after_s=float(fields.get("retry-after", 0)),
            is_last="close" in fields.get("connection", ""),
        )

    def close(self) -> None:
        self.writer.transport.abort()


async def _connect(port: int, secret: str) -> _Connection:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"X-Telegram-Bot-Api-Secret-Token: {secret}\r\nContent-Length: "
    )
    return _Connection(reader=reader, writer=writer, head=head)


def _body(one: Written) -> bytes:
    person = {"id": one.chat_id, "is_bot": False, "first_name": "Person", "language_code": "en"}
    message: dict[str, Any] = {
        "message_id": one.update_id,
        "from": person,
        "chat": {"id": one.chat_id, "first_name": "Person", "type": "private"},
        "date": int(one.written_at),
        "text": one.text,
    }
    if one.text.startswith("/"):
        length = len(one.text.partition(" ")[0])
        message["entities"] = [{"type": "bot_command", "offset": 0, "length": length}]
    return json.dumps({"update_id": one.update_id, "message": message}).encode()
