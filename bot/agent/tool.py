"""Tools: typed functions that a model may call, with their schemas, limits and scopes."""

import asyncio
import inspect
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeVar, cast, get_type_hints

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError

from bot.agent.context import RANKS, AgentContext, Caller, Place, Role
from bot.agent.daemon_thread import call_in_daemon_thread
from bot.agent.loose_json import decode, parse_object, shorten
from bot.agent.model import TOOL_NAME, ToolSpec
from bot.agent.tool_output import render_output
from bot.errors import ToolFailed, TurnEnded
from memory.errors import MemoryFailure, RecallUnavailable

ANYWHERE: frozenset[Place] = frozenset(["private", "groups"])

Subject = Literal["artifacts", "facts", "older_messages"]
"""Contents of a chat's memory without which some tools are of no use."""

_SUBJECT = "subject"
"""The attribute of a function whose tool works on a subject."""
_DESCRIPTION_LIMIT = 1024
"""OpenAI refuses a request with a longer description."""

F = TypeVar("F", bound=Callable[..., object])

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The callers that may use a tool, and the chats. The default permits everyone, everywhere."""

    # "administrators" are those of a group, and the person of a private chat. Operators are always permitted.
    who: Role = "anyone"
    where: frozenset[Place] = ANYWHERE
    # Current ids of chats; None permits all. A group that becomes a supergroup gets a new id.
    chats: frozenset[int] | None = None

    def permits(self, caller: Caller) -> bool:
        """Return True if a tool of this scope may be offered to this caller, and run."""
        is_here = self.where == ANYWHERE or caller.place in self.where
        is_listed = self.chats is None or caller.chat_id in self.chats
        return is_here and is_listed and RANKS[caller.role] >= RANKS[self.who]

    def within(self, other: "Scope") -> "Scope":
        """Return the intersection, which may be empty."""
        chats = self.chats if other.chats is None else other.chats
        both = chats if self.chats is None or chats is None else chats & self.chats
        return Scope(
            who=max(self.who, other.who, key=RANKS.__getitem__), where=self.where & other.where, chats=both
        )

    @property
    def is_empty(self) -> bool:
        """True if the scope permits nobody."""
        return not self.where or (self.chats is not None and not self.chats)


class ArgumentReader(Protocol):
    """Reads the arguments of a call for its function."""

    def check(self, sent: Mapping[str, object]) -> dict[str, Any]:
        """Return the keyword arguments of a call. Raises ToolFailed in words that help the model."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArguments:
    """The named parameters of one function. `model` has a field for each, by position, aliased to its name."""

    names: tuple[str, ...]
    model: type[BaseModel]
    schema: Mapping[str, Any]

    def check(self, sent: Mapping[str, object]) -> dict[str, Any]:
        """Return the keyword arguments of a call. Raises ToolFailed in words that help the model."""
        try:
            checked = self.model.model_validate(fit_arguments(sent, self.schema))
        except ValidationError as error:
            raise ToolFailed("Wrong arguments. " + _in_plain_words(error)) from error
        fields = ((name, _field_name(number)) for number, name in enumerate(self.names))
        return {name: getattr(checked, field) for name, field in fields if field in checked.model_fields_set}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function and its description for the model."""

    spec: ToolSpec
    function: Callable[..., object]
    arguments: ArgumentReader
    # True if the first parameter receives the AgentContext.
    takes_context: bool
    # True if the output is the reply of the whole run.
    is_final: bool = False
    # The highest number of calls in one run.
    max_calls: int | None = None
    timeout_s: float = 30.0
    # True if a call may run again when a crash has hidden its outcome.
    is_repeatable: bool = True
    # Outside of it the tool is neither offered nor run.
    scope: Scope = field(default_factory=Scope)
    # The tool is not described to the model while the chat has nothing of it. A call runs all the same.
    subject: Subject | None = None

    @classmethod
    def from_function(
        cls,
        function: Callable[..., object],
        *,
        name: str | None = None,
        is_final: bool = False,
        max_calls: int | None = None,
        timeout_s: float = 30.0,
        scope: Scope | None = None,
    ) -> "Tool":
        """Return a tool that calls `function`. Its docstring and annotations describe it to the model.

        A first parameter annotated `AgentContext` receives the context; the model does not see it. An async
        function runs on the loop, any other in a thread. Raises TypeError for a signature that JSON cannot
        describe, ValueError for a bad name or limit.
        """
        name = name or str(getattr(function, "__name__", ""))
        _check_limits(name, max_calls, timeout_s)
        types = _type_hints(function)
        parameters = dict(inspect.signature(function).parameters)
        first = next(iter(parameters), None)
        takes_context = first is not None and types.get(first) is AgentContext
        if first is not None and takes_context:
            del parameters[first]
        arguments = _read_arguments(parameters, types)
        description = (inspect.getdoc(function) or name.replace("_", " "))[:_DESCRIPTION_LIMIT]
        return cls(
            spec=ToolSpec(name=name, description=description, parameters=arguments.schema),
            function=function,
            arguments=arguments,
            takes_context=takes_context,
            is_final=is_final,
            max_calls=max_calls,
            timeout_s=timeout_s,
            scope=scope or Scope(),
            subject=getattr(function, _SUBJECT, None),
        )

    @property
    def name(self) -> str:
        """The name that the model uses."""
        return self.spec.name

    def bind(self, arguments: str) -> dict[str, Any]:
        """Return the function's keyword arguments from the model's JSON text. Raises ToolFailed."""
        return self.arguments.check(parse_object(arguments))

    async def call(self, arguments: str, context: AgentContext) -> str:
        """Run the function and return its output as text. Raises ToolFailed for any error of the function.

        Only the text of a ToolFailed reaches the model: other errors may quote data that the chat must not
        see. The errors that end the turn (TurnEnded, MemoryFailure) pass through.
        """
        bound = partial(self.function, *((context,) if self.takes_context else ()), **self.bind(arguments))
        limit = asyncio.timeout(self.timeout_s)
        try:
            async with limit:
                return await self._output_of(bound)
        except (TurnEnded, ToolFailed):
            raise
        except RecallUnavailable as error:
            raise ToolFailed("The memory cannot be searched now.") from error
        except MemoryFailure:
            raise
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            raise ToolFailed(f"{self.name} was cancelled.") from None
        except (Exception, SystemExit) as error:
            if limit.expired():
                late = f"{self.name} did not answer within {self.timeout_s:g} seconds."
                raise ToolFailed(late) from error
            _log_raised(self.name, error)
            raise ToolFailed(f"{self.name} failed ({type(error).__name__}).") from error

    async def _output_of(self, bound: Callable[[], object]) -> str:
        if _is_async(self.function):
            result = bound()
            value = await result if inspect.isawaitable(result) else result
            if isinstance(value, str):
                return render_output(value)
            # Megabytes that become JSON would block every chat.
            return await call_in_daemon_thread(lambda: render_output(value), name=f"output-{self.name}")
        return await call_in_daemon_thread(lambda: render_output(bound()), name=f"tool-{self.name}")


def works_on(subject: Subject) -> Callable[[F], F]:
    """Let the tool of a function be described to the model only if the chat has something of this subject."""

    def mark(function: F) -> F:
        setattr(function, _SUBJECT, subject)
        return function

    return mark


def permitted(tools: Mapping[str, Tool], caller: Caller) -> dict[str, Tool]:
    """Return the tools that this caller may use."""
    return {name: tool for name, tool in tools.items() if tool.scope.permits(caller)}


def _check_limits(name: str, max_calls: int | None, timeout_s: float) -> None:
    if not TOOL_NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a tool: 1 to 64 of A-Z a-z 0-9 _ -")
    if max_calls is not None and max_calls < 1:
        raise ValueError(f"max_calls must be at least 1, not {max_calls}")
    if not timeout_s > 0:
        raise ValueError(f"timeout_s must be more than 0, not {timeout_s}")


def _type_hints(function: Callable[..., object]) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        # The module of a tool may import AgentContext for type checkers only.
        return get_type_hints(target, localns={"AgentContext": AgentContext}, include_extras=True)
    except NameError as error:
        raise TypeError(f"an annotation cannot be resolved: {error}") from error


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _log_raised(tool: str, error: BaseException) -> None:
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "?"
    log.warning("tool_raised", tool=tool, error=type(error).__name__, where=place)
    log.debug("tool_raised_with", tool=tool, exc_info=error)  # its text may quote the conversation


def _read_arguments(parameters: Mapping[str, inspect.Parameter], types: Mapping[str, Any]) -> ToolArguments:
    """Return the arguments of a function with these parameters.

    Raises TypeError for a parameter that cannot be passed by name, has no annotation, or has an annotation
    that JSON cannot express.
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


