"""Chats in use, kept in memory as arrays: the searches of a turn take a fifth of the engine's time there.

The engine compares a query with every point of a chat, wherever in its files they are, and looks a word up among the
words of all chats. The arrays are copies: the engine keeps every point, and answers what they cannot answer.
"""

import asyncio
import os
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import qdrant_edge as edge

from memory.embedded.index import requests
from memory.embedded.index.tenant import Fields, Tenant, Unsuitable, plain

WANTED_AFTER = 6
"""Searches within IDLE_S after which a tenant is loaded: a turn has five. A load takes 30 µs of CPU a point."""
IDLE_S = 3_600.0
"""Time without a search after which a tenant leaves the memory."""
BUSY_S = 60.0
"""A tenant that was searched this recently makes no room for another: else two could push each other out."""

SLICE = 128
"""Points that are loaded at a time: other requests wait for 4 ms."""
LOAD_S = 10.0
"""Time for loads between two looks at what else is due, such as a vacuum."""

_ALL = 2**31 - 1
_MAX_BYTES, _SHARE_OF_MEMORY = 2**30, 0.25


class Tenants:
    """The tenants of a collection that are in memory, least recently searched first."""

    def __init__(self, settings: requests.CollectionSettings, *, max_bytes: int | None = None) -> None:
        self._settings = settings
        self._max_bytes = _room() if max_bytes is None else max_bytes
        self._fields: Fields = {}
        self._tenants: dict[str, Tenant] = {}
        self._asked: dict[str, list[float]] = {}
        """The times of searches that the engine had to answer."""
        self._field = ""

    def read_fields(self, info: "edge.ShardInfo") -> None:
        """Read the indexed fields, and which one tells tenants apart: without it the engine answers everything."""
        indexes = info.payload_schema.items()
        self._fields = {field: type_of(index) for field, index in indexes}
        self._field = next(
            (field for field, index in indexes if getattr(index.params, "is_tenant", None)), ""
        )
        self.forget()

    def search(self, search: requests.Search) -> list[dict[str, Any]] | None:
        """Return the hits; None if the engine must answer."""
        if (key := self._key_of(search.filter)) is None:
            return None
        tenant, now = self._tenants.get(key), time.monotonic()
        if tenant is None:
            self._asked[key] = [*self._asked.get(key, ())[-WANTED_AFTER:], now]
        if tenant is None or not tenant.is_complete:
            return None
        idf = search.params and search.params.idf
        if idf and self._key_of(idf.corpus) != key:
            return None
        tenant.used_at = now
        self._tenants[key] = self._tenants.pop(key)
        with suppress(Unsuitable):
            return tenant.search(search)

    def put(self, points: Sequence[requests.Point]) -> None:
        """Add or replace points that the engine has taken."""
        latest = {plain(point.id): point for point in points}
        for tenant in self._tenants.values():
            tenant.remove(list(latest))
        for point in latest.values():
            payload = point.payload or {}
            key = payload.get(self._field)
            if isinstance(key, str) and (tenant := self._tenants.get(key)):
                self._put(tenant, point.id, point.vector, payload)

    def delete(self, scope: requests.Filter) -> None:
        """Remove the points of a filter that the engine has deleted."""
        for tenant in list(self._tenants.values()):
            try:
                tenant.delete(scope)
            except Unsuitable:
                del self._tenants[tenant.key]

    @contextmanager
    def following(self) -> Generator[None]:
        """Forget all tenants if a write fails, in the engine or here: the two may differ then."""
        try:
            yield
        except Exception:
            self.forget()
            raise

    def forget(self) -> None:
        """Empty the memory: the engine may hold something else by now."""
        self._tenants.clear()
        self._asked.clear()

    def expire(self) -> None:
        """Release the tenants that nobody searches any more, and those with more empty rows than points."""
        oldest = time.monotonic() - IDLE_S
        for tenant in list(self._tenants.values()):
            if tenant.used_at < oldest or tenant.is_hollow:
                del self._tenants[tenant.key]
        self._asked = {key: times for key, times in self._asked.items() if times[-1] >= oldest}

    async def load_wanted(self, engine: edge.EdgeShard, slice_size: int = SLICE) -> None:
        """Load the tenants that are searched often, a slice at a time between requests, for LOAD_S at most."""
        begun = time.monotonic()
        for key, times in list(self._asked.items()):
            if (
                sum(at >= begun - IDLE_S for at in times) >= WANTED_AFTER
                and time.monotonic() - begun < LOAD_S
            ):
                self._asked.pop(key, None)
                try:
                    await self._load(key, engine, slice_size)
                except Exception:
                    self._tenants.pop(key, None)
                    raise

    def begin(self, key: str, points: int) -> Tenant | None:
        """Return an empty tenant for so many points, or None if there is no room for it.

        It gets the room of tenants that were not searched lately, if that is enough.
        """
        tenant = Tenant(key, self._field, self._fields, self._settings, points=points)
        idle_since = time.monotonic() - BUSY_S
        missing = sum(each.bytes for each in self._tenants.values()) + tenant.bytes - self._max_bytes
        idle = [each for each in self._tenants.values() if each.used_at < idle_since]
        if missing > sum(each.bytes for each in idle):
            return None
        for other in idle:
            if missing > 0:
                missing -= other.bytes
                del self._tenants[other.key]
        self._tenants[key] = tenant
        return tenant

    def is_kept(self, tenant: Tenant) -> bool:
        """Return True unless the tenant was released."""
        return self._tenants.get(tenant.key) is tenant

    async def _load(self, key: str, engine: edge.EdgeShard, slice_size: int) -> None:
        """Load a tenant as far as there is room. A write during that reaches the tenant too, or releases it."""
        match = requests.FieldMatch(key=self._field, match=requests.MatchValue(value=key))
        scope = requests.Filter(must=[match]).to_engine()
        if (tenant := self.begin(key, engine.count(edge.CountRequest(exact=True, filter=scope)))) is None:
            return
        # One long page of ids: each page of a filter begins with a walk over the points of other tenants.
        found, _ = engine.scroll(edge.ScrollRequest(None, _ALL, scope, with_payload=False, with_vector=False))
        for at in range(0, len(found), slice_size):
            if not self.is_kept(tenant):
                return
            started = time.monotonic()
            ids = [each.id for each in found[at : at + slice_size]]
            for each in engine.retrieve(ids, with_payload=True, with_vector=True):
                if (payload := each.payload or {}).get(self._field) == key:
                    self._put(tenant, each.id, cast("Mapping[str, Any]", each.vector or {}), payload)
            await asyncio.sleep(time.monotonic() - started)  # as long for other requests
        tenant.is_complete = True

    def _put(
        self, tenant: Tenant, point_id: "edge.PointId", vector: Mapping[str, Any], payload: Mapping[str, Any]
    ) -> None:
        """Put a point into a tenant, or release the tenant."""
        try:
            tenant.put(point_id, vector, payload)
        except Unsuitable:
            self._tenants.pop(tenant.key, None)

    def _key_of(self, scope: requests.Filter) -> str | None:
        for condition in scope.must:
            match condition:
                case requests.FieldMatch(key=self._field, match=requests.MatchValue(value=str(key))):
                    return key
                case _:
                    pass
        return None


def type_of(index: "edge.PayloadIndexInfo") -> str:
    """Return keyword, integer or float. The engine's enumeration has no names, only texts: PayloadSchemaType.Float."""
    return str(index.data_type).split(".")[1].lower()


def _room() -> int:
    """Return the bytes that tenants may take: a quarter of the memory, or of the container's, 1 GB at most."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no cgroup, or one without a limit ("max")
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(_MAX_BYTES, int(memory * _SHARE_OF_MEMORY))
