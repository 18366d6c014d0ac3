"""Which group messages Telegram shows to a bot in privacy mode."""

from simulator.api.utf16 import utf16_slice
from simulator.api.world import Chat, Message, World


def is_visible_to_bot(world: World, message: Message, *, privacy_mode: bool) -> bool:
    """Private chats: all. Groups: all for an administrator or without privacy mode; else service messages,
    commands for any bot or this one, mentions of it and replies to it. Nothing from where it was removed.
    """
    chat = world.chats[message.chat_id]
    if not chat.has_bot:
        return False
    if chat.type == "private" or not privacy_mode or chat.bot_status == "administrator":
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
    return False
