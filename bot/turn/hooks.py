"""Places of a turn where a feature takes part."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.agent.context import AgentContext
from bot.turn.commands import CommandCall, MaybeHandler
from bot.turn.question import Question

BeforeRun = Callable[[Question, AgentContext], None]
"""Adds to the context what the feature's tools need, before the agent runs. Makes no round trip."""
BeforeCommit = Callable[[Question, AgentContext, str], Awaitable[str]]
"""Takes the text of an answer. Returns the id of a file that speaks it, or "".

Raises TurnRestarted, Forgotten, Fenced and the store's errors.
"""
Takes = Callable[[CommandCall], tuple[str, MaybeHandler] | None]
"""Returns the reason for the trace and the handler of a message that may be for the feature; else None.

The handler returns None if the message is not for it after all.
"""
OwnTurn = Callable[[Question], Awaitable[bool]]
"""Does the turn of an update of our own.

Returns True if the agent should answer it, and for the update of another feature. Raises what the commit does.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The hooks of a feature, or of all."""

    before_run: tuple[BeforeRun, ...] = ()
    before_commit: tuple[BeforeCommit, ...] = ()
    """The first that returns a file wins."""
    takes: tuple[Takes, ...] = ()
    """The first whose handler replies wins."""
    own_turns: tuple[OwnTurn, ...] = ()

    def __add__(self, other: "Hooks") -> "Hooks":
        """Return the hooks of both, these first."""
        return Hooks(
            before_run=self.before_run + other.before_run,
            before_commit=self.before_commit + other.before_commit,
            takes=self.takes + other.takes,
            own_turns=self.own_turns + other.own_turns,
        )
