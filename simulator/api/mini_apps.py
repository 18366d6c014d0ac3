"""Mini Apps: their addresses, with data about the person that Telegram signs for the bot."""

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode, urlsplit

from simulator.api.errors import PageError
from simulator.api.posts import buttons_of, chat_of, find_shown
from simulator.api.simulation import Simulation
from simulator.api.world import Chat, Person

_VERSION = "9.1"
_QUERY_ID_BYTES = 18
_SIGNATURE_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A Mini App that a person opens from a chat: that of a button, or the main one of the bot."""

    chat_id: int
    from_id: int
    message_id: int | None = None  # the message with the button
    url: str | None = None  # the address of the button; None opens the main Mini App
    start_param: str | None = None  # of a link t.me/BOT?startapp=…
    theme_params: dict[str, str] = field(default_factory=dict[str, str])  # colours of the chat page


def open_web_app(sim: Simulation, launch: Launch) -> str:
    """Return the address to open, with signed data in its fragment.

    Raises PageError if no button of the message has the address, or if its origin is not that of the main Mini App: the
    chat page may frame no other.
    """
    chat = chat_of(sim, launch.chat_id, launch.from_id)
    main = sim.config.mini_app_url
    if main is None:
        raise PageError("The simulator does not know a Mini App of this bot.", status=404)
    url, about = main, dict[str, str]()
    if launch.url is not None:
        _check_button(sim, chat, launch, main)
        url, about = launch.url, {"query_id": secrets.token_urlsafe(_QUERY_ID_BYTES)}
    elif launch.start_param is not None:
        url = f"{main}{'&' if '?' in main else '?'}tgWebAppStartParam={launch.start_param}"
        about = {
            "chat_type": "sender" if chat.type == "private" else chat.type,
            "chat_instance": _chat_instance(chat, sim.config.token),
            "start_param": launch.start_param,
        }
    fields = about | {
        "user": _user_text(sim.world.people[launch.from_id]),
        "auth_date": str(sim.now()),
        # Made with a key of Telegram's, for services that do not have the token. No one can check this one.
        "signature": secrets.token_urlsafe(_SIGNATURE_BYTES),
    }
    fragment = {
        "tgWebAppData": sign_init_data(fields, sim.config.token),
        "tgWebAppVersion": _VERSION,
        "tgWebAppPlatform": "web",
        "tgWebAppThemeParams": json.dumps(launch.theme_params, separators=(",", ":")),
    }
    return f"{url}#{urlencode(fragment, quote_via=quote)}"


def sign_init_data(fields: dict[str, str], token: str) -> str:
    """Return the fields with their hash as a query string (core.telegram.org/bots/webapps, "Validating data")."""
    lines = "\n".join(f"{name}={value}" for name, value in sorted(fields.items()))
    key = hmac.digest(b"WebAppData", token.encode(), hashlib.sha256)
    signed = fields | {"hash": hmac.new(key, lines.encode(), hashlib.sha256).hexdigest()}
    return urlencode(signed, quote_via=quote)


def origin_of(url: str) -> str:
    """Return the scheme, the host and the port of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _check_button(sim: Simulation, chat: Chat, launch: Launch, main: str) -> None:
    message = find_shown(sim, chat, launch.message_id or 0)
    if {"url": launch.url} not in [button.get("web_app") for button in buttons_of(message)]:
        raise PageError("The message has no such button.", status=404)
    if origin_of(launch.url or "") != origin_of(main):
        raise PageError(f"The chat page only opens Mini Apps of {origin_of(main)}.", status=403)


def _user_text(person: Person) -> str:
    """Return a WebAppUser as JSON. `last_name` is there even if it is empty, as in Telegram."""
    user = {
        "id": person.id,
        "first_name": person.first_name,
        "last_name": person.last_name or "",
        **({"username": person.username} if person.username else {}),
        "language_code": person.language_code,
        **({"is_premium": True} if person.is_premium else {}),
        "allows_write_to_pm": True,
    }
    return json.dumps(user, ensure_ascii=False, separators=(",", ":"))


def _chat_instance(chat: Chat, token: str) -> str:
    """Return a number that is the same for each launch from this chat, and does not tell its id."""
    digest = hmac.digest(token.encode(), f"chat instance {chat.id}".encode(), hashlib.sha256)
    return str(int.from_bytes(digest[:8], "big", signed=True))
