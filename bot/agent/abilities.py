"""The abilities that models at an endpoint were seen to lack, learned from refusals and forgotten after a day."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Ability = Literal[
    "tools",
    "parallel_calls",
    "bare_calls",
    "stream",
    "stream_options",
    "system",
    "turns",
    "images",
    "json_schema",
    "json_object",
    "opaque",
]
"""An option of a request that an endpoint may refuse.

parallel_calls: several calls in one message. bare_calls: calls without a text, with any ids. system: the role. turns:
several messages of one role in a row. opaque: the endpoint's own fields of an earlier reply.
"""
ABILITIES: tuple[Ability, ...] = get_args(Ability)
LEARNED_FOR_S = 86_400.0
"""After this time the option is tried again: servers are updated, and accounts are verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One thing that was learned of a model."""

    # An ability that it lacks, or "room": the most tokens that a prompt may have.
    about: Ability | Literal["room"]
    # Unix seconds.
    until: float
    tokens: int = 0
    # The words of the refusal, masked and cut.
    said: str = ""


@dataclass(slots=True, kw_only=True)
class Abilities:
    """The abilities of one model at one endpoint. Processes exchange what they learn; see bot/app/models.py."""

    # Lacking for good, by a setting or the table of known models.
    never: frozenset[Ability] = frozenset()
    # The most characters of a reply: no window can use more.
    longest_text: int = 1_000_000
    clock: Callable[[], float] = time.time
    # Called when something new was learned.
    on_lesson: Callable[[], None] = lambda: None
    _lessons: dict[str, Lesson] = field(default_factory=dict[str, Lesson])

    def lacking(self) -> frozenset[Ability]:
        """Return the abilities that requests must do without now."""
        if not self._lessons:
            return self.never
        return self.never.union(each.about for each in self.lessons() if each.about != "room")

    def room(self, tokens: int) -> int:
        """Return `tokens`, or the most tokens that a prompt may have if that is less."""
        lesson = self._lessons.get("room")
        return min(tokens, lesson.tokens) if lesson and lesson.until > self.clock() else tokens

    def learn(self, lacking: Mapping[Ability, str]) -> None:
        """Note that the model lacks these abilities, each with the words of its refusal."""
        until = self.clock() + LEARNED_FOR_S
        self._lessons |= {each: Lesson(about=each, until=until, said=said) for each, said in lacking.items()}
        self.on_lesson()

    def learn_room(self, tokens: int) -> None:
        """Note that a longer prompt was refused, and one with this many tokens was not."""
        self._lessons["room"] = Lesson(about="room", until=self.clock() + LEARNED_FOR_S, tokens=tokens)
        self.on_lesson()

    def lessons(self) -> list[Lesson]:
        """Return the lessons that still hold."""
        now = self.clock()
        return [each for each in self._lessons.values() if each.until > now]

    def merge(self, lessons: Collection[Lesson]) -> None:
        """Take lessons of other processes. Of two about the same thing the newer one holds."""
        for each in lessons:
            mine = self._lessons.get(each.about)
            if mine is None or mine.until < each.until:
                self._lessons[each.about] = each


def describe(lesson: Lesson) -> str:
    """Return a lesson in words for operators."""
    if lesson.about == "room":
        return f"with at most {lesson.tokens:,} tokens"
    return _WITHOUT[lesson.about] + (f" (it says: {lesson.said})" if lesson.said else "")


_WITHOUT: Mapping[Ability, str] = {
    "tools": "without tools",
    "parallel_calls": "with one call a message",
    "bare_calls": "with a text beside calls, and short ids",
    "stream": "without a stream",
    "stream_options": "without stream_options",
    "system": "without the system role",
    "turns": "with one message of each role in a row",
    "images": "without pictures",
    "json_schema": "without a JSON schema",
    "json_object": "without JSON mode",
    "opaque": "without its own fields of earlier replies",
}
