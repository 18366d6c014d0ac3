"""Decision at the door: an update becomes a turn, a command, an edit, talk to store, a refusal, or nothing."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bot.transport.contents import MEDIA_KINDS, SERVICE
from bot.transport.controls import word_of
from bot.transport.rich_text import Entity, utf16_slice
from bot.transport.updates import (
    CAPTIONED_KINDS,
    CHOSEN_RESULT,
    UNKNOWN,
    Callback,
    Command,
    IncomingMessage,
    Membership,
    ParsedUpdate,
    full_text,
    origin_of,
    parse_command,
)
from memory.history.message import OWN_ORIGINS

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
    "remind",
    "notice",
    "inline",
]

STOP = "stop"
UNREADABLE = "unreadable"
UNKNOWN_BUTTON = "unknown_button"
"""Reason of a press that does nothing for this person."""
INVITED = "invitation"
"""Reason of a `/start CODE` by a person without access."""
PAGE_LINK = "page_link"
"""Reason of a `/start` with a link to a group's memory page, by a person without access."""
GROUPS = ("group", "supergroup")


@dataclass(frozen=True, slots=True, kw_only=True)
class BotIdentity:
    """The bot's own identity, from getMe; the username without its @."""

    id: int
    username: str
    name: str = ""
    """The name that people see; "" if nobody has asked Telegram."""
    can_read_all_group_messages: bool = False
    supports_inline_queries: bool = False
    has_main_web_app: bool = False
    """BotFather knows the memory page as the bot's main Mini App."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The decision about an update, and its reason."""

    action: Action
    reason: str
    """Constant by action:

    - turn, command, stop: how the bot was addressed ("private_chat", "command", "reply", "mention", INVITED,
      PAGE_LINK), or how the message continues one to the bot ("paste", "bundle")
    - press: the word of a button of ours with "_button", or UNKNOWN_BUTTON
    - edit: "edited_message"; refuse: "not_allowed"; migration: "migration"
    - remind: "due"; notice: "budget"; inline: "chosen"
    - membership: "joined", "promoted", "left", "blocked", "unblocked"
    - hear, ignore: "not_addressed", "from_bot", "channel_post", "service_message", "no_text" (an edit),
      "other_bots_command"; only ignore: the refusals of forms.py, "not_allowed", "unknown_kind", "unused_kind",
      "no_message", "same_membership", "via_us", "no_keyboard" (a chosen result without a message to edit)
    """
    waits: bool = True
    """False for a press that acts on the running answer."""
    command: Command | None = None
    """UNKNOWN for a command that we do not have, UNREADABLE for a message without readable content."""


def admit(
    update: ParsedUpdate, *, bot: BotIdentity, is_permitted: bool, commands: Collection[str]
) -> Admission:
    """Return the decision about an update. `commands` are our commands in lower case, without the slash.

    `is_permitted`: the person of `asker_of` has access. An unknown command is for us in a private chat, or if it
    mentions or answers us.
    """
    message = update.message
    if message is not None and is_refused(update):
        return _ignored(message.refusal)
    if update.membership is not None and message is not None:
        return _admit_membership(update.membership, message, is_permitted)
    if update.kind not in {"message", "edited_message", "callback_query"}:
        return _admit_other_kind(update, is_permitted)
    if message is None:
        return _ignored("no_message")
    if update.callback is not None:
        return _admit_press(update.callback, message, is_permitted)
    if message.via_bot_id == bot.id:
        return _ignored("via_us")
    if message.sender_id == bot.id:
        return _ignored("from_bot")
    if update.kind == "edited_message":
        return _admit_edit(message, is_permitted)
    if message.event.migrate_to_chat_id or message.event.migrate_from_chat_id:
        return Admission(action="migration", reason="migration")
    return _admit_message(message, bot, is_permitted, commands)


def is_refused(update: ParsedUpdate) -> bool:
    """Return True for a message in a form of chat that we do not serve. A press that gets no effect is answered."""
    is_press = update.callback is not None and update.callback.is_topic_unknown
    return update.message is not None and bool(update.message.refusal) and not is_press


def asker_of(update: ParsedUpdate) -> int | None:
    """Return the user id of the person behind the update; None if there is none."""
    if update.callback is not None:
        return update.callback.sender_id
    return update.message.sender_id if update.message else None


def strip_mention(message: IncomingMessage, *, bot: BotIdentity) -> str:
    """Return the full text without a mention of the bot at its beginning, unless the text is only this mention."""
    return full_text(message, _behind_mention(message, bot)) or full_text(message)


def _behind_mention(message: IncomingMessage, bot: BotIdentity) -> int:
    """Return the code point of the first word behind a mention of the bot at the beginning; 0 without one."""
    for entity in message.entities:
        if entity.offset == 0 and _mentions(message.text, entity, bot):
            mention = utf16_slice(message.text, 0, entity.length)
            return len(message.text) - len(message.text[len(mention) :].lstrip(" \n\t,:;"))
    return 0


def _admit_other_kind(update: ParsedUpdate, is_permitted: bool) -> Admission:
    """Admit a chosen result of ours: its id is a date. Without a keyboard Telegram names no message to edit."""
    message = update.message
    if update.kind != CHOSEN_RESULT or message is None or not message.date or not message.text:
        return _ignored("unknown_kind" if update.kind == UNKNOWN else "unused_kind")
    if not update.inline_id:
        return _ignored("no_keyboard")
    if not is_permitted:
        return Admission(action="refuse", reason="not_allowed")
    return Admission(action="inline", reason="chosen")


