"""From a raw update to the inbox: decide what it asks for, then store it durably. Webhook and polling share it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, cast

from bot.inbox.records import Accepted, Arrival, Signal
from bot.observe import metrics
from bot.transport.continuations import continuation
from bot.transport.gating import GROUPS, INVITED, Access, Admission, BotIdentity, admit, asker_of
from bot.transport.guests import digest_of
from bot.transport.overheard import heard_line
from bot.transport.quotations import without_quotations
from bot.transport.raw_json import int_in, object_in
from bot.transport.updates import (
    MEMBERSHIP,
    Callback,
    Command,
    IncomingMessage,
    Membership,
    ParsedUpdate,
    context_keys,
    parse_update,
)
from memory.codec import dump_json
from memory.history import contexts
from memory.history.talk import HeardLine, score_of
from memory.keys import ContextRef, context_id, partition_of

NAMESPACE = "telegram"
"""What Telegram's contexts are hashed under; no other transport uses it."""

COMMANDS = ("start", "help", "new", "reset", "forget", "memory", "stop", "stats", "usage")
"""The commands that we have."""

HEARD = "heard"
HEARD_EDIT = "heard_edit"
"""How the record of an update ends that was only heard, or was an edit of such a message."""

ADDRESSED = 200
"""Of how many people in groups a process remembers the last message to the bot, which another may continue."""

_PLACE = ("message_id", "date", "chat", "from", "sender_chat", "message_thread_id", "is_topic_message")
"""Of a message: where it stands, and whose it is."""
_WAITING_PRESSES = ("help_button", "reset_button")
"""Reasons of presses that wait for the running turn; the others concern it."""
_GONE = ("blocked", "left")
"""What became of us where nothing can be sent any more: no sign of life of the chat."""


class Door(Protocol):
    """The inbox as the ingest needs it."""

    async def accept(self, arrival: Arrival) -> Accepted: ...


class Anchors(Protocol):
    """Which chat was which group before (bot/transport/migrations.py)."""

    async def resolve(self, chat_id: int, *, is_first_seen: bool = False) -> int: ...
    async def learn(self, old_chat_id: int, new_chat_id: int) -> None: ...


