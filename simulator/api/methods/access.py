"""Lookup of the chat, topic and message of a call, with the permissions of the bot."""

from simulator.api.errors import BadRequest, ChatMigrated, Forbidden
from simulator.api.simulation import Simulation
from simulator.api.world import Chat, Message


def find_chat(sim: Simulation, chat_id: str) -> Chat:
    """Find a chat by its id or the @username of a person. Raises BadRequest, also for an upgraded group."""
    if not chat_id:
        raise BadRequest("chat_id is empty")
    chat = sim.world.chats.get(_chat_number(sim, chat_id))
    if chat is None:
        raise BadRequest("chat not found")
    if chat.migrated_to is not None:
        raise ChatMigrated(chat.migrated_to)
    return chat


def writable_chat(sim: Simulation, chat_id: str) -> Chat:
    """Return a chat that the bot may write to. Raises Forbidden if it was blocked or removed."""
    chat = find_chat(sim, chat_id)
    if chat.has_bot:
        return chat
    if chat.type == "private":
        raise Forbidden("bot was blocked by the user")
    if chat.bot_status == "left":
        raise Forbidden(f"bot is not a member of the {chat.type} chat")
    raise Forbidden(f"bot was kicked from the {chat.type} chat")


def readable_chat(sim: Simulation, chat_id: str) -> Chat:
    """Return a chat that the bot may read about, also the chat of a person who has blocked it."""
    chat = find_chat(sim, chat_id)
    return chat if chat.type == "private" else writable_chat(sim, chat_id)


def check_thread(chat: Chat, thread_id: int) -> int | None:
    """Return the topic to write to; None for General and for chats without topics."""
    if thread_id == 0:
        return None
    if chat.is_direct or not chat.has_thread(thread_id):
        raise BadRequest("message thread not found")
    return thread_id


def check_topic(chat: Chat, thread_id: int, direct_topic_id: int) -> int | None:
    """Return the topic to send to. The direct messages of a channel need theirs, which other chats do not have.

    Source: Bot API documentation, sendMessage. The wording of these errors is ours.
    """
    if not chat.is_direct:
        if direct_topic_id:
            raise BadRequest("the chat is not a channel direct messages chat")
        return check_thread(chat, thread_id)
    if thread_id or not chat.has_thread(direct_topic_id):
        raise BadRequest("direct messages topic must be specified")
    return direct_topic_id


def check_not_direct(chat: Chat) -> None:
    """Raise BadRequest for the direct messages of a channel, for methods that they do not have."""
    if chat.is_direct:
        raise BadRequest("CHANNEL_MONOFORUM_UNSUPPORTED")


def find_message(sim: Simulation, chat: Chat, message_id: int, *, purpose: str) -> Message:
    """Find a message. Raises BadRequest with the wording of the purpose: `edit`, `delete` or `react`."""
    if message_id <= 0:
        raise BadRequest("message identifier is not specified")
    message = sim.world.message(chat.id, message_id)
    if message is None:
        raise BadRequest(f"message to {purpose} not found")
    return message


def _chat_number(sim: Simulation, chat_id: str) -> int:
    if chat_id.startswith("@"):
        person = sim.world.user_named(chat_id[1:])
        return person.id if person is not None else 0
    try:
        return int(chat_id)
    except ValueError:
        return 0
