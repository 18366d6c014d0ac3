"""Counts requests to the stores: round trips to Redis by name, the server's own work, requests to Qdrant."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.recall.qdrant import index as qdrant_index
from memory.redis.client import Command, RedisClient
from memory.redis.lua import ScriptCall

_TOP_LEVEL = {"evalsha", "xreadgroup"}
"""What a turn sends by itself; the time of a script holds that of its commands."""


@dataclass(slots=True)
class Tally:
    """Requests since the last `clear`: trips to Redis by the names of their commands and scripts, and to Qdrant."""

    redis: list[str] = field(default_factory=list[str])
    qdrant: list[str] = field(default_factory=list[str])

    def clear(self) -> None:
        """Begin again."""
        self.redis.clear()
        self.qdrant.clear()

    def noting(self, send: qdrant_index.Send) -> qdrant_index.Send:
        """Return a sender of requests to Qdrant that notes them first."""

        async def note(method: str, path: str, body: bytes) -> bytes:
            self.qdrant.append(f"{method} {re.sub('mnemogram_[^/]+', 'NAME', path.partition('?')[0])}")
            return await send(method, path, body)

        return note


@dataclass(frozen=True, slots=True)
class NamedTrips:
    """A RedisClient that notes the name of each trip."""

    redis: RedisClient
    tally: Tally
    is_cluster: bool = False
    beside: None = None

    async def call(self, *command: str | int | float | bytes) -> Any:
        """See RedisClient."""
        self.tally.redis.append(str(command[0]))
        return await self.redis.call(*command)

    async def calls(self, commands: Sequence[Command]) -> list[Any]:
        """See RedisClient."""
        self.tally.redis.append(" + ".join(str(command[0]) for command in commands))
        return await self.redis.calls(commands)

    async def run(self, call: ScriptCall) -> Any:
        """See RedisClient."""
        self.tally.redis.append(f"{call.script.name}.lua")
        return await self.redis.run(call)

    async def run_all(self, calls: Sequence[ScriptCall]) -> list[Any]:
        """See RedisClient."""
        self.tally.redis.append(" + ".join(f"{call.script.name}.lua" for call in calls))
        return await self.redis.run_all(calls)

    async def run_each(self, calls: Sequence[ScriptCall]) -> list[Any]:
        """See RedisClient."""
        self.tally.redis.append(" + ".join(f"{call.script.name}.lua" for call in calls))
        return await self.redis.run_each(calls)

    async def run_durably(self, call: ScriptCall) -> Any:
        """See RedisClient."""
        self.tally.redis.append(f"{call.script.name}.lua + WAITAOF")
        return await self.redis.run_durably(call)

    async def run_all_durably(self, calls: Sequence[ScriptCall]) -> list[Any]:
        """See RedisClient."""
        self.tally.redis.append(" + ".join([*(f"{call.script.name}.lua" for call in calls), "WAITAOF"]))
        return await self.redis.run_all_durably(calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerWork:
    """Work of the server so far: commands, with those of scripts, and their time."""

    commands: int
    microseconds: int

    def since(self, earlier: "ServerWork") -> "ServerWork":
        """Return the work since an earlier measurement."""
        return ServerWork(
            commands=self.commands - earlier.commands, microseconds=self.microseconds - earlier.microseconds
        )


async def server_work(redis: RedisClient) -> ServerWork:
    """The server's own account (INFO commandstats)."""
    told: dict[str, dict[str, int]] = await redis.call("INFO", "commandstats")
    names = {name.removeprefix("cmdstat_"): statistic for name, statistic in told.items()}
    return ServerWork(
        commands=sum(statistic["calls"] for name, statistic in names.items() if name != "info"),
        microseconds=sum(statistic["usec"] for name, statistic in names.items() if name in _TOP_LEVEL),
    )
