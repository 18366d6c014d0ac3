"""Keeps the spaces of a process as the store records them, whoever changes the record."""

from collections.abc import Awaitable, Callable

import structlog

from memory.recall.collection_names import LAYOUT
from memory.recall.lexicon.analysis import RECIPE
from memory.recall.space_record import SpaceDescription, SpacesRecord, is_same
from memory.recall.space_register import SpaceRegister
from memory.recall.spaces import Space, Spaces

log = structlog.get_logger()

_PROBE = "hello"
"""What any embedder that works embeds."""
REOPEN_AFTER_S = 30.0
"""An embedder that could not be opened is tried again after so long."""

OpenSpace = Callable[[SpaceDescription], Awaitable[Space]]
"""Opens a space that is not this process's own; its embedder is None where it cannot be built here or now."""


class SpaceFollower:
    """Which of the spaces this process searches and writes. `spaces` is changed in place by `refresh`.

    Until the first `claim` of its own space a process takes no work.
    """

    def __init__(
        self,
        register: SpaceRegister,
        *,
        ours: SpaceDescription,
        own: Space,
        open_space: OpenSpace,
        clock: Callable[[], float],
    ) -> None:
        self._register = register
        self._own = own
        self._open_space = open_space
        self._clock = clock
        self._opened: dict[str, Space] = {}
        self._try_again_at = 0.0
        self._has_claimed = False
        self._paused_for: str | None = None
        self.ours = ours
        self.spaces = Spaces(serving=own, takes_work=False)

    async def claim(self, *, is_forced: bool = False) -> SpacesRecord:
        """Have messages go into our space from now on, and follow.

        Raises StoreUnavailable and StoreFull; and an EmbeddingError, with nothing claimed, where another space is wanted
        and our embedder does not work: a mistake in the settings of one process would stop the indexing of all others.
        """
        before = await self._register.load()
        is_change = before is not None and (is_forced or not is_same(before.wanted, self.ours))
        if is_change and self._own.embedder is not None:
            await self._own.embedder.embed([_PROBE])
        record = await self._register.claim(self.ours, is_forced=is_forced)
        self._has_claimed = True
        if record != before and record.target is not None:
            log.info("reindex_started", space=record.target.collection, serving=_name(record.serving))
        await self._follow(record)
        return record

    async def refresh(self) -> SpacesRecord | None:
        """Read the record and follow it. Raises StoreUnavailable."""
        record = await self._register.load()
        if record is not None:
            await self._follow(record)
        return record

    async def _follow(self, record: SpacesRecord) -> None:
        serving = await self._searchable(record.serving or record.target)
        is_target = is_same(record.target, self.ours)
        self.spaces.serving = serving
        self.spaces.building = self._own if is_target and serving is not self._own else None
        self.spaces.takes_work = is_same(record.wanted, self.ours)
        self._say_whether_paused(record)

    async def _searchable(self, described: SpaceDescription | None) -> Space:
        """The described space, or our own where that one cannot be searched from here in any way."""
        if described is None or is_same(described, self.ours) or described.layout != LAYOUT:
            return self._own
        space = await self._opened_space(described)
        return space if space.embedder is not None or space.has_our_terms else self._own

    async def _opened_space(self, described: SpaceDescription) -> Space:
        """Opened once; without an embedder, tried again now and then."""
        known = self._opened.get(described.collection)
        if known is not None and (known.embedder is not None or self._clock() < self._try_again_at):
            return known
        self._try_again_at = self._clock() + REOPEN_AFTER_S
        self._opened[described.collection] = await self._open_space(described)
        return self._opened[described.collection]

    def _say_whether_paused(self, record: SpacesRecord) -> None:
        wanted = None if self.spaces.takes_work or record.wanted is None else record.wanted.collection
        if wanted is not None and wanted != self._paused_for and self._has_claimed:
            log.warning(
                "indexing_paused",
                wanted=wanted,
                ours=self.ours.collection,
                hint="a process with another embedding model, or another version, was started after this one",
            )
        self._paused_for = wanted


def has_our_terms(described: SpaceDescription) -> bool:
    """Whether its texts were analysed as we do."""
    return described.recipe == RECIPE


def _name(described: SpaceDescription | None) -> str | None:
    return None if described is None else described.collection
