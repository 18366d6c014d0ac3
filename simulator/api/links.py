"""Whether Telegram takes an address as a link, and how it writes it back."""

import re

from simulator.api.errors import BadRequest

_PARTS = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://)?)?(?P<host>[^/?#]*)(?P<rest>.*)", re.DOTALL
)
_OWN_SCHEMES = frozenset({"tg", "ton", "tonsite"})
_HOST = re.compile(r"(?:[^@]*@)?(?P<name>\[[0-9A-Fa-f:.]+\]|[^:\[\]@]+)(?::\d{1,5})?")


def checked_link(url: str) -> str:
    """The address as Telegram stores it: with a scheme, a host in small letters and a path.

    Raises BadRequest for other schemes than http, https, tg and ton, and for hosts without a dot.
    """
    stripped = url.strip()
    parts = _PARTS.fullmatch(stripped)
    scheme = (parts["scheme"] or "").lower() if parts else ""
    if parts is None or any(char <= " " or char == "\x7f" for char in stripped):
        raise _refusal(url, "Wrong HTTP URL")
    if scheme in _OWN_SCHEMES:
        return f"{scheme}://{parts['host']}{parts['rest']}"
    if _is_port_of_host(parts["scheme"], parts["host"]):
        return checked_link(f"http://{stripped}")
    if scheme not in {"", "http", "https"}:
        raise _refusal(url, "Unsupported URL protocol")
    host = _HOST.fullmatch(parts["host"])
    if host is None or not _is_host_name(host["name"]):
        raise _refusal(url, "Wrong HTTP URL")
    rest = parts["rest"] if parts["rest"].startswith("/") else f"/{parts['rest']}"
    return f"{scheme or 'http'}://{parts['host'].lower()}{rest}"


def _is_port_of_host(scheme: str | None, host: str) -> bool:
    """`example.com:80/x` looks like a scheme and its rest."""
    return scheme is not None and "." in scheme and host.isdigit()


def _is_host_name(name: str) -> bool:
    if name.startswith("["):
        return True
    labels = name.split(".")
    return len(labels) > 1 and all(label and not re.search(r"[\s<>\"'`]", label) for label in labels)


def _refusal(url: str, reason: str) -> BadRequest:
    return BadRequest(f"entity URL '{url}' is invalid: {reason}")