def _admit_press(callback: Callback, message: IncomingMessage, is_permitted: bool) -> Admission:
    """Admit any press, also one that does nothing: each gets an answer.

    Messages of inline mode, which have no id in a chat, have no buttons of ours.
    """
    rule = callback.rule
    if rule is None or not message.message_id or not (is_permitted or not rule.needs_access):
        return Admission(action="press", reason=UNKNOWN_BUTTON)
    return Admission(action="press", reason=f"{word_of(callback.data)}_button", waits=rule.waits)


def _admit_membership(membership: Membership, message: IncomingMessage, is_permitted: bool) -> Admission:
    """Admit a change of the bot's membership. A change without effect is ignored, so that nobody is greeted twice.

    A removal or block counts from anybody. A person without access who adds the bot to a group is refused.
    """
    was_inside, is_inside = _is_inside(membership.old_status), _is_inside(membership.new_status)
    if message.chat_type == "private":
        if was_inside == is_inside:
            return _ignored("same_membership")
        return Admission(action="membership", reason="unblocked" if is_inside else "blocked")
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
    """Admit any edit of a person with access, because stored text must follow it. An edit is never answered.

    Edits of locations, polls and the like start no turn, because they come all the time. Edits by bots start none.
    """
    if message.is_automatic_forward:
        return _overheard(message, "channel_post", is_permitted)
    if message.is_from_bot:
        return _overheard(message, "from_bot", is_permitted)
    if message.kind in MEDIA_KINDS and message.kind not in CAPTIONED_KINDS:
        return _overheard(message, "no_text", is_permitted)
    return Admission(action="edit", reason="edited_message") if is_permitted else _ignored("not_allowed")


def _admit_message(
    message: IncomingMessage, bot: BotIdentity, is_permitted: bool, commands: Collection[str]
) -> Admission:
    is_own = origin_of(message) in OWN_ORIGINS  # nobody gives a command by passing on another's words
    command = parse_command(message, _behind_mention(message, bot)) if message.entities and is_own else None
    silence = _reason_for_silence(message, command, bot)
    if silence is not None:
        return _overheard(message, silence, is_permitted)
    is_private = message.chat_type == "private"
    addressed = "private_chat" if is_private else _how_addressed(message, command, bot, commands)
    if addressed is None:
        return _overheard(message, "not_addressed", is_permitted)
    if not is_permitted:
        return _admit_stranger(message, command)
    if command is None and (message.text or message.attachment or message.note):
        return Admission(action="turn", reason=addressed)
    if command is None:
        unreadable = Command(name=UNREADABLE, argument=message.kind, mention="")
        return Admission(action="command", reason=addressed, command=unreadable)
    if command.name not in commands:
        unknown = Command(name=UNKNOWN, argument=command.name, mention=command.mention)
        return Admission(action="command", reason=addressed, command=unknown)
    return Admission(action="stop" if command.name == STOP else "command", reason=addressed, command=command)


def _reason_for_silence(message: IncomingMessage, command: Command | None, bot: BotIdentity) -> str | None:
    """Return the reason why a message is not for this bot; None if it may be."""
    if message.is_automatic_forward:
        return "channel_post"
    if message.is_from_bot:
        return "from_bot"
    if message.kind == SERVICE and not (message.event.is_sent and message.chat_type == "private"):
        return "service_message"
    if command and command.mention and not _is_our_name(command.mention, bot):
        return "other_bots_command"
    return None


def _overheard(message: IncomingMessage, reason: str, is_permitted: bool) -> Admission:
    """Store talk in groups and events in any chat; ignore the rest."""
    if not is_permitted:
        return _ignored("not_allowed")
    has_content = bool(message.text or message.note)
    is_talk = has_content and (message.chat_type in GROUPS or message.kind == SERVICE)
    return Admission(action="hear" if is_talk else "ignore", reason=reason)


def _admit_stranger(message: IncomingMessage, command: Command | None) -> Admission:
    """Admit the invitation of a person without access; refuse other messages."""
    if message.chat_type == "private" and command and command.name == "start" and command.argument:
        return Admission(action="command", reason=INVITED, command=command)
    return Admission(action="refuse", reason="not_allowed")


def _how_addressed(
    message: IncomingMessage, command: Command | None, bot: BotIdentity, commands: Collection[str]
) -> str | None:
    """Return how a message of a group addresses the bot, None if it does not."""
    if command and (command.mention or command.name in commands):
        return "command"
    if message.reply_to is not None and message.reply_to.sender_id == bot.id:
        return "reply"
    named = any(_mentions(message.text, entity, bot) for entity in message.entities)
    return "mention" if named else None


def _mentions(text: str, entity: Entity, bot: BotIdentity) -> bool:
    if entity.type == "text_mention":
        return entity.user_id == bot.id
    if entity.type != "mention":
        return False
    return _is_our_name(utf16_slice(text, entity.offset, entity.length).removeprefix("@"), bot)


def _is_our_name(name: str, bot: BotIdentity) -> bool:
    return bool(name) and name.lower() == bot.username.lower()


def _ignored(reason: str) -> Admission:
    return Admission(action="ignore", reason=reason)
