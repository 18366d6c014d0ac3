"""The one door to Redis or Valkey: commands, one-trip pipelines, Lua scripts and durable writes."""

import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Protocol, cast
from urllib.parse import parse_qs, urlsplit

import redis.asyncio as aioredis
from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import ExponentialBackoff
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    TimeoutError,
)

from memory.errors import CommandRefused, StoreFull, StoreNotDurable, StoreUnavailable

SOCKET_TIMEOUT_S = 5.0
"""redis-py 8 times a read out after this; a blocking read must ask for less."""
DURABLE_WAIT_MS = 2_000
"""How long WAITAOF may take: `appendfsync everysec` confirms within about one second."""

Command = tuple[str | int | float | bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A Lua script and its SHA-1, as EVALSHA wants it."""

    name: str
    text: str
    sha: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptCall:
    """A script with its keys (KEYS) and arguments (ARGV)."""

    script: Script
    keys: Sequence[str]
    arguments: Sequence[str | int | float]


@cache
def load_script(package: str, name: str, *preludes: tuple[str, str]) -> Script:
    """The script `name`.lua of `package`, after its preludes (package, name): files of local functions."""
    parts = [(resources.files(p) / f"{n}.lua").read_text("utf-8") for p, n in (*preludes, (package, name))]
    text = "\n".join(parts)
    return Script(name=name, text=text, sha=hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


class _Pipeline(Protocol):
    def execute_command(self, *args: str | int | float | bytes) -> Any: ...
    async def execute(self, raise_on_error: bool = True) -> list[Any]: ...


class _Connection(Protocol):
    """What we use of redis-py's clients, whose own types are partly unknown."""

    async def execute_command(self, *args: str | int | float | bytes) -> Any: ...
    def pipeline(self, transaction: bool = True) -> _Pipeline: ...
    async def aclose(self) -> None: ...


class RedisClient:
    """A connection pool with our failure words: StoreUnavailable, StoreFull, StoreNotDurable.

    Replies are str, int, list or None, as the server gives them. `round_trips` counts what was sent, for
    the benchmarks.
    """

    def __init__(self, connection: _Connection) -> None:
        self._redis = connection
        self._waits_for_disk: bool | None = None
        self.round_trips = 0

    async def call(self, *command: str | int | float | bytes) -> Any:
        """One command, one round trip. Raises StoreUnavailable, StoreFull, or CommandRefused for a mistake."""
        try:
            return await self._send(*command)
        except (RedisError, OSError) as error:
            raise _translated(error) from error

    async def calls(self, commands: Sequence[Command]) -> list[Any]:
        """Several commands of one partition in one round trip, not atomic; the first failure is raised."""
        try:
            replies = await self._send_all(commands)
        except (RedisError, OSError) as error:
            raise _translated(error) from error
        return _checked(replies)

    async def run(self, script: Script, keys: Sequence[str], arguments: Sequence[str | int | float]) -> Any:
        """Run a script; it is sent whole only when the server does not know it yet."""
        return (await self.run_all([ScriptCall(script=script, keys=keys, arguments=arguments)]))[0]

    async def run_all(self, calls: Sequence[ScriptCall]) -> list[Any]:
        """Run several scripts of one partition in one round trip, in order, each atomic by itself.

        If the server has lost its scripts, those that it did not know are sent again, so the order may
        change then: use it for scripts that do not depend on each other.
        """
        try:
            replies = await self._send_all([_evalsha(call) for call in calls])
            for number, reply in enumerate(replies):
                if isinstance(reply, NoScriptError):
                    replies[number] = await self._send(*_eval(calls[number]))
        except (RedisError, OSError) as error:
            raise _translated(error) from error
        return _checked(replies)

    async def run_durably(
        self, script: Script, keys: Sequence[str], arguments: Sequence[str | int | float]
    ) -> Any:
        """Run a script and wait until it is on this server's disk (WAITAOF), in one round trip.

        A server without WAITAOF (Redis before 7.2) or without AOF is trusted to its `appendfsync`, which the
        start has checked. Raises StoreNotDurable when the confirmation does not come in time.
        """
        if not await self._can_wait_for_disk():
            return await self.run(script, keys, arguments)
        call = ScriptCall(script=script, keys=keys, arguments=arguments)
        wait: Command = ("WAITAOF", 1, 0, DURABLE_WAIT_MS)
        try:
            replies = await self._send_all([_evalsha(call), wait])
            if isinstance(replies[0], NoScriptError):
                replies = await self._send_all([_eval(call), wait])
        except (RedisError, OSError) as error:
            raise _translated(error) from error
        reply, confirmed = _checked(replies)
        if int(confirmed[0]) < 1:
            raise StoreNotDurable
        return reply

    async def is_alive(self) -> bool:
        """Whether the server answers PING now."""
        try:
            await self.call("PING")
        except (StoreUnavailable, StoreFull):
            return False
        return True

    async def config(self, name: str) -> str | None:
        """A server setting, or None where CONFIG is not allowed (managed services)."""
        try:
            reply = await self.call("CONFIG", "GET", name)
        except CommandRefused:
            return None
        pairs = cast(dict[str, str] | list[str], reply)
        if isinstance(pairs, dict):
            return pairs.get(name)
        return pairs[1] if len(pairs) > 1 else None

    async def _can_wait_for_disk(self) -> bool:
        if self._waits_for_disk is None:
            try:
                await self.call("WAITAOF", 1, 0, DURABLE_WAIT_MS)
                self._waits_for_disk = True
            except CommandRefused:
                self._waits_for_disk = False
        return self._waits_for_disk

    async def _send(self, *command: str | int | float | bytes) -> Any:
        self.round_trips += 1
        return await self._redis.execute_command(*command)

    async def _send_all(self, commands: Sequence[Command]) -> list[Any]:
        self.round_trips += 1
        pipeline = self._redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        return await pipeline.execute(raise_on_error=False)


@asynccontextmanager
async def open_redis(url: str, *, max_connections: int = 64) -> AsyncGenerator[RedisClient]:
    """A client for the server at `url`; connects at first use, closes its pool at the end.

    Forms: `redis://`, `rediss://`, `unix://` (the embedded server), `redis+cluster://` and
    `rediss+cluster://` (any node), `redis+sentinel://host:port,host:port/db?service=name`.
    """
    connection = _connection(url, max_connections)
    try:
        yield RedisClient(connection)
    finally:
        await connection.aclose()


def _connection(url: str, max_connections: int) -> _Connection:
    scheme, _, rest = url.partition("://")
    options: dict[str, Any] = {
        "decode_responses": True,
        "socket_timeout": SOCKET_TIMEOUT_S,
        "socket_connect_timeout": SOCKET_TIMEOUT_S,
        "max_connections": max_connections,
    }
    if scheme.endswith("+cluster"):
        cluster: Any = RedisCluster
        return cast(_Connection, cluster.from_url(f"{scheme.removesuffix('+cluster')}://{rest}", **options))
    options["retry"] = Retry(ExponentialBackoff(cap=0.5, base=0.02), 2)
    if scheme.endswith("+sentinel"):
        return _sentinel_connection(url, options)
    single: Any = aioredis.Redis
    return cast(_Connection, single.from_url(url, **options))


def _sentinel_connection(url: str, options: dict[str, Any]) -> _Connection:
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2].split(",")
    nodes = [(host.partition(":")[0], int(host.partition(":")[2] or 26379)) for host in hosts]
    if parts.password:
        options |= {"username": parts.username or None, "password": parts.password}
    service = parse_qs(parts.query).get("service", ["mymaster"])[0]
    options["db"] = int(parts.path.strip("/") or 0)
    sentinel: Any = Sentinel(nodes, socket_timeout=SOCKET_TIMEOUT_S)
    return cast(_Connection, sentinel.master_for(service, **options))


