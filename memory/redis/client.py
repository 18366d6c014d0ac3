"""The one door to Redis or Valkey: commands, one-trip pipelines, Lua scripts, durable writes and group commit."""

import asyncio
import builtins
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Protocol, cast

import hiredis
import redis.asyncio as aioredis
from redis.asyncio.cluster import ClusterNode, PipelineCommand, RedisCluster
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel
from redis.backoff import ExponentialBackoff
from redis.exceptions import (
    AskError,
    AuthenticationError,
    ClusterError,
    ConnectionError,
    InvalidResponse,
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TimeoutError,
    TryAgainError,
)

from memory.causes import StorePermissions, find_cause, permission_failure, with_cause
from memory.errors import (
    REFUSALS,
    CommandRefused,
    CredentialsRefused,
    Forgotten,
    MemoryFailure,
    SentinelsRefused,
    StoreFull,
    StoreNotDurable,
    StoreUnavailable,
)
from memory.redis.address import RedisAddress, parse_address
from memory.redis.lua import FORGOTTEN, ScriptCall
from memory.redis.tombstone_files import TombstoneFolder

SOCKET_TIMEOUT_S = 5.0
"""Time-out of a read in redis-py 8. A blocking read must ask for less."""
DURABLE_WAIT_MS = 2_000
"""Longest WAITAOF. `appendfsync everysec` confirms within about one second (some servers too early: durability.py)."""
CONNECTION_WAIT_S = 5.0
"""Longest wait of a command for a free connection."""
CLOSE_WAIT_S = 1.0
"""Longest wait of a client that closes for its commands under way."""

_FAILURES = (RedisError, RedisClusterException, OSError, AttributeError)
"""Errors of the driver. Its cluster errors are no RedisErrors. AttributeError (redis-py 8): the driver has closed the
connection under a command, as in a failover.
"""
_PASSING = ("LOADING", "MASTERDOWN", "TRYAGAIN", "BUSY ", "UNBLOCKED", "max ")
"""Replies of a server that cannot serve now. `BUSY ` is a long script; BUSYGROUP is another thing. `max ` is a limit of
clients or requests.
"""
_MISTAKES = ("No way to dispatch", "all keys must map", "Invalid args", "Cluster mode is not enabled")
"""Errors of the driver about a command that no cluster takes. Its other errors are about the cluster's state."""

PAUSES_S = (0.02, 0.04)
"""Pauses before a trip whose connection broke is repeated."""

Command = tuple[str | int | float | bytes, ...]

_pack: Callable[[Command], bytes] = cast(Any, hiredis).pack_command
"""hiredis declares its types wrongly."""

_WAIT_FOR_DISK: Command = ("WAITAOF", 1, 0, DURABLE_WAIT_MS)
"""Accepted by every server that has the command, with replicas or without."""


class _Pipeline(Protocol):
    def execute_command(self, *args: str | int | float | bytes) -> Any: ...
    async def execute(self, raise_on_error: bool = True) -> list[Any]: ...


class _PooledConnection(Protocol):
    """One connection of redis-py's pool."""

    socket_timeout: float | None

    async def connect(self) -> None: ...
    async def send_packed_command(self, command: bytes, check_health: bool = True) -> None: ...
    async def read_response(self) -> Any: ...
    async def disconnect(self, nowait: bool = False) -> None: ...


class _Pool(Protocol):
    async def get_connection(self) -> _PooledConnection: ...


class _Node(Protocol):
    """One server of a cluster."""

    async def execute_command(self, *args: str | int | float | bytes) -> Any: ...
    async def execute_pipeline(self, commands: list[PipelineCommand]) -> bool: ...


class _Client(Protocol):
    """The parts of redis-py's client of one server that we use. Its own types are partly unknown."""

    @property
    def connection_pool(self) -> _Pool: ...
    @property
    def response_callbacks(self) -> Mapping[str, Callable[[Any], Any]]: ...
    async def aclose(self) -> None: ...


class _Cluster(Protocol):
    """The methods of redis-py's cluster client that we use."""

    async def execute_command(self, *args: str | int | float | bytes) -> Any: ...
    def pipeline(self, transaction: bool = True) -> _Pipeline: ...
    async def initialize(self) -> object: ...
    def get_primaries(self) -> list[_Node]: ...
    def get_node_from_key(self, key: str) -> _Node: ...
    async def aclose(self) -> None: ...


