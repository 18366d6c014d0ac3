"""The webhook of the bot, and its last failure."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import httpx

from simulator.api.errors import BadRequest
from simulator.api.wakeup import Wakeup

DEFAULT_CONNECTIONS = 40
MAX_CONNECTIONS = 100
_SECRET = re.compile(r"[A-Za-z0-9_-]*")
_MAX_SECRET = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    url: str
    secret_token: str = ""
    max_connections: int = DEFAULT_CONNECTIONS


@dataclass(frozen=True, slots=True)
class WebhookFailure:
    at: float
    message: str


class Webhook:
    """The webhook, if one is set. `bell` rings when it is set, replaced or deleted."""

    def __init__(self, bell: Wakeup) -> None:
        self.settings: WebhookSettings | None = None
        self.failure: WebhookFailure | None = None
        self._bell = bell

    def put(self, settings: WebhookSettings | None) -> bool:
        """Set or delete the webhook. Return True if it changed; then the last failure is cleared."""
        if settings == self.settings:
            return False
        self.settings, self.failure = settings, None
        self._bell.ring()
        return True

    def fields(self) -> dict[str, Any]:
        """Return the fields of a WebhookInfo, without those of the queue."""
        info: dict[str, Any] = {"url": "", "has_custom_certificate": False}
        if self.settings is None:
            return info
        info |= {"url": self.settings.url, "max_connections": self.settings.max_connections}
        if self.failure is not None:
            info |= {"last_error_date": int(self.failure.at), "last_error_message": self.failure.message}
        return info


def check_url(url: str) -> None:
    """Raise BadRequest unless the URL has https, or http to this machine, which tests use."""
    scheme, host = _split(url)
    if not host:
        raise BadRequest("bad webhook: invalid webhook URL specified")
    if scheme != "https" and not (scheme == "http" and _is_loopback(host)):
        raise BadRequest("bad webhook: An HTTPS URL must be provided for webhook")


def check_secret(secret: str) -> None:
    """Raise BadRequest for more than 256 characters, and for characters other than `A-Za-z0-9_-`."""
    if len(secret) > _MAX_SECRET:
        raise BadRequest("secret token is too long")
    if not _SECRET.fullmatch(secret):
        raise BadRequest("secret token contains unallowed characters")


def _split(url: str) -> tuple[str, str | None]:
    """Return the scheme and the host; None as the host if this is no URL."""
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        return "", None
    return parts.scheme, parts.host


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