def _field_name(number: int) -> str:
    # A pydantic model does not allow some parameter names: `schema`, `copy`, `_x`.
    return f"argument_{number}"


def _field(parameter: inspect.Parameter, types: Mapping[str, Any]) -> tuple[Any, Any]:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise TypeError(f"parameter {parameter} cannot be given by name")
    if parameter.name not in types:
        raise TypeError(f"parameter {parameter.name} has no type annotation")
    default: Any = ... if parameter.default is parameter.empty else parameter.default
    return types[parameter.name], Field(default, alias=parameter.name)


def _plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without words that only cost tokens, and always with `properties`.

    These are titles, empty defaults, and the prohibition of other properties, which `check` enforces.
    """
    properties = {name: _plain_property(each) for name, each in schema.get("properties", {}).items()}
    unused = ("title", "description", "properties", "additionalProperties")
    rest = {key: value for key, value in schema.items() if key not in unused}
    return {**rest, "properties": properties}


def _plain_property(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument. One that may be null, and is by default, is one that may be left out."""
    plain = {key: value for key, value in described.items() if key != "title"}
    if not plain.get("default", True):
        is_null = plain.pop("default") is None
        options = [each for each in plain.get("anyOf", ()) if each != {"type": "null"}]
        if is_null and len(options) == 1:
            del plain["anyOf"]
            plain |= options[0]
    return plain


