"""Changes of messages, reactions, and answers to callback and inline queries."""

from dataclasses import replace
from typing import Any, cast

from simulator.api.api_objects import message_json
from simulator.api.errors import BadRequest
from simulator.api.methods.access import find_message, writable_chat
from simulator.api.methods.texts import (
    check_place_of_buttons,
    read_caption,
    read_entities,
    read_markup,
    read_text,
)
from simulator.api.payloads import (
    AnswerCallbackQuery,
    AnswerInlineQuery,
    EditMessageCaption,
    EditMessageReplyMarkup,
    EditMessageText,
    MessageAddress,
    SendMessage,
    SetMessageReaction,
)
from simulator.api.simulation import Simulation
from simulator.api.world import Chat, Message, read_reaction

_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as"
    " a current content and reply markup of the message"
)
_DELETABLE_S = 48 * 3600
_MAX_ANSWER = 200
_MAX_RESULT_ID = 64


async def answer_inline_query(sim: Simulation, payload: AnswerInlineQuery) -> bool:
    results = [_read_result(sim, result) for result in payload.results or []]
    if not sim.callbacks.inline.answer(payload.inline_query_id, results):
        raise BadRequest("query is too old and response timeout expired or query ID is invalid")
    return True


def _read_result(sim: Simulation, result: object) -> dict[str, Any]:
    """Return an article with a text. The simulator knows no other results."""
    fields = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
    content = fields.get("input_message_content")
    if fields.get("type") != "article" or not fields.get("title") or not isinstance(content, dict):
        raise BadRequest("can't parse inline query result")
    if not 1 <= len(str(fields.get("id", "")).encode()) <= _MAX_RESULT_ID:
        raise BadRequest("RESULT_ID_INVALID")
    text = cast("dict[str, Any]", content)
    outgoing = SendMessage.read({"text": text.get("message_text"), "entities": text.get("entities")})
    read_text(outgoing, read_entities(sim, outgoing), too_long="MESSAGE_TOO_LONG")
    return fields | {"reply_markup": read_markup(fields.get("reply_markup"))}


async def edit_message_text(sim: Simulation, payload: EditMessageText) -> dict[str, Any] | bool:
    if not payload.text:
        raise BadRequest("message text is empty")
    entities = read_entities(sim, payload)
    markup = read_markup(payload.reply_markup)
    message = _find_inline(sim, payload) if payload.inline_message_id else _find_own(sim, payload)
    if message.content is not None:
        raise BadRequest("there is no text in the message to edit")
    formatted = read_text(payload, entities, too_long="MESSAGE_TOO_LONG")
    changed = _change(
        sim,
        message,
        replace(
            message,
            text=formatted.text,
            entities=formatted.entities,
            reply_markup=markup,
            link_preview_options=payload.link_preview_options,
        ),
    )
    return True if payload.inline_message_id else changed


async def edit_message_caption(sim: Simulation, payload: EditMessageCaption) -> dict[str, Any]:
    entities = read_entities(sim, payload)
    markup = read_markup(payload.reply_markup)
    message = _find_own(sim, payload)
    if message.content is None:
        raise BadRequest("there is no caption in the message to edit")
    caption = read_caption(payload, entities)
    changed = replace(message, text=caption.text, entities=caption.entities, reply_markup=markup)
    return _change(sim, message, changed)


async def edit_message_reply_markup(sim: Simulation, payload: EditMessageReplyMarkup) -> dict[str, Any]:
    markup = read_markup(payload.reply_markup)
    message = _find_own(sim, payload)
    return _change(sim, message, replace(message, reply_markup=markup))


async def delete_message(sim: Simulation, payload: MessageAddress) -> bool:
    chat = writable_chat(sim, payload.chat_id)
    message = find_message(sim, chat, payload.message_id, purpose="delete")
    if not _is_deletable(sim, chat, message):
        is_late = sim.config.clock() - message.date >= _DELETABLE_S
        raise BadRequest("message can't be deleted" + (" for everyone" if is_late else ""))
    sim.world.delete_message(chat.id, message.id)
    sim.feed.publish("delete", chat_id=chat.id, message_id=message.id)
    return True


async def set_message_reaction(sim: Simulation, payload: SetMessageReaction) -> bool:
    chat = writable_chat(sim, payload.chat_id)
    message = find_message(sim, chat, payload.message_id, purpose="react")
    reactions = [read_reaction(item) for item in cast("list[object]", payload.reaction or [])]
    if len(reactions) > 1:
        raise BadRequest("REACTIONS_TOO_MANY")
    sim.world.reactions.put(chat.id, message.id, sim.world.bot.id, reactions)
    sim.feed.publish(
        "reaction", chat_id=chat.id, message_id=message.id, user_id=sim.world.bot.id, reactions=reactions
    )
    return True


async def answer_callback_query(sim: Simulation, payload: AnswerCallbackQuery) -> bool:
    press = sim.callbacks.take(payload.callback_query_id)
    if press is None:
        raise BadRequest("query is too old and response timeout expired or query ID is invalid")
    if len(payload.text) > _MAX_ANSWER:
        raise BadRequest("MESSAGE_TOO_LONG")
    text = {"text": payload.text} if payload.text else {}
    sim.feed.publish(
        "callback_answer",
        callback_query_id=payload.callback_query_id,
        user_id=press.user_id,
        **text,
        show_alert=payload.show_alert,
    )
    return True


def _find_own(
    sim: Simulation, payload: EditMessageText | EditMessageCaption | EditMessageReplyMarkup
) -> Message:
    chat = writable_chat(sim, payload.chat_id)
    message = find_message(sim, chat, payload.message_id, purpose="edit")
    if message.sender_id != sim.world.bot.id or message.service is not None:
        raise BadRequest("message can't be edited")
    return message


def _find_inline(sim: Simulation, payload: EditMessageText) -> Message:
    """Find a chosen result by the id in its feedback. The bot need not be in the chat."""
    chat_id, _, message_id = payload.inline_message_id.partition(".")
    if chat_id.lstrip("-").isdecimal() and message_id.isdecimal() and int(chat_id) in sim.world.chats:
        message = sim.world.message(int(chat_id), int(message_id))
        if message is not None and message.is_via_bot:
            return message
    raise BadRequest("MESSAGE_ID_INVALID")


def _change(sim: Simulation, message: Message, edited: Message) -> dict[str, Any]:
    check_place_of_buttons(sim.world.chats[message.chat_id], edited.reply_markup)
    if _is_same(edited, message):
        raise BadRequest(_NOT_MODIFIED)
    edited = sim.world.put_message(replace(edited, edit_date=sim.now()))
    sim.publish_message("edit", edited)
    return message_json(sim.world, edited)


def _is_same(edited: Message, message: Message) -> bool:
    """Compare two versions. Preview options count only if there is a link."""
    if any(entity.type in {"url", "text_link"} for entity in edited.entities):
        return edited == message
    return edited == replace(message, link_preview_options=edited.link_preview_options)


def _is_deletable(sim: Simulation, chat: Chat, message: Message) -> bool:
    """Return True if the bot may delete the message (Bot API documentation, deleteMessage)."""
    if chat.bot_status == "administrator":
        return True
    if chat.type != "private" and message.sender_id != sim.world.bot.id:
        return False
    return sim.config.clock() - message.date < _DELETABLE_S