class GuestList(Protocol):
    """Whom an invitation let in (bot/transport/guests.py)."""

    async def includes(self, user_id: int) -> bool: ...
    def doubt(self, user_id: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorRules:
    """By which settings updates are taken in. `interrupts`: a new message ends the answer to the one before. `door` is
    what operators are told they came by.
    """

    partitions: int
    keeps_talk: bool = True
    interrupts: bool = False
    door: Literal["webhook", "polling"] = "webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingUpdate:
    """An update out of the inbox: what was decided at the door, and the message.

    `anchor_id` is the chat id under which the memory is: another than the message's where a group became a supergroup.
    A pressed button's `message` is the one under it; a membership's is one of kind MEMBERSHIP, with the id 0.
    """

    update_id: int
    admission: Admission
    message: IncomingMessage
    anchor_id: int
    callback: Callback | None = None
    membership: Membership | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Visit:
    """An update at the door, with what was found out about it."""

    update: ParsedUpdate
    message: IncomingMessage
    admission: Admission
    anchor_id: int
    raw: Mapping[str, Any]


class Ingest:
    """Takes updates in. `bot` is who we are, without which a group's messages cannot be judged."""

    def __init__(
        self,
        door: Door,
        *,
        bot: BotIdentity,
        access: Access,
        rules: DoorRules,
        anchors: Anchors,
        guests: GuestList | None = None,
    ) -> None:
        self._door = door
        self._bot = bot
        self._access = access
        self._rules = rules
        self._anchors = anchors
        self._guests = guests
        self._addressed: dict[tuple[int, int | None, int | None], IncomingMessage] = {}

    async def take_in(self, raw: Mapping[str, Any]) -> Accepted:
        """Store one update; on disk when this returns, unless it is `full`. Raises the store's errors."""
        update = parse_update(raw)
        message = update.message or membership_message(update)
        if message is None:
            return await self._accept(self._unplaced(update))
        anchor_id = await self._anchor_of(update, message)
        admission = self._admit(update, await self._is_permitted(update, message.chat_id, anchor_id))
        if admission.reason == INVITED:
            admission = self._with_digest(admission, message)
        admission = self._continued(update, admission)
        visit = _Visit(update=update, message=message, admission=admission, anchor_id=anchor_id, raw=raw)
        arrival = replace(self._arrival(visit), gate=self._gate(admission))
        return await self._accept(arrival, is_refused=admission.action == "refuse")

    async def _accept(self, arrival: Arrival, *, is_refused: bool = False) -> Accepted:
        outcome = await self._door.accept(arrival)
        metrics.UPDATES.labels("refused" if is_refused else outcome).inc()
        return outcome

    def _admit(self, update: ParsedUpdate, is_permitted: bool) -> Admission:
        return admit(update, bot=self._bot, is_permitted=is_permitted, commands=COMMANDS)

    def _unplaced(self, update: ParsedUpdate) -> Arrival:
        """An update of no chat: noted, so that it is known when it comes again."""
        ref = ContextRef(context_id="none", partition=partition_of(0, self._rules.partitions))
        admission = self._admit(update, False)
        return Arrival(
            update_id=update.update_id,
            ref=ref,
            mode="ignored",
            reason=admission.reason,
            gate=self._gate(admission),
        )

    def _gate(self, admission: Admission) -> str:
        """What operators are told of it: the door, what was decided, why."""
        return f"{self._rules.door} {admission.action} {admission.reason or '-'}"

    async def _anchor_of(self, update: ParsedUpdate, message: IncomingMessage) -> int:
        """The id of the memory's chat. What tells of a migration is learnt first, whichever of the two messages it is."""
        if update.kind == "message" and message.migrate_to_chat_id is not None:
            await self._anchors.learn(message.chat_id, message.migrate_to_chat_id)
        if update.kind == "message" and message.migrate_from_chat_id is not None:
            await self._anchors.learn(message.migrate_from_chat_id, message.chat_id)
        # Of a supergroup's updates only its messages surely come after the one that tells what it was.
        return await self._anchors.resolve(message.chat_id, is_first_seen=update.kind != "message")

    async def _is_permitted(self, update: ParsedUpdate, chat_id: int, anchor_id: int) -> bool:
        asker = asker_of(update)
        if self._access.permits(chat_id, asker) or self._access.permits(anchor_id, asker):
            return True
        if self._guests is None or asker is None or asker <= 0:
            return False
        return await self._guests.includes(asker)

    def _with_digest(self, admission: Admission, message: IncomingMessage) -> Admission:
        """An invitation's code is never stored, and who has one is asked for anew with the next message."""
        if self._guests is not None and message.sender_id is not None:
            self._guests.doubt(message.sender_id)
        command = admission.command
        if command is None:
            return admission
        return replace(admission, command=replace(command, argument=digest_of(command.argument)))

    def _continued(self, update: ParsedUpdate, admission: Admission) -> Admission:
        """In a group a mention stands in one message only: what continues it is for us too.

        That is the rest of an album, of a bundle of forwards after their comment, of a text that Telegram has split.
        """
        message = update.message
        if message is None or update.kind != "message" or message.chat_type not in GROUPS:
            return admission
        place = (message.chat_id, message.thread_id, message.sender_id)
        before = self._addressed.get(place)
        how = continuation(before, message) if before and admission.action == "hear" else ""
        if how and admission.reason == "not_addressed":
            admission = Admission(action="turn", reason=how)
        if admission.action == "turn":
            if len(self._addressed) >= ADDRESSED:
                self._addressed.clear()
            self._addressed[place] = message
        return admission

    def _arrival(self, visit: _Visit) -> Arrival:
        admission, message = visit.admission, visit.message
        arrival = Arrival(
            update_id=visit.update.update_id,
            ref=telegram_ref(
                self._bot.id, visit.anchor_id, message.thread_id, partitions=self._rules.partitions
            ),
            mode="ignored",
            reason=admission.reason,
            chat_id=0 if admission.reason in _GONE else message.chat_id,
        )
        match admission.action:
            case "ignore":
                return arrival
            case "hear":
                return self._heard(visit, arrival)
            case "edit":
                payload = _payload(visit)
                return replace(
                    self._heard(visit, arrival), mode="turn", payload=payload, signal=_signal(visit)
                )
            case _:
                mode = "stop" if admission.action == "stop" else "turn"
                signal = _signal(visit, interrupts=self._rules.interrupts)
                return replace(arrival, mode=mode, reason="", payload=_payload(visit), signal=signal)

    def _heard(self, visit: _Visit, arrival: Arrival) -> Arrival:
        """With the line that is kept of it. An edit only replaces the one that is kept."""
        message = visit.message
        is_moved = visit.anchor_id != message.chat_id
        line = heard_line(message, is_moved=is_moved)
        is_unwanted = message.chat_type in GROUPS and not self._rules.keeps_talk
        if line is None or is_unwanted or _left(visit.raw) == self._bot.id:
            return arrival
        keys = context_keys(self._bot.id, visit.anchor_id, message.thread_id)
        title = message.chat_title or message.sender_name
        return replace(
            arrival,
            reason=HEARD_EDIT if visit.update.kind == "edited_message" else HEARD,
            heard=dump_json(HeardLine, line),
            heard_score=score_of(message.message_id, is_moved=is_moved),
            registered=contexts.dump_entry(keys, title=title, created_at=float(message.date)),
        )


def telegram_ref(bot_id: int, chat_id: int, thread_id: int | None, *, partitions: int) -> ContextRef:
    """Where the memory of a chat, or of one topic of it, lives. All topics of a chat share its partition."""
    keys = context_keys(bot_id, chat_id, thread_id)
    return ContextRef(context_id=context_id(NAMESPACE, keys), partition=partition_of(chat_id, partitions))


def membership_message(update: ParsedUpdate) -> IncomingMessage | None:
    """A message to stand for a change of the bot's standing, which has none: from who made it, in the chat itself."""
    membership = update.membership
    if membership is None:
        return None
    return IncomingMessage(
        update_id=update.update_id,
        chat_id=membership.chat_id,
        chat_type=membership.chat_type,
        chat_title=membership.chat_title,
        thread_id=None,
        message_id=0,
        date=membership.date,
        edit_date=None,
        sender_id=membership.actor_id,
        sender_name=membership.actor_name,
        sender_username="",
        is_bot=False,
        is_automatic_forward=False,
        language_code=membership.actor_language,
        kind=MEMBERSHIP,
        text="",
        entities=(),
        reply_to=None,
        migrate_to_chat_id=None,
        migrate_from_chat_id=None,
    )


def dump_waiting(admission: Admission, raw: Mapping[str, Any], *, anchor_id: int | None = None) -> str:
    """What waits in the inbox, as ASCII JSON (a lone surrogate in a text must not break the store)."""
    command = admission.command
    fields: dict[str, object] = {
        "action": admission.action,
        "reason": admission.reason,
        "command": [command.name, command.argument, command.mention] if command else None,
        "update": raw,
    }
    if anchor_id is not None:
        fields["anchor"] = anchor_id
    return json.dumps(fields, separators=(",", ":"))


def parse_waiting(payload: str) -> WaitingUpdate:
    """The inverse of `dump_waiting`; raises ValueError for an update without a message."""
    fields = json.loads(payload)
    update = parse_update(fields["update"])
    message = update.message or membership_message(update)
    if message is None:
        raise ValueError("an update without a message waits in the inbox")
    name_argument_mention = fields["command"]
    command = None
    if name_argument_mention:
        name, argument, mention = name_argument_mention
        command = Command(name=name, argument=argument, mention=mention)
    return WaitingUpdate(
        update_id=update.update_id,
        admission=Admission(action=fields["action"], reason=fields["reason"], command=command),
        message=message,
        anchor_id=fields.get("anchor", message.chat_id),
        callback=update.callback,
        membership=update.membership,
    )


def _left(raw: Mapping[str, Any]) -> int | None:
    """Who has left the chat by this update. Our own leaving is the last of a chat, and may not begin a memory of it."""
    return int_in(object_in(object_in(raw, "message"), "left_chat_member"), "id")


def _signal(visit: _Visit, *, interrupts: bool = False) -> Signal | None:
    """Return the signal for a running turn of the context, or None if the update only waits."""
    message, callback = visit.message, visit.update.callback
    signal = Signal(
        kind="edit",
        update_id=visit.update.update_id,
        telegram_message_id=message.message_id,
        sender_id=message.sender_id or 0,
    )
    match visit.admission.action:
        case "edit":
            return signal
        case "press" if callback is not None and visit.admission.reason not in _WAITING_PRESSES:
            return replace(signal, kind="press", sender_id=callback.sender_id)
        case "turn" if interrupts:
            return replace(signal, kind="message")
        case "turn" if message.forwarded_from:
            return replace(signal, kind="forward")
        case _:
            return None


def _payload(visit: _Visit) -> str:
    """What waits: of a stranger's update and of a pressed button no words at all, of a turn no others' than it quotes."""
    admission = visit.admission
    if admission.action == "press":
        kept = _pressed(visit.raw)
    elif "message" in visit.raw and (admission.action == "refuse" or admission.reason == INVITED):
        kept = _without_content(visit.raw)
    else:
        kept = without_quotations(visit.raw, keeps_quoted=admission.action == "turn")
    is_moved = visit.anchor_id != visit.message.chat_id
    return dump_waiting(admission, kept, anchor_id=visit.anchor_id if is_moved else None)


def _pressed(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Which button of which message, and who pressed it."""
    callback = cast("dict[str, Any]", raw["callback_query"])
    message = cast("dict[str, Any]", callback["message"])
    pressed = {name: callback[name] for name in ("id", "data", "from") if name in callback}
    kept = {name: message[name] for name in _PLACE if name in message}
    return {"update_id": raw["update_id"], "callback_query": pressed | {"message": kept}}


def _without_content(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What a refusal needs to know and no more: nothing that a refused person wrote is stored."""
    message = raw["message"]
    return {
        "update_id": raw["update_id"],
        "message": {name: message[name] for name in _PLACE if name in message},
    }
