"""From a raw update to the inbox: decide what to do with it, then store it. Webhook and polling share this."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

from bot.inbox.records import Accepted, Arrival, Signal
from bot.observe import metrics
from bot.settings import Access
from bot.transport.contents import SERVICE
from bot.transport.controls import Controls
from bot.transport.forms import context_keys
from bot.transport.gating import (
    GROUPS,
    INVITED,
    PAGE_LINK,
    Admission,
    BotIdentity,
    admit,
    asker_of,
    is_refused,
)
from bot.transport.migrations import Migrations
from bot.transport.page_links import PageLinks
from bot.transport.people import Guests, digest_of
from bot.transport.updates import (
    CHOSEN_RESULT,
    INLINE_QUERY,
    Callback,
    IncomingMessage,
    Membership,
    ParsedUpdate,
    continuation,
    full_text,
    inline_context_keys,
    is_bare_file,
    origin_of,
    parse_update,
    without_content,
    without_quotations,
)
from memory.codec import Id, dump_json, parse_json
from memory.history import contexts
from memory.history.message import Sender, render_text
from memory.history.talk import TalkLine, cut, score_of
from memory.keys import ContextRef, context_id, partition_of
from memory.reminders.reminder import Reminder

NAMESPACE = "telegram"
"""Namespace of Telegram's contexts in the hash of a context id."""

TALK, TALK_EDIT = "talk", "talk_edit"
"""Reasons in the record of an update that was only stored as talk, and of an edit of such a message."""

ADDRESSED = 200
"""Maximum number of people in groups whose last message to the bot a process remembers."""

_GONE = ("blocked", "left")
"""Reasons of membership changes after which nothing can be sent to the chat."""


_CONTEXTS_REMEMBERED = 10_000
"""Maximum number of chats and topics whose ContextRef a process remembers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorRules:
    """Settings for taking updates in."""

    partitions: int
    keeps_talk: bool = True
    """Store talk in groups that is not addressed to the bot."""
    interrupts: bool = False
    """End a running answer when a new message arrives."""
    door: Literal["webhook", "polling"] = "webhook"
    """Source of the updates, for operators."""
    page_links: PageLinks | None = None
    """Recognises links to groups' memory pages, so that they do not count as invitations."""
    answer_query: Callable[[ParsedUpdate], None] | None = None
    """Takes an inline query, which is not stored. None if inline mode is off."""
    inline_memory: bool = False
    """Inline questions belong to the person's private chat, with its memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingUpdate:
    """An update as it waits in the inbox: the decision at the door and the message."""

    SCRIPT_FIELDS: ClassVar = frozenset({"update_id", "follows"})
    """A script numbers updates of our own."""
    update_id: Id
    """Telegram's number, or a negative one of ours."""
    follows: Id = 0
    """For a reminder the newest /stop before it; 0 without one."""
    admission: Admission
    message: IncomingMessage
    """The message; for a press the one under the button, for a membership change one of kind MEMBERSHIP."""
    anchor_id: int
    """Chat id of the memory. It differs from the message's after a group became a supergroup."""
    callback: Callback | None = None
    membership: Membership | None = None
    reminder: Reminder | None = None
    """The reminder that is due; its message is made of it."""
    was_due_at: float = 0
    """Its date in Unix seconds."""
    inline_id: str = ""
    """The message, in a chat that nobody knows, that the answer to an inline question replaces."""
    is_kept: bool = True
    """False: nothing of the turn is stored. The context of an inline question has no memory either."""
    answers_unkept: bool = False
    """True if it answers a message of which nothing is kept, because it was said in incognito."""

    @property
    def is_incognito(self) -> bool:
        """Return True if it was sent in incognito."""
        return not (self.is_kept or self.inline_id)

    @property
    def order_id(self) -> int:
        """Return the id to compare with that of a /stop: a stop with a higher one came later."""
        return self.follows if self.update_id < 0 else self.update_id


