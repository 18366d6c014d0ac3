"""A row of the table of odd endpoints: how it answers, what it refuses, and what must come of it."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bot.errors import (
    DeadlinePassed,
    ModelQuotaExhausted,
    ModelRefused,
    ModelRepliedNothing,
    ModelUnavailable,
    PromptTooLong,
    TellUser,
)
from bot.transport.texts import failure_text
from bot.transport.words import words_for
from tests.odd.wire import HELLO, Answer, Json, Reply, as_json, error

Check = Callable[[Json], bool]
"""A condition on the body of a request, with a `__name__`."""


def _told(error: TellUser) -> str:
    return failure_text(words_for("en"), error)


UNAVAILABLE, REFUSED = _told(ModelUnavailable()), _told(ModelRefused())
NO_QUOTA = _told(ModelQuotaExhausted())
_OTHERS = (ModelRepliedNothing(), PromptTooLong(), DeadlinePassed())
FAILURES = frozenset([UNAVAILABLE, REFUSED, NO_QUOTA, *map(_told, _OTHERS)])

PHOTO = "(photo)"
"""A question that comes with a photo. Only models with a name that begins with `gpt-4o` see it."""
SWITCH = "(switch)"
"""Choose another model for the chat, which has no oddity."""
OTHER = "another-model"


@dataclass(frozen=True, slots=True)
class Like:
    """A text that matches a pattern as a whole, and is none of the sentences of failures."""

    pattern: str = ".*"

    def __eq__(self, other: object) -> bool:
        is_text = isinstance(other, str) and other not in FAILURES
        return is_text and re.fullmatch(self.pattern, str(other), re.DOTALL) is not None

    def __hash__(self) -> int:
        return hash(self.pattern)


ANY = Like()
"""Any answer that is no sentence of a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal of each request for which `when` holds."""

    when: Check
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One oddity. `source` is where people met it, as owner/repository#issue.

    An endpoint that neither refuses nor has a reply left answers HELLO.
    """

    name: str
    source: str = ""
    # Used up in order, by requests that are not refused.
    replies: tuple[Reply, ...] = ()
    refuses: tuple[Refusal, ...] = ()
    # A command has no entry in `reads` and `requests`.
    asks: tuple[str, ...] = ("hello",)
    # What the person reads after each question; by default HELLO.
    reads: tuple[str | Like, ...] = ()
    # Answers in the history, by default those of `reads` that are no failures.
    keeps: tuple[str | Like, ...] | None = None
    # False if the history may have anything.
    remembers: bool = True
    # Words that no message, draft, entry of the history or later prompt may have.
    hides: tuple[str, ...] = ()
    # The preview that the chat must show while the endpoint waits at HOLD.
    previews: str = ""
    # Requests of each question; None for any number.
    requests: tuple[int | None, ...] = (1,)
    # Conditions on the last request.
    sends: tuple[Check, ...] = ()
    # Texts of the reminders that are set afterwards; None if that does not matter.
    reminders: tuple[str, ...] | None = ()
    # Seconds between the first two requests, at least. Then the waits of retries are real.
    waits_s: float = 0.0
    # The window of the model in tokens.
    window: int = 16_000
    sees: bool = False

    @property
    def model(self) -> str:
        """The name of the model: each row has its own, because abilities are learned by model."""
        slug = re.sub(r"[^A-Za-z0-9]+", "-", self.name).strip("-")
        return f"gpt-4o-{slug}" if self.sees else f"odd-{slug}"

    @property
    def expected(self) -> tuple[str | Like, ...]:
        """The texts that the person reads."""
        return self.reads or (HELLO,) * sum(not _is_silent(ask) for ask in self.asks)

    @property
    def kept(self) -> tuple[str | Like, ...]:
        """The assistant's texts in the history."""
        if self.keeps is not None:
            return self.keeps
        return tuple(text for text in self.expected if isinstance(text, Like) or text not in FAILURES)


def _is_silent(ask: str) -> bool:
    return ask.startswith("/") or ask == SWITCH


@dataclass(slots=True, kw_only=True)
class Play:
    """A row while it runs, with the requests that its endpoint got."""

    row: Row
    requests: list[Json] = field(default_factory=list[Json])
    came_at: list[float] = field(default_factory=list[float])
    _used: int = 0

    def reply_to(self, request: Json) -> Reply | None:
        """Return the refusal or the next reply; None if nothing odd is left."""
        for refusal in self.row.refuses:
            if refusal.when(request):
                return refusal.answer
        self._used += 1
        return self.row.replies[self._used - 1] if self._used <= len(self.row.replies) else None


