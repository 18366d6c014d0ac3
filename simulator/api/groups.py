"""People and groups: new people, chats, topics, titles, pins, members, blocks and upgrades."""

from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import Literal, TypeAlias

from simulator.api.api_objects import message_json, user_json
from simulator.api.errors import PageError
from simulator.api.posts import (
    announce,
    change_bot_status,
    change_chat,
    find_chat,
    find_shown,
    group_of,
    open_chat_of,
    post,
)
from simulator.api.simulation import Simulation
from simulator.api.world import BotStatus, Chat, Message, Person, Topic, add_forum, forum_topics

MAX_PEOPLE = 5_000
MAX_CHATS = 10_000
MAX_TOPICS = 1_000
_ICON_COLOR = 7322096


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathering:
    """A group, supergroup or channel to create; the first of `admins` is its creator. `has_bot` adds the bot at once.

    A channel may have a group of comments, and direct messages. The bot is its administrator.
    """

    title: str
    type: Literal["group", "supergroup", "channel"]
    is_forum: bool = False
    members: tuple[int, ...] = ()
    admins: tuple[int, ...] = ()
    topics: tuple[str, ...] = ()
    migrate_to_chat_id: int | None = None
    has_bot: bool = True
    has_comments: bool = False
    has_direct_messages: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """A person to create, or another bot."""

    first_name: str
    last_name: str | None = None
    username: str | None = None
    is_operator: bool = False
    is_premium: bool = False
    is_bot: bool = False
    language_code: str = "en"


def add_person(sim: Simulation, newcomer: Newcomer) -> Person:
    """Create a person with a private chat. Without a username it is made of the first name and the id.

    Raises PageError if the username is taken.
    """
    if len(sim.world.people) >= MAX_PEOPLE:
        raise PageError("There are too many people already.", status=409)
    if newcomer.username and sim.world.user_named(newcomer.username) is not None:
        raise PageError("That username is taken.", status=409)
    person_id = sim.world.next_person_id()
    letters = "".join(char for char in newcomer.first_name.lower() if char in ascii_lowercase)[:20]
    person = Person(
        id=person_id,
        first_name=newcomer.first_name,
        last_name=newcomer.last_name,
        username=newcomer.username or f"{letters or 'person'}_{person_id}",
        is_operator=newcomer.is_operator or person_id in sim.config.operator_ids,
        is_premium=newcomer.is_premium,
        is_bot=newcomer.is_bot,
        language_code=newcomer.language_code,
    )
    sim.world.add_person(person)
    sim.feed.publish("world")
    return person


def add_chat(sim: Simulation, gathering: Gathering) -> Chat:
    """Create a group and add the bot, as an administrator if it is among `admins`."""
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
    if chat.type == "channel":
        return _add_channel(sim, chat, gathering)
    added = add_forum(sim.world, chat, date=sim.now())
    if gathering.has_bot:
        status: BotStatus = "administrator" if sim.world.bot.id in gathering.admins else "member"
        creator = sim.world.people[chat.admins[0]]
        added = change_bot_status(sim, chat, status, creator)
        announce(sim, added, creator, new_chat_members=[user_json(sim.world.bot)])
    sim.feed.publish("world")
    return added


def _add_channel(sim: Simulation, channel: Chat, gathering: Gathering) -> Chat:
    """Add a channel with its group of comments and its direct messages, as the gathering says."""
    channel = sim.world.put_chat(
        replace(channel, bot_status="administrator" if gathering.has_bot else "left")
    )
    if gathering.has_comments:
        group = replace(gathering, type="supergroup", title=f"{gathering.title} chat", has_comments=False)
        channel = sim.world.put_chat(replace(channel, comments_id=add_chat(sim, group).id))
    if gathering.has_direct_messages:
        direct_id = sim.world.next_chat_id("supergroup")
        direct = replace(channel, id=direct_id, type="supergroup", parent_id=channel.id, comments_id=None)
        sim.world.put_chat(direct)
        channel = sim.world.put_chat(replace(channel, direct_messages_id=direct_id))
    sim.feed.publish("world")
    return channel


def set_language(sim: Simulation, *, from_id: int, language_code: str) -> None:
    """Change the language of a person's Telegram, which the bot gets with each update."""
    person = sim.world.people.get(from_id)
    if person is None:
        raise PageError("There is no such person.", status=404)
    sim.world.people[from_id] = replace(person, language_code=language_code)
    sim.feed.publish("world")


def set_title(sim: Simulation, *, chat_id: int, from_id: int, title: str) -> None:
    """Rename a group as one of its administrators."""
    chat = group_of(sim, chat_id, from_id, as_admin=True)
    if chat.title == title:
        raise PageError("That is the title already.")
    renamed = sim.world.put_chat(replace(chat, title=title))
    announce(sim, renamed, sim.world.people[from_id], new_chat_title=title)
    sim.feed.publish("world")


