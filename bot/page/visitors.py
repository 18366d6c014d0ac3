"""The people who use the page's API: who they are, by the `Authorization` header of each request."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl

from bot.transport.json_fields import int_in, str_in
from bot.transport.page_links import PagePlace, parse_place
from memory import keys
from memory.codec import parse_object
from memory.keys import Key
from memory.redis.client import RedisClient

LINK_HEADER = "mnemogram-link"
"""Header with the signed parameter of a page that a button has opened for another chat."""
LONGEST_AUTHORIZATION = 5000
"""Maximum characters of the `Authorization` header."""

ErrorCode: TypeAlias = Literal[
    "unauthorized", "expired", "forbidden", "not_found", "bad_request", "too_many_requests", "unavailable"
]
STATUSES: Mapping[ErrorCode, int] = MappingProxyType(
    {
        "unauthorized": 401,
        "expired": 401,
        "forbidden": 403,
        "not_found": 404,
        "bad_request": 400,
        "too_many_requests": 429,
        "unavailable": 503,
    }
)
FindSession: TypeAlias = Callable[[str], Awaitable[bool]]
"""Return True for a session of the operators' dashboard that is valid now. Raises the store's errors."""


class PageError(Exception):
    """A request that gets an error. `message` is one sentence for people."""

    def __init__(self, code: ErrorCode, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """The sender of a request."""

    user_id: int | None
    """None for a session of the dashboard: an operator without a chat of their own."""
    name: str = ""
    language: str = "en"
    is_operator: bool = False
    place: PagePlace | None = None
    """The chat of the signed link that has opened the page."""
    key: str = field(default="", repr=False)
    """Name of the visitor in rate limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """Finds out who sends a request. Everything is checked at each request."""

    token: str = field(repr=False)
    operator_ids: frozenset[int]
    find_session: FindSession
    clock: Callable[[], float]

    async def identify(self, authorization: str, link: str) -> Visitor:
        """Return the visitor. Raises PageError: "unauthorized", or "expired" for data that were valid once.

        `link` is the header of a page that a button has opened; a link that this bot did not sign opens nothing.
        """
        scheme, _, credentials = authorization.partition(" ")
        if len(authorization) > LONGEST_AUTHORIZATION or not credentials:
            raise PageError("unauthorized", "Please open this page from Telegram.")
        if scheme.lower() == "tma":
            return self._read_telegram(credentials, link)
        if scheme.lower() == "session":
            if not await self.find_session(credentials):
                raise PageError(
                    "expired", "This session has ended. Run `mnemogram dashboard` for a new link."
                )
            return Visitor(
                user_id=None, name="Dashboard", is_operator=True, key=f"session:{credentials[:64]}"
            )
        raise PageError("unauthorized", "Please open this page from Telegram.")

    def _read_telegram(self, init_data: str, link: str) -> Visitor:
        facts = check_init_data(init_data, key=key_of(self.token), now=self.clock())
        if facts == "expired":
            raise PageError("expired", "This page has been open for an hour. Please close and open it again.")
        if facts == "unauthorized":
            raise PageError("unauthorized", "Please open this page from Telegram.")
        return Visitor(
            user_id=facts.user_id,
            name=facts.name,
            language=facts.language_code or "en",
            is_operator=facts.user_id in self.operator_ids,
            place=parse_place(link or facts.start_param, self.token),
            key=f"user:{facts.user_id}",
        )


VALID_S = 3600.0
"""Lifetime of initData. A page that is open for longer must be opened again."""
CLOCK_SKEW_S = 60.0
"""Telegram's clock may be ahead of ours by this much."""
LONGEST = 4096
"""Maximum characters of initData. Telegram's has about 600."""
_MOST_FIELDS = 32
_NAME = re.compile(r"[a-z0-9_]{1,32}")
_SECONDS = re.compile(r"[0-9]{1,12}")
_HASH = re.compile(r"[0-9a-f]{64}")
_LARGEST_USER_ID = (1 << 52) - 1
"""Telegram's ids have at most 52 significant bits."""

