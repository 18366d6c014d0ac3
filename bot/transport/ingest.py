"""From a raw update to the inbox: decide what it asks for, then store it durably. Webhook and polling share it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from bot.inbox.facts import Accepted, Arrival
from bot.observe import metrics
from bot.transport.gating import Access, Admission, BotIdentity, admit
from bot.transport.updates import Command, IncomingMessage, ParsedUpdate, context_keys, parse_update
from memory.keys import ContextRef, context_id, partition_of

NAMESPACE = "telegram"
"""What Telegram's contexts are hashed under; no other transport uses it."""

COMMANDS = ("start", "help", "new", "reset", "forget", "memory", "stop", "stats")
"""The commands that we have."""


_QUOTATIONS = ("quote", "external_reply", "pinned_message")
_POINTER = ("message_id", "date", "chat", "from", "sender_chat", "forum_topic_created")
"""Of a message that is replied to: which one it is, and whose."""


class Door(Protocol):
    """The inbox as the ingest needs it."""

    async def accept(self, arrival: Arrival) -> Accepted: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingUpdate:
    """An update out of the inbox: what was decided at the door, and the message."""

    update_id: int
    admission: Admission
    message: IncomingMessage


class Ingest:
    """Takes updates in. `bot` is who we are, without which a group's messages cannot be judged."""

    def __init__(self, door: Door, *, bot: BotIdentity, access: Access, partitions: int) -> None:
        self._door = door
        self._bot = bot
        self._access = access
        self._partitions = partitions

    async def take_in(self, raw: Mapping[str, Any]) -> Accepted:
        """Store one update; on disk when this returns, unless it is `full`. Raises the store's errors."""
        update = parse_update(raw)
        admission = admit(update, bot=self._bot, access=self._access, commands=COMMANDS)
        outcome = await self._door.accept(self._arrival(update, admission, raw))
        metrics.UPDATES.labels("refused" if admission.action == "refuse" else outcome).inc()
        return outcome

    def _arrival(self, update: ParsedUpdate, admission: Admission, raw: Mapping[str, Any]) -> Arrival:
        message = update.message
        if message is None:
            ref = ContextRef(context_id="none", partition=partition_of(0, self._partitions))
        else:
            ref = telegram_ref(self._bot.id, message.chat_id, message.thread_id, partitions=self._partitions)
        if admission.action == "ignore" or message is None:
            return Arrival(update_id=update.update_id, ref=ref, mode="ignored", reason=admission.reason)
        return Arrival(
            update_id=update.update_id,
            ref=ref,
            mode="stop" if admission.action == "stop" else "turn",
            payload=_payload(admission, raw),
        )


def telegram_ref(bot_id: int, chat_id: int, thread_id: int | None, *, partitions: int) -> ContextRef:
    """Where the memory of a chat, or of one topic of it, lives. All topics of a chat share its partition."""
    keys = context_keys(bot_id, chat_id, thread_id)
    return ContextRef(context_id=context_id(NAMESPACE, keys), partition=partition_of(chat_id, partitions))


def dump_waiting(admission: Admission, raw: Mapping[str, Any]) -> str:
    """What waits in the inbox, as ASCII JSON (a lone surrogate in a text must not break the store)."""
    command = admission.command
    fields = {
        "action": admission.action,
        "reason": admission.reason,
        "command": [command.name, command.argument, command.mention] if command else None,
        "update": raw,
    }
    return json.dumps(fields, separators=(",", ":"))


def parse_waiting(payload: str) -> WaitingUpdate:
    """The inverse of `dump_waiting`; raises ValueError for an update without a message."""
    fields = json.loads(payload)
    update = parse_update(fields["update"])
    if update.message is None:
        raise ValueError("an update without a message waits in the inbox")
    name_argument_mention = fields["command"]
    command = None
    if name_argument_mention:
        name, argument, mention = name_argument_mention
        command = Command(name=name, argument=argument, mention=mention)
    return WaitingUpdate(
        update_id=update.update_id,
        admission=Admission(action=fields["action"], reason=fields["reason"], command=command),
        message=update.message,
    )


def _payload(admission: Admission, raw: Mapping[str, Any]) -> str:
    """Empty for a Stop button: it has nothing to say when there is nothing to stop."""
    if admission.action == "stop" and admission.command is None:
        return ""
    return dump_waiting(
        admission, _without_content(raw) if admission.action == "refuse" else _without_quotations(raw)
    )


def _without_quotations(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The update without the words of other messages: nobody may have said those to us, or had them forgotten."""
    return {
        name: _own_words(cast("dict[str, Any]", body)) if isinstance(body, dict) else body
        for name, body in raw.items()
    }


def _own_words(message: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in message.items() if name not in _QUOTATIONS}
    if isinstance(message.get("reply_to_message"), dict):
        replied = cast("dict[str, Any]", message["reply_to_message"])
        own["reply_to_message"] = {name: replied[name] for name in _POINTER if name in replied}
    return own


def _without_content(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What a refusal needs to know and no more: nothing that a refused person wrote is stored."""
    message = raw["message"]
    kept = ("message_id", "date", "chat", "from", "sender_chat", "message_thread_id", "is_topic_message")
    return {
        "update_id": raw["update_id"],
        "message": {name: message[name] for name in kept if name in message},
    }
