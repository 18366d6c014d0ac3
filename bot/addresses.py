"""Checks addresses of settings, and finds the passwords in them."""

from urllib.parse import unquote, urlsplit

_REACHED_AT = {"//0.0.0.0:": "//127.0.0.1:", "//[::]:": "//[::1]:", "//localhost:": "//127.0.0.1:"}
"""Addresses that a browser cannot open or that Telegram refuses in buttons, and their substitutes."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_http(url: str) -> None:
    """Raise ValueError unless it is an http:// or https:// address with a host."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http:// or https:// address")
    check_ports(url)


def check_public(url: str) -> None:
    """Raise ValueError unless Telegram or its people can reach the address."""
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise ValueError("must be a public https:// address (http:// only on loopback, for the simulator)")
    check_ports(url)


def check_ports(url: str) -> None:
    """Raise ValueError if a host has a port that is no number. The error does not quote it: it may be a password."""
    for host in urlsplit(url).netloc.rpartition("@")[2].split(","):
        try:
            _ = urlsplit(f"//{host}").port
        except ValueError:
            raise ValueError(
                "has a port that is no number up to 65535 (signs such as / # ? in a password are written %2F %23 %3F)"
            ) from None


def reachable(url: str) -> str:
    """Return the address under which a browser on this machine reaches what listens on `url`."""
    for bound, reached in _REACHED_AT.items():
        url = url.replace(bound, reached)
    return url


def passwords_in(url: str) -> set[str]:
    """Return the password of the URL as it is written and without percent-encoding, as errors of servers have it.

    A proxy's URL may have no scheme.
    """
    try:
        password = urlsplit(url if "://" in url else f"//{url}").password
    except ValueError:  # a proxy's URL is not checked
        return set()
    return {password, unquote(password)} if password else set()
