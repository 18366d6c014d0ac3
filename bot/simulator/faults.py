"""Faults ordered from the page: the next calls that match fail in a named way."""

from dataclasses import dataclass, replace
from typing import Literal

FaultKind = Literal["429", "500", "timeout", "cut"]

MAX_FAULTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`times` more calls fail. No method: any but getUpdates, which would use the fault up at once."""

    error: FaultKind
    times: int
    chat_id: int | None = None
    method: str | None = None
    retry_after: int = 1

    def matches(self, method: str, chat_id: int | None) -> bool:
        if self.chat_id is not None and self.chat_id != chat_id:
            return False
        if self.method is None:
            return method != "getupdates"
        return self.method.lower() == method


class FaultPlan:
    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def order(self, fault: Fault) -> None:
        """The newest are kept when there are too many."""
        self._faults = [*self._faults, fault][-MAX_FAULTS:]

    def take(self, method: str, chat_id: int | None) -> Fault | None:
        """The oldest fault for a call of this method (in small letters), used up by one."""
        for index, fault in enumerate(self._faults):
            if fault.matches(method, chat_id):
                left = [replace(fault, times=fault.times - 1)] if fault.times > 1 else []
                self._faults[index : index + 1] = left
                return fault
        return None
