"""Bot API objects for users, chats, messages, entities and members."""

from typing import Any

from simulator.api.entities import DETAIL_FIELDS, Entity
from simulator.api.world import (
    ANONYMOUS,
    CHANNEL_BOT,
    TELEGRAM,
    Chat,
    Message,
    Person,
    World,
    person_of_topic,
)

Json = dict[str, Any]

_RIGHTS = (
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_pin_messages",
    "can_manage_topics",
)


def user_json(person: Person) -> Json:
    user: Json = {"id": person.id, "is_bot": person.is_bot, "first_name": person.first_name}
    if person.last_name:
        user["last_name"] = person.last_name
    if person.username:
        user["username"] = person.username
    if not person.is_bot:
        user["language_code"] = person.language_code
    if person.is_premium:
        user["is_premium"] = True
    return user


def chat_json(world: World, chat: Chat) -> Json:
    if chat.type == "private":
        person = world.people[chat.id]
        names = {"first_name": person.first_name, "last_name": person.last_name, "username": person.username}
        return {"id": chat.id, **{name: text for name, text in names.items() if text}, "type": "private"}
    group: Json = {"id": chat.id, "title": chat.title, "type": chat.type}
    if chat.is_forum:
        group["is_forum"] = True
    if chat.is_direct:
        group["is_direct_messages"] = True
    return group


def message_json(world: World, message: Message) -> Json:
    """Return a Message.

    A message of a topic that replies to nothing replies to the one that created the topic, as in Telegram. The other
    message is shown in its current version, without its own reply.
    """
    chat = world.chats[message.chat_id]
    body = _message_body(world, chat, message)
    reply_id = message.reply_to
    if reply_id is None and chat.is_forum and message.thread_id != message.id:
        reply_id = message.thread_id
    replied = None if reply_id is None else world.message(message.chat_id, reply_id)
    if replied is not None:
        body["reply_to_message"] = _message_body(world, chat, replied)
        if message.quote is not None:
            body["quote"] = message.quote
    return body


def entity_json(world: World, entity: Entity) -> Json:
    body: Json = {"type": entity.type, "offset": entity.offset, "length": entity.length}
    if entity.detail is None:
        return body
    if entity.type == "text_mention":
        mentioned = world.user(int(entity.detail))
        return body if mentioned is None else {**body, "user": user_json(mentioned)}
    return {**body, DETAIL_FIELDS[entity.type]: entity.detail}


def member_json(world: World, chat: Chat, user: Person) -> Json:
    """Return a ChatMember. The first administrator of a group is its creator."""
    status = member_status(world, chat, user)
    member: Json = {"user": user_json(user), "status": status}
    match status:
        case "creator":
            member["is_anonymous"] = False
        case "administrator":
            member |= {"can_be_edited": False, "is_anonymous": False, **dict.fromkeys(_RIGHTS, True)}
        case "kicked":
            member["until_date"] = 0
        case _:
            pass
    return member


def member_status(world: World, chat: Chat, user: Person) -> str:
    if user.id == world.bot.id:
        return chat.bot_status
    if user.id in chat.admins:
        return "creator" if user.id == chat.admins[0] else "administrator"
    return "member" if user.id in chat.members else "left"


def _message_body(world: World, chat: Chat, message: Message) -> Json:
    sender = (
        None
        if chat.type == "channel"
        else world.user(message.sender_id if message.sender_id > 0 else CHANNEL_BOT.id)
    )
    body: Json = {"message_id": message.id} | _topic(world, chat, message)
    if sender is not None:
        body["from"] = user_json(sender)
    body |= {"chat": chat_json(world, chat), "date": message.date}
    if message.sender_id == ANONYMOUS.id:
        body["sender_chat"] = chat_json(world, chat)
    if message.sender_id < 0:
        body["sender_chat"] = chat_json(world, world.chats[message.sender_id])
    if message.sender_id == TELEGRAM.id and message.forward_origin is not None:
        body |= {"sender_chat": message.forward_origin["chat"], "is_automatic_forward": True}
    if message.edit_date is not None:
        body["edit_date"] = message.edit_date
    if message.service is not None:
        return body | message.service
    body |= _content(world, message)
    if message.link_preview_options:
        body["link_preview_options"] = message.link_preview_options
    if message.reply_markup:
        body["reply_markup"] = message.reply_markup
    return body


def _topic(world: World, chat: Chat, message: Message) -> Json:
    if message.thread_id is None:
        return {}
    if chat.is_direct:
        person = world.user(person_of_topic(message.thread_id))
        user = {} if person is None else {"user": user_json(person)}
        return {"direct_messages_topic": {"topic_id": message.thread_id, **user}}
    return {"message_thread_id": message.thread_id} | ({"is_topic_message": True} if chat.has_topics else {})


def _content(world: World, message: Message) -> Json:
    """Return the fields of a text, or of other content with its caption."""
    body: Json = {}
    if message.forward_origin is not None:
        body["forward_origin"] = message.forward_origin
    if message.is_via_bot:
        body["via_bot"] = user_json(world.bot)
    if message.media_group_id is not None:
        body["media_group_id"] = message.media_group_id
    body |= message.content or {}
    if message.content is None or message.text:
        text, entities = ("text", "entities") if message.content is None else ("caption", "caption_entities")
        body[text] = message.text
        if message.entities:
            body[entities] = [entity_json(world, entity) for entity in message.entities]
    return body