class RedisClient:
    """A connection pool that raises our errors: StoreUnavailable, StoreFull, StoreNotDurable, CommandRefused.

    A command waits up to CONNECTION_WAIT_S if all `max_connections` are in use. Replies are str, int, list or None.
    A durable write counts only if `replicas` replicas have it too. `round_trips` is a count for the benchmarks.
    """

    def __init__(
        self, client: _Client | _Cluster, *, max_connections: int, replicas: int = 0, url: str = ""
    ) -> None:
        self._replicas = replicas
        self.url = url
        """The address with its password, for a client of another thread."""
        self.permissions = StorePermissions()
        self.beside: TombstoneFolder | None = None
        """The folder with copies of what must not come back; None keeps none."""
        self.is_cluster = isinstance(client, RedisCluster)
        """True if keys of different slots may be on different servers."""
        self._client = client
        self._store = cast(_Cluster, client) if self.is_cluster else _Wire(cast(_Client, client))
        # Not redis-py's BlockingConnectionPool: neither Sentinel's pool nor a cluster's nodes can be one.
        self._room = asyncio.Semaphore(max_connections)
        self._max_connections = max_connections
        self._is_closed = False
        self._waits_for_disk: bool | None = None
        self.round_trips = 0

    async def close(self) -> None:
        """Close all connections. Commands under way raise StoreUnavailable, and so do later ones."""
        self._is_closed = True
        if isinstance(self._store, _Wire):
            self._store.is_closed = True
        await self._client.aclose()
        with suppress(builtins.TimeoutError):  # every command under way has ended when all the room is free
            async with asyncio.timeout(CLOSE_WAIT_S):
                for _ in range(self._max_connections):
                    await self._room.acquire()
        await self._client.aclose()  # one of them may have connected meanwhile
        pool = getattr(self._client, "connection_pool", None)
        if sentinels := getattr(pool, "sentinel_manager", None):
            await sentinels.aclose()

    async def call(self, *command: str | int | float | bytes) -> Any:
        """Send one command. Raises StoreUnavailable, StoreFull, or CommandRefused for a mistake."""
        try:
            if not isinstance(self._store, _Wire):
                async with self._connection():
                    return await self._store.execute_command(*command)
            (reply,) = await self._send_all([command])
        except _FAILURES as error:
            raise _translated(error) from error
        if isinstance(reply, Exception):
            failure = _failure(reply)
            self.permissions.note(failure)
            raise failure
        return reply

    async def calls(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands of one partition in one round trip, not atomic. Raises the first failure."""
        try:
            replies = await self._send_all(commands)
        except _FAILURES as error:
            raise _translated(error) from error
        return _checked(replies)

    async def run(self, call: ScriptCall) -> Any:
        """Run a script. Its text travels only if the server does not know it yet."""
        return (await self.run_all([call]))[0]

    async def run_all(self, calls: Sequence[ScriptCall]) -> list[Any]:
        """Run scripts in order in one round trip, on a cluster one to each node. Each script is atomic by itself.

        Scripts that the server does not know are sent again, so the order may change. Use it for independent scripts.
        """
        return _checked(await self.run_each(calls))

    async def run_each(self, calls: Sequence[ScriptCall]) -> list[Any]:
        """Run scripts as `run_all` does. The failure of one takes the place of its reply."""
        try:
            return list(map(self.permissions.note, await _run_by_hash(calls, self._send_all)))
        except _FAILURES as error:
            raise _translated(error) from error

    async def run_durably(self, call: ScriptCall) -> Any:
        """Run one script durably. Raises its failure."""
        (reply,) = await self.run_all_durably([call])
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def run_all_durably(self, calls: Sequence[ScriptCall]) -> list[Any]:
        """Run scripts of one partition and wait until all are on its server's disk (WAITAOF), in one round trip.

        A script's failure takes the place of its reply. For a server without WAITAOF (Redis before 7.2) or
        without AOF the `appendfsync` counts, which the start has checked, and WAIT asks its replicas. Raises
        StoreNotDurable if the disk or a replica does not confirm in time, and the failure of the whole trip.
        """
        return list(
            map(
                self.permissions.note,
                await _run_by_hash(calls, partial(self._run_and_wait, calls[0].keys[0])),
            )
        )

    async def _run_and_wait(self, key: str, commands: Sequence[Command]) -> list[Any]:
        if self._waits_for_disk is None:
            try:
                _checked(await self._send_together(key, [_WAIT_FOR_DISK]))
                self._waits_for_disk = True
            except CommandRefused:
                self._waits_for_disk = False
        has_waitaof = self._waits_for_disk
        if not has_waitaof and not self._replicas:
            return await self._send_together(key, commands)
        local: Command = ("WAITAOF", 1) if has_waitaof else ("WAIT",)
        *replies, confirmed = await self._send_together(
            key, [*commands, (*local, self._replicas, DURABLE_WAIT_MS)]
        )
        _checked([confirmed])
        on_disk, copies = confirmed if has_waitaof else (1, confirmed)
        if int(on_disk) < 1 or int(copies) < self._replicas:
            raise StoreNotDurable
        return replies

    async def is_alive(self) -> bool:
        """Return True if the server answers PING now."""
        try:
            await self.call("PING")
        except (StoreUnavailable, StoreFull):
            return False
        return True

    async def ask_each(self, *command: str | int | float | bytes) -> list[Any]:
        """Send a command without keys to each primary of a cluster, or to the one server. Return the replies."""
        if isinstance(self._store, _Wire):
            return [await self.call(*command)]
        try:
            async with self._connection():
                await self._store.initialize()
                return [await node.execute_command(*command) for node in self._store.get_primaries()]
        except _FAILURES as error:
            raise _translated(error) from error

    async def _send_all(self, commands: Sequence[Command]) -> list[Any]:
        async with self._connection():
            if isinstance(self._store, _Wire):
                return await self._store.send(commands)
            pipeline = self._store.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            return await pipeline.execute(raise_on_error=False)

    async def _send_together(self, key: str, commands: Sequence[Command]) -> list[Any]:
        """Send on one connection of the key's server, because WAITAOF confirms only writes of its own connection."""
        try:
            if isinstance(self._store, _Wire):
                return await self._send_all(commands)
            async with self._connection():
                return await _send_to_owner(self._store, key, commands)
        except _FAILURES as error:
            raise _translated(error) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[None]:
        """Take room for one connection, and count one round trip. Raise a cancellation late if redis-py has lost it.

        Its `asyncio.wait_for` loses a cancellation that comes as the sending ends, before Python 3.12.
        """
        if self._is_closed:
            raise _refusal_of_closed()
        if self._room.locked():
            try:
                async with asyncio.timeout(CONNECTION_WAIT_S):
                    await self._room.acquire()
            except builtins.TimeoutError:
                raise StoreUnavailable("Redis cannot be reached (every connection is in use)") from None
        else:
            await self._room.acquire()  # at once
        self.round_trips += 1
        before = _cancellations()
        try:
            if self._is_closed:  # perhaps while it waited for room
                raise _refusal_of_closed()
            yield
        finally:
            self._room.release()
        if _cancellations() > before:
            raise asyncio.CancelledError


def _refusal_of_closed() -> StoreUnavailable:
    return StoreUnavailable("Redis cannot be reached (the client is closed)")


class _Wire:
    """Sends commands on connections of redis-py's pool, without its client, which takes twice the CPU.

    A connection is never given back to the pool, which would check it before each use.
    """

    def __init__(self, client: _Client) -> None:
        self._pool = client.connection_pool
        self._callbacks = client.response_callbacks
        self._idle: list[_PooledConnection] = []
        self.is_closed = False
        """True when broken connections are not opened again."""

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands in one round trip. The error of one takes the place of its reply.

        They are sent again on a new connection if theirs breaks, unless the client is closed.
        """
        packed = b"".join([_pack(command) for command in commands])
        connection = self._idle.pop() if self._idle else await self._pool.get_connection()
        try:
            for pause in PAUSES_S:
                try:
                    return await self._exchange(connection, packed, commands)
                except (ConnectionError, TimeoutError, builtins.TimeoutError):
                    if self.is_closed:
                        raise
                await asyncio.sleep(pause)
            return await self._exchange(connection, packed, commands)
        finally:
            self._idle.append(connection)

    async def _exchange(
        self, connection: _PooledConnection, packed: bytes, commands: Sequence[Command]
    ) -> list[Any]:
        """Send and read. One time-out for all costs less than redis-py's own for each step."""
        connection.socket_timeout = None
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(SOCKET_TIMEOUT_S):
                await connection.connect()  # nothing, if it is connected
                writer = getattr(connection, "_writer", None)
                await connection.send_packed_command(packed, check_health=False)
                return [await self._read(connection, str(command[0])) for command in commands]
        except BaseException:
            # The next command must not read the rest of these replies. redis-py only closes the connection: that waits
            # until the server has taken the unsent rest of a large command.
            if writer is not None:
                writer.transport.abort()
            await connection.disconnect(nowait=True)
            raise
        finally:
            connection.socket_timeout = SOCKET_TIMEOUT_S

    async def _read(self, connection: _PooledConnection, name: str) -> Any:
        try:
            reply = await connection.read_response()
        except ResponseError as error:
            return error
        return self._callbacks[name](reply) if name in self._callbacks else reply


@asynccontextmanager
async def open_redis(
    url: str, *, max_connections: int = 64, replicas: int = 0, connect_s: float = SOCKET_TIMEOUT_S
) -> AsyncGenerator[RedisClient]:
    """Open a client for the server at `url`. It connects at first use, and closes its connections at the end.

    `max_connections` is for one server. Each blocking read holds a connection while it waits. `connect_s` is the
    time-out of a new connection.

    `parse_address` has the forms of the URL. Raises ValueError for any other.
    """
    client = _open_client(url, max_connections, connect_s)
    redis = RedisClient(client, max_connections=max_connections, replicas=replicas, url=url)
    try:
        yield redis
    finally:
        await redis.close()


def _open_client(url: str, max_connections: int, connect_s: float) -> _Client | _Cluster:
    address = parse_address(url)
    options: dict[str, Any] = {
        "decode_responses": True,
        "socket_timeout": SOCKET_TIMEOUT_S,
        "socket_connect_timeout": connect_s,
        # Twice our own limit: the connection of a cancelled command is free only a moment later.
        "max_connections": 2 * max_connections,
    }
    if address.kind == "cluster":
        nodes = [ClusterNode(host, port) for host, port in address.nodes[1:]]
        return cast(Any, RedisCluster).from_url(address.url, startup_nodes=nodes, **options)
    options["retry"] = Retry(ExponentialBackoff(cap=0.5, base=0.02), 2)
    if address.kind == "sentinel":
        return _sentinel_client(address, options)
    return cast(Any, aioredis.Redis).from_url(address.url, **options)


def _sentinel_client(address: RedisAddress, options: dict[str, Any]) -> _Client:
    given: dict[str, Any] = {**cast(Any, parse_url)(address.url)}
    given["ssl"] = given.pop("connection_class", None) is not None  # of rediss
    del given["host"]
    asking = {
        name: value for name, value in {**options, **given}.items() if name.startswith(("socket_", "ssl"))
    }
    # The connection to the master is retried, and asks again. A sentinel's own ten tries took 13 s.
    asking["retry"] = Retry(ExponentialBackoff(cap=0.5, base=0.02), 1)
    asking |= {"username": address.sentinel_username, "password": address.sentinel_password}
    sentinel: Any = Sentinel(address.nodes, sentinel_kwargs=asking)
    return sentinel.master_for(address.service, **{**options, **given})


async def _send_to_owner(cluster: _Cluster, key: str, commands: Sequence[Command]) -> list[Any]:
    """Send a pipeline to the owner of the key's slot, and once more if the slot has moved or the connection broke.

    The cluster client's own pipeline would send each redirected command on another connection.
    """
    await cluster.initialize()
    replies = await _send_to_node(cluster.get_node_from_key(key), commands)
    if isinstance(replies[0], MovedError | ConnectionError | AttributeError):
        await cluster.execute_command("EXISTS", key)  # the client follows the key, and learns the new owner
        replies = await _send_to_node(cluster.get_node_from_key(key), commands)
    return replies


async def _send_to_node(node: _Node, commands: Sequence[Command]) -> list[Any]:
    """Send a pipeline to one node. Return the replies, which may be errors."""
    sent = [PipelineCommand(number, *command) for number, command in enumerate(commands)]
    try:
        await node.execute_pipeline(sent)
    except (ConnectionError, AttributeError) as error:
        return [error] * len(sent)
    return [command.result for command in sent]


def _cancellations() -> int:
    task = asyncio.current_task()
    return task.cancelling() if task else 0


async def _run_by_hash(
    calls: Sequence[ScriptCall], send: Callable[[Sequence[Command]], Awaitable[list[Any]]]
) -> list[Any]:
    """Send the scripts by their hashes, and those that the server does not know again with their texts.

    The failure of a script takes the place of its reply.
    """
    replies = await send([("EVALSHA", call.script.sha, *_inputs(call)) for call in calls])
    unknown = [at for at, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
    if unknown:
        texts: list[Command] = [("EVAL", calls[at].script.text, *_inputs(calls[at])) for at in unknown]
        for at, reply in zip(unknown, await send(texts), strict=True):
            replies[at] = reply
    return [_failure(reply) if isinstance(reply, Exception) else reply for reply in replies]


def _inputs(call: ScriptCall) -> Command:
    return (len(call.keys), *call.keys, *call.arguments)


def _checked(replies: list[Any]) -> list[Any]:
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply if isinstance(reply, MemoryFailure) else _failure(reply)
    return replies


def _failure(reply: Exception) -> Exception:
    """Return our error for a command's error, with that as its cause."""
    failure = _translated(reply)
    failure.__cause__ = reply
    return failure


_CODES = {OutOfMemoryError: "OOM", ReadOnlyError: "READONLY"}
"""Codes of replies whose text the driver replaces."""
_ON_REPLICA = "cannot be used with replica"
"""Said of WAIT and WAITAOF by a server that became a replica."""


def _translated(error: Exception) -> Exception:
    """Return our error for a failure, without the driver's text, which may contain the URL with its password."""
    if isinstance(error, RedisClusterException) and isinstance(error.__cause__, _FAILURES):
        return _translated(error.__cause__)  # the reason why no node of the cluster could serve
    if isinstance(error, ConnectionError) and isinstance(error.__cause__, RedisError):
        return _translated(
            error.__cause__
        )  # the server's reply to a new connection, such as a wrong password
    text = str(error)
    code = next((code for kind, code in _CODES.items() if isinstance(error, kind)), text.split(" ", 1)[0])
    if code == FORGOTTEN:
        return Forgotten()
    if code in REFUSALS or _ON_REPLICA in text:
        return StoreFull.from_code(code if code in REFUSALS else "READONLY")
    if forbidden := permission_failure(text):
        return forbidden
    if isinstance(error, AuthenticationError) or text.startswith(("NOAUTH", "WRONGPASS")):
        return CredentialsRefused("Redis refused the credentials of REDIS_URL")
    if isinstance(error, MasterNotFoundError):
        return _without_master(text)
    if _is_passing(error, text):
        return StoreUnavailable(with_cause("Redis cannot be reached", error, "redis"))
    first_line = text.partition("\n")[0]  # the next lines may contain the arguments
    hint = find_cause(error, "redis")
    return CommandRefused(
        f"Redis refused a command: {first_line[:200].rstrip()}" + (f". {hint}" if hint else "")
    )


def _without_master(text: str) -> StoreUnavailable:
    """Return our error for sentinels that named no master. The driver's text has the errors of each."""
    if "AuthenticationError" in text:
        return SentinelsRefused()
    reason = "no sentinel answers" if " - " in text else "no sentinel knows a live master as ?service=NAME"
    return StoreUnavailable(f"Redis cannot be reached ({reason})")


def _is_passing(error: Exception, text: str) -> bool:
    """Return True if the same command may succeed later."""
    if isinstance(error, RedisClusterException):
        return not any(mistake in text for mistake in _MISTAKES)
    unreachable = ConnectionError | InvalidResponse | TimeoutError | OSError | AttributeError
    of_cluster = AskError | TryAgainError | ClusterError
    return isinstance(error, unreachable | of_cluster) or text.startswith(_PASSING)
