"""Builds the operators' part of the page's API, with the checks that it runs."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING

from bot.app.build import build_costs, build_inbox
from bot.app.erasures import build_forget_jobs
from bot.app.stores import IntakeStores, store_config
from bot.features.parts import Stores
from bot.inbox.inspection import InboxInspection
from bot.observe.series import CounterReader
from bot.page.chats import ChatList
from bot.page.documents import Document
from bot.page.operations import Operations
from bot.page.visitors import PageError
from bot.settings import Settings
from memory.stores import qdrant_place

if TYPE_CHECKING:
    from memory.recall.qdrant.index import QdrantIndex

_PROBE = "health"
_DOCTOR_S = 30.0
_STATES: Mapping[str, str] = MappingProxyType({"ok": "ok", "warn": "warning", "fail": "problem"})


def build_operations(
    settings: Settings, stores: IntakeStores | Stores, stack: AsyncExitStack, *, simulator_port: int | None
) -> Operations:
    """Return the operators' part. The stack closes what its checks open."""
    redis, partitions = stores.redis, settings.partitions
    return Operations(
        redis=redis,
        inbox=build_inbox(settings, redis, clock=time.time),
        inspection=InboxInspection(redis, partitions=partitions, clock=time.time),
        counters=CounterReader(redis, partitions=partitions, clock=time.time),
        chats=ChatList(
            redis, stores.migrations, bot_id=settings.bot_id, partitions=partitions, clock=time.time
        ),
        costs=build_costs(settings, redis, clock=time.time),
        guests=stores.guests,
        probe_index=IndexProbe(settings, stores, stack).run,
        settings=settings,
        forget_jobs=build_forget_jobs(settings, redis, clock=time.time),
        examine=partial(examine, settings, simulator_port=simulator_port),
        partitions=partitions,
        version=version("mnemogram"),
    )


class IndexProbe:
    """Asks whether the index answers, without the embedder of searches."""

    def __init__(self, settings: Settings, stores: IntakeStores | Stores, stack: AsyncExitStack) -> None:
        """The stack closes what is opened."""
        self._settings = settings
        self._stack = stack
        self._recall = stores.recall if isinstance(stores, Stores) else None
        self._index: QdrantIndex | None = None

    async def run(self) -> None:
        """Count the points of a context that does not exist. Raises MemoryFailure if the index does not answer."""
        if self._recall is not None:
            await self._recall.ping()
            return
        if self._index is None:
            from memory.recall.qdrant.index import QdrantIndex, open_qdrant

            async with AsyncExitStack() as opening:
                url, api_key = await qdrant_place(store_config(self._settings), opening)
                qdrant = await opening.enter_async_context(open_qdrant(url, api_key=api_key))
                self._stack.push_async_callback(opening.pop_all().aclose)
            self._index = QdrantIndex(qdrant, _PROBE, dimension=1)
        await self._index.count(_PROBE)


async def examine(settings: Settings, *, simulator_port: int | None) -> list[Document]:
    """Return the findings of `mnemogram doctor`, which runs with these settings in a process of its own.

    Its checks load an embedder, which a process that only takes updates should not keep. Raises PageError.
    """
    port = () if simulator_port is None else ("--simulator-port", str(simulator_port))
    doctor = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "doctor", "--json", *port),
        env={**os.environ, **settings.environment},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_DOCTOR_S):
            printed, _ = await doctor.communicate()
        checks = json.loads(printed)["checks"]
    except (TimeoutError, ValueError):
        raise PageError(
            "unavailable", "The checks did not end. Run `mnemogram doctor` on the server."
        ) from None
    finally:
        if doctor.returncode is None:
            doctor.kill()
            await doctor.wait()
    return [
        {
            "name": check["name"],
            "state": _STATES[check["level"]],
            "text": check["says"],
            "hint": check["fix"] or "",
        }
        for check in checks
    ]
