"""What people do in the simulated Telegram: write, edit, press a button, block, come together."""

from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Any, Literal

from bot.simulator.api_objects import chat_json, member_json, message_json, user_json
from bot.simulator.default_world import add_forum, forum_topics
from bot.simulator.errors import PageError
from bot.simulator.formatted_text import MAX_TEXT, FormattedText, format_text
from bot.simulator.methods.sending import thread_of
from bot.simulator.simulation import Simulation
from bot.simulator.updates import CALLBACK_LIFE_S, MESSAGE_LIFE_S
from bot.simulator.visibility import is_visible_to_bot
from bot.simulator.world import BotStatus, Chat, Message, Person

MAX_PEOPLE = 5_000
MAX_CHATS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What a person is about to send."""

    chat_id: int
    from_id: int
    text: str
    reply_to_message_id: int | None = None
    message_thread_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """A group or supergroup to make; the first of `admins` is its creator."""

    title: str
    type: Literal["group", "supergroup"]
    is_forum: bool = False
    members: tuple[int, ...] = ()
    admins: tuple[int, ...] = ()
    topics: tuple[str, ...] = ()
    migrate_to_chat_id: int | None = None


def write_line(sim: Simulation, line: Line) -> Message:
    """Send a message; raises PageError for what a Telegram app would not let this person do."""
    chat = _chat_of(sim, line.chat_id, line.from_id)
    formatted = _read_text(line.text)
    if chat.type == "private" and not chat.has_bot:
        raise PageError("Unblock the bot to write to it.", status=403)
    if line.message_thread_id is not None and not chat.has_thread(line.message_thread_id):
        raise PageError("There is no such topic in this chat.", status=404)
    replied = _find(sim, chat, line.reply_to_message_id) if line.reply_to_message_id is not None else None
    return _post(
        sim,
        Message(
            chat_id=chat.id,
            sender_id=line.from_id,
            date=sim.now(),
            text=formatted.text,
            entities=formatted.entities,
            thread_id=thread_of(chat, line.message_thread_id, replied),
            reply_to=replied.id if replied else None,
        ),
    )


def edit_line(sim: Simulation, line: Line, message_id: int) -> Message:
    """Change one's own message; raises PageError for others' and for no change."""
    chat = _chat_of(sim, line.chat_id, line.from_id)
    message = _find(sim, chat, message_id)
    if message.sender_id != line.from_id or message.service is not None:
        raise PageError("Only your own messages can be edited.", status=403)
    formatted = _read_text(line.text)
    if (formatted.text, formatted.entities) == (message.text, message.entities):
        raise PageError("The text is the same as before.")
    edited = sim.world.put_message(
        replace(message, text=formatted.text, entities=formatted.entities, edit_date=sim.now())
    )
    sim.publish_message("edit", edited)
    _tell_bot(sim, "edited_message", edited)
    return edited


def press_button(sim: Simulation, *, chat_id: int, from_id: int, message_id: int, data: str) -> None:
    """Press an inline button; raises PageError when the message has no button with this data."""
    chat = _chat_of(sim, chat_id, from_id)
    message = _find(sim, chat, message_id)
    rows = (message.reply_markup or {}).get("inline_keyboard", [])
    if not any(button.get("callback_data") == data for row in rows for button in row):
        raise PageError("The message has no such button.", status=404)
    query = {
        "id": sim.callbacks.open(from_id),
        "from": user_json(sim.world.people[from_id]),
        "message": message_json(sim.world, message),
        "chat_instance": str(chat.id),
        "data": data,
    }
    sim.queue.add("callback_query", query, lane=f"user {from_id}", life_s=CALLBACK_LIFE_S)


def set_blocked(sim: Simulation, chat_id: int, *, is_blocked: bool) -> None:
    """Block or unblock the bot in a private chat; remove it from or add it to a group. Again: no change."""
    chat = _find_chat(sim, chat_id)
    status: BotStatus = "kicked" if is_blocked else "member"
    if chat.has_bot != is_blocked:
        return
    actor = sim.world.people[chat.admins[0] if chat.admins else chat.members[0]]
    if chat.type != "private" and is_blocked:
        _announce(sim, chat, actor, left_chat_member=user_json(sim.world.bot))
    _change_bot_status(sim, chat, status, actor)
    if chat.type != "private" and not is_blocked:
        _announce(sim, chat, actor, new_chat_members=[user_json(sim.world.bot)])
    sim.feed.publish("world")


def add_person(sim: Simulation, *, first_name: str, username: str | None, is_operator: bool) -> Person:
    """A new person with a private chat, named after the first name and id if no username is given.

    Raises PageError for a username that is taken.
    """
    if len(sim.world.people) >= MAX_PEOPLE:
        raise PageError("There are too many people already.", status=409)
    if username and sim.world.user_named(username) is not None:
        raise PageError("That username is taken.", status=409)
    person_id = sim.world.next_person_id()
    letters = "".join(char for char in first_name.lower() if char in ascii_lowercase)[:20]
    person = Person(
        id=person_id,
        first_name=first_name,
        username=username or f"{letters or 'person'}_{person_id}",
        is_operator=is_operator or person_id in sim.config.operator_ids,
    )
    sim.world.add_person(person)
    sim.feed.publish("world")
    return person


def add_chat(sim: Simulation, gathering: Gathering) -> Chat:
    """A new group that the bot is added to, as an administrator if it is among `admins`."""
    admins = tuple(one for one in gathering.admins if one != sim.world.bot.id)
    members = tuple(dict.fromkeys(one for one in (*admins, *gathering.members) if one != sim.world.bot.id))
    unknown = [one for one in members if one not in sim.world.people]
    if unknown or not members:
        raise PageError("A chat needs members, and each must be one of the people.")
    if gathering.is_forum and gathering.type != "supergroup":
        raise PageError("Only a supergroup can have topics.")
    if len(sim.world.chats) >= MAX_CHATS:
        raise PageError("There are too many chats already.", status=409)
    chat = Chat(
        id=sim.world.next_chat_id(gathering.type),
        type=gathering.type,
        title=gathering.title,
        is_forum=gathering.is_forum,
        members=members,
        admins=admins or members[:1],
        topics=forum_topics(list(gathering.topics)) if gathering.is_forum else (),
        bot_status="left",
        migrated_to=gathering.migrate_to_chat_id,
    )
    add_forum(sim.world, chat, date=sim.now())
    status: BotStatus = "administrator" if sim.world.bot.id in gathering.admins else "member"
    creator = sim.world.people[chat.admins[0]]
    added = _change_bot_status(sim, chat, status, creator)
    _announce(sim, added, creator, new_chat_members=[user_json(sim.world.bot)])
    sim.feed.publish("world")
    return added


def _chat_of(sim: Simulation, chat_id: int, person_id: int) -> Chat:
    chat = _find_chat(sim, chat_id)
    if person_id not in chat.members:
        raise PageError("That person is not in this chat.", status=403)
    return chat


def _find_chat(sim: Simulation, chat_id: int) -> Chat:
    chat = sim.world.chats.get(chat_id)
    if chat is None:
        raise PageError("There is no such chat.", status=404)
    return chat


def _find(sim: Simulation, chat: Chat, message_id: int) -> Message:
    message = sim.world.message(chat.id, message_id)
    if message is None:
        raise PageError("There is no such message in this chat.", status=404)
    return message


def _read_text(text: str) -> FormattedText:
    formatted = format_text(text)
    if not formatted.text:
        raise PageError("A message needs some text.")
    if formatted.length > MAX_TEXT:
        raise PageError(f"The text is longer than {MAX_TEXT} characters.")
    return formatted


def _announce(sim: Simulation, chat: Chat, actor: Person, **service: Any) -> None:
    """A service message, which every bot in the chat sees, and also the one that is removed."""
    _post(sim, Message(chat_id=chat.id, sender_id=actor.id, date=sim.now(), service=service))


def _post(sim: Simulation, message: Message) -> Message:
    posted = sim.world.put_message(replace(message, id=sim.world.next_message_id(message.chat_id)))
    sim.publish_message("message", posted)
    _tell_bot(sim, "message", posted)
    return posted


def _tell_bot(sim: Simulation, kind: Literal["message", "edited_message"], message: Message) -> None:
    if is_visible_to_bot(sim.world, message, privacy_mode=sim.config.privacy_mode):
        payload = message_json(sim.world, message)
        sim.queue.add(kind, payload, lane=f"chat {message.chat_id}", life_s=MESSAGE_LIFE_S)


def _change_bot_status(sim: Simulation, chat: Chat, status: BotStatus, actor: Person) -> Chat:
    """Telegram gives these updates a lane of their own (tdlib's add_update_chat_member)."""
    old = member_json(sim.world, chat, sim.world.bot)
    changed = sim.world.put_chat(replace(chat, bot_status=status))
    update = {
        "chat": chat_json(sim.world, changed),
        "from": user_json(actor),
        "date": sim.now(),
        "old_chat_member": old,
        "new_chat_member": member_json(sim.world, changed, sim.world.bot),
    }
    sim.queue.add("my_chat_member", update, lane=f"member {chat.id}", life_s=MESSAGE_LIFE_S)
    return changed
