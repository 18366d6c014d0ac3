"""What an older file or backup would bring back: found by its tombstones, so that it can be left out."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from memory.history.message import CONVERSATION_ROLES, Message, Quote, forwarded_name, people_of, writing_of
from memory.keys import ContextRef, partition_key
from memory.redis.client import RedisClient
from memory.tombstones import Grave, Graveyard, load_graveyard, load_secret, name_of
from memory.transfer import file

_PEOPLE = re.compile(r'"(?:id|sender_id|forwarded_id|subject_id|said_by|person_id)":"(-?\d{1,19})"')
"""Ids of people in the records of a context."""


@dataclass(slots=True, kw_only=True)
class Unearthed:
    """What one context of a backup has that was erased since."""

    messages: list[str] = field(default_factory=list[str])
    quoted: list[int] = field(default_factory=list[int])
    """Telegram ids of forgotten messages that the history does not have, and that others may quote."""
    facts: list[str] = field(default_factory=list[str])
    people: dict[int, float] = field(default_factory=dict[int, float])
    """Forgotten people who occur here, with the time at which they were forgotten."""


@dataclass(slots=True, kw_only=True)
class Gravedigger:
    """Finds in the keys of a backup what was erased since."""

    graves: Graveyard
    found: dict[ContextRef, Unearthed] = field(default_factory=dict[ContextRef, Unearthed])
    _people: dict[tuple[str, int], float | None] = field(default_factory=dict[tuple[str, int], float | None])

    def look(self, ref: ContextRef, name: str, values: list[str]) -> list[str]:
        """Note what a key of a context has of it. Return the values without lines of talk that were erased."""
        match name:
            case "order":
                self._note(ref).messages += self._buried(ref, "message", values[::2])
            case "fact_order":
                self._note(ref).facts += self._buried(ref, "fact", values[::2])
            case "telegram":
                quoted = [each[2:] for each in values[::2] if each.startswith("q:") and each[2:].isdecimal()]
                self._note(ref).quoted += map(int, self._buried(ref, "quoted", quoted))
            case "talk":
                gone = set(self._buried(ref, "talk", [_digits(each) for each in values[1::2]]))
                pairs = zip(values[::2], values[1::2], strict=True)
                values = [each for pair in pairs if _digits(pair[1]) not in gone for each in pair]
            case "senders" | "people":
                self._look_for(ref, values[::2])
            case "choices":
                self._look_for(ref, [each[4:] for each in values[::2] if each.startswith("off:")])
            case _:
                pass
        if name in ("messages", "facts", "reminders", "talk"):
            self._look_for(ref, {each for value in values for each in _PEOPLE.findall(value)})
        return values

    def is_forgotten(self, person: str) -> bool:
        """Return True if this person was forgotten everywhere."""
        return person.removeprefix("-").isdecimal() and self._time_of("", int(person)) is not None

    def _note(self, ref: ContextRef) -> Unearthed:
        return self.found.setdefault(ref, Unearthed())

    def _buried(self, ref: ContextRef, grave: Grave, ids: Iterable[str]) -> list[str]:
        return [each for each in ids if self.graves.find(grave, ref.context_id, each) is not None]

    def _look_for(self, ref: ContextRef, people: Iterable[str]) -> None:
        for each in map(int, people):
            at = self._time_of(ref.context_id, each)
            if at is not None:
                self._note(ref).people[each] = at

    def _time_of(self, context: str, person: int) -> float | None:
        if (context, person) not in self._people:
            self._people[context, person] = self.graves.find_person(context, person)
        return self._people[context, person]


def _digits(score: str) -> str:
    return str(int(float(score)))


@dataclass(slots=True, kw_only=True)
class FileGraves:
    """What a context's file would bring back."""

    graves: Graveyard = field(default_factory=Graveyard)
    contexts: Collection[str] = ()
    """Ids of the context that the file is of, and of the one that it is imported into."""
    owner: int | None = None
    """The person of a private chat: everything in it is theirs."""
    names: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    """Forgotten people with the names that they have shown."""
    messages: list[str] = field(default_factory=list[str])
    unquoted: list[str] = field(default_factory=list[str])
    """Messages that lose their quotation."""
    facts: set[str] = field(default_factory=set[str])
    _answers: bool = False

    def learn_names(self, lines: Iterable[file.FileLine]) -> None:
        """Read the whole file for the names of forgotten people: older records of forwarded words have no ids."""
        for line in lines:
            if isinstance(line, file.MessageLine):
                self.learn_name(line.message)

    def learn_name(self, message: Message) -> None:
        """Note the name of a forgotten person."""
        if message.sender is not None and self._is_of(message.sender.id, 0.0):
            self.names.add((message.sender.id, message.sender.name))

    def keeps(self, line: file.FileLine) -> bool:
        """Return False for a line that is left out. A message is noted, and erased with what rests on it."""
        match line:
            case file.MessageLine():
                self._look_at(line.message)
            case file.FactLine():
                self._look_at_fact(line)
            case file.TalkFileLine():
                return not self._is_of(line.line.sender.id, line.line.sent_at) and not self._is_buried(
                    "talk", line.score
                )
            case file.ReminderLine():
                return not self._is_of(line.reminder.person_id, line.reminder.created_at)
            case file.ChoiceLine():
                person = line.name.partition(":")[2]
                return not person or not self._is_of(int(person), 0.0)
            case _:
                pass
        return True

    def is_forgotten(self, message: Message, *, also: bool = False) -> bool:
        """Return True for the next message of the file if it was forgotten, or answers one that was.

        `also` is True if the caller already knows that it was forgotten.
        """
        is_theirs = (
            also
            or self._is_buried("message", message.id)
            or self._is_of_any(people_of(message), forwarded_name(message), message.sent_at)
            or (self.owner is not None and self._is_of(self.owner, message.sent_at))
        )
        is_answer = self._answers and message.role == "assistant"
        if message.role in CONVERSATION_ROLES:
            self._answers = is_theirs and message.role == "user"
        return is_theirs or is_answer

    def begin_chat(self) -> None:
        """Begin another chat of the file: its first message answers none of the chat before."""
        self._answers = False

    def _look_at(self, message: Message) -> None:
        if self.is_forgotten(message):
            self.messages.append(message.id)
        elif message.quote is not None and self._is_quoted(message, message.quote):
            self.unquoted.append(message.id)

    def _look_at_fact(self, line: file.FactLine) -> None:
        fact = line.fact
        people = [each for each in (fact.subject_id, fact.said_by, self.owner) if each is not None]
        if self._is_buried("fact", fact.id) or any(self._is_of(each, fact.valid_from) for each in people):
            self.facts.add(fact.id)

    def _is_quoted(self, message: Message, quote: Quote) -> bool:
        number, person = quote.telegram_message_id, quote.sender_id
        if number and self._is_buried("quoted", number):
            return True
        people, name = ({person}, "") if person is not None else (set[int](), quote.sender_name)
        return self._is_of_any(people, name, message.sent_at)

    def _is_of_any(self, people: Iterable[int], name: str, at: float) -> bool:
        """Return True for the words of a forgotten person, known by id, or else by name."""
        named = [person for person, shown in self.names if shown == name] if name else []
        return any(self._is_of(each, at) for each in (*people, *named))

    def _is_of(self, person: int, at: float) -> bool:
        """Return True for a person who was forgotten at this time or later."""
        times = (self.graves.find_person(each, person) for each in self.contexts)
        return any(each is not None and at <= each for each in times)

    def _is_buried(self, grave: Grave, id: str | int) -> bool:
        return any(self.graves.find(grave, each, id) is not None for each in self.contexts)


