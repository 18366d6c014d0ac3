"""Scopes: for whom and where a tool may be used, and for whom a run works (pure)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bot.agent.tool import Tool

Role = Literal["anyone", "administrators", "operators"]
"""What somebody is to the bot in a chat. Each may what those before it may."""
Place = Literal["private", "groups"]

ANYWHERE: frozenset[Place] = frozenset(["private", "groups"])
_RANKS: Mapping[Role, int] = {"anyone": 0, "administrators": 1, "operators": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """For whom a run works, and where. Who is not known is anyone, and a place that is not known is nowhere."""

    role: Role = "anyone"
    place: Place | None = None
    chat_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Who may have a tool used, and in which chats. Without limits it is for everybody, everywhere.

    `who`: "administrators" are a group's, in a private chat the person whose chat it is; operators always are.
    `chats` are ids as Telegram has them now; None: all. A group that becomes a supergroup has a new id.
    """

    who: Role = "anyone"
    where: frozenset[Place] = ANYWHERE
    chats: frozenset[int] | None = None

    def permits(self, caller: Caller) -> bool:
        """Whether a tool of this scope may be offered and run for this caller."""
        is_here = self.where == ANYWHERE or caller.place in self.where
        is_listed = self.chats is None or caller.chat_id in self.chats
        return is_here and is_listed and _RANKS[caller.role] >= _RANKS[self.who]

    def within(self, other: "Scope") -> "Scope":
        """What both permit. It may be nothing."""
        chats = self.chats if other.chats is None else other.chats
        both = chats if self.chats is None or chats is None else chats & self.chats
        return Scope(
            who=max(self.who, other.who, key=_RANKS.__getitem__), where=self.where & other.where, chats=both
        )

    @property
    def is_empty(self) -> bool:
        """Whether it permits nobody anything."""
        return not self.where or (self.chats is not None and not self.chats)


def permitted(tools: Mapping[str, "Tool"], caller: Caller) -> dict[str, "Tool"]:
    """The tools that may be used for this caller."""
    return {name: tool for name, tool in tools.items() if tool.scope.permits(caller)}


def least_of(roles: Collection[Role]) -> Role:
    """What all of these may; of nobody it is "anyone"."""
    return min(roles, key=_RANKS.__getitem__) if roles else "anyone"
