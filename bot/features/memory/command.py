"""/memory says what is remembered of the chat, and the button under a receipt says what was erased."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bot.features.parts import Built, Parts
from bot.features.retention.command import limit_line
from bot.transport import texts
from bot.transport.controls import DETAILS_BUTTON
from bot.transport.page_links import PageLinks
from bot.transport.rich_text import RichText
from bot.transport.words import Words
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from memory.errors import RecallUnavailable
from memory.history.store import HistorySnapshot, HistoryStore
from memory.recall.recall import Recall


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCommand:
    """Counts what is remembered."""

    history: HistoryStore
    recall: Recall
    page_links: PageLinks
    limit_line: Callable[[Words, HistorySnapshot], str]
    """Says for how long messages are kept."""

    async def run(self, call: CommandCall) -> Reply:
        """Return the counts, with a button to the memory page. If the index does not answer, the text says so."""
        kept = await self.history.count_traces(call.ref)
        try:
            searchable = await self.recall.count_messages(call.ref, epoch=call.snapshot.epoch)
        except RecallUnavailable:
            searchable = None
        limit = self.limit_line(call.words, call.snapshot)
        text = texts.memory_text(call.words, call.snapshot, kept, searchable=searchable, limit=limit)
        if call.update.is_incognito:
            text = f"{call.words('incognito-line')}\n\n{text}"
        return Reply(text=text, buttons=self.page_links.open_place(call.place, call.words("memory-open")))

    async def show_details(self, call: CommandCall) -> Reply:
        """Show the counts of the receipt above the button.

        They are in its data, which anybody can make up, so only a button that Telegram describes counts.
        """
        if not call.menu:
            return Reply(notice=call.words("button-unknown"))
        return Reply(rich=RichText(text=texts.details_text(call.words, call.owner)))


async def build(parts: Parts) -> Built:
    """Return the command and the button of receipts."""
    stores = parts.stores
    memory = MemoryCommand(
        history=stores.history,
        recall=stores.recall,
        page_links=parts.page_links,
        limit_line=partial(limit_line, parts.settings),
    )
    return Built(commands={"memory": memory.run}, buttons={DETAILS_BUTTON: memory.show_details})
