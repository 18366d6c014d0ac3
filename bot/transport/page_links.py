"""Links to the memory page. The parameter names a chat or topic and is signed, because `initData` names no group."""

import base64
import binascii
import hashlib
import hmac
import struct
from dataclasses import dataclass
from typing import Literal

PARAMETER = "link"
"""Name of the signed parameter in the page's own address."""
_PREFIX = "m"
"""First character of each parameter. Codes of invitations may begin with it too, but have another length."""
_PLACE = struct.Struct(">qq")
_SIGNATURE_BYTES = 16
_LENGTH = 4 * (_PLACE.size + _SIGNATURE_BYTES) // 3 + 2
"""Characters of a parameter; `?start=` takes 64 of `A-Z a-z 0-9 _ -`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlace:
    """A chat, or one of its topics, whose memory a link opens."""

    chat_id: int
    thread_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageButton:
    """A button that opens the page: in the chat (`web_app`), or by a link (`link`)."""

    kind: Literal["web_app", "link"]
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLinks:
    """Makes and checks the links of one bot. They do not expire: access is checked at every request."""

    token: str
    bot_username: str
    page_url: str
    """The address of the page, with its last slash."""
    has_main_web_app: bool = False
    """From getMe: BotFather was told of the page."""

    def open_place(self, place: PagePlace) -> PageButton:
        """Return the button for a chat. `web_app` buttons exist in private chats only."""
        if place.chat_id > 0:
            return self.open_privately(place)
        field = "startapp" if self.has_main_web_app else "start"
        return PageButton(
            kind="link", url=f"https://t.me/{self.bot_username}?{field}={sign_place(place, self.token)}"
        )

    def open_privately(self, place: PagePlace) -> PageButton:
        """Return the button in a private chat that opens the memory of this chat, which may be a group."""
        return PageButton(kind="web_app", url=f"{self.page_url}?{PARAMETER}={sign_place(place, self.token)}")


def sign_place(place: PagePlace, token: str) -> str:
    """Return the signed parameter of a place: 44 characters."""
    packed = _PLACE.pack(place.chat_id, place.thread_id or 0)
    return _PREFIX + base64.urlsafe_b64encode(packed + _sign(packed, token)).rstrip(b"=").decode()


def parse_place(parameter: str, token: str) -> PagePlace | None:
    """Return the place of a parameter, or None if this bot did not sign it."""
    if len(parameter) != _LENGTH or not parameter.startswith(_PREFIX) or not parameter.isascii():
        return None
    text = parameter.removeprefix(_PREFIX)
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    packed, signature = data[: _PLACE.size], data[_PLACE.size :]
    if not hmac.compare_digest(signature, _sign(packed, token)):
        return None
    chat_id, thread_id = _PLACE.unpack(packed)
    return PagePlace(chat_id=chat_id, thread_id=thread_id or None)


def _sign(packed: bytes, token: str) -> bytes:
    key = hmac.new(token.encode(), b"mnemogram page link", hashlib.sha256).digest()
    return hmac.new(key, packed, hashlib.sha256).digest()[:_SIGNATURE_BYTES]
