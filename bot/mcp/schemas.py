"""Schemas and names of MCP tools as model endpoints accept them.

Servers describe arguments by any JSON Schema. OpenAI refuses a whole request for one bad schema, so each is reduced
to the keywords that it knows.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

LARGEST = 16_000
"""Characters of a schema."""

_DEEPEST = 48
_MOST_NODES = 5_000
_LONGEST_TEXT = 1_024
_LONGEST_NAME = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_DEFINITIONS = ("$defs", "definitions")
_NOT_AT_THE_TOP = {"any_of", "one_of", "all_of", "enum", "const", "default"}


def tool_name(server: str, tool: str) -> str:
    """Return `server__tool` as endpoints accept names. A name that had to change ends with a hash of the tool's own.

    Tools with different names get different names, whatever else the server lists.
    """
    name = _NOT_IN_NAMES.sub("_", f"{server}__{tool}")
    if name == f"{server}__{tool}" and len(name) <= _LONGEST_NAME:
        return name
    digest = sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _LONGEST_NAME - 9]}_{digest}"


def repair_schema(schema: object) -> dict[str, Any] | None:
    """Return the schema of a tool's arguments as OpenAI accepts it; None if it is not an object or too large.

    References are replaced by their targets. Unknown and malformed keywords are dropped, so that the repaired schema
    accepts at least what the original accepts. The server checks the arguments all the same.
    """
    if not isinstance(schema, dict):
        return None
    given = cast("dict[str, Any]", schema)
    if given.get("type", "object") not in ("object", ["object"]):
        return None
    try:
        plain = {key: value for key, value in given.items() if key not in _DEFINITIONS}
        root = _Schema.model_validate(_References(given).replace(plain, ("#",), 0))
        properties, required = dict(root.properties or {}), list(root.required or ())
        for option in (*(root.any_of or ()), *(root.one_of or ()), *(root.all_of or ())):
            properties = {**(option.properties or {}), **properties}
        for option in root.all_of or ():
            required += option.required or ()
        changes = {
            "type": "object",
            "properties": properties,
            "required": list(dict.fromkeys(required)) or None,
        }
        whole = root.model_copy(update=changes)
        repaired = whole.model_dump(by_alias=True, exclude_none=True, exclude=_NOT_AT_THE_TOP)
        return repaired if len(json.dumps(repaired, allow_nan=False)) <= LARGEST else None
    except (ValueError, RecursionError):
        return None


@dataclass(slots=True)
class _References:
    """The references of a document, and the number of nodes that their replacement has made."""

    document: Mapping[str, Any]
    nodes: int = 0

    def replace(self, value: Any, within: tuple[str, ...], depth: int) -> Any:
        """Return the value with targets for references. Raises ValueError if it becomes too large.

        Deep parts, and the places where a schema refers to itself, accept anything.
        """
        self.nodes += 1
        if self.nodes > _MOST_NODES:
            raise ValueError("the schema is too large")
        if isinstance(value, list):
            return [self.replace(each, within, depth + 1) for each in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        if depth > _DEEPEST:
            return {}
        found = cast("dict[str, Any]", value)
        reference = found.get("$ref")
        if isinstance(reference, str):
            target = {} if reference in within else self._target(reference)
            merged = {**target, **{key: each for key, each in found.items() if key != "$ref"}}
            return self.replace(merged, (*within, reference), depth + 1)
        return {key: self.replace(each, within, depth + 1) for key, each in found.items()}

    def _target(self, reference: str) -> dict[str, Any]:
        """Return the schema at a reference into this document, {} for any other."""
        at: Any = self.document if reference.startswith("#") else None
        for step in reference.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            at = cast("dict[str, Any]", at).get(name) if isinstance(at, dict) else None
        return cast("dict[str, Any]", at) if isinstance(at, dict) else {}


def _as_schema(value: object) -> object:
    return cast("object", value) if isinstance(value, dict) else {}


_Kind = Literal["object", "array", "string", "number", "integer", "boolean", "null"]
_Text = Annotated[str, AfterValidator(lambda text: text[:_LONGEST_TEXT])]
_Number = int | FiniteFloat
_Nested = Annotated["_Schema", BeforeValidator(_as_schema)]
_Options = Annotated[list[_Nested], Field(min_length=1)]


class _Bounds(BaseModel):
    """The keywords that bound values."""

    minimum: _Number | None = None
    maximum: _Number | None = None
    exclusive_minimum: _Number | None = None
    exclusive_maximum: _Number | None = None
    multiple_of: _Number | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None


class _Schema(_Bounds):
    """The keywords of JSON Schema that endpoints know. A malformed value counts as absent."""

    model_config = ConfigDict(strict=True, alias_generator=to_camel)

    type: _Kind | Annotated[list[_Kind], Field(min_length=1)] | None = None
    description: _Text | None = None
    format: _Text | None = None
    pattern: _Text | None = None
    enum: Annotated[list[Any], Field(min_length=1)] | None = None
    const: Any = None
    default: Any = None
    properties: dict[str, _Nested] | None = None
    required: list[str] | None = None
    additional_properties: bool | _Nested | None = None
    items: _Nested | None = None
    any_of: _Options | None = None
    one_of: _Options | None = None
    all_of: _Options | None = None

    @field_validator("*", mode="wrap")
    @classmethod
    def _drop_malformed(cls, value: Any, check: ValidatorFunctionWrapHandler) -> Any:
        try:
            return check(value)
        except ValidationError:
            return None

    @model_validator(mode="after")
    def _complete(self) -> "_Schema":
        """Give an array its items, and require only known properties."""
        if self.items is None and "array" in (self.type or ()):
            self.items = _Schema()
        if self.required is not None:
            known = self.properties or {}
            self.required = [name for name in dict.fromkeys(self.required) if name in known] or None
        return self
