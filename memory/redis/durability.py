"""Whether the store keeps what it acknowledges: what the server says of itself, judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from memory.errors import CommandRefused
from memory.redis.client import RedisClient

_OLDEST = (6, 2)
_YES_NO = {"1": "yes", "0": "no"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDurability:
    """The facts of a server, None where it does not tell, and one line for an operator on each problem."""

    server: str
    version: str
    maxmemory_policy: str | None
    appendonly: bool | None
    appendfsync: str | None
    problems: tuple[str, ...] = ()

    @property
    def caution(self) -> str | None:
        """What a power cut takes all the same, where it does; a start is not refused for it.

        With `everysec` only WAITAOF could tell what is on the disk. Redis has it from 7.2 on, and of the servers that have
        it Redis 7.4.0 to 7.4.2 and Valkey up to 9.1 (at least) confirm before: redis/redis pull request 13793.
        """
        version = version_numbers(self.version)
        waits = self.server == "Redis" and version >= (7, 2) and not (7, 4) <= version < (7, 4, 3)
        if self.appendfsync != "everysec" or waits:
            return None
        return (
            f"{self.server} {self.version} writes to disk once a second, and confirms before: a power cut may take "
            "what was acknowledged in the last second or two; `appendfsync always` keeps it"
        )


async def check_store(redis: RedisClient, *, is_external: bool) -> StoreDurability:
    """Read and judge. `is_external`: the server is named by REDIS_URL; else it is the embedded one.

    On a cluster the weakest node counts. Raises StoreUnavailable when the server cannot be reached.
    """
    facts = await _read(redis)
    return replace(facts, problems=judge(facts, is_external=is_external))


async def read_setting(redis: RedisClient, name: str) -> list[str | None]:
    """A setting of each server (one, where there is no cluster); None where CONFIG is not allowed."""
    try:
        replies = cast(list[dict[str, str] | list[str]], await redis.ask_each("CONFIG", "GET", name))
    except CommandRefused:
        return [None]
    pairs = [
        reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))
        for reply in replies
    ]
    return [told.get(name) for told in pairs]


async def ask_info(redis: RedisClient, section: str) -> list[Mapping[str, Any]]:
    """What each primary says by INFO (one, where there is no cluster); an empty answer where it is not allowed."""
    try:
        return cast(list[Mapping[str, Any]], await redis.ask_each("INFO", section))
    except CommandRefused:
        return [{}]


def server_of(told: Mapping[str, Any]) -> tuple[str, str]:
    """Name (Redis or Valkey) and version of who says this by INFO server; the version may not be told."""
    is_valkey = told.get("server_name") == "valkey"
    version = told.get("valkey_version" if is_valkey else "redis_version", "of unknown version")
    return "Valkey" if is_valkey else "Redis", str(version)


def judge(facts: StoreDurability, *, is_external: bool) -> tuple[str, ...]:
    """What would lose or evict messages, one line each."""
    where = "REDIS_URL" if is_external else "DATA_DIR (the embedded store)"
    accept = "; ALLOW_UNSAFE_STORE=true accepts the loss" if is_external else ""
    name = f"{facts.server} {facts.version}"
    problems: list[str] = []
    if _is_too_old(facts.version):
        problems.append(f"{where}: {name} is too old, Redis 6.2 or Valkey is needed")
    if facts.appendonly is False:
        problems.append(
            f"{where}: {name} keeps no append-only file and loses what it acknowledged when it ends: "
            f"set `appendonly yes`{accept}"
        )
    elif facts.appendonly is None:
        problems.append(f"{where}: {name} does not tell whether it has an append-only file{accept}")
    elif facts.appendfsync == "no":
        problems.append(
            f"{where}: {name} leaves writing to disk to the operating system and loses up to 30 s in a power "
            f"cut: set `appendfsync everysec` or `always`{accept}"
        )
    if facts.maxmemory_policy is None:
        problems.append(f"{where}: {name} does not tell its maxmemory-policy, `noeviction` is needed{accept}")
    elif facts.maxmemory_policy != "noeviction":
        problems.append(
            f"{where}: {name} evicts messages when its memory is full ({facts.maxmemory_policy}): "
            f"set `maxmemory-policy noeviction`{accept}"
        )
    return tuple(problems)


async def _read(redis: RedisClient) -> StoreDurability:
    server = (await ask_info(redis, "server"))[0]
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


def _text(told: object) -> str | None:
    return str(told) if told else None


def _weakest(values: Sequence[str | None], *, good: Sequence[str]) -> str | None:
    """Of what the nodes say: what is not good first, then what is not told, then the least good."""
    ranks = {None: -1} | {value: rank for rank, value in enumerate(good)}
    return min(values, key=lambda value: ranks.get(value, -2), default=None)


def _is_too_old(version: str) -> bool:
    numbers = version_numbers(version)
    return len(numbers) > 1 and numbers < _OLDEST


def version_numbers(version: str) -> tuple[int, ...]:
    """Of "7.0.15" (7, 0, 15); empty where it is not known."""
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