class Ingest:
    """Stores updates by `accept` of the inbox. `bot` is our own identity, needed to judge messages in groups."""

    def __init__(
        self,
        accept: Callable[[Arrival], Awaitable[Accepted]],
        *,
        bot: BotIdentity,
        controls: Controls,
        access: Access,
        rules: DoorRules,
        anchors: Migrations,
        guests: Guests | None = None,
    ) -> None:
        self._accept = accept
        self._bot = bot
        self._controls = controls
        self._access = access
        self._rules = rules
        self._anchors = anchors
        self._guests = guests
        self._nowhere = ContextRef(context_id="none", partition=partition_of(0, rules.partitions))
        self._addressed: dict[tuple[int, int | None, int | None], IncomingMessage] = {}

    async def take_in(self, raw: Mapping[str, Any]) -> Accepted:
        """Store one update. It is on disk after the return, unless the result is `full`. Raises the store's errors."""
        update = parse_update(raw, self._controls.buttons)
        message = update.message
        if update.kind in {INLINE_QUERY, CHOSEN_RESULT}:
            if self._rules.answer_query is None:
                message = None
            elif update.kind == INLINE_QUERY:  # it expires within seconds, and another answer does no harm
                self._rules.answer_query(update)
                return "ignored"
        if message is None or is_refused(update):
            update = replace(update, message=message)
            admission = admit(update, bot=self._bot, is_permitted=False, commands=self._controls.commands)
            # Only noted, so that a repeat is recognised.
            arrival = Arrival(
                update_id=update.update_id,
                ref=self._nowhere,
                mode="ignored",
                reason=admission.reason,
                gate=self._gate(admission),
            )
        else:
            anchor_id = message.chat_id if message.chat_id >= 0 else await self._anchor_of(update, message)
            admission = await self._admit(update, message, anchor_id)
            waiting = WaitingUpdate(
                update_id=update.update_id,
                admission=admission,
                message=message,
                anchor_id=anchor_id,
                callback=update.callback,
                membership=update.membership,
                inline_id=update.inline_id,
                is_kept=not update.inline_id or self._rules.inline_memory,
            )
            arrival = self._arrival(waiting, update.kind)
        outcome = await self._accept(arrival)
        metrics.UPDATES.labels("refused" if admission.action == "refuse" else outcome).inc()
        return outcome

    async def _admit(self, update: ParsedUpdate, message: IncomingMessage, anchor_id: int) -> Admission:
        is_permitted = await has_access(
            self._access, self._guests, asker_of(update), message.chat_id, anchor_id
        )
        admission = admit(update, bot=self._bot, is_permitted=is_permitted, commands=self._controls.commands)
        if admission.reason == INVITED:
            return self._without_code(admission, message)
        if update.kind == "message" and message.chat_type in GROUPS:
            return self._continued(message, admission)
        return admission

    async def _anchor_of(self, update: ParsedUpdate, message: IncomingMessage) -> int:
        """Return the chat id of the memory. A migration is learnt first, from either of its two messages."""
        event = message.event
        if update.kind == "message" and event.migrate_to_chat_id:
            await self._anchors.learn(message.chat_id, event.migrate_to_chat_id)
        if update.kind == "message" and event.migrate_from_chat_id:
            await self._anchors.learn(event.migrate_from_chat_id, message.chat_id)
        # Only messages of a supergroup surely come after the message that announces the migration.
        return await self._anchors.resolve(message.chat_id, is_first_seen=update.kind != "message")

    def _without_code(self, admission: Admission, message: IncomingMessage) -> Admission:
        """Replace an invitation's code by its digest, and look the person up again with the next message.

        A link to a group's memory page is no invitation, and keeps its parameter.
        """
        command = admission.command
        if command is None:
            return admission
        links = self._rules.page_links
        if links is not None and links.group_in(command.argument):
            return replace(admission, reason=PAGE_LINK)
        if self._guests is not None and message.sender_id is not None:
            self._guests.doubt(message.sender_id)
        return replace(admission, command=replace(command, argument=digest_of(command.argument)))

    def _continued(self, message: IncomingMessage, admission: Admission) -> Admission:
        """Admit a message of a group that continues one to the bot, although only the first has the mention.

        It is the rest of an album, of forwards after their comment, or of a text that Telegram has split.
        """
        place = (message.chat_id, message.thread_id, message.sender_id)
        before = self._addressed.get(place)
        relation = continuation(before, message) if before and admission.action == "hear" else ""
        if relation and admission.reason == "not_addressed":
            admission = Admission(action="turn", reason=relation)
        if admission.action == "turn":
            if len(self._addressed) >= ADDRESSED:
                self._addressed.clear()
            self._addressed[place] = message
        return admission

    def _arrival(self, waiting: WaitingUpdate, kind: str) -> Arrival:
        admission, message = waiting.admission, waiting.message
        action = admission.action
        is_waiting = action not in {"ignore", "hear"}
        interrupts = self._rules.interrupts
        has_news = is_waiting and (action != "turn" or interrupts or _may_join(message))
        arrival = Arrival(
            update_id=waiting.update_id,
            ref=self._ref_of(waiting),
            mode="stop" if action == "stop" else "turn" if is_waiting else "ignored",
            reason="" if is_waiting and action != "edit" else admission.reason,
            payload=_payload(waiting) if is_waiting else "",
            signal=_signal(waiting, interrupts=interrupts) if has_news else None,
            chat_id=0 if admission.reason in _GONE or waiting.inline_id else message.chat_id,
            gate=self._gate(admission),
            said_at=0 if waiting.callback or waiting.inline_id else message.edit_date or message.date,
            pinned_id=message.event.pinned_message_id,
            pinned_at=message.event.pinned_at,
        )
        return self._with_talk(arrival, waiting, kind) if action in {"hear", "edit"} else arrival

    def _ref_of(self, waiting: WaitingUpdate) -> ContextRef:
        bot_id, partitions, message = self._bot.id, self._rules.partitions, waiting.message
        if waiting.is_kept:
            return telegram_ref(
                bot_id,
                waiting.anchor_id,
                message.thread_id,
                is_direct=message.is_direct,
                partitions=partitions,
            )
        return inline_ref(bot_id, waiting.anchor_id, partitions=partitions)

    def _gate(self, admission: Admission) -> str:
        return f"{self._rules.door} {admission.action} {admission.reason or '-'}"

    def _with_talk(self, arrival: Arrival, waiting: WaitingUpdate, kind: str) -> Arrival:
        """Add the line of talk to store. An edit only replaces a stored line."""
        message = waiting.message
        is_moved = waiting.anchor_id != message.chat_id
        line = _talk_line(message, is_moved=is_moved)
        if line is not None and message.attachment is not None and message.attachment.kind != "sticker":
            kept = replace(waiting, message=replace(message, reply_to=None))
            line = replace(line, update=dump_json(WaitingUpdate, kept))
        is_unwanted = message.chat_type in GROUPS and not self._rules.keeps_talk
        # Our own leaving is the last event of a chat, and must not begin a memory of it.
        if line is None or is_unwanted or message.event.left_user_id == self._bot.id:
            return arrival
        keys = context_keys(self._bot.id, waiting.anchor_id, message.thread_id, is_direct=message.is_direct)
        title = message.chat_title or message.sender_name
        return replace(
            arrival,
            reason=TALK_EDIT if kind == "edited_message" else TALK,
            talk=dump_json(TalkLine, line),
            talk_score=score_of(message.message_id, is_moved=is_moved),
            registered=contexts.dump_entry(keys, title=title, created_at=float(message.date)),
        )


