"""editMessageText, deleteMessage, setMessageReaction and answerCallbackQuery."""

from dataclasses import replace
from typing import Any, cast

from bot.simulator.api_objects import message_json
from bot.simulator.errors import BadRequest
from bot.simulator.methods.access import find_message, writable_chat
from bot.simulator.methods.texts import read_entities, read_markup, read_text
from bot.simulator.payloads import AnswerCallbackQuery, EditMessageText, MessageAddress, SetMessageReaction
from bot.simulator.simulation import Simulation
from bot.simulator.world import Chat, Message

_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as"
    " a current content and reply markup of the message"
)
_DELETABLE_S = 48 * 3600
_MAX_ANSWER = 200
# Bot API documentation, ReactionTypeEmoji.
_EMOJI = (
    "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻"
    " 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"
)
_REACTIONS = frozenset(_EMOJI.split())


async def edit_message_text(sim: Simulation, given: EditMessageText) -> dict[str, Any]:
    if not given.text:
        raise BadRequest("message text is empty")
    entities = read_entities(sim, given)
    markup = read_markup(given.reply_markup)
    chat = writable_chat(sim, given.chat_id)
    message = find_message(sim, chat, given.message_id, purpose="edit")
    if message.sender_id != sim.world.bot.id or message.service is not None:
        raise BadRequest("message can't be edited")
    formatted = read_text(given, entities, too_long="MESSAGE_TOO_LONG")
    edited = replace(
        message,
        text=formatted.text,
        entities=formatted.entities,
        reply_markup=markup,
        link_preview_options=given.link_preview_options,
    )
    if _is_same(edited, message):
        raise BadRequest(_NOT_MODIFIED)
    edited = sim.world.put_message(replace(edited, edit_date=sim.now()))
    sim.publish_message("edit", edited)
    return message_json(sim.world, edited)


async def delete_message(sim: Simulation, given: MessageAddress) -> bool:
    chat = writable_chat(sim, given.chat_id)
    message = find_message(sim, chat, given.message_id, purpose="delete")
    if not _is_deletable(sim, chat, message):
        raise BadRequest("message can't be deleted")
    sim.world.delete_message(chat.id, message.id)
    sim.feed.publish("delete", chat_id=chat.id, message_id=message.id)
    return True


async def set_message_reaction(sim: Simulation, given: SetMessageReaction) -> bool:
    chat = writable_chat(sim, given.chat_id)
    message = find_message(sim, chat, given.message_id, purpose="react")
    reactions = [_read_reaction(item) for item in cast("list[object]", given.reaction or [])]
    if len(reactions) > 1:
        raise BadRequest("REACTIONS_TOO_MANY")
    sim.feed.publish(
        "reaction", chat_id=chat.id, message_id=message.id, user_id=sim.world.bot.id, reactions=reactions
    )
    return True


async def answer_callback_query(sim: Simulation, given: AnswerCallbackQuery) -> bool:
    press = sim.callbacks.take(given.callback_query_id)
    if press is None:
        raise BadRequest("query is too old and response timeout expired or query ID is invalid")
    if len(given.text) > _MAX_ANSWER:
        raise BadRequest("MESSAGE_TOO_LONG")
    text = {"text": given.text} if given.text else {}
    sim.feed.publish("callback_answer", user_id=press.user_id, **text, show_alert=given.show_alert)
    return True


def _is_same(edited: Message, message: Message) -> bool:
    """Preview options change nothing where there is no link to preview."""
    if any(entity.type in {"url", "text_link"} for entity in edited.entities):
        return edited == message
    return edited == replace(message, link_preview_options=edited.link_preview_options)


def _is_deletable(sim: Simulation, chat: Chat, message: Message) -> bool:
    """Bot API documentation, deleteMessage: of others only in private chats or as an administrator."""
    if chat.bot_status == "administrator":
        return True
    if chat.type != "private" and message.sender_id != sim.world.bot.id:
        return False
    return sim.config.clock() - message.date < _DELETABLE_S


def _read_reaction(item: object) -> dict[str, str]:
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    emoji = str(fields.get("emoji", ""))
    # The variation selector of ❤️ and others may come with the emoji or not.
    if fields.get("type") != "emoji" or emoji.replace("\ufe0f", "") not in _REACTIONS:
        raise BadRequest("REACTION_INVALID")
    return {"type": "emoji", "emoji": emoji}