def _evalsha(call: ScriptCall) -> Command:
    return ("EVALSHA", call.script.sha, len(call.keys), *call.keys, *call.arguments)


def _eval(call: ScriptCall) -> Command:
    return ("EVAL", call.script.text, len(call.keys), *call.keys, *call.arguments)


def _checked(replies: list[Any]) -> list[Any]:
    for reply in replies:
        if isinstance(reply, RedisError):
            raise _translated(reply) from reply
    return replies


def _translated(error: Exception) -> Exception:
    """Our word for a failure. No text of the driver goes in: it may carry the URL with its password."""
    text = str(error)
    if isinstance(error, OutOfMemoryError | ReadOnlyError) or text.startswith(
        ("OOM", "MISCONF", "NOREPLICAS")
    ):
        return StoreFull("Redis refuses writes: " + text.split(" ", 1)[0])
    if isinstance(error, AuthenticationError) or text.startswith(("NOAUTH", "WRONGPASS", "NOPERM")):
        return StoreUnavailable("Redis refused the credentials of REDIS_URL")
    unreachable = ConnectionError | TimeoutError | BusyLoadingError | ClusterDownError | OSError
    if isinstance(error, unreachable) or text.startswith(("LOADING", "MASTERDOWN", "TRYAGAIN")):
        return StoreUnavailable(f"Redis cannot be reached ({type(error).__name__})")
    return CommandRefused(f"Redis refused a command: {text[:200]}")
