"""Links to the memory page. The parameter names a chat or topic and is signed, because `initData` names no group."""

import base64
import binascii
import hashlib
import hmac
import struct
from dataclasses import dataclass, field
from typing import Literal

from bot.transport.forms import ChatPlace
from bot.transport.telegram_api import Button

PARAMETER = "link"
"""Name of the signed parameter in the page's own address."""
_PREFIX = "m"
"""First character of each parameter. Codes of invitations may begin with it too, but have another length."""
_PLACE = struct.Struct(">qq")
_DIRECT_PLACE = struct.Struct(">qqq")
"""A topic of a channel's direct messages, and its person."""
_SIGNATURE_BYTES = 16
_LENGTHS = {
    len(_PREFIX) + -(-4 * (each.size + _SIGNATURE_BYTES) // 3): each for each in (_PLACE, _DIRECT_PLACE)
}
"""Characters of a parameter; `?start=` takes 64 of `A-Z a-z 0-9 _ -`."""


GroupAccess = Literal["administrators", "members", "off"]
"""The people who may see the memory page of a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlace(ChatPlace):
    """A chat, or one of its topics, whose memory a link opens.

    `chat_id` is the chat's id when the link was made, because Telegram answers questions about members by the present
    id. A group that has become a supergroup since is found by both: see Migrations and Administrators.
    """

    thread_id: int | None = None
    person_id: int | None = None
    """The person to whom a topic of a channel's direct messages belongs. Nobody else sees it on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLinks:
    """Makes the buttons that open the memory page, and checks the links under them.

    Links do not expire, and give no rights: the page checks them at every request.
    """

    token: str = field(repr=False)
    bot_username: str
    page_url: str | None
    """The address of the page, with its last slash; None if there is none."""
    has_main_web_app: bool = False
    """From getMe: BotFather was told of the page."""
    group_access: GroupAccess = "administrators"

    def is_offered(self, place: PagePlace) -> bool:
        """Return True if the memory of this chat has a page."""
        is_open = place.chat_id > 0 or self.group_access != "off"
        return self.page_url is not None and is_open and place.is_direct == (place.person_id is not None)

    def open_place(self, place: PagePlace, text: str) -> list[Button]:
        """Return the button for an answer in this chat; [] if there is no page for it.

        `web_app` buttons exist in private chats only. A group gets a link, to the page or to the private chat.
        """
        if place.chat_id > 0 or not self.is_offered(place):
            return self.open_privately(place, text)
        how = "startapp" if self.has_main_web_app else "start"
        signed = sign_place(place, self.token)
        return [Button(text=text, url=f"https://t.me/{self.bot_username}?{how}={signed}")]

    def open_privately(self, place: PagePlace, text: str) -> list[Button]:
        """Return the button for a private chat that opens the memory of this chat or group; [] without a page."""
        if not self.is_offered(place):
            return []
        return [Button(text=text, web_app=f"{self.page_url}?{PARAMETER}={sign_place(place, self.token)}")]

    def group_in(self, parameter: str) -> PagePlace | None:
        """Return the group of a link that this bot has made; None for any other text."""
        place = parse_place(parameter, self.token)
        return place if place is not None and place.chat_id < 0 else None


def sign_place(place: PagePlace, token: str) -> str:
    """Return the signed parameter of a place: 44 characters, or 55 for a topic of a channel's direct messages."""
    ids = (place.chat_id, place.thread_id or 0)
    packed = _PLACE.pack(*ids) if place.person_id is None else _DIRECT_PLACE.pack(*ids, place.person_id)
    return _PREFIX + base64.urlsafe_b64encode(packed + _sign(packed, token)).rstrip(b"=").decode()


def parse_place(parameter: str, token: str) -> PagePlace | None:
    """Return the place of a parameter, or None if this bot did not sign it."""
    layout = _LENGTHS.get(len(parameter))
    if layout is None or not parameter.startswith(_PREFIX) or not parameter.isascii():
        return None
    text = parameter.removeprefix(_PREFIX)
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    packed, signature = data[: layout.size], data[layout.size :]
    if not hmac.compare_digest(signature, _sign(packed, token)):
        return None
    chat_id, thread_id, *person = layout.unpack(packed)
    return PagePlace(
        chat_id=chat_id,
        thread_id=thread_id or None,
        is_direct=bool(person),
        person_id=person[0] if person else None,
    )


def _sign(packed: bytes, token: str) -> bytes:
    key = hmac.new(token.encode(), b"mnemogram page link", hashlib.sha256).digest()
    return hmac.new(key, packed, hashlib.sha256).digest()[:_SIGNATURE_BYTES]