def _in_plain_words(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}"
        + ("" if problem["type"] == "missing" else f", not {shorten(repr(problem['input']))}")
        for problem in error.errors(include_url=False, include_context=False)
    )
    return "; ".join(problems)


_ABSENT = frozenset(["", "null", "none"])
"""Words for nothing."""
_KINDS: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def fit_arguments(sent: Mapping[str, object], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, in which a null or a word for it leaves out an optional property that takes none.

    A text becomes the number, truth value, list or object that it spells if the schema takes no text. Models write
    these at any depth (microsoft/autogen#4997, punkpeye/mcp-remote#319). All else stays as it is: the owner of the
    schema checks it.
    """
    return _Fit(schema.get("$defs", {})).fit(dict(sent), schema)


class _Fit:
    """Fits the values of one call; `definitions` are those of its schema."""

    def __init__(self, definitions: Mapping[str, Mapping[str, Any]]) -> None:
        self._definitions = definitions

    def fit(self, value: object, schema: Mapping[str, Any]) -> Any:
        """Return the value in a type that the schema takes, if it spells one."""
        options = self._options(schema)
        types = {kind for option in options for kind in _types(option)}
        if isinstance(value, str) and types and "string" not in types:
            value = _spelled(value, types)
        if isinstance(value, list):
            items = _first(options, "items")
            return [self.fit(each, items) for each in cast("list[object]", value)]
        if not isinstance(value, dict):
            return value
        properties = _first(options, "properties")
        required = {name for option in options for name in option.get("required", ())}
        return {
            name: self.fit(each, properties.get(name, {}))
            for name, each in cast("dict[str, object]", value).items()
            if name in required or name not in properties or not self._is_absent(each, properties[name])
        }

    def _is_absent(self, value: object, schema: Mapping[str, Any]) -> bool:
        options = self._options(schema)
        types = {kind for option in options for kind in _types(option)}
        if not all(map(_types, options)):  # one of them takes anything
            return False
        is_word = isinstance(value, str) and value.strip().casefold() in _ABSENT
        return (value is None and "null" not in types) or (is_word and "string" not in types)

    def _options(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the schemas of which a value may fit any, with their references replaced."""
        name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
        schema = self._definitions.get(name, schema)
        several = [option for key in ("anyOf", "oneOf") for option in schema.get(key, ())]
        return [option for each in several for option in self._options(each)] or [schema]


def _types(schema: Mapping[str, Any]) -> set[str]:
    """Return the types that a schema names; empty if it takes any."""
    kind: str | Iterable[str] = schema.get("type", ())
    if kind:
        return {kind} if isinstance(kind, str) else set(kind)
    values = cast("Iterable[object]", schema.get("enum", [schema["const"]] if "const" in schema else ()))
    return {_KINDS[type(value)] for value in values}


def _first(options: Iterable[Mapping[str, Any]], key: str) -> Mapping[str, Any]:
    found = (
        cast("Mapping[str, Any]", option[key]) for option in options if isinstance(option.get(key), dict)
    )
    nothing: Mapping[str, Any] = {}
    return next(found, nothing)


def _spelled(text: str, types: set[str]) -> object:
    """Return the value of one of these types that the text spells, else the text."""
    try:
        value = decode(text.lower() if types <= {"boolean", "null"} else text)
    except (ValueError, RecursionError):
        return text
    kind = _KINDS[type(value)]
    if isinstance(value, float) and value.is_integer() and "number" not in types and "integer" in types:
        return int(value)
    return value if kind in types or (kind == "integer" and "number" in types) else text
