"""Checks of resets: erased words and where they were seen since, and a model that delays late writers."""

import asyncio
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from chaos.rig.evidence import ECHO
from tests.scripted_replies import Reply, call, calls, held, text
from tests.scripted_script import ChatRequest, last_user_text
from tests.summarizing_model import summary_of

WORD = re.compile(r"quok[a-z]{9}")
"""Each of them is unlike every other, and said in one context only."""
TAG = re.compile(r"t\d+x\d+")
"""Tag of a line and of its answer."""
Late = Literal["turn", "tool", "delivery", "indexer", "summariser"]
"""Work that is delayed until its context was reset. A line names each kind except the tool."""

ON_THE_WAY_S = 1.0
"""A request may have been sent just before the erasure of a word that it contains."""
_LETTERS = "bcdfghjklm"
_SLOWLY = "slowly"


def word(number: int) -> str:
    """Return the word of this number."""
    return "quok" + "".join(_LETTERS[int(digit)] for digit in f"{number:09d}")


@dataclass(slots=True, kw_only=True)
class Forgotten:
    """Erased words with the time of their erasure, and later sightings. Unix seconds."""

    since: dict[str, float] = field(default_factory=dict[str, float])
    seen: list[str] = field(default_factory=list[str])

    def forget(self, *words: str) -> None:
        """Mark these words as erased from now on."""
        now = time.time()
        self.since |= dict.fromkeys(words, now)

    def look(self, where: str, said: str, *, before: float | None = None) -> None:
        """Record words in `said` that were erased, or erased before that time."""
        found = {each for each in WORD.findall(said) if each in self.since}
        self.seen += [
            f"{each} in {where}" for each in sorted(found) if before is None or self.since[each] < before
        ]


@dataclass(slots=True, kw_only=True)
class HoldingModel:
    """A model that echoes, searches and summarises, and checks its requests for erased words.

    A "search" line makes it call `search_memory` for its word. Work on a word in `holding` waits for `let_go`;
    `reached` says that it does.
    """

    forgotten: Forgotten
    holding: dict[str, Late] = field(default_factory=dict[str, Late])
    requests: int = 0
    _reached: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    _release: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    def hold(self, late: Late, words: Sequence[str]) -> None:
        """Delay this kind of work of the context with these words."""
        reached, release = asyncio.Event(), asyncio.Event()
        for said in words:
            self._reached[said], self._release[said] = reached, release
            self.holding[said] = late

    async def reached(self, said: str, *, within_s: float) -> bool:
        """Wait until the delayed work has started. Return False if it did not."""
        try:
            async with asyncio.timeout(within_s):
                await self._reached[said].wait()
        except TimeoutError:
            return False
        return True

    def let_go(self, words: Sequence[str]) -> None:
        """Release the delayed work."""
        for said in words:
            if self.holding.pop(said, None):
                self._release[said].set()

    def __call__(self, request: ChatRequest) -> Reply:
        self.requests += 1
        asked = json.dumps(request["messages"], ensure_ascii=False)
        self.forgotten.look("a prompt", asked, before=time.time() - ON_THE_WAY_S)
        if "response_format" in request:
            words = WORD.findall(asked)
            return self._held(words, "summariser", text(json.dumps(self._summary(request, words))))
        line = last_user_text(request)
        words = WORD.findall(line)
        if "search" in line and request["messages"][-1]["role"] != "tool":
            return calls(call("search_memory", {"query": f"{_SLOWLY} {words[-1]}"}))
        # The answer to a "quiet" line says nothing of it: so the line alone is to be forgotten.
        answer = ECHO + (TAG.findall(line)[-1] if "quiet" in line else line[:200])
        return self._held(words[-1:], "turn", text(answer)) if "hold" in line else text(answer)

    def gate(self, texts: Sequence[str]) -> asyncio.Event | None:
        """Return the event that an embedding of these texts waits for, which delays a search or an indexer."""
        for said in {each for one in texts for each in WORD.findall(one)}:
            late = self.holding.get(said)
            is_tool = late == "tool" and any(_SLOWLY in one and said in one for one in texts)
            is_indexer = late == "indexer" and any(one.startswith(ECHO) and said in one for one in texts)
            if is_tool or is_indexer:
                self._reached[said].set()
                return self._release[said]
        return None

    def _held(self, words: Sequence[str], late: Late, reply: Reply) -> Reply:
        for said in words:
            if self.holding.get(said) == late:
                self._reached[said].set()
                return held(reply, until=self._release[said])
        return reply

    def _summary(self, request: ChatRequest, words: Sequence[str]) -> dict[str, object]:
        summary = summary_of(request)
        summary["facts"] = [
            {"about": "a plant", "fact": f"it is called {said}"} for said in dict.fromkeys(words)
        ]
        return summary
