"""Parses every form of REDIS_URL: one server, a socket, a cluster, or sentinels."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

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
_OURS = frozenset([*_SERVICE_NAMES, "sentinel_username", "sentinel_password"])
_TLS = frozenset(
    [
        *("ssl_cert_reqs", "ssl_ca_certs", "ssl_ca_data", "ssl_certfile", "ssl_keyfile", "ssl_ciphers"),
        *("ssl_check_hostname", "ssl_min_version", "ssl_include_verify_flags", "ssl_exclude_verify_flags"),
    ]
)
"""Parameters that only a connection with TLS takes (redis/redis-py#3217)."""
_NOT_OF_CLUSTERS = frozenset(["retry_on_timeout", "ssl_ca_path", "ssl_password"])
_NOT_OF_SOCKETS = frozenset(["socket_keepalive"])
_NUMBERS = {
    **dict.fromkeys(["socket_timeout", "socket_connect_timeout"], r"\d+(\.\d+)?"),
    **dict.fromkeys(["db", "max_connections", "socket_read_size", "health_check_interval"], r"\d+"),
    "protocol": "[23]",
    "ssl_min_version": r"\d+",
}
_PARAMETERS = frozenset(["username", "password", "client_name", *_NUMBERS])
"""Parameters of redis-py for every kind of server. It fails with a TypeError at any other (redis/redis-py#3217)."""
_OTHER_NAMES = {"virtual_host": "db"}  # kombu
_CERTIFICATES = ("none", "optional", "required")
_HINTS = {
    **dict.fromkeys(["ssl", "tls", "ssl_enabled", "use_ssl"], ". Write rediss:// for a connection with TLS"),
    **dict.fromkeys(_OURS, ". It is for redis+sentinel://"),
    "servicename": ". The name of the master is service=NAME, behind redis+sentinel://",
}
_SIGNS = "signs such as / # ? [ in a password are written %2F %23 %3F %5B"
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
    base, _, kind = scheme.partition("+")
    if base == "unix":
        path, _, text = rest.partition("?")
        return RedisAddress(kind="server", url=f"unix://{_tail(path, _parameters(text, base))}")
    each = [_parts(part) for part in _NEXT_URL.split(rest)]
    userinfo, hosts = _userinfo_and_hosts([part.netloc for part in each])
    nodes = tuple(split_host(host, _SENTINEL_PORT if kind == "sentinel" else _PORT) for host in hosts)
    last = next(
        (part for part in reversed(each) if part.path.strip("/") or part.query or part.fragment), each[-1]
    )
    if "@" in last.path + last.fragment:
        raise ValueError(f"has an @ after its host ({_SIGNS})")
    query = _parameters(last.query, base, kind)
    if kind == "sentinel":
        name, database = _service_and_database(last.path)
        given = dict(reversed(query))
        named = next((given[key] for key in _SERVICE_NAMES if given.get(key)), "")
        return RedisAddress(
            kind="sentinel",
            nodes=nodes,
            url=f"{base}://{userinfo}sentinel"
            + _tail(f"/{database}", [(key, value) for key, value in query if key not in _OURS]),
            service=named or name or unquote(last.fragment) or "mymaster",
            sentinel_username=given.get("sentinel_username") or None,
            sentinel_password=given.get("sentinel_password") or None,
        )
    (host, port), *more = nodes
    if more and not kind:
        raise ValueError("names several hosts: write redis+cluster:// or redis+sentinel:// before them")
    if not re.fullmatch(r"(/\d*)?/?", unquote(last.path)):
        raise ValueError("has a path that is no database: write /0, or another number")
    database = unquote(last.path).strip("/") or dict(query).get("db", "")
    if kind and database.strip("0"):
        raise ValueError("names a database, and a cluster has only 0: leave it out")
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    url = f"{base}://{userinfo}{place}{_tail(last.path, query)}"
    return RedisAddress(kind="cluster" if kind else "server", nodes=nodes, url=url)


def node_url(text: str, host: str, port: int) -> str:
    """Return the URL of another server with the credentials and options of a REDIS_URL, such as of its replica."""
    parts = urlsplit(parse_address(text).url)
    userinfo, at, _ = parts.netloc.rpartition("@")
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    is_socket = parts.scheme == "unix"
    return urlunsplit(
        parts._replace(
            scheme="redis" if is_socket else parts.scheme,
            netloc=userinfo + at + place,
            path="" if is_socket else parts.path,
        )
    )


def split_host(text: str, default_port: int = 0) -> tuple[str, int]:
    """Return the host and port of `host`, `host:port`, `[IPv6]` or `[IPv6]:port`.

    Raises ValueError without quoting the port, which may be the rest of a password.
    """
    parts = _parts(text.strip())
    try:
        return unquote(parts.hostname or "localhost"), parts.port or default_port
    except ValueError:
        raise ValueError(f"has a port that is no number up to 65535 ({_SIGNS})") from None


def _parts(text: str) -> SplitResult:
    try:
        return urlsplit(f"//{text}")
    except ValueError:
        raise ValueError(f"has a host that is no address ({_SIGNS})") from None


def _userinfo_and_hosts(netlocs: list[str]) -> tuple[str, list[str]]:
    """Return the credentials with their @, which each host may repeat, and the hosts."""
    joined = ",".join(netlocs)
    if joined.count("@") > 1:
        split = [each.rpartition("@") for each in joined.split(",")]
    else:  # a comma may be a part of the password
        userinfo, at, hosts = joined.rpartition("@")
        split = [(userinfo, at, host) for host in hosts.split(",")]
    found = {unquote(userinfo): userinfo + at for userinfo, at, _ in split if userinfo.strip(":")}
    if len(found) > 1:
        raise ValueError(
            "has different credentials for its hosts. sentinel_password=… has the sentinels' own"
        )
    return next(iter(found.values()), ""), [host for _, _, host in split]


def _parameters(text: str, base: str, kind: str = "") -> list[tuple[str, str]]:
    """Return the parameters by the driver's names. Raises ValueError for one that it does not take."""
    known = _PARAMETERS | _TLS
    known |= _OURS if kind == "sentinel" else frozenset[str]()
    known |= _NOT_OF_CLUSTERS if kind != "cluster" else frozenset[str]()
    known |= _NOT_OF_SOCKETS if base != "unix" else frozenset[str]()
    found: list[tuple[str, str]] = []
    for written, value in parse_qsl(text.replace("+", "%2B"), keep_blank_values=True):
        name = written.lower()
        name = _OTHER_NAMES.get(name, name)
        if name == "ssl_cert_reqs":
            value = value.lower().removeprefix("cert_")  # Celery's words (celery/celery#8113)
        if name == "decode_responses":  # texts are always decoded
            continue
        if name not in known:
            if "@" in text or not re.fullmatch(r"[\w.-]{1,40}", written):  # it may be a part of the password
                raise ValueError(f"has an unknown parameter ({_SIGNS})")
            raise ValueError(f"has an unknown parameter: {written}{_HINTS.get(name, '')}")
        if name.startswith("ssl_") and base != "rediss":
            raise ValueError(f"has {written}, which needs TLS: the address must begin with rediss")
        if name == "ssl_cert_reqs" and value not in _CERTIFICATES:
            raise ValueError(f"has another {written} than {', '.join(_CERTIFICATES)}")
        if not re.fullmatch(_NUMBERS.get(name, ".*"), value, re.DOTALL):
            raise ValueError(f"has a {written} that is no such number")
        found.append((name, value))
    return found


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
