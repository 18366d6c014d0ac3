"""Decides what an update asks of us: a turn, a command, an edit, to be heard, a refusal, or nothing."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bot.transport.rich_text import utf16_slice
from bot.transport.updates import (
    CAPTIONED_KINDS,
    MEDIA_KINDS,
    SERVICE,
    UNKNOWN,
    Command,
    IncomingMessage,
    Membership,
    MessageEntity,
    ParsedUpdate,
    parse_command,
)

Action: TypeAlias = Literal[
    "turn",
    "command",
    "stop",
    "press",
    "edit",
    "refuse",
    "ignore",
    "hear",
    "membership",
    "migration",
]

STOP = "stop"
UNREADABLE = "unreadable"
STOP_BUTTON, HELP_BUTTON, RESET_BUTTON = "stop", "help", "reset"
"""First words of the data of our buttons, before any colon."""
INVITED = "invitation"
"""The reason of a `/start CODE` by somebody who may not use the bot."""
GROUPS = ("group", "supergroup")

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
    """Who may use the bot; with none of these set everyone may, and operators always may."""

    allowed_chat_ids: frozenset[int] = frozenset()
    allowed_user_ids: frozenset[int] = frozenset()
    operator_ids: frozenset[int] = frozenset()
    is_invited_only: bool = False

    @property
    def is_closed(self) -> bool:
        """Whether anybody is kept out."""
        return bool(self.is_invited_only or self.allowed_chat_ids or self.allowed_user_ids)

    def permits(self, chat_id: int, user_id: int | None) -> bool:
        """Whether the settings let this person use the bot in this chat; guests are let in besides."""
        if user_id in self.operator_ids or not self.is_closed:
            return True
        return chat_id in self.allowed_chat_ids or user_id in self.allowed_user_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What to do with an update and why.

    The reasons: for a turn, command or stop how we were addressed ("private_chat", "command", "reply", "mention",
    INVITED, or at the door: how it continues such a message); for a press "stop_button", "help_button", "reset_button" or "unknown_button"; for an edit "edited_message"; for a membership what became
    of the bot ("joined", "promoted", "left", "blocked", "unblocked"); for a refusal "not_allowed". For what is only
    heard, and for what is ignored: "not_addressed", "from_bot", "channel_post", "service_message", "no_text" (an edit),
    "other_bots_command". For "ignore" besides: "not_allowed" (nothing of it may be kept), "unknown_kind",
    "unused_kind", "no_message", "same_membership". A command that we do not have is named "unknown", and a message
    in which we find nothing "unreadable".
    """

    action: Action
    reason: str
    command: Command | None = None


def admit(
    update: ParsedUpdate, *, bot: BotIdentity, is_permitted: bool, commands: Collection[str]
) -> Admission:
    """What this update asks for; `commands` are the names of ours, in lower case and without the slash.

    `is_permitted`: who asks (`asker_of`) may use the bot there. A command that we do not have is for us in a private
    chat, or where it or its message names or answers us.
    """
    message = update.message
    if update.membership is not None and message is not None:
        return _admit_membership(update.membership, message, is_permitted)
    if update.kind not in {"message", "edited_message", "callback_query"}:
        return _ignored(_UNANSWERED_KINDS.get(update.kind, "unused_kind"))
    if message is None:
        return _ignored("no_message")
    if update.callback is not None:
        word = update.callback.data.split(":")[0]
        is_ours = word in {STOP_BUTTON, HELP_BUTTON, RESET_BUTTON}
        return Admission(action="press", reason=f"{word}_button" if is_ours else "unknown_button")
    if message.chat_type == "channel":
        return _ignored("channel_post")
    if message.sender_id == bot.id:
        return _ignored("from_bot")
    if update.kind == "edited_message":
        return _admit_edit(message, is_permitted)
    if message.event.migrate_to_chat_id or message.event.migrate_from_chat_id:
        return Admission(action="migration", reason="migration")
    return _admit_message(message, bot, is_permitted, commands)


def asker_of(update: ParsedUpdate) -> int | None:
    """Who asks something of us with this update; None where nobody does."""
    if update.callback is not None:
        return update.callback.sender_id
    return update.message.sender_id if update.message else None


def strip_mention(message: IncomingMessage, *, bot: BotIdentity) -> str:
    """The text without a mention of the bot that it begins with; other mentions stay, and one that is all there is."""
    for entity in message.entities:
        if entity.offset == 0 and _mentions(message.text, entity, bot):
            mention = utf16_slice(message.text, 0, entity.length)
            return message.text[len(mention) :].lstrip(" \n\t,:;") or message.text
    return message.text


