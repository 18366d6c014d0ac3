"""The scripted model of the fault tests: two steps for every line, and a record of every call."""

import asyncio
import json
import time
from dataclasses import dataclass, field, replace
from typing import Literal

from chaos.rig.evidence import ModelRequest, read_model_request
from tests.scripted_replies import Reply, call, calls, held, text
from tests.scripted_script import ChatRequest, tool_then_echo
from tests.summarizing_model import summary_of


@dataclass(slots=True)
class RecordingModel:
    """A model that first calls `tool` and then echoes. Summaries and facts are not recorded.

    The last step of a line in `holding` waits until `release` is set. `chunk_delay_s` is the pause
    between pieces of a reply, so that turns are running at any time.
    """

    tool: Literal["add", "upper", "note_call"] = "add"
    chunk_delay_s: float = 0.0
    holding: frozenset[str] = frozenset()
    release: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[ModelRequest] = field(default_factory=list[ModelRequest])

    def __call__(self, request: ChatRequest) -> Reply:
        return replace(self._reply(request), chunk_delay_s=self.chunk_delay_s)

    def _reply(self, request: ChatRequest) -> Reply:
        if "response_format" in request:  # a summary, or facts: no step of a turn
            return text(json.dumps(summary_of(request)))
        at, number = time.time(), len(self.asked)
        planned = tool_then_echo(request)
        if planned.calls:
            call_id = f"call_{number}"
            asked = read_model_request(request, at=at, reply_id=call_id)
            self.asked.append(asked)
            return calls(call(self.tool, self._arguments(asked), call_id=call_id))
        answer = "".join(planned.pieces)
        asked = read_model_request(request, at=at, reply_id=answer)
        self.asked.append(asked)
        return held(text(answer), until=self.release) if asked.line in self.holding else text(answer)

    def _arguments(self, asked: ModelRequest) -> dict[str, object]:
        match self.tool:
            case "add":
                return {"a": 2, "b": 3}
            case "upper":
                return {"text": asked.line}
            case "note_call":
                return {"call": asked.reply_id}

    def count(self, line: str, step: int) -> int:
        """Return the number of requests for this step."""
        return sum((call.line, call.step) == (line, step) for call in self.asked)
