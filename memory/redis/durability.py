"""Durability: check that the server keeps what it acknowledges, and repair its append-only file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from memory import keys
from memory.errors import CommandRefused, StoreMismatch, UnsafeStore
from memory.keys import PROBE_TTL_S, global_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

AcceptedLoss = Literal["false", "true", "eviction"]
"""Losses of a server that an operator accepts: none, those of a crash, or evicted messages too."""

_OLDEST = (6, 2)
_VALKEY_TRUNCATES_FROM = (9, 1, 2)
_NEVER = -1
_YES_NO = {"1": "yes", "0": "no"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDurability:
    """Settings of a server, None if it does not tell, and one line for an operator on each problem."""

    server: str
    version: str
    maxmemory_policy: str | None
    appendonly: bool | None
    appendfsync: str | None
    problems: tuple[str, ...] = ()
    accepted: str = ""
    """The loss that this server may cause and that the operator has accepted, in one line."""

    @property
    def caution(self) -> str | None:
        """One line about the loss that the operator has accepted, or that a power cut may cause anyhow, or None.

        With `everysec` only WAITAOF confirms that a write is on disk. Redis has it since 7.2. Redis 7.4.0 to 7.4.2 and
        Valkey up to 9.1 (at least) confirm too early: redis/redis pull request 13793.
        """
        if self.accepted:
            return self.accepted
        version = version_numbers(self.version)
        waits = self.server == "Redis" and version >= (7, 2) and not (7, 4) <= version < (7, 4, 3)
        if self.appendfsync != "everysec" or waits:
            return None
        return (
            f"{self.server} {self.version} writes to disk once a second, and confirms before: a power cut may take "
            "what was acknowledged in the last second or two; `appendfsync always` keeps it"
        )


async def check_store(
    redis: RedisClient, *, is_external: bool, accepts: AcceptedLoss = "false"
) -> StoreDurability:
    """Read the server's settings and judge them. The weakest node of a cluster counts.

    `is_external`: REDIS_URL names the server; otherwise it is the embedded one. `accepts` counts for such a server
    only. Raises StoreUnavailable, and UnsafeStore for a sentinel.
    """
    facts = await _read(redis)
    if is_external and accepts != "false":
        return accept_loss(facts, accepts)
    return replace(facts, problems=judge(facts, is_external=is_external))


def accept_loss(facts: StoreDurability, accepts: AcceptedLoss) -> StoreDurability:
    """Return the facts without the problems that the operator accepts, and with one line on what may be lost."""
    safe = replace(facts, appendonly=True, appendfsync="always")
    losses: list[str] = []
    if facts.appendonly is None:
        losses.append(
            "does not tell whether it keeps what it acknowledges: a crash or failover of it may take that"
        )
    elif not facts.appendonly:
        losses.append(
            "keeps no append-only file: when it ends, it loses everything since its last snapshot, or all"
        )
    elif facts.appendfsync == "no":
        losses.append("leaves writing to disk to the operating system: a power cut may take up to 30 s")
    if facts.maxmemory_policy is None:
        losses.append("does not tell its maxmemory-policy: it may evict messages when its memory is full")
        safe = replace(safe, maxmemory_policy="noeviction")
    elif facts.maxmemory_policy != "noeviction" and accepts == "eviction":
        losses.append(f"evicts messages when its memory is full ({facts.maxmemory_policy})")
        safe = replace(safe, maxmemory_policy="noeviction")
    says = f"REDIS_ACCEPT_LOSS: {facts.server} {facts.version} " + ", and ".join(losses)
    return replace(facts, problems=judge(safe, is_external=True), accepted=says if losses else "")


@lua_script("memory.redis.scripts")
def probe_write(partition: int, *, ttl: int) -> ScriptCall: ...


async def check_writes(redis: RedisClient, *, partitions: int) -> None:
    """Write as an update is written: by a script, confirmed on disk. On a cluster, write in each partition.

    Raises the failure that an update gets now: StoreFull, StoreNotDurable, StoreUnavailable or CommandRefused.
    """
    for partition in range(partitions if redis.is_cluster else 1):
        await redis.run_durably(probe_write(partition, ttl=PROBE_TTL_S))


async def read_setting(redis: RedisClient, name: str) -> list[str | None]:
    """Return a setting of each primary, or one None if CONFIG is not allowed."""
    try:
        replies = cast(list[dict[str, str] | list[str]], await redis.ask_each("CONFIG", "GET", name))
    except CommandRefused:
        return [None]
    pairs = [
        reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))
        for reply in replies
    ]
    return [pair.get(name) for pair in pairs]


async def ask_info(redis: RedisClient, section: str) -> list[Mapping[str, Any]]:
    """Return the INFO section of each primary, or one empty mapping if INFO is not allowed."""
    try:
        return cast(list[Mapping[str, Any]], await redis.ask_each("INFO", section))
    except CommandRefused:
        return [{}]


def server_of(info: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name (Redis or Valkey) and the version from INFO server."""
    is_valkey = info.get("server_name") == "valkey"
    version = info.get("valkey_version" if is_valkey else "redis_version", "of unknown version")
    return "Valkey" if is_valkey else "Redis", str(version)


