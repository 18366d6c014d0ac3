"""Reading a history lazily, page by page, in either direction."""

from collections.abc import AsyncGenerator

from memory.history.message import Message
from memory.history.store import HistoryStore
from memory.keys import ContextRef

PAGE = 100
"""Messages in a round trip: a window of 8,000 tokens rarely has more."""


async def newest_first(
    store: HistoryStore, ref: ContextRef, *, whole: bool = False
) -> AsyncGenerator[Message]:
    """The current conversation (or the whole history) from its end; reads only as far as it is asked."""
    page = await store.page(ref, limit=PAGE, whole=whole)
    while page:
        for message in page:
            yield message
        page = await store.page(ref, before_sequence=page[-1].sequence, limit=PAGE, whole=whole)


async def oldest_first(
    store: HistoryStore, ref: ContextRef, *, whole: bool = False
) -> AsyncGenerator[Message]:
    """The current conversation (or the whole history) from its beginning, messages appended meanwhile too."""
    page = await store.page(ref, after_sequence=-1, limit=PAGE, whole=whole)
    while page:
        for message in page:
            yield message
        page = await store.page(ref, after_sequence=page[-1].sequence, limit=PAGE, whole=whole)
