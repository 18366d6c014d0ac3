"""/memory says what is remembered of the chat, /new begins a new conversation."""

from dataclasses import dataclass

from bot.transport import texts
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions
from memory.errors import RecallUnavailable
from memory.history.store import HistoryStore
from memory.recall.recall import Recall


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCommands:
    """The commands about the chat's memory that erase nothing."""

    permissions: Permissions
    history: HistoryStore
    recall: Recall

    async def memory(self, call: CommandCall) -> Reply:
        """Count what is remembered. If the index does not answer, the text says so."""
        kept = await self.history.count_traces(call.ref)
        try:
            searchable = await self.recall.count(call.ref)
        except RecallUnavailable:
            searchable = None
        return Reply(text=texts.memory_text(call.words, call.snapshot, kept, searchable=searchable))

    async def new(self, call: CommandCall) -> Reply:
        """Begin a new conversation. The old memory stays searchable."""
        refusal = await self.permissions.refusal_for(call.message)
        return Reply(text=call.words(refusal or "new-conversation"), starts_conversation=refusal is None)
