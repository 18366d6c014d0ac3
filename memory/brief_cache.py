"""A cache of what was made from texts of chats. Erasures do not reach it, so it keeps nothing for long."""

import asyncio
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

KEPT_S = 60.0
"""An entry leaves at most this long after its last use. Half of this after it, it may be gone already."""


class BriefCache(Generic[K, V]):
    """Values by key, for up to `KEPT_S` after their last use, also if nobody uses the cache any more.

    They take `max_bytes` together at most, and those that were used last stay. It works within one event loop.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._half = max_bytes // 2
        # The used entries of this half of the time, and those of the half before, each with its size.
        self._newer: dict[K, tuple[V, int]] = {}
        self._older: dict[K, tuple[V, int]] = {}
        self._newer_bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def get(self, key: K) -> V | None:
        """Return the value, or None if there is none."""
        entry = self._newer.get(key)
        if entry is None:
            entry = self._older.pop(key, None)
            if entry is None:
                return None
            self.put(key, *entry)
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep the value, which takes `size` bytes with its key. One over half of `max_bytes` is not kept."""
        if size > self._half:
            return
        if self._newer_bytes + size > self._half:
            self._drop_older()
        self._newer[key] = value, size
        self._newer_bytes += size
        if self._timer is None:
            self._age()

    def _age(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(KEPT_S / 2, self._pass_half)

    def _pass_half(self) -> None:
        self._timer = None
        self._drop_older()
        if self._older:
            self._age()

    def _drop_older(self) -> None:
        self._older, self._newer, self._newer_bytes = self._newer, {}, 0