def _admit_membership(membership: Membership, message: IncomingMessage, is_permitted: bool) -> Admission:
    """A change of our own standing. One that changes nothing for us is not told: nobody is greeted twice.

    Who removes or blocks us need not be permitted to: it is a fact. In a group, somebody who may not use the bot
    and brings it in is refused.
    """
    was_inside, is_inside = _is_inside(membership.old_status), _is_inside(membership.new_status)
    if message.chat_type == "private":
        if was_inside == is_inside:
            return _ignored("same_membership")
        return Admission(action="membership", reason="unblocked" if is_inside else "blocked")
    if message.chat_type not in GROUPS:
        return _ignored("channel_post")
    if was_inside and not is_inside:
        return Admission(action="membership", reason="left")
    joined = is_inside and not was_inside
    is_promoted = membership.new_status == "administrator" and membership.old_status != "administrator"
    if not joined and not is_promoted:
        return _ignored("same_membership")
    if not is_permitted:
        return Admission(action="refuse", reason="not_allowed") if joined else _ignored("not_allowed")
    return Admission(action="membership", reason="joined" if joined else "promoted")


def _is_inside(status: str) -> bool:
    return status in {"creator", "administrator", "member", "restricted"}


def _admit_edit(message: IncomingMessage, is_permitted: bool) -> Admission:
    """Whatever it says now and whomever it addresses: what is kept must not go on telling what it said before.

    Who may not use the bot is not told so: an edit is never answered. A place that moves or a poll that is voted
    in is edited all the time: no turn is due for that, or for a bot's own work on its messages.
    """
    if message.is_automatic_forward:
        return _overheard(message, "channel_post", is_permitted)
    if message.author.is_bot:
        return _overheard(message, "from_bot", is_permitted)
    if message.kind in MEDIA_KINDS and message.kind not in CAPTIONED_KINDS:
        return _overheard(message, "no_text", is_permitted)
    return Admission(action="edit", reason="edited_message") if is_permitted else _ignored("not_allowed")


def _admit_message(
    message: IncomingMessage, bot: BotIdentity, is_permitted: bool, commands: Collection[str]
) -> Admission:
    command = parse_command(message)
    silence = _reason_for_silence(message, command, bot)
    if silence is not None:
        return _overheard(message, silence, is_permitted)
    addressed = _how_addressed(message, command, bot, commands)
    if addressed is None:
        return _overheard(message, "not_addressed", is_permitted)
    if not is_permitted:
        return _admit_stranger(message, command)
    if command is None:
        return _admit_content(message, addressed)
    if command.name not in commands:
        unknown = Command(name=UNKNOWN, argument=command.name, mention=command.mention)
        return Admission(action="command", reason=addressed, command=unknown)
    return Admission(action="stop" if command.name == STOP else "command", reason=addressed, command=command)


def _reason_for_silence(message: IncomingMessage, command: Command | None, bot: BotIdentity) -> str | None:
    """Why a message is not for any bot, or for another one; None if it could be for us."""
    if message.is_automatic_forward:
        return "channel_post"
    if message.author.is_bot:
        return "from_bot"
    if message.kind == SERVICE:
        return "service_message"
    if command and command.mention and not _is_our_name(command.mention, bot):
        return "other_bots_command"
    return None


def _overheard(message: IncomingMessage, reason: str, is_permitted: bool) -> Admission:
    """Talk in a group is heard, and what happens in any chat; in a private one there is no talk with others."""
    if not is_permitted:
        return _ignored("not_allowed")
    is_told = bool(message.text or message.note)
    is_heard = is_told and (message.chat_type in GROUPS or message.kind == SERVICE)
    return Admission(action="hear" if is_heard else "ignore", reason=reason)


def _admit_stranger(message: IncomingMessage, command: Command | None) -> Admission:
    """Somebody who may not use the bot, and perhaps has an invitation."""
    if message.chat_type == "private" and command and command.name == "start" and command.argument:
        return Admission(action="command", reason=INVITED, command=command)
    return Admission(action="refuse", reason="not_allowed")


def _admit_content(message: IncomingMessage, addressed: str) -> Admission:
    if message.text or message.attachment or message.note:
        return Admission(action="turn", reason=addressed)
    unreadable = Command(name=UNREADABLE, argument=message.kind, mention="")
    return Admission(action="command", reason=addressed, command=unreadable)


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


def _ignored(reason: str) -> Admission:
    return Admission(action="ignore", reason=reason)
