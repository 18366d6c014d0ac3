"""A scripted model for long conversations: it echoes, and summarises by keeping every code."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, echo

_CODE = re.compile(r"the code of (\w+) is (\w+)")


@dataclass(slots=True)
class SummarizingModel:
    """A model that counts requests for summaries.

    While `holding`, such a request waits until `release` is set.
    """

    holding: bool = False
    release: asyncio.Event = field(default_factory=asyncio.Event)
    summaries: int = 0

    def __call__(self, request: ChatRequest) -> Reply:
        if "response_format" not in request:
            return text(echo_of(request))
        summary = summary_of(request)
        reply = text(json.dumps(summary))
        if "overview" not in summary:  # a request for facts
            return reply
        self.summaries += 1
        return held(reply, until=self.release) if self.holding else reply


def echo_of(request: ChatRequest) -> str:
    """Return the beginning of the last message, an answer that does not repeat a code."""
    return "".join(echo(request).pieces)[:40]


def summary_of(request: ChatRequest) -> dict[str, Any]:
    """Return a summary with every code of the request and nothing else."""
    schema = request["response_format"]["json_schema"]["schema"]
    told = dict(_CODE.findall(json.dumps(request["messages"], ensure_ascii=False)))
    filled = nothing_of(schema)
    if "overview" not in filled:  # a request for facts
        return filled
    filled["overview"] = "They talk about shelves and paint."
    filled["facts"] = [
        {"about": name, "fact": f"the code of {name} is {code}"} for name, code in told.items()
    ]
    return filled


def nothing_of(schema: Mapping[str, Any]) -> Any:
    """Return the empty value of a JSON schema: empty lists and strings."""
    match schema["type"]:
        case "object":
            return {name: nothing_of(inner) for name, inner in schema["properties"].items()}
        case "array":
            return []
        case _:
            return ""
