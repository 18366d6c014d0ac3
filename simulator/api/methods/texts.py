"""Text, entities and buttons from a bot, with the checks of Telegram."""

from typing import Any, Protocol, cast

from simulator.api.entities import Entity, checked_link, parse_entities
from simulator.api.errors import BadRequest
from simulator.api.formatted_text import MAX_CAPTION, MAX_TEXT, FormattedText, format_text
from simulator.api.simulation import Simulation
from simulator.api.world import Chat

_MAX_BYTES = 32_768
_MAX_BUTTONS = 100
_MAX_CALLBACK_DATA = 64
_ACTION_FIELDS = (
    "url callback_data web_app login_url switch_inline_query switch_inline_query_current_chat"
    " switch_inline_query_chosen_chat copy_text callback_game pay"
)
_ACTIONS = frozenset(_ACTION_FIELDS.split())


class OutgoingText(Protocol):
    """A text or a caption of a call."""

    @property
    def text(self) -> str: ...
    @property
    def parse_mode(self) -> str: ...
    @property
    def entities(self) -> object: ...


def read_entities(sim: Simulation, outgoing: OutgoingText) -> list[Entity]:
    """Return the entities. Raises BadRequest for the faults that Telegram checks before the chat.

    Parse modes are refused: the simulator only takes entities.
    """
    if outgoing.parse_mode and outgoing.parse_mode.lower() != "none":
        raise BadRequest("parse_mode is not supported by the simulator, send entities instead")
    if len(outgoing.text.encode()) > _MAX_BYTES:
        raise BadRequest("text is too long")
    entities = parse_entities(outgoing.entities)
    for entity in entities:
        if entity.type == "text_mention" and sim.world.user(int(entity.detail or 0)) is None:
            raise BadRequest("user not found")
    return entities


def read_text(outgoing: OutgoingText, entities: list[Entity], *, too_long: str) -> FormattedText:
    """Return the text. Raises BadRequest without a text, above 4,096 units, and for invalid entities."""
    formatted = format_text(outgoing.text, entities)
    if not formatted.text:
        raise BadRequest("text must be non-empty")
    if formatted.length > MAX_TEXT:
        raise BadRequest(too_long)
    return formatted


def read_caption(outgoing: OutgoingText, entities: list[Entity]) -> FormattedText:
    """Return the caption, which may be empty. Raises BadRequest above 1,024 units."""
    formatted = format_text(outgoing.text, entities)
    if formatted.length > MAX_CAPTION:
        raise BadRequest("message caption is too long")
    return formatted


def read_markup(markup: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the inline keyboard. Other kinds belong to the person's screen, and no Message has them."""
    if not markup or "inline_keyboard" not in markup:
        return None
    rows = markup["inline_keyboard"]
    if not isinstance(rows, list):
        raise BadRequest('field "inline_keyboard" of the InlineKeyboardMarkup must be of type Array')
    keyboard = [_read_row(row) for row in cast("list[object]", rows)]
    keyboard = [row for row in keyboard if row]
    if sum(len(row) for row in keyboard) > _MAX_BUTTONS:
        raise BadRequest("reply markup is too long")
    return {"inline_keyboard": keyboard} if keyboard else None


def check_place_of_buttons(chat: Chat, markup: dict[str, Any] | None) -> None:
    """Raise BadRequest for `web_app` buttons in a group: Telegram allows them in private chats only."""
    rows = (markup or {}).get("inline_keyboard", [])
    if chat.type != "private" and any("web_app" in button for row in rows for button in row):
        raise BadRequest("BUTTON_TYPE_INVALID")


def _read_row(row: object) -> list[dict[str, Any]]:
    if not isinstance(row, list):
        raise BadRequest("can't parse inline keyboard button: InlineKeyboardButton row must be an Array")
    return [_read_button(button) for button in cast("list[object]", row)]


def _read_button(button: object) -> dict[str, Any]:
    if not isinstance(button, dict):
        raise BadRequest("can't parse inline keyboard button: InlineKeyboardButton must be an Object")
    fields = cast("dict[str, Any]", button)
    if not str(fields.get("text") or "").strip():
        raise BadRequest('can\'t parse inline keyboard button: Field "text" must be non-empty')
    actions = _ACTIONS & fields.keys()
    if len(actions) != 1:
        raise BadRequest(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
        )
    data = fields.get("callback_data")
    if data is not None and not 1 <= len(str(data).encode()) <= _MAX_CALLBACK_DATA:
        raise BadRequest("BUTTON_DATA_INVALID")
    addresses: dict[str, Any] = {}
    if fields.get("url") is not None:
        addresses["url"] = checked_link(str(fields["url"]), subject="inline keyboard button URL")
    if fields.get("web_app") is not None:
        addresses["web_app"] = {"url": _read_web_app(fields["web_app"])}
    return {name: value for name, value in fields.items() if value is not None} | addresses


def _read_web_app(web_app: object) -> str:
    """Return the address of a Mini App. As on Telegram's test servers, it may be http."""
    if not isinstance(web_app, dict):
        raise BadRequest('can\'t parse inline keyboard button: Field "web_app" must be of type Object')
    url = cast("dict[str, Any]", web_app).get("url")
    if not isinstance(url, str):
        raise BadRequest("can't parse inline keyboard button: Can't find field \"url\"")
    return checked_link(url, subject="inline keyboard button Web App URL", http_only=True)
