"""Addresses in settings: their ports, their passwords, and if Telegram can reach them (pure)."""

from urllib.parse import unquote, urlsplit

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_public(url: str) -> None:
    """Raise ValueError unless Telegram or its people can reach the address."""
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise ValueError("must be a public https:// address (http:// only on loopback, for the simulator)")
    check_ports(url)


def check_ports(url: str) -> None:
    """Of each host, where there are several. What stands there is not told: it may be a part of a password."""
    for host in urlsplit(url).netloc.rpartition("@")[2].split(","):
        try:
            _ = urlsplit(f"//{host}").port
        except ValueError:
            raise ValueError(
                "has a port that is no number up to 65535 (signs such as / # ? in a password are written %2F %23 %3F)"
            ) from None


def passwords_in(url: str) -> set[str]:
    """As it stands in the URL, percent-encoded, and as the server knows it, and so its errors.

    A proxy may be named without a scheme.
    """
    try:
        password = urlsplit(url if "://" in url else f"//{url}").password
    except ValueError:  # of a proxy, which nobody has checked
        return set()
    return {password, unquote(password)} if password else set()
