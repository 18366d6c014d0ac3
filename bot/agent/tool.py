"""A tool: a typed function that a model may call, with its schema and its limits."""

import asyncio
import inspect
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_type_hints

import structlog

from bot.agent.context import AgentContext
from bot.agent.daemon_thread import call_in_daemon_thread
from bot.agent.model import ToolSpec
from bot.agent.scope import Scope
from bot.agent.tool_arguments import ToolArguments, parse_object, read_arguments
from bot.agent.tool_output import render_output
from bot.errors import ToolFailed, TurnEnded
from memory.errors import MemoryFailure, RecallUnavailable

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The names that endpoints take."""

_DESCRIPTION_LIMIT = 1024
"""OpenAI refuses a request with a longer description."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function with what a model is told of it.

    `is_final`: its output is the reply of the whole run. `max_calls`: how often it runs in one run at most. Out of its
    `scope` it is neither offered to a model nor run.
    """

    spec: ToolSpec
    function: Callable[..., object]
    arguments: ToolArguments
    takes_context: bool
    is_final: bool = False
    max_calls: int | None = None
    timeout_s: float = 30.0
    scope: Scope = field(default_factory=Scope)

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
        """The tool that calls `function`: described by its docstring, its parameters by their annotations.

        A first parameter annotated `AgentContext` is given the context and hidden from the model. An async
        function runs on the loop, any other in a thread. Raises TypeError for a signature that a model cannot
        be told of, ValueError for a bad name or limit.
        """
        name = name or str(getattr(function, "__name__", ""))
        _check_limits(name, max_calls, timeout_s)
        types = _type_hints(function)
        parameters = dict(inspect.signature(function).parameters)
        takes_context = _takes_context(parameters, types)
        if takes_context:
            del parameters[next(iter(parameters))]
        arguments = read_arguments(parameters, types)
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
        )

    @property
    def name(self) -> str:
        """The name that the model calls it by."""
        return self.spec.name

    def bind(self, arguments: str) -> dict[str, Any]:
        """The function's keyword arguments out of the model's JSON text. Raises ToolFailed."""
        return self.arguments.check(parse_object(arguments))

    async def call(self, arguments: str, context: AgentContext) -> str:
        """Run the function; its output as text. Raises ToolFailed, in words for the model, whatever it raised.

        Only a ToolFailed of the function itself reaches the model with its own words: the text of any other
        error may hold what no chat should see. What ends the turn (TurnEnded, MemoryFailure) passes through.
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
            value = bound()
            given = await value if inspect.isawaitable(value) else value
            if isinstance(given, str):
                return render_output(given)
            # Megabytes that become JSON would hold up every chat.
            return await call_in_daemon_thread(lambda: render_output(given), name=f"output-{self.name}")
        return await call_in_daemon_thread(lambda: render_output(bound()), name=f"tool-{self.name}")


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
        # A tool's module may import AgentContext for type checkers only.
        return get_type_hints(target, localns={"AgentContext": AgentContext}, include_extras=True)
    except NameError as error:
        raise TypeError(f"an annotation cannot be resolved: {error}") from error


def _takes_context(parameters: dict[str, inspect.Parameter], types: dict[str, Any]) -> bool:
    first = next(iter(parameters), None)
    return first is not None and types.get(first) is AgentContext


def _is_async(function: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _log_raised(tool: str, error: BaseException) -> None:
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "?"
    log.warning("tool_raised", tool=tool, error=type(error).__name__, where=where)
    log.debug("tool_raised_with", tool=tool, exc_info=error)  # its text may quote the conversation
