"""Chats and messages as people see them: lookup with permissions, posting, and updates for the bot."""

from dataclasses import replace
from typing import Any, Literal, cast

from simulator.api.api_objects import chat_json, member_json, message_json, user_json
from simulator.api.errors import PageError
from simulator.api.simulation import Simulation
from simulator.api.updates import MESSAGE_LIFE_S, UpdateKind
from simulator.api.utf16 import utf16_slice
from simulator.api.world import TELEGRAM, BotStatus, Chat, Message, Person, World


def find_chat(sim: Simulation, chat_id: int) -> Chat:
    chat = sim.world.chats.get(chat_id)
    if chat is None:
        raise PageError("There is no such chat.", status=404)
    return chat


def chat_of(sim: Simulation, chat_id: int, person_id: int) -> Chat:
    """Return a chat that this person is in."""
    chat = find_chat(sim, chat_id)
    if person_id not in chat.members:
        raise PageError("That person is not in this chat.", status=403)
    return chat


def open_chat_of(sim: Simulation, chat_id: int, person_id: int) -> Chat:
    """Return a chat that this person may write to."""
    chat = chat_of(sim, chat_id, person_id)
    if chat.migrated_to is not None:
        raise PageError("This group was upgraded: write to the supergroup.", status=409)
    if chat.type == "private" and not chat.has_bot:
        raise PageError("Unblock the bot to write to it.", status=403)
    return chat


def group_of(sim: Simulation, chat_id: int, person_id: int, *, as_admin: bool = False) -> Chat:
    """Return a group that this person is in and that was not upgraded."""
    chat = open_chat_of(sim, chat_id, person_id)
    if chat.type == "private":
        raise PageError("That is not a group.")
    if as_admin and person_id not in chat.admins:
        raise PageError("Only an administrator can do that.", status=403)
    return chat


def find_shown(sim: Simulation, chat: Chat, message_id: int) -> Message:
    """Return a message of this chat."""
    message = sim.world.message(chat.id, message_id)
    if message is None:
        raise PageError("There is no such message in this chat.", status=404)
    return message


def buttons_of(message: Message) -> list[dict[str, Any]]:
    """Return the inline buttons of a message, row after row."""
    rows = cast("list[list[dict[str, Any]]]", (message.reply_markup or {}).get("inline_keyboard", []))
    return [button for row in rows for button in row]


def post(sim: Simulation, message: Message) -> Message:
    """Add a message, with a new id if it has none. Show it, and send it to the bot if Telegram does.

    A post of a channel also appears in its group of comments.
    """
    number = message.id or sim.world.next_message_id(message.chat_id)
    posted = sim.world.put_message(replace(message, id=number))
    sim.publish_message("message", posted)
    tell_bot(sim, "message", posted)
    comments_id = sim.world.chats[posted.chat_id].comments_id
    if comments_id is not None:
        channel = chat_json(sim.world, sim.world.chats[posted.chat_id])
        origin = {"type": "channel", "chat": channel, "message_id": posted.id, "date": posted.date}
        copy = replace(posted, id=0, chat_id=comments_id, sender_id=TELEGRAM.id, reply_to=None, quote=None)
        post(sim, replace(copy, forward_origin=origin))
    return posted


def announce(
    sim: Simulation, chat: Chat, actor: Person, *, thread_id: int | None = None, **service: Any
) -> Message:
    """Post a service message. Every bot in the chat sees it, also a bot that is removed by it."""
    message = Message(
        chat_id=chat.id, sender_id=actor.id, date=sim.now(), thread_id=thread_id, service=service
    )
    return post(sim, message)


def tell_bot(sim: Simulation, kind: Literal["message", "edited_message"], message: Message) -> None:
    if is_visible_to_bot(sim.world, message, privacy_mode=sim.config.privacy_mode):
        payload = message_json(sim.world, message)
        is_post = sim.world.chats[message.chat_id].type == "channel"
        of_channel: dict[str, UpdateKind] = {
            "message": "channel_post",
            "edited_message": "edited_channel_post",
        }
        sim.queue.add(
            of_channel[kind] if is_post else kind,
            payload,
            lane=f"chat {message.chat_id}",
            life_s=MESSAGE_LIFE_S,
        )


def change_bot_status(sim: Simulation, chat: Chat, status: BotStatus, actor: Person) -> Chat:
    """Change the status of the bot. Such updates have a lane of their own (tdlib, add_update_chat_member)."""
    return change_chat(sim, replace(chat, bot_status=status), actor, sim.world.bot)


def change_chat(sim: Simulation, changed: Chat, actor: Person, user: Person) -> Chat:
    """Store a changed chat, and send an update to the bot if the membership of `user` has changed.

    The bot always gets updates about itself. About others it gets them as an administrator that allows `chat_member`.
    """
    before = sim.world.chats[changed.id]
    old = member_json(sim.world, before, user)
    sim.world.put_chat(changed)
    new = member_json(sim.world, changed, user)
    is_bot = user.id == sim.world.bot.id
    if old != new and (is_bot or changed.bot_status == "administrator"):
        update = {
            "chat": chat_json(sim.world, changed),
            "from": user_json(actor),
            "date": sim.now(),
            "old_chat_member": old,
            "new_chat_member": new,
        }
        kind = "my_chat_member" if is_bot else "chat_member"
        sim.queue.add(kind, update, lane=f"member {changed.id}", life_s=MESSAGE_LIFE_S)
    return changed


def is_visible_to_bot(world: World, message: Message, *, privacy_mode: bool) -> bool:
    """Return True if Telegram sends this message to the bot.

    In private chats, without privacy mode and as an administrator the bot gets all messages. Otherwise it gets service
    messages, commands for any bot or for itself, mentions of it, replies to it and results of its inline mode.
    """
    chat = world.chats[message.chat_id]
    if not chat.has_bot:
        return False
    if chat.type == "private" or not privacy_mode or chat.bot_status == "administrator":
        return True
    if message.is_via_bot:
        return True
    return message.service is not None or _is_reply_to_bot(world, chat, message) or _names_bot(world, message)


def _is_reply_to_bot(world: World, chat: Chat, message: Message) -> bool:
    replied = None if message.reply_to is None else world.message(chat.id, message.reply_to)
    return replied is not None and replied.sender_id == world.bot.id


def _names_bot(world: World, message: Message) -> bool:
    name = (world.bot.username or "").lower()
    for entity in message.entities:
        covered = utf16_slice(message.text, entity.offset, entity.length).lower()
        match entity.type:
            case "bot_command" if entity.offset == 0:
                _, _, target = covered.partition("@")
                if target in {"", name}:
                    return True
            case "mention" if covered == f"@{name}":
                return True
            case "text_mention" if entity.detail == world.bot.id:
                return True
            case _:
                pass
    return f"@{name}" in _mentions_in((message.content or {}).get("rich_message"))


def _mentions_in(rich: object) -> set[str]:
    """Return the mentions in a rich message, in lower case."""
    if isinstance(rich, list):
        return {name for part in cast("list[object]", rich) for name in _mentions_in(part)}
    if not isinstance(rich, dict):
        return set()
    node = cast("dict[str, object]", rich)
    own = {str(node.get("text")).lower()} if node.get("type") == "mention" else set[str]()
    return own.union(*map(_mentions_in, node.values()))
