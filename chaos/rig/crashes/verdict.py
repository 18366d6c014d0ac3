"""The verdict on a crash point:

everything must be as without the crash, except a send that it interrupted.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chaos.rig.crashes.scenarios import Kind
from chaos.rig.crashes.worker_process import Fault

Json = Mapping[str, Any]

What = Literal[
    "invalid requests",
    "updates without their terminal state",
    "histories that differ",
    "answers lost",
    "answers twice without a send under way",
    "finished steps run again",
    "next prompts that differ",
    "keys or tasks left over",
    "vectors that differ from history",
    "facts that differ",
]

_TOOLS = ("look_up", "mend")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A violation."""

    what: What
    told: str


def judge(kind: Kind, fault: Fault, golden: Json, found: Json) -> list[Finding]:
    """Return the violations of one crash point.

    `found` and `golden` are the second worker's results with and without a fault.
    """
    findings = [
        *_different("updates without their terminal state", golden, found, "states"),
        *_different("histories that differ", golden, found, "history"),
        *_different("histories that differ", golden, found, "ledger"),
        *_different("facts that differ", golden, found, "facts"),
        *_different("facts that differ", golden, found, "unread"),
        *_sends(kind, golden, found),
        *_steps(kind, fault, golden, found),
        *judge_alone(found),
    ]
    if kind.work != "compress" and _plain(golden["next"]) != _plain(found["next"]):
        findings.append(Finding(what="next prompts that differ", told=f"{golden['next']} {found['next']}"))
    wanted = golden["vectors"] if kind.work == "extract" else found["indexed"]  # facts may have vectors too
    if found["vectors"] != wanted:
        told = f"{found['vectors']} vectors in place of {wanted}"
        findings.append(Finding(what="vectors that differ from history", told=told))
    return findings


def judge_alone(found: Json) -> list[Finding]:
    """Return the violations that need no comparison. A run without a fault has none either."""
    findings: list[Finding] = []
    if found["payloads"]:
        findings.append(Finding(what="updates without their terminal state", told="a payload is kept"))
    if len(set(found["ids"])) != len(found["ids"]):
        findings.append(Finding(what="histories that differ", told="an id twice"))
    if found["invalid"]:
        refused = [
            event["fault"] for event in found["events"] if event["what"] == "model" and event.get("fault")
        ]
        findings.append(Finding(what="invalid requests", told=str(refused)))
    if found["leftovers"] or found["tasks"]:
        findings.append(
            Finding(what="keys or tasks left over", told=f"{found['leftovers']} {found['tasks']}")
        )
    return findings


def answers_twice(kind: Kind, golden: Json, found: Json) -> int:
    """Return the number of answers that are in the chat twice."""
    return sum((_texts(kind, found) - _texts(kind, golden)).values())


def _different(what: What, golden: Json, found: Json, name: str) -> list[Finding]:
    if golden[name] == found[name]:
        return []
    return [Finding(what=what, told=f"{name}: {golden[name]} became {found[name]}")]


def _sends(kind: Kind, golden: Json, found: Json) -> list[Finding]:
    wanted, sent = _texts(kind, golden), _texts(kind, found)
    findings = [Finding(what="answers lost", told=text) for text in (wanted - sent)]
    being_sent = Counter([_said(kind, found["being_sent"])])
    orphan = _orphan(found)
    return findings + [
        Finding(what="answers twice without a send under way", told=text)
        for text in (sent - wanted - being_sent - orphan)
    ]


def _orphan(found: Json) -> Counter[str]:
    """Return the preview that the first worker sent last and could not record."""
    sent = [event for event in found["events"] if event["who"] == "first" and event["what"] == "send"]
    if (
        not sent
        or not sent[-1]["has_buttons"]
        or str(sent[-1]["message"]) in found["journal"].get("preview", "")
    ):
        return Counter()
    return Counter([sent[-1]["text"]])


def _texts(kind: Kind, found: Json) -> Counter[str]:
    return Counter(_said(kind, text) for _, text in found["shown"])


def _said(kind: Kind, text: str) -> str:
    """Return the first line of a receipt, which shows the progress of the first try."""
    return text.partition("\n")[0] if kind.tells_progress else text


def _plain(prompt: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Return a copy without times, because the second worker runs later."""
    return [(role, _DIGITS.sub("0", text)) for role, text in prompt]


def _steps(kind: Kind, fault: Fault, golden: Json, found: Json) -> list[Finding]:
    """Compare model and tool calls: an interrupted turn repeats exactly those outside its journal."""
    findings: list[Finding] = []
    for what, journaled in (("model", _model_steps(found)), ("tool", _tool_steps(found))):
        needed = _calls(golden, what, after="begin", before="second")
        first = _calls(found, what, after="begin", before="second")
        second = _calls(found, what, after="second", before="next")
        if kind.work == "turn" and len(kind.asked) == 1 and fault in {"kill", "cancel"}:
            left = needed - journaled if found["waiting"] else 0
            is_right = second == left
        else:
            is_right = first + second <= needed + (4 if fault == "away" else 2)
        if not is_right:
            told = f"{what}: {needed} needed, {first} before and {second} after, {journaled} in the journal"
            findings.append(Finding(what="finished steps run again", told=told))
    return findings


def _calls(found: Json, what: str, *, after: str, before: str) -> int:
    names = [event["what"] for event in found["events"]]
    return names[names.index(after) : names.index(before)].count(what)


def _model_steps(found: Json) -> int:
    return sum(step.rpartition("/")[2].startswith("model:") for step in found["journal"])


def _tool_steps(found: Json) -> int:
    return sum(
        json.loads(value)["name"] in _TOOLS
        for step, value in found["journal"].items()
        if re.fullmatch(r"tool:\d+:\d+", step.rpartition("/")[2])
    )
