"""Spaces of vectors: which one must have every message, and how that changes.

Vectors of two spaces cannot be compared, so each space has a collection of its own. A process writes its own space
only. It searches another one by words alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memory.recall.embedders.embedder import Embedder, EmbeddingSpace
from memory.recall.lexicon.analysis import RECIPE
from memory.recall.vector_index import VectorIndex

COLLECTION_PREFIX = "mnemogram_"
LAYOUT = "4"
"""Version of a point's vectors and payload (memory/recall/qdrant/points.py). Another layout is another collection."""
SWEEP_AFTER_S = 60.0
"""Age at which a former space is erased after a switch. Every process learns of the switch within seconds."""

_COPY = re.compile(r"-copy[0-9a-f]{16}$")
"""End of the name of a collection that was copied from another one of the same space."""

Goal = Literal["build", "fill", "copy"]
"""Work of a build. build: index every message. fill: index the chats in which the serving collection differs from the
history, after a loss of data. copy: put the points of the serving collection into a new one, whose files have nothing
that was erased.
"""

Source = Literal["embedded", "endpoint"]
"""Origin of a space's vectors: the embedder in this package, or an OpenAI-compatible endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """An embedder and the index of its vectors, in the collection `name`."""

    embedder: Embedder | None
    """None if this process has no embedder of the space, which is then searched by words alone."""
    index: VectorIndex
    name: str = ""
    copies: str = ""
    """The collection whose points are copied into this one, so that no text is embedded again."""


@dataclass(slots=True, kw_only=True)
class Spaces:
    """The spaces of a process. SpaceFollower keeps them up to date."""

    serving: Space
    building: Space | None = None
    """The copy of the serving space that is being made."""
    takes_work: bool = True
    """False while messages belong into the space of another process: the indexers pause."""
    is_incomplete: bool = False
    """True if searches may miss messages: after a change of the embedder, or a loss of data."""

    @property
    def active(self) -> Sequence[Space]:
        """The spaces that new messages are written into. The one that will stay comes last."""
        return (self.serving,) if self.building is None else (self.serving, self.building)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceDescription:
    """A space by its collection, and the facts that reopen it."""

    collection: str
    model: str
    dimension: int
    version: str
    recipe: str
    layout: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacesRecord:
    """The record of the spaces in Redis, shared by all processes."""

    serving: SpaceDescription | None
    """The space that has every message; None while another one is being built."""
    target: SpaceDescription | None = None
    """The space being built, which will serve. It is the serving space itself in a forced rebuild, or to be filled."""
    goal: Goal = "build"
    """Work of the build; nothing without a target."""
    build: int = 0
    """Number of the build; it grows."""
    sweep_after: float | None = None
    """Unix time from which other collections may be erased; None if nothing is left in them."""
    copies: tuple[str, ...] = ()
    """Copied collections of this deployment that no space uses any more. They are deleted whole."""

    @property
    def destination(self) -> SpaceDescription | None:
        """The space that every message must be in."""
        return self.target or self.serving


def collection_name(space: EmbeddingSpace, *, recipe: str = RECIPE, layout: str = LAYOUT) -> str:
    """Return a collection's name of at most 120 characters of `a-z0-9_-`, unique to embedder, recipe and layout."""
    return f"{COLLECTION_PREFIX}{space.collection_slug}_terms{recipe}_points{layout}"


def plan_claim(
    record: SpacesRecord | None,
    ours: SpaceDescription,
    *,
    is_empty: bool,
    now: float,
    is_forced: bool = False,
) -> SpacesRecord:
    """Return the record after the start of a process that writes `ours`. The last process to start decides.

    `is_empty`: there are no contexts, so nothing to build. `is_forced`: rebuild even if `ours` serves already, in the
    collection that it has. No other space serves meanwhile: messages are not written into two.
    """
    if record is None:
        return (
            SpacesRecord(serving=ours)
            if is_empty
            else _with_target(SpacesRecord(serving=None), ours, now=now)
        )
    if not is_same(record.destination, ours):
        return replace(_with_target(record, ours, now=now), serving=None)
    if not is_forced:
        return record
    return _with_target(record, record.serving if is_same(record.serving, ours) else ours, now=now)


def plan_fill(record: SpacesRecord, *, now: float) -> SpacesRecord:
    """Return the record after the serving space was found to lack messages; unchanged during another build."""
    if record.serving is None or record.target is not None:
        return record
    return _with_target(record, record.serving, goal="fill", now=now)


def plan_copy(record: SpacesRecord, *, token: str, now: float) -> SpacesRecord:
    """Return the record with a new collection for the serving space; unchanged during another build.

    `token` are 16 random hex digits: no other deployment on the same server has this collection.
    """
    if record.serving is None or record.target is not None:
        return record
    name = f"{first_name(record.serving)}-copy{token}"
    return _with_target(record, replace(record.serving, collection=name), goal="copy", now=now)


def plan_switch(record: SpacesRecord, *, now: float) -> SpacesRecord:
    """Return the record after the target is complete."""
    copies = _unused_copies(record, record.target)
    return replace(
        record,
        serving=record.target,
        target=None,
        goal="build",
        copies=copies,
        sweep_after=now + SWEEP_AFTER_S,
    )


def is_same(one: SpaceDescription | None, other: SpaceDescription | None) -> bool:
    """Return True if both are the same space. The first collection's name identifies vectors and terms."""
    return one is not None and other is not None and first_name(one) == first_name(other)


def is_copy(collection: str) -> bool:
    """Return True for the name of a copied collection, which may belong to another deployment."""
    return _COPY.search(collection) is not None


def first_name(space: SpaceDescription) -> str:
    """Return the name of the space's collection before it was copied."""
    return _COPY.sub("", space.collection)


def _with_target(
    record: SpacesRecord, target: SpaceDescription | None, *, now: float, goal: Goal = "build"
) -> SpacesRecord:
    """Return the record with a new build."""
    used = (target,) if goal == "build" else (target, record.serving)
    copies = _unused_copies(record, *used)
    return replace(record, target=target, goal=goal, copies=copies, build=max(record.build + 1, int(now)))


def _unused_copies(record: SpacesRecord, *used: SpaceDescription | None) -> tuple[str, ...]:
    """Return the copied collections of the record without those of the used spaces."""
    names = {each.collection for each in used if each}
    former = [each.collection for each in (record.serving, record.target) if each]
    found = [each for each in (*record.copies, *former) if is_copy(each) and each not in names]
    return tuple(dict.fromkeys(found))