def pin_message(sim: Simulation, *, chat_id: int, from_id: int, message_id: int) -> None:
    """Pin a message in a private chat, or in a group as an administrator."""
    chat = open_chat_of(sim, chat_id, from_id)
    if chat.type != "private":
        chat = group_of(sim, chat_id, from_id, as_admin=True)
    pinned = find_shown(sim, chat, message_id)
    announce(
        sim,
        chat,
        sim.world.people[from_id],
        thread_id=pinned.thread_id if chat.has_topics else None,
        pinned_message=message_json(sim.world, replace(pinned, reply_to=None)),
    )


def add_topic(sim: Simulation, *, chat_id: int, from_id: int, name: str) -> Topic:
    """Create a topic in a forum, or in a private chat with `private_topics`."""
    chat = open_chat_of(sim, chat_id, from_id)
    if not chat.is_forum and not (chat.type == "private" and sim.config.private_topics):
        raise PageError("This chat has no topics.")
    if len(chat.topics) >= MAX_TOPICS:
        raise PageError("There are too many topics already.", status=409)
    thread_id = sim.world.next_message_id(chat.id)
    topic = Topic(thread_id=thread_id, name=name)
    sim.world.put_chat(replace(chat, topics=(*chat.topics, topic)))
    service = {"forum_topic_created": {"name": name, "icon_color": _ICON_COLOR}}
    post(
        sim,
        Message(
            id=thread_id,
            chat_id=chat.id,
            sender_id=from_id,
            date=sim.now(),
            thread_id=thread_id,
            service=service,
        ),
    )
    sim.feed.publish("world")
    return topic


def rename_topic(sim: Simulation, *, chat_id: int, from_id: int, thread_id: int, name: str) -> None:
    """Give a topic another name."""
    chat = _chat_with_topic(sim, chat_id, from_id, thread_id)
    topics = tuple(replace(one, name=name) if one.thread_id == thread_id else one for one in chat.topics)
    sim.world.put_chat(replace(chat, topics=topics))
    actor = sim.world.people[from_id]
    announce(sim, chat, actor, thread_id=thread_id, forum_topic_edited={"name": name})
    sim.feed.publish("world")


def delete_topic(sim: Simulation, *, chat_id: int, from_id: int, thread_id: int) -> None:
    """Delete a topic with its messages. Telegram sends no update about it."""
    chat = _chat_with_topic(sim, chat_id, from_id, thread_id)
    if chat.type != "private":
        chat = group_of(sim, chat_id, from_id, as_admin=True)
    sim.world.put_chat(replace(chat, topics=tuple(one for one in chat.topics if one.thread_id != thread_id)))
    for message in sim.world.in_thread(chat.id, thread_id):
        sim.world.delete_message(chat.id, message.id)
        sim.feed.publish("delete", chat_id=chat.id, message_id=message.id)
    sim.feed.publish("world")


def _chat_with_topic(sim: Simulation, chat_id: int, person_id: int, thread_id: int) -> Chat:
    chat = open_chat_of(sim, chat_id, person_id)
    if not chat.has_thread(thread_id):
        raise PageError("There is no such topic in this chat.", status=404)
    return chat


MemberAction: TypeAlias = Literal["join", "leave", "add", "remove", "promote", "demote"]
UpgradeOrder: TypeAlias = Literal["old_first", "new_first"]


def set_blocked(sim: Simulation, chat_id: int, *, is_blocked: bool) -> None:
    """Block or unblock the bot in a private chat, or remove it from a group or add it. A repeat changes nothing."""
    chat = find_chat(sim, chat_id)
    if chat.has_bot != is_blocked:
        return
    actor = sim.world.people[chat.admins[0] if chat.admins else chat.members[0]]
    if chat.type == "private":
        change_bot_status(sim, chat, "kicked" if is_blocked else "member", actor)
    else:
        _move_bot(sim, chat, actor, "kicked" if is_blocked else "member")
    sim.feed.publish("world")


def change_member(
    sim: Simulation, *, chat_id: int, from_id: int, action: MemberAction, user_id: int | None = None
) -> Chat:
    """Change the members of a group. `from_id` joins, leaves, or acts on `user_id`, which may be the bot.

    Any member can add people. Only administrators can remove, promote and demote them. Raises PageError if a Telegram
    app would not offer it.
    """
    actor = _person(sim, from_id)
    if action == "join":
        _add_person(sim, _joinable(sim, chat_id, from_id), actor, actor)
    elif action == "leave":
        _remove_person(sim, group_of(sim, chat_id, from_id), actor, actor)
    elif user_id == sim.world.bot.id:
        chat = group_of(sim, chat_id, from_id, as_admin=action != "add")
        _change_bot(sim, chat, actor, action)
    else:
        chat = group_of(sim, chat_id, from_id, as_admin=action != "add")
        _change_person(sim, chat, actor, user=_person(sim, user_id), action=action)
    sim.feed.publish("world")
    return sim.world.chats[chat_id]


