"""The simulated facts as the chat page reads them."""

from typing import Any

from simulator.api.api_objects import message_json
from simulator.api.files import StoredFile
from simulator.api.image_size import image_size
from simulator.api.simulation import Simulation
from simulator.api.updates import Trace
from simulator.api.world import Chat, Person

SHOWN_MESSAGES = 300


def world_object(sim: Simulation) -> dict[str, Any]:
    """Everything; the newest messages of each chat, oldest first."""
    world, bot = sim.world, sim.world.bot
    messages = [
        message_json(world, message)
        for chat in world.chats.values()
        for message in world.newest(chat.id, SHOWN_MESSAGES)
    ]
    return {
        "bot": {"id": bot.id, "first_name": bot.first_name, "username": bot.username},
        "notice": sim.config.notice,
        "people": [person_object(person) for person in world.people.values()],
        "chats": [chat_object(sim, chat) for chat in world.chats.values()],
        "messages": messages,
        "reactions": sim.reactions.as_json(),
        "deliveries": sim.deliveries(),
    }


def person_object(person: Person) -> dict[str, Any]:
    last_name = {"last_name": person.last_name} if person.last_name else {}
    return {
        "id": person.id,
        "first_name": person.first_name,
        **last_name,
        "username": person.username,
        "is_operator": person.is_operator,
        "language_code": person.language_code,
    }


def chat_object(sim: Simulation, chat: Chat) -> dict[str, Any]:
    """The bot is among the members while it is in the chat and not blocked."""
    bot = [sim.world.bot.id] if chat.has_bot else []
    admins = [sim.world.bot.id] if chat.bot_status == "administrator" else []
    title = {"title": chat.title} if chat.title else {}
    return {
        "id": chat.id,
        "type": chat.type,
        **title,
        "is_forum": chat.is_forum,
        "bot_status": chat.bot_status,
        "can_have_topics": chat.is_forum or (chat.type == "private" and sim.config.private_topics),
        "migrated_to": chat.migrated_to,
        "members": [*chat.members, *bot],
        "admins": [*chat.admins, *admins],
        "topics": [{"message_thread_id": topic.thread_id, "name": topic.name} for topic in chat.topics],
        "commands": sim.commands_of(chat),
    }


def file_object(file: StoredFile) -> dict[str, Any]:
    """A file that was sent to the page's API."""
    about = {"file_id": file.file_id(), "name": file.name, "mime_type": file.mime_type, "size": file.size}
    size = image_size(file.data)
    return about if size is None else {**about, "width": size[0], "height": size[1]}


def trace_object(trace: Trace) -> dict[str, Any]:
    tries = [{"at": one.at, "status": one.status, "error": one.error} for one in trace.deliveries]
    return {"update": trace.update.as_json(), "deliveries": tries}
