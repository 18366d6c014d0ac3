"""Filters as they come over the wire, and the same as the engine takes them."""

from typing import Annotated, Any, Self, cast
from uuid import UUID

import qdrant_edge as edge
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)


class Wire(BaseModel):
    """A part of a request: what it does not know is refused, never passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


PointId = Annotated[StrictInt, Field(ge=0, lt=2**64)] | UUID


class MatchValue(Wire):
    """Equal to one value. Booleans are refused: the engine's binding takes `true` for 1."""

    value: StrictStr | Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]


class MatchAny(Wire):
    """Equal to one of several values of one type."""

    any: list[StrictStr] | list[Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]]


def _kind_of_match(given: Any) -> str | None:
    if isinstance(given, dict):
        return "value" if "value" in given else "any" if "any" in given else None
    return None


Match = Annotated[
    Annotated[MatchValue, Tag("value")] | Annotated[MatchAny, Tag("any")],
    Discriminator(
        _kind_of_match,
        custom_error_type="unsupported",
        custom_error_message="the embedded index matches by `value` or `any` only",
    ),
]


class NumberRange(Wire):
    """Between numbers."""

    gt: Annotated[float, Field(strict=True)] | None = None
    gte: Annotated[float, Field(strict=True)] | None = None
    lt: Annotated[float, Field(strict=True)] | None = None
    lte: Annotated[float, Field(strict=True)] | None = None


class TimeRange(Wire):
    """Between times, RFC 3339; one without a zone is UTC."""

    gt: StrictStr | None = None
    gte: StrictStr | None = None
    lt: StrictStr | None = None
    lte: StrictStr | None = None


def _kind_of_range(given: Any) -> str | None:
    if not isinstance(given, dict):
        return None
    bounds = [bound for bound in cast("dict[str, Any]", given).values() if bound is not None]
    if bounds and all(isinstance(bound, str) for bound in bounds):
        return "time"
    return "number" if bounds else None


Range = Annotated[
    Annotated[NumberRange, Tag("number")] | Annotated[TimeRange, Tag("time")],
    Discriminator(
        _kind_of_range,
        custom_error_type="unsupported",
        custom_error_message="a range has at least one bound, all numbers or all times",
    ),
]


class FieldCondition(Wire):
    """On one payload field: either a match or a range."""

    key: str
    match: Match | None = None
    range: Range | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if (self.match is None) == (self.range is None):
            raise ValueError("a field condition has either `match` or `range`")
        return self


class PayloadKey(Wire):
    """The name of a payload field."""

    key: str


class IsEmpty(Wire):
    """The field is missing, null or an empty list."""

    is_empty: PayloadKey


class IsNull(Wire):
    """The field is null."""

    is_null: PayloadKey


class HasId(Wire):
    """The point is one of these; none of them where the list is empty."""

    has_id: list[PointId]


class HasVector(Wire):
    """The point has a vector of this name."""

    has_vector: StrictStr


class MinShould(Wire):
    """At least so many of the conditions."""

    conditions: list["Condition"] = Field(min_length=1)
    min_count: int = Field(ge=1, lt=2**31)


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, dict) else given


class Filter(Wire):
    """All of `must`, one of `should`, none of `must_not`."""

    must: Annotated[list["Condition"], BeforeValidator(_as_list)] | None = None
    should: Annotated[list["Condition"], BeforeValidator(_as_list)] | None = None
    must_not: Annotated[list["Condition"], BeforeValidator(_as_list)] | None = None
    min_should: MinShould | None = None


def _kind_of_condition(given: Any) -> str | None:
    names = set(cast("dict[str, Any]", given)) if isinstance(given, dict) else set[str]()
    for kind in ("key", "is_empty", "is_null", "has_id", "has_vector"):
        if kind in names:
            return kind
    return "filter" if names & set(Filter.model_fields) else None


Condition = Annotated[
    Annotated[FieldCondition, Tag("key")]
    | Annotated[IsEmpty, Tag("is_empty")]
    | Annotated[IsNull, Tag("is_null")]
    | Annotated[HasId, Tag("has_id")]
    | Annotated[HasVector, Tag("has_vector")]
    | Annotated[Filter, Tag("filter")],
    Discriminator(
        _kind_of_condition,
        custom_error_type="unsupported",
        custom_error_message="the embedded index knows field, is_empty, is_null, has_id, has_vector and nested conditions",
    ),
]


Leaf = FieldCondition | IsEmpty | IsNull | HasId | HasVector


def leaves(given: Filter) -> list[Leaf]:
    """Every condition in a filter that says something; none means that the filter lets everything through."""
    groups = [given.must, given.should, given.must_not, given.min_should and given.min_should.conditions]
    found: list[Leaf] = []
    for condition in (condition for group in groups for condition in group or ()):
        found += leaves(condition) if isinstance(condition, Filter) else [condition]
    return found


def to_engine_filter(given: Filter) -> edge.Filter:
    """The same filter for the engine."""
    return edge.Filter(
        must=_to_engine_all(given.must),
        should=_to_engine_all(given.should),
        must_not=_to_engine_all(given.must_not),
        min_should=_to_engine_min_should(given.min_should),
    )


def _to_engine_all(given: "list[Condition] | None") -> "list[edge.ConditionType] | None":
    return None if given is None else [_to_engine_condition(condition) for condition in given]


def _to_engine_min_should(given: MinShould | None) -> edge.MinShould | None:
    if given is None:
        return None
    return edge.MinShould(_to_engine_all(given.conditions) or [], given.min_count)


def _to_engine_condition(given: "Condition") -> "edge.ConditionType":
    match given:
        case Filter():
            return to_engine_filter(given)
        case IsEmpty():
            return edge.IsEmptyCondition(given.is_empty.key)
        case IsNull():
            return edge.IsNullCondition(given.is_null.key)
        case HasId():
            return edge.HasIdCondition(set(given.has_id))
        case HasVector():
            return edge.HasVectorCondition(given.has_vector)
        case FieldCondition():
            return edge.FieldCondition(
                given.key, match=_to_engine_match(given.match), range=_to_engine_range(given.range)
            )


def _to_engine_match(given: MatchValue | MatchAny | None) -> "edge.MatchType | None":
    match given:
        case None:
            return None
        case MatchValue():
            return edge.MatchValue(given.value)
        case MatchAny():
            return edge.MatchAny(given.any)


def _to_engine_range(given: NumberRange | TimeRange | None) -> "edge.RangeType | None":
    match given:
        case None:
            return None
        case NumberRange():
            return edge.RangeFloat(gte=given.gte, gt=given.gt, lte=given.lte, lt=given.lt)
        case TimeRange():
            return edge.RangeDateTime(gte=given.gte, gt=given.gt, lte=given.lte, lt=given.lt)