def upgrade_group(sim: Simulation, *, chat_id: int, from_id: int, order: UpgradeOrder = "old_first") -> Chat:
    """Upgrade a group to a supergroup: a new chat with the same people and without the messages.

    The bot gets `migrate_to_chat_id` in the old chat and `migrate_from_chat_id` in the new one. These are two lanes, so
    either can come first; `order` decides. Calls for the old chat fail with the id of the new one.
    """
    old = group_of(sim, chat_id, from_id, as_admin=True)
    if old.type != "group":
        raise PageError("That is a supergroup already.")
    new = sim.world.put_chat(replace(old, id=sim.world.next_chat_id("supergroup"), type="supergroup"))
    closed = sim.world.put_chat(replace(old, migrated_to=new.id))
    actor = sim.world.people[from_id]
    if order == "old_first":
        announce(sim, closed, actor, migrate_to_chat_id=new.id)
    announce(sim, new, actor, migrate_from_chat_id=old.id)
    if order == "new_first":
        announce(sim, closed, actor, migrate_to_chat_id=new.id)
    sim.feed.publish("world")
    return new


def _joinable(sim: Simulation, chat_id: int, person_id: int) -> Chat:
    chat = find_chat(sim, chat_id)
    if chat.type == "private" or chat.migrated_to is not None:
        raise PageError("That is no group that one can join.")
    if person_id in chat.members:
        raise PageError("That person is in this chat already.")
    return chat


def _change_bot(sim: Simulation, chat: Chat, actor: Person, action: MemberAction) -> None:
    if chat.has_bot != (action != "add"):
        raise PageError(
            "The bot is not in this chat." if action != "add" else "The bot is in this chat already."
        )
    match action:
        case "add":
            _move_bot(sim, chat, actor, "member")
        case "remove":
            _move_bot(sim, chat, actor, "kicked")
        case "promote":
            change_bot_status(sim, chat, "administrator", actor)
        case _:
            change_bot_status(sim, chat, "member", actor)


def _move_bot(sim: Simulation, chat: Chat, actor: Person, status: BotStatus) -> None:
    """Add the bot to a group or remove it. The service message of a removal comes before the removal."""
    if status == "kicked":
        announce(sim, chat, actor, left_chat_member=user_json(sim.world.bot))
    changed = change_bot_status(sim, chat, status, actor)
    if status == "member":
        announce(sim, changed, actor, new_chat_members=[user_json(sim.world.bot)])


def _change_person(sim: Simulation, chat: Chat, actor: Person, *, user: Person, action: MemberAction) -> None:
    if (user.id in chat.members) != (action != "add"):
        raise PageError(
            "That person is not in this chat." if action != "add" else "That person is in this chat already."
        )
    match action:
        case "add":
            _add_person(sim, chat, actor, user)
        case "remove":
            _remove_person(sim, chat, actor, user)
        case "promote":
            admins = (*(one for one in chat.admins if one != user.id), user.id)
            change_chat(sim, replace(chat, admins=admins), actor, user)
        case _:
            _keep_creator(chat, user)
            admins = tuple(one for one in chat.admins if one != user.id)
            change_chat(sim, replace(chat, admins=admins), actor, user)


def _add_person(sim: Simulation, chat: Chat, actor: Person, user: Person) -> None:
    changed = change_chat(sim, replace(chat, members=(*chat.members, user.id)), actor, user)
    announce(sim, changed, actor, new_chat_members=[user_json(user)])


def _remove_person(sim: Simulation, chat: Chat, actor: Person, user: Person) -> None:
    _keep_creator(chat, user)
    announce(sim, chat, actor, left_chat_member=user_json(user))
    members = tuple(one for one in chat.members if one != user.id)
    admins = tuple(one for one in chat.admins if one != user.id)
    change_chat(sim, replace(chat, members=members, admins=admins), actor, user)


def _keep_creator(chat: Chat, user: Person) -> None:
    if chat.admins[:1] == (user.id,):
        raise PageError("The group's creator stays.", status=403)


def _person(sim: Simulation, person_id: int | None) -> Person:
    person = sim.world.people.get(person_id or 0)
    if person is None:
        raise PageError("There is no such person.", status=404)
    return person
