"""What the store records of the spaces of vectors: which one serves, which one is being built, and what comes next."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, cast

Source = Literal["embedded", "endpoint"]
"""Where vectors of a space come from: the embedder in this package, or an OpenAI-compatible endpoint."""

SWEEP_AFTER_S = 60.0
"""After a switch the former space is kept for so long: every process learns of it within seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceDescription:
    """A space by its collection, and what it takes to open it again.

    `asked_dimension` is what the endpoint was asked for, None for the model's own. `recipe` is how texts were
    analysed, `layout` how points are laid out.
    """

    collection: str
    model: str
    dimension: int
    version: str
    recipe: str
    layout: str
    source: Source
    asked_dimension: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpacesRecord:
    """`target` is being built and will serve; it may be the serving space itself, which is made anew then.

    `build` tells one building from another: it grows. `sweep_after` (Unix seconds) is when what is left in other
    collections may be erased, None where nothing is. `serving` is None where none of what there is can be searched.
    """

    serving: SpaceDescription | None
    target: SpaceDescription | None = None
    build: int = 0
    sweep_after: float | None = None

    @property
    def wanted(self) -> SpaceDescription | None:
        """The space that every message must be in."""
        return self.target or self.serving


def plan_claim(
    record: SpacesRecord | None,
    ours: SpaceDescription,
    *,
    is_empty: bool,
    now: float,
    is_forced: bool = False,
) -> SpacesRecord:
    """The record once a process that writes `ours` has started: the last one to start says where messages belong.

    `is_empty` says that no context is known: then there is nothing to build. `is_forced` builds it anew even where
    it serves already. Going back to the serving space while another is being built makes it anew as well: what came
    in meanwhile is in it by words alone, or not at all.
    """
    if record is None and is_empty:
        return SpacesRecord(serving=ours)
    if record is None:
        return SpacesRecord(serving=None, target=ours, build=int(now))
    if is_same(record.wanted, ours) and not is_forced:
        return record
    return plan_repeat(replace(record, target=ours), now=now)


def is_same(one: SpaceDescription | None, other: SpaceDescription | None) -> bool:
    """Whether both are the same space: a collection's name says what its vectors and terms are."""
    return one is not None and other is not None and one.collection == other.collection


def plan_repeat(record: SpacesRecord, *, now: float) -> SpacesRecord:
    """The record once the target has to be built from the beginning again."""
    return replace(record, build=max(record.build + 1, int(now)))


def plan_switch(record: SpacesRecord, *, now: float) -> SpacesRecord:
    """The record once the target is whole."""
    return replace(record, serving=record.target, target=None, sweep_after=now + SWEEP_AFTER_S)


def dump_record(record: SpacesRecord) -> str:
    """One line of JSON."""
    return json.dumps(asdict(record), sort_keys=True)


def parse_record(text: str) -> SpacesRecord:
    """The record in a line of `dump_record`; fields that are not known (of a later version) are passed over."""
    fields = cast(dict[str, Any], json.loads(text))
    return SpacesRecord(
        serving=_parse_description(fields["serving"]),
        target=_parse_description(fields["target"]),
        build=fields["build"],
        sweep_after=fields["sweep_after"],
    )


def _parse_description(fields: dict[str, Any] | None) -> SpaceDescription | None:
    if fields is None:
        return None
    known = SpaceDescription.__dataclass_fields__
    return SpaceDescription(**{name: value for name, value in fields.items() if name in known})
