"""Decides what an update asks of us: a turn, a command, a stop, an edit, a refusal, or nothing."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bot.transport.rich_text import utf16_slice
from bot.transport.updates import (
    CAPTION,
    CAPTIONED_KINDS,
    MEDIA_KINDS,
    TEXT,
    UNKNOWN,
    Command,
    IncomingMessage,
    MessageEntity,
    ParsedUpdate,
    parse_command,
)

Action: TypeAlias = Literal["turn", "command", "stop", "edit", "refuse", "ignore"]

STOP = "stop"
UNREADABLE = "unreadable"
STOP_BUTTON = "stop"

_UNANSWERED_KINDS = {
    UNKNOWN: "unknown_kind",
    "channel_post": "channel_post",
    "edited_channel_post": "channel_post",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BotIdentity:
    """Who we are, from getMe; the username without its @."""

    id: int
    username: str
    can_read_all_group_messages: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may use the bot; with no allowed chats and no allowed users everyone may, and operators always may."""

    allowed_chat_ids: frozenset[int] = frozenset()
    allowed_user_ids: frozenset[int] = frozenset()
    operator_ids: frozenset[int] = frozenset()

    def permits(self, chat_id: int, user_id: int | None) -> bool:
        """Whether this person may use the bot in this chat."""
        if user_id in self.operator_ids or not (self.allowed_chat_ids or self.allowed_user_ids):
            return True
        return chat_id in self.allowed_chat_ids or user_id in self.allowed_user_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What to do with an update and why.

    The reasons: for a turn, command or stop how we were addressed ("private_chat", "command", "reply", "mention",
    "stop_button"); for an edit "edited_message"; for a refusal "not_allowed"; for "ignore" one of "not_addressed",
    "not_allowed" (nothing of it may be kept), "from_bot", "unknown_kind", "unused_kind", "channel_post",
    "no_message", "no_text", "service_message", "other_bots_command". A command that we do not have is named
    "unknown", and what a private chat sends that has no text "unreadable".
    """

    action: Action
    reason: str
    command: Command | None = None


def admit(update: ParsedUpdate, *, bot: BotIdentity, access: Access, commands: Collection[str]) -> Admission:
    """What this update asks for; `commands` are the names of ours, in lower case and without the slash.

    A command that we do not have is for us in a private chat, or where it or its message names or answers us.
    """
    if update.kind == "callback_query":
        return _admit_button(update, access)
    if update.kind == "edited_message":
        return _admit_edit(update, access, bot)
    if update.kind != "message":
        return _ignored(_UNANSWERED_KINDS.get(update.kind, "unused_kind"))
    if update.message is None:
        return _ignored("no_message")
    message = update.message
    command = parse_command(message)
    silence = _reason_for_silence(message, command, bot)
    if silence is not None:
        return _ignored(silence)
    addressed = _how_addressed(message, command, bot, commands)
    if not access.permits(message.chat_id, message.sender_id):
        return Admission(action="refuse" if addressed else "ignore", reason="not_allowed")
    if addressed is None:
        return _ignored("not_addressed")
    return _admit_message(message, command, addressed, commands)


def strip_mention(message: IncomingMessage, *, bot: BotIdentity) -> str:
    """The text without a mention of the bot that it begins with; other mentions stay, and one that is all there is."""
    for entity in message.entities:
        if entity.offset == 0 and _mentions(message.text, entity, bot):
            mention = utf16_slice(message.text, 0, entity.length)
            return message.text[len(mention) :].lstrip(" \n\t,:;") or message.text
    return message.text


def _admit_button(update: ParsedUpdate, access: Access) -> Admission:
    """A Stop button's data is STOP_BUTTON, alone or with more after a colon."""
    callback, message = update.callback, update.message
    if callback is None or message is None:
        return _ignored("no_message")
    if callback.data.split(":")[0] != STOP_BUTTON:
        return _ignored("unused_kind")
    if not access.permits(message.chat_id, callback.sender_id):
        return _ignored("not_allowed")
    # The command answers where there is nothing to stop any more.
    stop = Command(name=STOP, argument="", mention="")
    return Admission(action="stop", reason="stop_button", command=stop)


def _admit_edit(update: ParsedUpdate, access: Access, bot: BotIdentity) -> Admission:
    """Whatever it says now and whomever it addresses: what is kept must not go on telling what it said before.

    Who may not use the bot is not told so: an edit is never answered. A place that moves or a poll that is voted
    in is edited all the time, and never had a text to keep.
    """
    message = update.message
    if message is None:
        return _ignored("no_message")
    if _is_channel_post(message):
        return _ignored("channel_post")
    if _is_by_a_bot(message, bot):
        return _ignored("from_bot")
    if message.kind in MEDIA_KINDS and message.kind not in CAPTIONED_KINDS:
        return _ignored("no_text")
    if not access.permits(message.chat_id, message.sender_id):
        return _ignored("not_allowed")
    return Admission(action="edit", reason="edited_message")


def _reason_for_silence(message: IncomingMessage, command: Command | None, bot: BotIdentity) -> str | None:
    """Why a message is not for any bot, or for another one; None if it could be for us."""
    if _is_channel_post(message):
        return "channel_post"
    if _is_by_a_bot(message, bot):
        return "from_bot"
    if message.kind not in {TEXT, CAPTION}:
        if message.kind not in MEDIA_KINDS:
            return "service_message"
        return None if message.chat_type == "private" else "no_text"
    if command and command.mention and not _is_our_name(command.mention, bot):
        return "other_bots_command"
    return None


def _is_channel_post(message: IncomingMessage) -> bool:
    return message.chat_type == "channel" or message.is_automatic_forward


def _is_by_a_bot(message: IncomingMessage, bot: BotIdentity) -> bool:
    return message.is_bot or message.sender_id == bot.id


def _how_addressed(
    message: IncomingMessage, command: Command | None, bot: BotIdentity, commands: Collection[str]
) -> str | None:
    if message.chat_type == "private":
        return "private_chat"
    if command and (command.mention or command.name in commands):
        return "command"
    if message.reply_to is not None and message.reply_to.sender_id == bot.id:
        return "reply"
    named = any(_mentions(message.text, entity, bot) for entity in message.entities)
    return "mention" if named else None


def _mentions(text: str, entity: MessageEntity, bot: BotIdentity) -> bool:
    if entity.type == "text_mention":
        return entity.user_id == bot.id
    if entity.type != "mention":
        return False
    return _is_our_name(utf16_slice(text, entity.offset, entity.length).removeprefix("@"), bot)


def _is_our_name(name: str, bot: BotIdentity) -> bool:
    return bool(name) and name.lower() == bot.username.lower()


def _admit_message(
    message: IncomingMessage, command: Command | None, addressed: str, commands: Collection[str]
) -> Admission:
    if message.kind not in {TEXT, CAPTION}:
        unreadable = Command(name=UNREADABLE, argument=message.kind, mention="")
        return Admission(action="command", reason=addressed, command=unreadable)
    if command is None:
        return Admission(action="turn", reason=addressed)
    if command.name not in commands:
        unknown = Command(name=UNKNOWN, argument=command.name, mention=command.mention)
        return Admission(action="command", reason=addressed, command=unknown)
    return Admission(action="stop" if command.name == STOP else "command", reason=addressed, command=command)


def _ignored(reason: str) -> Admission:
    return Admission(action="ignore", reason=reason)
