"""Checks `initData`, the query string with which Telegram tells a Mini App who has opened it (pure).

Source: https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl

from bot.transport.json_fields import int_in, str_in
from memory.codec import parse_object

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
