"""The parameters of a tool's function: their JSON Schema, and the check of what a model sends for them."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError

from bot.errors import ToolFailed

_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArguments:
    """The named parameters of one function; `model` has a field for each, by position, aliased to its name."""

    names: tuple[str, ...]
    model: type[BaseModel]
    schema: Mapping[str, Any]

    def check(self, sent: Mapping[str, object]) -> dict[str, Any]:
        """The keyword arguments to call the function with. Raises ToolFailed in words that a model can act on."""
        try:
            checked = self.model.model_validate(dict(sent))
        except ValidationError as error:
            raise ToolFailed("Wrong arguments. " + _in_plain_words(error)) from error
        fields = ((name, _field_name(number)) for number, name in enumerate(self.names))
        return {name: getattr(checked, field) for name, field in fields if field in checked.model_fields_set}


def read_arguments(parameters: Mapping[str, inspect.Parameter], types: Mapping[str, Any]) -> ToolArguments:
    """The arguments that a function with these parameters takes.

    Raises TypeError for a parameter that cannot be given by name, has no annotation, or has one that JSON
    cannot carry.
    """
    fields = {
        _field_name(number): _field(parameter, types) for number, parameter in enumerate(parameters.values())
    }
    try:
        model = cast("Callable[..., type[BaseModel]]", create_model)(
            "Arguments", __config__=ConfigDict(extra="forbid"), **fields
        )
        schema = model.model_json_schema(by_alias=True)
    except PydanticUserError as error:
        raise TypeError(
            f"an annotation cannot be described to a model: {error.message.splitlines()[0]}"
        ) from error
    return ToolArguments(names=tuple(parameters), model=model, schema=_plain_schema(schema))


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`; nothing, blanks and `null` count as no arguments. Raises ToolFailed."""
    if text.strip() in ("", "null"):
        return {}
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ToolFailed(f"The arguments are not valid JSON: {_shown(text)}") from error
    if not isinstance(value, dict):
        raise ToolFailed(f"The arguments must be one JSON object with named values, not {_shown(text)}")
    return cast("dict[str, Any]", value)


def _field_name(number: int) -> str:
    # The function's own names may be ones that a pydantic model does not allow: `schema`, `copy`, `_x`.
    return f"argument_{number}"


def _field(parameter: inspect.Parameter, types: Mapping[str, Any]) -> tuple[Any, Any]:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise TypeError(f"parameter {parameter} cannot be given by name")
    if parameter.name not in types:
        raise TypeError(f"parameter {parameter.name} has no type annotation")
    default: Any = ... if parameter.default is parameter.empty else parameter.default
    return types[parameter.name], Field(default, alias=parameter.name)


def _plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without pydantic's generated titles, which only cost tokens; always with `properties`."""
    properties = {
        name: {key: value for key, value in described.items() if key != "title"}
        for name, described in schema.get("properties", {}).items()
    }
    rest = {key: value for key, value in schema.items() if key not in ("title", "description", "properties")}
    return {**rest, "properties": properties}


def _in_plain_words(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        + ("" if problem["type"] == "missing" else f", not {_shown(repr(problem['input']))}")
        for problem in error.errors(include_url=False, include_context=False)
    )
    return "; ".join(problems)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
