"""Contexts that write the same text with different words, and a model that checks whose words it gets."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from chaos.rig.evidence import ECHO
from tests.scripted_replies import Reply, call, calls, text
from tests.scripted_script import ChatRequest, last_user_text

TAG = re.compile(r"t(\d+)x\d+")
"""In every line, and in the answer to it: the number of its context, and of the line there."""
_WORD = re.compile(r"quok([a-z]{6})[a-z]{3}", re.IGNORECASE)
_ARTIFACT = re.compile(r"\ba[0-9a-f]{11}\b")
_LETTERS = "bcdfghjklm"
_KNOWN_AT_MOST = 2_000


def word(context: int, number: int) -> str:
    """Return a word of this context, which no other context may see."""
    digits = f"{context:06d}{number % 1000:03d}"
    return "quok" + "".join(_LETTERS[int(digit)] for digit in digits)


def owner_of(letters: str) -> int:
    """Return the owner of a word, which its middle names."""
    return int("".join(str(_LETTERS.index(letter)) for letter in letters.lower()))


@dataclass(slots=True, kw_only=True)
class WatchingModel:
    """A model that echoes the tag.

    "look" makes it search the memory, "large" make an artifact, "pry" read an artifact of another context
    and search for everyone's text (`pried` counts existing artifacts). It checks every request for words
    of other contexts.
    """

    random: Random
    requests: int = 0
    recalled: int = 0
    asked: Counter[str] = field(default_factory=Counter[str])
    foreign: list[str] = field(default_factory=list[str])
    unowned: int = 0
    pried: int = 0
    _artifacts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def __call__(self, request: ChatRequest) -> Reply:
        self.requests += 1
        told = json.dumps(request["messages"], ensure_ascii=False)
        line = last_user_text(request)
        tag = TAG.search(line)
        if tag is None:
            self.unowned += 1
            return text(ECHO)
        context = int(tag[1])
        self._look(context, told, line)
        if request["messages"][-1]["role"] == "tool":
            return text(ECHO + tag[0])
        return self._ask(context, line) or text(ECHO + tag[0])

    def _look(self, context: int, told: str, line: str) -> None:
        words = {each.group(0).lower(): owner_of(each.group(1)) for each in _WORD.finditer(told)}
        tags = {int(each) for each in TAG.findall(told)}
        self.foreign += [
            f"{each} of context {owner}, told to {context}"
            for each, owner in words.items()
            if owner != context
        ]
        self.foreign += [f"a line of context {owner}, told to {context}" for owner in tags - {context}]
        self.recalled += len(words) > len(_WORD.findall(line))
        for found in set(_ARTIFACT.findall(told)):
            self._artifacts.append((context, found))
        del self._artifacts[:-_KNOWN_AT_MOST]

    def _ask(self, context: int, line: str) -> Reply | None:
        """Return the tool call of a line, with data of others if it pries."""
        kind = next((each for each in ("look", "large", "pry") if f" {each} " in line), None)
        if kind is None:
            return None
        self.asked[kind] += 1
        if kind == "look":
            return calls(call("search_memory", {"query": "the code of the blue door", "limit": 20}))
        if kind == "large":
            return calls(call("upper", {"text": f"{line} {'and so on it goes ' * 70}"}))
        others = [each for each in self._artifacts if each[0] != context]
        self.pried += bool(others)
        _, artifact = self.random.choice(others) if others else (0, "a00000000000")
        return calls(
            call("read_artifact", {"artifact_id": artifact}),
            call("search_memory", {"query": "the code of the blue door is", "speaker": "*"}),
            call("search_memory", {"query": "please say the code, remember it", "limit": 20}),
        )


def line_of(context: int, number: int, random: Random) -> str:
    """Return a line of a context.

    All lines are equal except their words, and ask for the content of others' lines.
    """
    kind = random.choices(("say", "ask", "look", "large", "pry"), weights=(46, 40, 6, 3, 5))[0]
    said = word(context, number)
    match kind:
        case "ask":
            what = "what is the code of the blue door?"
        case "say" | "large":
            what = f"the code of the blue door is {said}, remember it"
        case _:
            what = "find the code of the blue door"
    return f"t{context}x{number} please {kind} {what}"


NAMES: Sequence[str] = (
    "*",
    "{m0}",
    "1:2",
    "ctx:*",
    "%s",
    "../..",
    "quok",
    "-1001",
    "Anna\u202e",
    "None",
    "'; FLUSHALL",
)
"""First names of people: nothing of them may ever be a part of a key, a pattern or a filter."""


def describe_requests(model: WatchingModel) -> dict[str, Any]:
    """Return the figures of the model's requests."""
    return {
        "prompts checked": model.requests,
        "prompts with words of their own context beside the line's": model.recalled,
        "tool calls": ", ".join(f"{count:,} {kind}" for kind, count in sorted(model.asked.items())),
    }
