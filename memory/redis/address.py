"""Parses every form of REDIS_URL: one server, a socket, a cluster, or sentinels."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

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
"""Parameters for the name of the master, in lower case. The last is Lettuce's."""
_OURS = {*_SERVICE_NAMES, "sentinel_username", "sentinel_password"}
_NEXT_URL = re.compile(r"[;,]\s*[a-z][a-z+-]*://", re.IGNORECASE)
_PORT, _SENTINEL_PORT = 6379, 26379


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """A parsed REDIS_URL."""

    kind: Kind
    nodes: tuple[tuple[str, int], ...] = ()
    """Hosts with their ports: of one server, of nodes of the cluster, or of the sentinels. Empty for a socket."""
    url: str
    """The URL of the first node in redis-py's form. Behind sentinels it has the master's credentials and database."""
    service: str = ""
    """The sentinels' name for the master."""
    sentinel_username: str | None = None
    sentinel_password: str | None = None
    """The credentials of the sentinels themselves."""


def parse_address(text: str) -> RedisAddress:
    """Parse a REDIS_URL. Raises ValueError for what it has wrong, without quoting it: it may have a password.

    Sentinels are written as `redis+sentinel://:PASSWORD@host,host2:26379/0?service=NAME`, where PASSWORD is the
    master's. `sentinel_password` and `sentinel_username` in the query are the sentinels' own. `/NAME/0`, `#NAME` and
    Celery's `sentinel://host:26379;sentinel://host2:26379/0` mean the same (exponea/redis-sentinel-url#2,
    redis/redis-vl-python#385, celery/kombu#750).
    """
    scheme, separator, rest = text.strip(" ;,").partition("://")
    scheme = scheme.lower().replace("-", "+")
    scheme = _ALIASES.get(scheme, scheme)
    if not separator or f"{scheme}://" not in FORMS:
        raise ValueError("must start with one of " + ", ".join(FORMS))
    if scheme == "unix":
        return RedisAddress(kind="server", url=f"unix://{rest}")
    base, _, kind = scheme.partition("+")
    first, *others = map(_parts, _NEXT_URL.split(rest))
    userinfo, at, hosts = first.netloc.rpartition("@")
    hosts = ",".join((hosts, *(each.netloc.rpartition("@")[2] for each in others)))
    default_port = _SENTINEL_PORT if kind == "sentinel" else _PORT
    nodes = tuple(split_host(host, default_port) for host in hosts.split(","))
    last = others[-1] if others else first
    query = parse_qsl(last.query.replace("+", "%2B"), keep_blank_values=True)
    if kind == "sentinel":
        name, database = _service_and_database(last.path)
        given = {key.lower(): value for key, value in query}
        kept = [(key, value) for key, value in query if key.lower() not in _OURS]
        named = next((given[key] for key in _SERVICE_NAMES if given.get(key)), "")
        return RedisAddress(
            kind="sentinel",
            nodes=nodes,
            url=f"{base}://{userinfo}{at}sentinel{_tail(f'/{database}', kept)}",
            service=named or name or unquote(last.fragment) or "mymaster",
            sentinel_username=given.get("sentinel_username") or None,
            sentinel_password=given.get("sentinel_password") or None,
        )
    (host, port), *more = nodes
    if more and not kind:
        raise ValueError("names several hosts: write redis+cluster:// or redis+sentinel:// before them")
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    url = f"{base}://{userinfo}{at}{place}{_tail(last.path, query)}"
    return RedisAddress(kind="cluster" if kind else "server", nodes=nodes, url=url)


def split_host(text: str, default_port: int = 0) -> tuple[str, int]:
    """Return the host and port of `host`, `host:port`, `[IPv6]` or `[IPv6]:port`.

    Raises ValueError without quoting the port, which may be the rest of a password.
    """
    parts = _parts(text.strip())
    try:
        return unquote(parts.hostname or "localhost"), parts.port or default_port
    except ValueError:
        raise ValueError(
            "has a port that is no number up to 65535 (signs such as / # ? in a password are written %2F %23 %3F)"
        ) from None


def _parts(text: str) -> SplitResult:
    try:
        return urlsplit(f"//{text}")
    except ValueError:
        raise ValueError("has a host that is no address") from None


def _tail(path: str, query: list[tuple[str, str]]) -> str:
    return path + (f"?{urlencode(query, quote_via=quote)}" if query else "")


def _service_and_database(path: str) -> tuple[str, int]:
    """Return the parts of `/0`, `/NAME`, `/NAME/0` or `/0/NAME`; "" and 0 for those that are missing."""
    parts = [unquote(part) for part in path.split("/") if part]
    database = next((part for part in reversed(parts) if part.isdecimal()), "")
    if database:
        parts.reverse()
        parts.remove(database)
    if len(parts) > 1:
        raise ValueError("has a path that is neither /DATABASE nor /SERVICE/DATABASE")
    return "".join(parts), int(database or 0)
