"""The input of a chat command."""

from dataclasses import dataclass

from bot.inbox.records import Claim
from bot.inbox.signals import Incoming
from bot.transport.ingest import WaitingUpdate
from bot.transport.page_links import PagePlace
from bot.transport.updates import IncomingMessage
from bot.transport.words import Words, words_for
from bot.turn.question import TurnJournal
from memory.history.corrections import AwaitedCorrection
from memory.history.store import HistorySnapshot
from memory.keys import ContextRef


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command, or the press of a command's button, with the context that it works on."""

    claim: Claim
    update: WaitingUpdate
    argument: str
    """The text after the command, or the data of the button."""
    snapshot: HistorySnapshot
    corrections: tuple[AwaitedCorrection, ...]
    """Questions about facts that wait for an answer."""
    journal: TurnJournal
    """The steps of an interrupted try."""
    incoming: Incoming
    """The signals of the context since the command began."""
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
        """The message that a press may change: its menu. None if the press names another message."""
        callback = self.update.callback
        return (self.message.message_id,) if callback is not None and callback.under == "menu" else ()

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