Refusal: TypeAlias = Literal["unauthorized", "expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitData:
    """The person who has opened the page, and the parameter of the link that was used."""

    user_id: int
    name: str
    language_code: str
    """IETF tag, or "" if Telegram does not say."""
    start_param: str
    """"" if the page was not opened by a link."""


def key_of(token: str) -> bytes:
    """Return the key that signs the initData of this bot. Another bot's data have another key."""
    return hmac.digest(b"WebAppData", token.encode(), hashlib.sha256)


def check_init_data(text: str, *, key: bytes, now: float) -> InitData | Refusal:
    """Return the signed facts, "expired" after VALID_S, or "unauthorized" for all that Telegram did not sign.

    Fields may come in any order; a field that comes twice is refused. One HMAC is computed whatever the text is, so the
    time says nothing about the reason.
    """
    fields = _parse(text[:LONGEST]) if len(text) <= LONGEST else {}
    given = fields.pop("hash", "")
    lines = "\n".join(f"{name}={fields[name]}" for name in sorted(fields))
    expected = hmac.digest(key, lines.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()
    is_signed = hmac.compare_digest(expected, given if _HASH.fullmatch(given) else "0" * 64)
    return _read(fields, now=now) if fields and is_signed else "unauthorized"


def _parse(text: str) -> dict[str, str]:
    """Return the fields by name; {} for a text that is no query string with different names.

    Line breaks are refused: the signature covers joined lines, so a break could move text from one field to another.
    """
    try:
        pairs = parse_qsl(
            text, keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        return {}
    fields = dict(pairs)
    is_sound = all(_NAME.fullmatch(name) and "\n" not in value for name, value in pairs)
    return fields if is_sound and len(fields) == len(pairs) else {}


def _read(fields: Mapping[str, str], *, now: float) -> InitData | Refusal:
    """Return the facts of signed fields."""
    signed_at, user = fields.get("auth_date", ""), parse_object(fields.get("user", ""))
    if user is None or not _SECONDS.fullmatch(signed_at) or int(signed_at) > now + CLOCK_SKEW_S:
        return "unauthorized"
    if now - int(signed_at) > VALID_S:
        return "expired"
    user_id = int_in(user, "id") or 0
    if not 0 < user_id <= _LARGEST_USER_ID:
        return "unauthorized"
    names = [str_in(user, "first_name"), str_in(user, "last_name")]
    return InitData(
        user_id=user_id,
        name=" ".join(filter(None, names)),
        language_code=str_in(user, "language_code"),
        start_param=fields.get("start_param", ""),
    )


SESSIONS_AT_MOST = 20
"""Sessions at a time. A further one ends the one that would end first."""
_TOKEN_BYTES = 24


class Dashboard:
    """The links and sessions of all processes. Every method raises the store's errors."""

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        """`clock` is Unix seconds."""
        self._redis = redis
        self._clock = clock

    async def make_link(self) -> str:
        """Return the token of a new link, which opens one session within DASHBOARD_TTL_S."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        await self._redis.call("SET", _link_key(token), "", "EX", keys.DASHBOARD_TTL_S)
        return token

    async def open_session(self, token: str) -> Mapping[str, object] | None:
        """Use up a link. Return a session's token and its end; None if the link is unknown, used or too old."""
        session, now = secrets.token_urlsafe(_TOKEN_BYTES), self._clock()
        if not await self._redis.call("DEL", _link_key(token)):
            return None
        sessions, end = keys.global_key("{access}:sessions"), now + keys.SESSION_TTL_S
        await self._redis.calls(
            [
                ("ZREMRANGEBYSCORE", sessions, "-inf", now),
                ("ZADD", sessions, end, _digest(session)),
                ("ZREMRANGEBYRANK", sessions, 0, -1 - SESSIONS_AT_MOST),
                ("EXPIRE", sessions, keys.SESSION_TTL_S),
            ]
        )
        return {"session": session, "expires_at": end}

    async def has_session(self, token: str) -> bool:
        """Return True if this session has not ended."""
        end = await self._redis.call("ZSCORE", keys.global_key("{access}:sessions"), _digest(token))
        return end is not None and self._clock() < float(end)


def _link_key(token: str) -> Key:
    return keys.global_key("{access}:dashboard", _digest(token))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
