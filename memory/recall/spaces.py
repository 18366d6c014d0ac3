"""The spaces of vectors: the one that is searched, and the one that is being built after a change."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.recall.embedders.embedder import Embedder
from memory.recall.vector_index import VectorIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """An embedder and the collection of its vectors, which is called `name`.

    Without an embedder (it cannot be built any more, after a change of settings) it is searched by words alone.
    Without our terms (they were made by another RECIPE) it is searched by meaning alone, and points are written
    into it without terms. It never lacks both.
    """

    embedder: Embedder | None
    index: VectorIndex
    name: str = ""
    has_our_terms: bool = True


@dataclass(slots=True, kw_only=True)
class Spaces:
    """Which space is searched now, and which one is being built, if another is; kept up to date by SpaceFollower.

    `takes_work` is false where messages belong into a space that this process cannot write: its indexers pause.
    """

    serving: Space
    building: Space | None = None
    takes_work: bool = True

    @property
    def written(self) -> Sequence[Space]:
        """The spaces that a new message is written into: the one that is to stay comes last."""
        return (self.serving,) if self.building is None else (self.serving, self.building)
