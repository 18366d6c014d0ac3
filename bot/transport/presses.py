"""Presses of inline buttons as Telegram reports them (pure)."""

from dataclasses import dataclass
from typing import Literal, cast

from bot.transport.controls import ButtonRule, ButtonRules, is_same_menu, word_of
from bot.transport.forms import has_topics
from bot.transport.json_fields import Json, int_in, object_in, objects_in, str_in
from memory.codec import Id


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """The press of an inline button. `data` is the text of one of our buttons, or made up by a manipulated app."""

    id: str
    data: str
    sender_id: Id
    rule: ButtonRule | None = None
    """None for data of no button of ours."""
    language_code: str = ""
    under: Literal["menu", "another", "unknown"] = "menu"
    """The message that is named: a menu with such a button, another message, or one that Telegram does not describe.

    A menu may have changed since the press: any button of the same command and owner makes it one.
    """
    is_topic_unknown: bool = False
    """True if Telegram only tells the chat, which has topics.

    It no longer describes messages of some hours ago, and deleted ones. Source: tdlib/telegram-bot-api#401.
    """


def read_press(raw: Json, buttons: ButtonRules) -> Callback:
    """Return the press of a callback query. Never raises: a missing or wrong field is empty or 0."""
    sender, message, data = object_in(raw, "from"), object_in(raw, "message"), str_in(raw, "data")
    rule = buttons.get(word_of(data))
    return Callback(
        id=str_in(raw, "id"),
        data=data,
        rule=rule,
        sender_id=int_in(sender, "id") or 0,
        language_code=str_in(sender, "language_code"),
        under=_kind_of_pressed(message, data, rule),
        is_topic_unknown=message.get("date") == 0 and has_topics(object_in(message, "chat")),
    )


def _kind_of_pressed(
    message: Json, data: str, rule: ButtonRule | None
) -> Literal["menu", "another", "unknown"]:
    """Return `Callback.under`. Telegram describes a message with its keyboard, unless it is old or deleted."""
    if message.get("date") == 0:
        return "unknown"
    rows = object_in(message, "reply_markup").get("inline_keyboard")
    if not isinstance(rows, list):
        return "another"
    buttons = [button for row in cast("list[object]", rows) for button in objects_in({"row": row}, "row")]
    shown = [str_in(button, "callback_data") for button in buttons]
    is_menu = rule is not None and any(is_same_menu(data, each, rule) for each in shown)
    return "menu" if is_menu else "another"