@dataclass(slots=True, kw_only=True)
class ImportGraves:
    """Finds in the file of another service what was forgotten in the context that imports it."""

    redis: RedisClient
    ref: ContextRef
    service: str
    owner: int | None
    """The person of a private chat."""
    _secret: bytes = b""
    _file: FileGraves = field(default_factory=FileGraves)
    _chat: str = ""
    _seen: list[object] = field(default_factory=list[object])

    async def refresh(self) -> None:
        """Load the tombstones again if they have changed. People are forgotten while a large file is imported."""
        # Those of people who were forgotten everywhere are in the first partition.
        partitions = sorted({0, self.ref.partition})
        seen: list[object] = []
        for each in partitions:
            key = partition_key(each, "tombstones")
            seen += [
                await self.redis.call("ZCARD", key),
                await self.redis.call("ZREVRANGE", key, 0, 0, "WITHSCORES"),
            ]
        if not self._secret:
            self._secret = await load_secret(self.redis)
            self._file.contexts, self._file.owner = (self.ref.context_id,), self.owner
        elif seen == self._seen:
            return
        self._file.graves = await load_graveyard(self.redis, partitions)
        self._seen = seen

    def name_chat(self, chat: str) -> str:
        """Return the name of the tombstone that a reset leaves for an imported chat."""
        return name_of(self._secret, "imported", self.ref.context_id, self.service, chat)

    def is_forgotten(self, message: Message, *, chat: str, is_own: bool, shown_as: str) -> bool:
        """Return True for a message that was forgotten here.

        `chat` is the chat's id in the service; `is_own` is True for the context's own chat, which a reset forgets
        whole. `shown_as` is the message's Telegram id, if the bot knows it.
        """
        graves, context = self._file.graves, self.ref.context_id
        times = [graves.find("imported", context, self.service, chat)]
        if is_own:
            times += [graves.find("reset", context), graves.find("written", context, writing_of(message))]
        if shown_as:
            times += [graves.find("shown", context, shown_as), graves.find("quoted", context, shown_as)]
        if chat != self._chat:
            self._file.begin_chat()
            self._chat = chat
        self._file.learn_name(message)
        is_gone = any(at is not None and message.sent_at <= at for at in times)
        return self._file.is_forgotten(message, also=is_gone)
