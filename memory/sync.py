"""The library for programs without an event loop: a background thread runs one, and each call waits for its result."""

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from memory.library import Chat, Memory
from memory.recall.embedders.own import EmbedFunction

P = ParamSpec("P")
T = TypeVar("T")
_EXIT_S = 10.0
"""Time for closing when the interpreter ends. Then the stores see a dead process, and end themselves."""


class SyncMemory:
    """`Memory` without `await`. It is open when `SyncMemory.open` returns, and any thread may call it.

    At the end of the program it closes itself. An interrupted call (Ctrl-C) is cancelled; the memory stays usable.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._calls: set[asyncio.Task[Any] | None] = set()
        self._closing = threading.Lock()
        # A daemon, because the interpreter waits for other threads before it calls `_close_at_exit`.
        self._thread = threading.Thread(target=self._serve, name="mnemogram-memory", daemon=True)
        self._thread.start()
        atexit.register(self._close_at_exit)

    @classmethod
    def open(
        cls,
        redis_url: str | None = None,
        *,
        qdrant_url: str | None = None,
        qdrant_api_key: str | None = None,
        data_dir: str | Path = "data",
        embed: EmbedFunction | None = None,
        embed_name: str = "",
    ) -> Self:
        """Open the stores: see Memory.open. Close it with `close`, or write `with SyncMemory.open() as memory`."""
        opening = Memory.open(
            redis_url,
            qdrant_url=qdrant_url,
            qdrant_api_key=qdrant_api_key,
            data_dir=data_dir,
            embed=embed,
            embed_name=embed_name,
        )
        memory = cls(opening)
        try:
            memory.wait(opening.__aenter__())
        except BaseException:
            memory.close()
            raise
        return memory

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Cancel the calls that run, close the stores, and end the thread. Repeating does nothing."""
        self._close(None)

    def chat(self, key: str) -> "SyncChat":
        """See Memory.chat."""
        return SyncChat(self, self._memory.chat(key))

    def chats(self) -> "list[SyncChat]":
        """See Memory.chats."""
        return [SyncChat(self, chat) for chat in self.wait(self._memory.chats())]

    def index(self) -> int:
        """See Memory.index."""
        return self.wait(self._memory.index())

    def wait(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call of the memory in the background thread, and return its result."""
        refusal = ""
        if os.getpid() != self._process:
            refusal = "The memory was opened before this process was forked: open one in each process."
        elif threading.current_thread() is self._thread:
            refusal = "The memory waits for this call itself: an async `embed` must not call it."
        elif not self._thread.is_alive() or self._loop.is_closed():
            refusal = "The memory is closed: `memory = SyncMemory.open()`."
        if refusal:
            call.close()
            raise RuntimeError(refusal)
        future = asyncio.run_coroutine_threadsafe(self._noted(call), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _close_at_exit(self) -> None:
        with suppress(Exception):  # nobody could handle it
            self._close(_EXIT_S)

    def _close(self, limit_s: float | None) -> None:
        if os.getpid() != self._process:
            return
        with self._closing:
            if not self._thread.is_alive():
                return
            atexit.unregister(self._close_at_exit)
            try:
                asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(limit_s)
            finally:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join(limit_s)

    async def _noted(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call that `_end` cancels."""
        self._calls.add(task := asyncio.current_task())
        try:
            return await call
        finally:
            self._calls.discard(task)

    async def _end(self) -> None:
        running = [task for task in self._calls if task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._memory.close()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


def _waiting(
    method: Callable[Concatenate[Chat, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["SyncChat", P], T]:
    """Return the method of SyncChat that waits for this method of Chat."""

    @wraps(method)
    def call(chat: "SyncChat", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return chat.memory.wait(method(chat.chat, *args, **kwargs))

    return call


class SyncChat:
    """`Chat` without `await`: the same methods, arguments and results."""

    def __init__(self, memory: SyncMemory, chat: Chat) -> None:
        self.memory = memory
        self.chat = chat
        self.key = chat.key

    add_user = _waiting(Chat.add_user)
    add_assistant = _waiting(Chat.add_assistant)
    get = _waiting(Chat.get)
    update = _waiting(Chat.update)
    recent = _waiting(Chat.recent)
    count = _waiting(Chat.count)
    search = _waiting(Chat.search)
    context = _waiting(Chat.context)
    facts = _waiting(Chat.facts)
    export = _waiting(Chat.export)
    forget = _waiting(Chat.forget)
    reset = _waiting(Chat.reset)