def refuse(when: Check, message: str, *, status: int = 400, **fields: Any) -> tuple[Refusal, ...]:
    """Return refusals in OpenAI's form."""
    return refuse_with(when, error(message, **fields), status=status)


def refuse_with(when: Check, body: object, *, status: int = 400) -> tuple[Refusal, ...]:
    """Return refusals with a body of another form."""
    return (Refusal(when=when, answer=as_json(body, status=status)),)


# Conditions -----------------------------------------------------------------------------------------------
def offers_tools(request: Json) -> bool:
    """Return True if the request offers tools."""
    return "tools" in request


def streams(request: Json) -> bool:
    """Return True if the request asks for a stream."""
    return request.get("stream") is True


def streams_with_tools(request: Json) -> bool:
    """Return True if the request asks for a stream, and offers tools."""
    return streams(request) and offers_tools(request)


def asks_for_usage(request: Json) -> bool:
    """Return True if the request has the option of usage."""
    return "stream_options" in request


def has_system(request: Json) -> bool:
    """Return True if a message has the role of the system or of its developer."""
    return any(message["role"] in ("system", "developer") for message in request["messages"])


def has_late_system(request: Json) -> bool:
    """Return True if a system message is not the first message."""
    return any(message["role"] == "system" for message in request["messages"][1:])


def repeats_role(request: Json) -> bool:
    """Return True if two messages in a row are of a user, or of the assistant."""
    roles = [message["role"] for message in request["messages"]]
    return any(one == two and one != "tool" for one, two in pairwise(roles))


def has_images(request: Json) -> bool:
    """Return True if a message has a picture."""
    return "image_url" in json.dumps(request["messages"])


def has_parts(request: Json) -> bool:
    """Return True if the content of a message is a list."""
    return any(isinstance(message.get("content"), list) for message in request["messages"])


def calls_twice(request: Json) -> bool:
    """Return True if a message has more than one call."""
    return any(len(message.get("tool_calls") or ()) > 1 for message in request["messages"])


def calls_without_tools(request: Json) -> bool:
    """Return True if a message has a call, although no tools are offered."""
    return not offers_tools(request) and bool(_with_calls(request))


def has_bare_calls(request: Json) -> bool:
    """Return True if a message with a call has no text."""
    return any(not message.get("content") for message in _with_calls(request))


def has_long_ids(request: Json) -> bool:
    """Return True if a call has an id of other than nine letters and digits."""
    calls = [call for message in _with_calls(request) for call in message["tool_calls"]]
    return not all(re.fullmatch("[a-zA-Z0-9]{9}", call["id"]) for call in calls)


def has(text: str) -> Check:
    """Return the condition that the messages have this text."""
    return _named(
        f"has {text!r}", lambda request: text in json.dumps(request["messages"], ensure_ascii=False)
    )


def tool_says(pattern: str) -> Check:
    """Return the condition that the result of a tool has this pattern."""

    def check(request: Json) -> bool:
        results = [message["content"] for message in request["messages"] if message["role"] == "tool"]
        return any(re.search(pattern, result) for result in results)

    return _named(f"tool_says {pattern!r}", check)


def no(check: Check) -> Check:
    """Return the opposite condition."""
    return _named(f"no {check.__name__}", lambda request: not check(request))


def lacks_field(name: str, value: object) -> Check:
    """Return the condition that a message with calls lacks this field with exactly this value."""
    return _named(f"lacks {name}", lambda request: any(m.get(name) != value for m in _with_calls(request)))


def lacks_call_field(name: str, value: object) -> Check:
    """Return the condition that the first call of a message lacks this field with exactly this value."""
    return _named(
        f"lacks {name} of the call",
        lambda request: any(m["tool_calls"][0].get(name) != value for m in _with_calls(request)),
    )


def _named(name: str, check: Check) -> Check:
    """Return the condition with a name, which a failed test shows."""
    check.__name__ = name
    return check


def _with_calls(request: Json) -> list[Json]:
    return [message for message in request["messages"] if message.get("tool_calls")]
