"""Scripted extractions of facts: which facts the model finds in which lines.

    model = FactScript(tells("lives in Lisbon", "Anna", "Anna lives in Lisbon."))
    model.tell(tells("moved to Porto", "Anna", "Anna lives in Porto.", replaces="Anna lives in Lisbon."))

Pass it to `running_bot` or `scripted_openai` as the script. Other requests go to `then`, which echoes and summarises.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.scripted_replies import Reply, held, text
from tests.scripted_script import Behaviour, ChatRequest, last_user_text
from tests.summarizing_model import SummarizingModel

_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedFact:
    """A fact that the model finds in each numbered line with `line` in it, in place of the known `replaces`."""

    line: str
    subject: str
    statement: str
    kind: str = "fact"
    replaces: str = ""
    confidence: float = 0.9


def tells(line: str, subject: str, statement: str, *, replaces: str = "") -> ScriptedFact:
    """Return a fact for the lines with this text. `replaces` is the statement of a known fact."""
    return ScriptedFact(line=line, subject=subject, statement=statement, replaces=replaces)


def wishes(line: str, statement: str, *, replaces: str = "") -> ScriptedFact:
    """Return a standing wish of the speaker for the lines with this text."""
    return ScriptedFact(line=line, subject="I", statement=statement, kind="standing", replaces=replaces)


class FactScript:
    """A model that finds scripted facts in the lines that it is shown, and nothing else.

    `requests` has the text of each request for facts. The replies in `instead` come first, one for each request:
    `text("no JSON")`, `hang()`, `server_error()`. While `holding`, a request waits until `release` is set.
    """

    def __init__(self, *facts: ScriptedFact, then: Behaviour | None = None) -> None:
        self.requests: list[str] = []
        self.instead: list[Reply] = []
        self.holding = False
        self.release = asyncio.Event()
        self._facts = list(facts)
        self._then = then or SummarizingModel()

    def tell(self, *facts: ScriptedFact) -> None:
        """Add facts, which are found from the next request on."""
        self._facts += facts

    def __call__(self, request: ChatRequest) -> Reply | str:
        """Answer a request for facts; pass any other one to `then`."""
        if not asks_for_facts(request):
            return self._then(request)
        self.requests.append(last_user_text(request))
        reply = self.instead.pop(0) if self.instead else text(json.dumps({"facts": self._found(request)}))
        return held(reply, until=self.release) if self.holding else reply

    def _found(self, request: ChatRequest) -> list[dict[str, Any]]:
        known, _, lines = last_user_text(request).partition("\nPeople:\n")
        return [
            {
                "subject": fact.subject,
                "kind": fact.kind,
                "statement": fact.statement,
                "messages": list(_numbers_of(lines, fact.line)),
                "replaces": list(_numbers_of(known, json.dumps(fact.replaces, ensure_ascii=False)))
                if fact.replaces
                else [],
                "confidence": fact.confidence,
            }
            for fact in self._facts
            if any(_numbers_of(lines, fact.line))
        ]


def asks_for_facts(request: ChatRequest) -> bool:
    """Return True if this is a request for facts, not for an answer, a summary or a digest."""
    form: dict[str, Any] = request.get("response_format") or {}
    return form.get("type") == "json_schema" and form["json_schema"]["name"] == "facts"


def numbered_lines(asked: str) -> dict[int, str]:
    """Return the lines of a request that facts may cite, by their numbers."""
    return {int(match[1]): match[2] for match in _NUMBERED.finditer(asked.partition("\nLines:\n")[2])}


def fact_json(*, subject: str, statement: str, messages: Sequence[int]) -> dict[str, Any]:
    """Return a fact of an answer, which replaces none."""
    fact = {"subject": subject, "statement": statement, "messages": list(messages)}
    return fact | {"replaces": [], "confidence": 0.9}


def facts_reply(*facts: dict[str, Any]) -> Reply:
    """Return an answer with these facts."""
    return text(json.dumps({"facts": facts}, ensure_ascii=False))


def _numbers_of(lines: str, part: str) -> Iterator[int]:
    return (int(match[1]) for match in _NUMBERED.finditer(lines) if part in match[2])