def judge(facts: StoreDurability, *, is_external: bool) -> tuple[str, ...]:
    """Return one line for each setting that would lose or evict messages."""
    where = "REDIS_URL" if is_external else "DATA_DIR (the embedded store)"
    name = f"{facts.server} {facts.version}"
    problems: list[str] = []
    if _is_too_old(facts.version):
        problems.append(f"{where}: {name} is too old, Redis 6.2 or Valkey is needed")
    if facts.appendonly is False:
        problems.append(
            f"{where}: {name} keeps no append-only file and loses what it acknowledged when it ends: "
            f"set `appendonly yes`"
        )
    elif facts.appendonly is None:
        problems.append(f"{where}: {name} does not tell whether it has an append-only file")
    elif facts.appendfsync == "no":
        problems.append(
            f"{where}: {name} leaves writing to disk to the operating system and loses up to 30 s in a power "
            f"cut: set `appendfsync everysec` or `always`"
        )
    if facts.maxmemory_policy is None:
        problems.append(f"{where}: {name} does not tell its maxmemory-policy, `noeviction` is needed")
    elif facts.maxmemory_policy != "noeviction":
        problems.append(
            f"{where}: {name} evicts messages when its memory is full ({facts.maxmemory_policy}): "
            f"set `maxmemory-policy noeviction`"
        )
    return tuple(problems)


async def _read(redis: RedisClient) -> StoreDurability:
    server = (await ask_info(redis, "server"))[0]
    if "sentinel" in (server.get("redis_mode"), server.get("server_mode")):  # Valkey has the other name
        raise UnsafeStore("it is a sentinel: write redis+sentinel:// before it, and ?service=NAME behind it")
    policies = [_text(node.get("maxmemory_policy")) for node in await ask_info(redis, "memory")]
    files = [_YES_NO.get(str(node.get("aof_enabled"))) for node in await ask_info(redis, "persistence")]
    if None in policies:
        policies = list(await read_setting(redis, "maxmemory-policy"))
    configured = await read_setting(redis, "appendonly")
    if None not in configured:
        files = list(configured)
    name, version = server_of(server)
    return StoreDurability(
        server=name,
        version=version,
        maxmemory_policy=_weakest(policies, good=("noeviction",)),
        appendonly={"yes": True, "no": False}.get(_weakest(files, good=("yes",)) or ""),
        appendfsync=_weakest(await read_setting(redis, "appendfsync"), good=("everysec", "always")),
    )


def _text(value: object) -> str | None:
    return str(value) if value else None


def _weakest(values: Sequence[str | None], *, good: Sequence[str]) -> str | None:
    """Return a bad value if any node has one, else None if a node does not tell, else the least good value."""
    ranks = {None: -1} | {value: rank for rank, value in enumerate(good)}
    return min(values, key=lambda value: ranks.get(value, -2), default=None)


def _is_too_old(version: str) -> bool:
    numbers = version_numbers(version)
    return len(numbers) > 1 and numbers < _OLDEST


