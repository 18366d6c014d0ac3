"""The proxy that the environment names for a URL."""

from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

SOCKS_PORT = 1080


def proxy_of(url: str) -> str | None:
    """Return the proxy's URL that the environment names for this URL, and None without one.

    HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY count, except for this machine itself: loopback needs no proxy. Give
    the result to clients that would read the environment in other ways. Raises ValueError for a useless proxy.
    """
    target, proxies = urlsplit(url), getproxies()
    kind = target.scheme if proxies.get(target.scheme) else "all"
    proxy = (proxies.get(kind) or "").strip()
    if not proxy or _is_loopback(target.hostname or "") or proxy_bypass(target.netloc.rpartition("@")[2]):
        return None
    return parse_proxy(proxy, f"{kind.upper()}_PROXY")


def parse_proxy(text: str, variable: str) -> str:
    """Return the proxy's URL with a scheme, socks5 for GNOME's `socks` (MoonshotAI/kimi-cli#404).

    Raises ValueError for another kind of proxy, or an address that is none. The error does not quote it: it may have a
    password.
    """
    scheme, separator, rest = text.strip().rpartition("://")
    scheme = (scheme if separator else "http").lower()
    scheme = "socks5" if scheme in ("socks", "socks5h") else scheme
    with suppress(ValueError):  # its text may contain the password
        parts = urlsplit(f"{scheme}://{rest}")
        is_sent = (
            scheme != "socks5" or unquote(parts.netloc).isascii()
        )  # python-socks takes no other credentials
        if scheme in ("http", "https", "socks5") and parts.hostname and parts.port != 0 and is_sent:
            port = f":{SOCKS_PORT}" if scheme == "socks5" and not parts.port else ""
            return f"{scheme}://{parts.netloc.rstrip(':')}{port}"
    raise ValueError(
        f"{variable}: must be an address with a host: http://host:port, https://… or socks5://… (empty: no proxy)"
    )


def _is_loopback(host: str) -> bool:
    host = host.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(ValueError):
        address = ip_address(host)
        address = getattr(address, "ipv4_mapped", None) or address
        return address.is_loopback or address.is_unspecified
    return False
