"""The people who use the page's API: who they are, by the `Authorization` header of each request."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from bot.page.init_data import check_init_data, key_of
from bot.transport.page_links import PagePlace, parse_place

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
