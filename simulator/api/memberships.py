"""Who is in a chat: joining, leaving, removing, promoting, blocking, and a group's upgrade to a supergroup."""

from dataclasses import replace
from typing import Literal, TypeAlias

from simulator.api.api_objects import user_json
from simulator.api.errors import PageError
from simulator.api.posting import announce, change_bot_status, change_chat, find_chat, group_of
from simulator.api.simulation import Simulation
from simulator.api.world import BotStatus, Chat, Person

MemberAction: TypeAlias = Literal["join", "leave", "add", "remove", "promote", "demote"]
UpgradeOrder: TypeAlias = Literal["old_first", "new_first"]


def set_blocked(sim: Simulation, chat_id: int, *, is_blocked: bool) -> None:
    """Block or unblock the bot in a private chat; remove it from or add it to a group. Again: no change."""
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
    """`from_id` joins or leaves a group, or does something to `user_id`, who may be the bot: add (any member may),
    remove, promote to administrator, demote (administrators may).

    Raises PageError where a Telegram app would not offer that.
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
    """Make a group a supergroup, as its creator: a new chat with the same people and none of the messages.

    The bot gets `migrate_to_chat_id` in the old and `migrate_from_chat_id` in the new chat; these are two lanes, so
    either may come first: `order` says which has the smaller update id. Calls for the old chat get the error that
    names the new one.
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
    """In or out of a group: the service message of a removal comes while the bot still sees the group."""
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
