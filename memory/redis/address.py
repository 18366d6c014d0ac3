"""Parses every form of REDIS_URL: one server, a socket, a cluster, or sentinels."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote, urlencode, urlsplit

Kind = Literal["server", "cluster", "sentinel"]

FORMS = (
    *("redis://", "rediss://", "unix://", "redis+cluster://", "rediss+cluster://"),
    *("redis+sentinel://", "rediss+sentinel://"),
)
_ALIASES = {
    "sentinel": "redis+sentinel",  # kombu and Celery
    "valkey": "redis",
    "valkeys": "rediss",
    "redis+socket": "unix",  # kombu
    "redis+unix": "unix",
}
"""Schemes of other clients. Lettuce writes `-` for `+`."""
_SERVICE_NAMES = ("service", "service_name", "master", "master_name", "sentinelmasterid")
"""Parameters for the name of the master. The last is Lettuce's."""
_NEXT_URL = re.compile(r"[;,]\s*(?=[a-z][a-z+-]*://)", re.IGNORECASE)
_BAD_PORT = (
    "has a port that is no number up to 65535 (signs such as / # ? in a password are written %2F %23 %3F)"
)
_PORT, _SENTINEL_PORT = 6379, 26379


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """A parsed REDIS_URL."""

    kind: Kind
    nodes = tuple(split_host(host, default_port) for host in hosts.removesuffix(",").split(","))
    if kind == "" and len(nodes) > 1:
        raise ValueError("names several hosts: write redis+cluster:// or redis+sentinel:// before them")
    if kind == "" or kind == "cluster":
        prefix = f"{base}://{userinfo}{at}{_written(*nodes[0])}"
        return RedisAddress(
            kind="cluster" if kind else "server", nodes=nodes, url=prefix + _tail(last.path, query)
        )
    service, database = _service_and_database(last.path)
    given = {name.lower(): value for name, value in query}
    named = next((given[name] for name in _SERVICE_NAMES if given.get(name)), "")
    ours = {*_SERVICE_NAMES, "sentinel_username", "sentinel_password"}
    kept = [(name, value) for name, value in query if name.lower() not in ours]
    return RedisAddress(
        kind="sentinel",
        nodes=nodes,
        url=f"{base}://{userinfo}{at}sentinel" + _tail(f"/{database}", kept),
        service=named or service or unquote(last.fragment) or "mymaster",
        sentinel_username=given.get("sentinel_username") or None,
        sentinel_password=given.get("sentinel_password") or None,
    )


def split_host(text: str, default_port: int = 0) -> tuple[str, int]:
    """Return the host and port of `host`, `host:port`, `[IPv6]` or `[IPv6]:port`.

    Raises ValueError without quoting the port, which may be the rest of a password.
    """
    try:
        parts = urlsplit(f"//{text.strip()}")
        return unquote(parts.hostname or "localhost"), parts.port or default_port
    except ValueError:
        raise ValueError(_BAD_PORT) from None


def _written(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _tail(path: str, query: list[tuple[str, str]]) -> str:
    return path + (f"?{urlencode(query, quote_via=quote)}" if query else "")


def _service_and_database(path: str) -> tuple[str, int]:
    """Return the parts of `/0`, `/NAME`, `/NAME/0` or `/0/NAME`; "" and 0 for those that are missing."""
    parts = [unquote(part) for part in path.split("/") if part]
    if len(parts) > 2:
        raise ValueError("has a path that is neither /DATABASE nor /SERVICE/DATABASE")
    numbers = [part for part in parts if part.isdecimal()]
    database = numbers[-1] if numbers else "0"
    if numbers:
        parts.reverse()
        parts.remove(database)
    if len(parts) > 1:
        raise ValueError("has a path that is neither /DATABASE nor /SERVICE/DATABASE")
    return (parts[0] if parts else ""), int(database)
