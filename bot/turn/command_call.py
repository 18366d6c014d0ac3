"""A command that is to be run, and what comes of it."""

from dataclasses import dataclass

from bot.inbox.records import Claim
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import Command
from bot.transport.words import Words, words_for
from bot.turn.journal import TurnJournal
from memory.history.store import HistorySnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCall:
    """A command with what it works on, and the journal, in which an interrupted try may have left its mark."""

    claim: Claim
    update: WaitingUpdate
    command: Command
    snapshot: HistorySnapshot
    journal: TurnJournal

    @property
    def words(self) -> Words:
        """The catalogue in the language of who has sent it."""
        return words_for(self.update.message.language_code)

    @property
    def is_group(self) -> bool:
        """Whether others read the answer too."""
        return self.update.message.chat_type != "private"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReply:
    """The answer to a command. `epoch` is the context's, after it: a reset raises it."""

    text: str
    epoch: int
    starts_conversation: bool = False
