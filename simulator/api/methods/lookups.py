"""getMe, getFile, getChat and the methods about members."""

from typing import Any

from simulator.api.api_objects import chat_json, member_json, user_json
from simulator.api.errors import BadRequest
from simulator.api.files import looks_like_id
from simulator.api.methods.access import check_not_direct, readable_chat
from simulator.api.payloads import ChatAddress, GetChatMember, GetFile, Nothing
from simulator.api.simulation import Simulation

_MAX_REACTIONS = 11
_MAX_DOWNLOAD = 20 * 1024 * 1024
_PERMISSIONS = (
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
)
_NO_GIFTS = dict.fromkeys(
    ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
)


async def get_me(sim: Simulation, _: Nothing) -> dict[str, Any]:
    return user_json(sim.world.bot) | {
        "can_join_groups": True,
        "can_read_all_group_messages": not sim.config.privacy_mode,
        "supports_inline_queries": True,
        "can_connect_to_business": False,
        "has_main_web_app": sim.config.mini_app_url is not None,
        "has_topics_enabled": sim.config.private_topics,
    }


async def get_file(sim: Simulation, payload: GetFile) -> dict[str, Any]:
    if not payload.file_id:
        raise BadRequest("file_id not specified")
    if not looks_like_id(payload.file_id):
        raise BadRequest("invalid file_id")
    file = sim.files.find(payload.file_id)
    if file is None:
        raise BadRequest("wrong file_id or the file is temporarily unavailable")
    if file.size > _MAX_DOWNLOAD:
        raise BadRequest("file is too big")
    return file.fields() | {"file_id": payload.file_id, "file_path": file.path}


async def get_chat(sim: Simulation, payload: ChatAddress) -> dict[str, Any]:
    chat = readable_chat(sim, payload.chat_id)
    full = chat_json(sim.world, chat) | {
        "accent_color_id": 0,
        "max_reaction_count": _MAX_REACTIONS,
        "accepted_gift_types": _NO_GIFTS,
    }
    if chat.type == "private":
        username = sim.world.people[chat.id].username
        return full | ({"active_usernames": [username]} if username else {})
    if chat.parent_id is not None:
        full["parent_chat"] = chat_json(sim.world, sim.world.chats[chat.parent_id])
    return full | {"permissions": dict.fromkeys(_PERMISSIONS, True)}


async def get_chat_member(sim: Simulation, payload: GetChatMember) -> dict[str, Any]:
    chat = readable_chat(sim, payload.chat_id)
    if payload.user_id <= 0:
        raise BadRequest("invalid user_id specified")
    check_not_direct(chat)
    user = sim.world.user(payload.user_id)
    if user is None:
        raise BadRequest("user not found")
    return member_json(sim.world, chat, user)


async def get_chat_administrators(sim: Simulation, payload: ChatAddress) -> list[dict[str, Any]]:
    chat = readable_chat(sim, payload.chat_id)
    if chat.type == "private":
        raise BadRequest("there are no administrators in the private chat")
    check_not_direct(chat)
    admins = [sim.world.people[user_id] for user_id in chat.admins]
    if chat.bot_status == "administrator":
        admins.append(sim.world.bot)
    return [member_json(sim.world, chat, user) for user in admins]


async def get_chat_member_count(sim: Simulation, payload: ChatAddress) -> int:
    chat = readable_chat(sim, payload.chat_id)
    return len(chat.members) + chat.has_bot