async def has_access(access: Access, guests: Guests | None, person: int | None, *chat_ids: int) -> bool:
    """Return True if this person may use the bot in a chat with these ids. Raises the store's errors."""
    if any(access.permits(chat_id, person) for chat_id in chat_ids):
        return True
    return guests is not None and person is not None and person > 0 and await guests.includes(person)


@lru_cache(maxsize=_CONTEXTS_REMEMBERED)
def telegram_ref(
    bot_id: int, chat_id: int, thread_id: int | None, *, partitions: int, is_direct: bool = False
) -> ContextRef:
    """Return the context of a chat or of one topic of it. All topics of a chat share its partition."""
    keys = context_keys(bot_id, chat_id, thread_id, is_direct=is_direct)
    return ContextRef(context_id=context_id(NAMESPACE, keys), partition=partition_of(chat_id, partitions))


def inline_ref(bot_id: int, person_id: int, *, partitions: int) -> ContextRef:
    """Return the context of a person's inline questions. It has a line of its own, and never a memory."""
    keys = inline_context_keys(bot_id, person_id)
    return ContextRef(context_id=context_id(NAMESPACE, keys), partition=partition_of(person_id, partitions))


def parse_waiting(payload: str) -> WaitingUpdate:
    """Return the update of an inbox record. Raises RecordCorrupt."""
    return parse_json(WaitingUpdate, payload)


def _talk_line(message: IncomingMessage, *, is_moved: bool) -> TalkLine | None:
    """Return the line to store of a message that was not addressed to the bot, without quotations; None if it is empty.

    `is_moved`: the chat is a supergroup that was a group before.
    """
    is_service = message.kind == SERVICE
    pinned_id = message.event.pinned_message_id
    text = message.note
    if not is_service:
        text = render_text(
            full_text(message),
            note=message.note,
            forwarded_from=message.forwarded_from,
            origin=origin_of(message),
        )
    text = cut(text)
    if not text:
        return None
    return TalkLine(
        telegram_message_id=message.message_id,
        sender=Sender(id=message.sender_id or 0, name=message.sender_name),
        text=text,
        sent_at=float(message.date),
        is_service=is_service,
        pinned=score_of(pinned_id, is_moved=is_moved) if pinned_id else None,
    )


def _signal(waiting: WaitingUpdate, *, interrupts: bool = False) -> Signal | None:
    """Return the signal for a running turn of the context, or None if the update only waits."""
    message, callback, admission = waiting.message, waiting.callback, waiting.admission
    signal = Signal(
        kind="edit",
        update_id=waiting.update_id,
        telegram_message_id=message.message_id,
        sender_id=message.sender_id or 0,
    )
    match admission.action:
        case "edit":
            return signal
        case "press" if callback is not None and not admission.waits:
            return replace(signal, kind="press", sender_id=callback.sender_id)
        case "turn" if interrupts:
            return replace(signal, kind="message")
        case "turn" if _may_join(message):
            return replace(signal, kind="forward")
        case _:
            return None


def _may_join(message: IncomingMessage) -> bool:
    """Return True if the message may belong to the question before it, whose turn runs already."""
    return bool(message.forwarded_from) or is_bare_file(message)


def _payload(waiting: WaitingUpdate) -> str:
    """Return the inbox record. It has no content of refused people and of messages under a pressed button."""
    action, message = waiting.admission.action, waiting.message
    if action in {"press", "refuse"} or waiting.admission.reason in {INVITED, PAGE_LINK}:
        waiting = replace(waiting, message=without_content(message))
    elif message.reply_to or message.event.pinned_message_id:
        kept = without_quotations(message, keeps_quoted=action == "turn", keeps_file=action == "edit")
        waiting = replace(waiting, message=kept)
    return dump_json(WaitingUpdate, waiting)