def version_numbers(version: str) -> tuple[int, ...]:
    """Return (7, 0, 15) for "7.0.15", and an empty tuple for an unknown version."""
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


async def rewrite_torn_file(redis: RedisClient) -> bool:
    """Have a server that started again over our data rewrite its append-only file. Return True if a rewrite has begun.

    A power cut can tear a transaction. Redis (7.0.15 tried) and Valkey before 9.1.2 leave its beginning in the file and
    append to it. The next commands then count as part of the transaction, and the next start loses them, although they
    were acknowledged. With the next EXEC the torn half happens after all (valkey-io/valkey pull request 4342). The
    server tells nobody that it read a torn file, so its new run id is the sign. Its memory is right, so a rewrite
    repairs the file. Any number of processes may call this. On a cluster all primaries rewrite if one needs it.

    Raises StoreUnavailable, and CommandRefused if BGREWRITEAOF is not allowed.
    """
    servers = await ask_info(redis, "server")
    if not any(map(leaves_torn_transactions, servers)):
        return False
    run_ids = _run_ids(servers)
    if await redis.call("GET", global_key("whole_since")) == run_ids:
        return False
    files = await ask_info(redis, "persistence")
    if not any(map(_was_never_rewritten, files)):
        if not any(map(is_rewriting, files)):
            await redis.call("SET", global_key("whole_since"), run_ids)
        return False
    try:
        await redis.ask_each("BGREWRITEAOF")
    except CommandRefused:
        if any(map(_was_never_rewritten, await ask_info(redis, "persistence"))):
            raise
        return False  # another process was faster
    return True


async def note_whole_file(redis: RedisClient) -> None:
    """Note at the first start that the present servers need no rewrite: their files have nothing of ours yet."""
    await redis.call("SET", global_key("whole_since"), _run_ids(await ask_info(redis, "server")))


def _run_ids(servers: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(sorted(str(server.get("run_id", "")) for server in servers))


def leaves_torn_transactions(server: Mapping[str, Any]) -> bool:
    """Return True if this server (INFO server) keeps the beginning of a torn transaction. An unknown server counts."""
    name, version = server_of(server)
    return not (name == "Valkey" and version_numbers(version) >= _VALKEY_TRUNCATES_FROM)


def is_rewriting(persistence: Mapping[str, Any]) -> bool:
    """Return True if this server (INFO persistence) rewrites its file, or will."""
    return any(int(persistence.get(f"aof_rewrite_{state}", 0)) for state in ("in_progress", "scheduled"))


def _was_never_rewritten(persistence: Mapping[str, Any]) -> bool:
    is_on = persistence.get("aof_enabled") and not is_rewriting(persistence)
    return bool(is_on) and persistence.get("aof_last_rewrite_time_sec") == _NEVER


STORE_FORMAT = 3
"""Number of the present layout of keys and records. Raise it with a change that older records do not fit."""


async def check_store_format(redis: RedisClient, *, partitions: int, restores: bool = False) -> int:
    """Return the number of partitions, which the first start fixes.

    Raises StoreMismatch for another format, and for a half restored store unless `restores`.

    An empty store gets ours. The format is written first: a store with partitions and no format is of an earlier build.
    With another number of partitions, chats would lose their memory.
    """
    if await redis.call("GET", keys.global_key("partitions")) is None:
        is_new = await redis.call("SET", keys.global_key("format"), STORE_FORMAT, "NX")
        if is_new:
            await note_whole_file(redis)
    stored = await redis.call("GET", keys.global_key("format"))
    if stored != str(STORE_FORMAT):
        raise StoreMismatch(
            f"this store has {f'format {stored}' if stored else 'no format number'}, and this build needs format "
            f"{STORE_FORMAT}: name an empty store, or start the build that wrote this one"
        )
    if not restores and await redis.call("EXISTS", keys.global_key("restoring")):
        raise StoreMismatch(
            "the restore of a backup into this store is incomplete: run `mnemogram restore` with the same file again"
        )
    await redis.call("SET", keys.global_key("partitions"), partitions, "NX")
    return int(await redis.call("GET", keys.global_key("partitions")))
