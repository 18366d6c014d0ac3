"""Runs chat commands and the presses of their buttons."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from bot.errors import TurnStopped
from bot.inbox.records import Claim
from bot.inbox.signals import Incoming
from bot.transport.gating import UNREADABLE
from bot.transport.ingest import WaitingUpdate
from bot.transport.page_links import PagePlace
from bot.transport.updates import UNKNOWN, IncomingMessage
from bot.transport.words import Words, words_for
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions
from bot.turn.question import TurnJournal
from memory.errors import Forgotten
from memory.history.fact import AwaitedCorrection
from memory.history.store import HistorySnapshot
from memory.keys import ContextRef


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command, or the press of a command's button, with the context that it works on."""

    claim: Claim
    update: WaitingUpdate
    argument: str
    """The text after the command, or the value of the button."""
    snapshot: HistorySnapshot
    corrections: tuple[AwaitedCorrection, ...]
    """Questions about facts that wait for an answer."""
    journal: TurnJournal
    """The steps of an interrupted try."""
    permissions: Permissions
    incoming: Incoming
    """The signals of the context since the command began."""
    owner: str = ""
    """The owner of the pressed menu, as the data of the button names it."""
    is_stopped: bool = False
    """True if a /stop came before the command began."""

    @property
    def ref(self) -> ContextRef:
        """The context of the chat or topic."""
        return self.claim.ref

    @property
    def place(self) -> PagePlace:
        """The chat or topic for a link to the memory page."""
        message = self.message
        return PagePlace(
            chat_id=message.chat_id,
            thread_id=message.thread_id,
            is_direct=message.is_direct,
            person_id=message.direct_person_id,
        )

    @property
    def message(self) -> IncomingMessage:
        """The message of the command, or the message under which the button is."""
        return self.update.message

    @property
    def menu(self) -> tuple[int, ...]:
        """The message that a press may change, its menu; empty if the press is under another one."""
        callback = self.update.callback
        return (self.message.message_id,) if callback is not None and callback.under == "menu" else ()

    async def may_change(self, *, owner: int | None = None) -> bool:
        """Return True if this person owns a record, or may change the chat's memory."""
        return await self.permissions.may_change(self.message, self.person_id, owner=owner)

    async def refused(self) -> Reply | None:
        """Return the refusal if this person may not change the chat's memory, for a press as a notice."""
        callback = self.update.callback
        message = replace(self.message, sender_id=callback.sender_id) if callback else self.message
        refusal = await self.permissions.refusal_for(message)
        if refusal is None:
            return None
        return Reply(notice=self.words(refusal)) if callback else Reply(text=self.words(refusal))

    async def wait_for_end(self) -> TurnStopped | Forgotten:
        """Wait for a /stop or a reset of the chat. Other signals are of updates that wait in the chat's line."""
        if self.is_stopped:
            return TurnStopped()
        while True:
            signal = await self.incoming.get()
            if signal.kind == "stop" and signal.update_id > self.update.update_id:
                return TurnStopped()
            if signal.kind == "reset" and signal.epoch > self.snapshot.epoch:
                return Forgotten()

    @property
    def words(self) -> Words:
        """The catalogue in the language of the person who sent the command or pressed the button."""
        callback = self.update.callback
        return words_for(callback.language_code if callback else self.message.language_code)

    @property
    def user_id(self) -> int:
        """The person whose limits count; the chat if the sender is anonymous."""
        return self.message.sender_id or self.message.chat_id

    @property
    def person_id(self) -> int:
        """The person who sent the command or pressed the button; the chat if the sender is anonymous."""
        return self.update.callback.sender_id if self.update.callback else self.user_id

    def address_of(self, message_id: int) -> str:
        """Return the address of a message of this chat at Telegram; "" if it has none.

        Only messages of supergroups have one, also in their topics, but not in direct messages.
        """
        if self.message.chat_type != "supergroup" or self.message.is_direct:
            return ""
        place = str(self.message.chat_id).removeprefix("-100")
        topic = "" if self.message.thread_id is None else f"{self.message.thread_id}/"
        return f"https://t.me/c/{place}/{topic}{message_id}"

    @property
    def is_group(self) -> bool:
        """True if others read the answer too."""
        return self.message.chat_type != "private"


Handler = Callable[[CommandCall], Awaitable[Reply]]
"""Runs a command. Raises Fenced, Forgotten and the store's errors; then nothing was answered."""
MaybeHandler = Callable[[CommandCall], Awaitable[Reply | None]]
"""A Handler that returns None for what it leaves to others, such as a press of a button that no menu has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The handlers of all commands and buttons."""

    handlers: Mapping[str, Handler]
    presses: Mapping[str, MaybeHandler]
    """By the word of each button whose presses wait."""

    async def run(self, name: str, call: CommandCall) -> Reply:
        """Run the command of this name. A word that is no command, and a message without content, get a sentence."""
        if name == UNREADABLE:
            return Reply(text=call.words("unreadable"))
        if name == UNKNOWN:
            return Reply(text=call.words("unknown-command", name=f"/{call.argument}"))
        return await self.handlers[name](call)

    async def press(self, call: CommandCall) -> Reply | None:
        """Answer the press of a button; None if it is no button, or one that only a running turn answers.

        Also None if the message has no such button, because the data is made up or the menu is closed.
        The answer takes the place of the menu, unless the rule says that it may be a new message.
        """
        callback = call.update.callback
        word, owner, value = [*call.argument.split(":", 2), "", ""][:3]
        handler = self.presses.get(word)
        if handler is None or callback is None or callback.rule is None:
            return None
        if callback.is_topic_unknown:
            return Reply(notice=call.words("button-gone", command=f"/{word}"))
        if callback.under == "another" and not callback.rule.is_answered_anew:
            return None
        call = replace(call, argument=value, owner=owner)
        reply = await call.refused() if callback.rule.pressers == "owners" else None
        reply = reply or await handler(call)
        if reply is None or callback.rule.is_answered_anew or not (reply.text or reply.rich):
            return reply
        return replace(reply, edits=call.menu)
