"""A model that extracts a fact from each line with a word, on command, and checks its requests for erased words."""

import asyncio
import json
import time
from dataclasses import dataclass

from chaos.rig.reset_checks import ON_THE_WAY_S, TAG, WORD, Forgotten
from tests.scripted_facts import asks_for_facts, fact_json, facts_reply, numbered_lines
from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, last_user_text


@dataclass(slots=True, kw_only=True)
class ReadingModel:
    """A model whose answers repeat the tag of a line only. After `hold`, requests for facts wait for `let_go`."""

    forgotten: Forgotten
    extractions: int = 0
    waiting: int = 0
    """Requests for facts that wait."""
    _release: asyncio.Event | None = None

    def hold(self) -> None:
        """Let requests for facts wait from now on."""
        self._release = asyncio.Event()

    def let_go(self) -> None:
        """Answer the requests that wait, and later ones at once."""
        if self._release is not None:
            self._release.set()
        self._release, self.waiting = None, 0

    def __call__(self, request: ChatRequest) -> Reply:
        asked = json.dumps(request["messages"], ensure_ascii=False)
        self.forgotten.look("a prompt", asked, before=time.time() - ON_THE_WAY_S)
        if not asks_for_facts(request):
            return text((TAG.findall(last_user_text(request)) or ["nothing"])[-1])
        self.extractions += 1
        if self._release is None:
            return _facts_of(request)
        self.waiting += 1
        return held(_facts_of(request), until=self._release)


def _facts_of(request: ChatRequest) -> Reply:
    """Return a fact of each line, and one that cites every two lines that follow each other."""
    said = {
        number: words[-1]
        for number, line in numbered_lines(last_user_text(request)).items()
        if (words := WORD.findall(line))
    }
    pairs = list(zip(said, list(said)[1:], strict=False))[::2]
    return facts_reply(
        *[
            fact_json(subject=f"the plant {word}", statement=f"A plant is called {word}.", messages=[number])
            for number, word in said.items()
        ],
        *[
            fact_json(
                subject="the shelf", statement=f"{said[one]} stands beside {said[two]}.", messages=[one, two]
            )
            for one, two in pairs
        ],
    )
