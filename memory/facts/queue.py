"""The queue of messages to read for facts: who reads them, what they are, and the facts that are saved."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from memory.codec import dump_json
from memory.facts.redis_facts import FACTS_LIMIT, FactChoices, are_extracted, parse_choices
from memory.history.contexts import parse_context
from memory.history.fact import Fact, FactKind, is_source
from memory.history.message import Message, message_id, own_words, render_message, sequence_of
from memory.history.redis_history import parse_facts, parse_messages
from memory.history.store import BEFORE_ALL
from memory.keys import USAGE_TTL_S, ContextRef, Key, context_key, global_key, partition_key
from memory.leased import LeasedQueue, QueueClaim, SaveOutcome
from memory.redis.client import Command, RedisClient
from memory.redis.lua import ScriptCall, lua_script

CONTEXT_MESSAGES = 6
"""Messages before the first unread one that are read with it."""
KNOWN_FACTS = 60
"""Facts that still hold and are read with the messages."""
TOKENS_PER_DAY = 200_000
"""Tokens a day (UTC) that the model may take to read older messages of all contexts."""

_SCRIPTS = "memory.redis.scripts"
_FACTS_AT_ONCE, _OTHER_FACTS = 500, 300
"""Facts of one round trip, and the number of facts about others that are enough."""
_Rows: TypeAlias = Sequence[tuple[str, float]]
"""Ids of messages with their sequences."""
_DAY_S = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class FactWork:
    """Messages to read for facts, with what the model must know. Without messages there is nothing to do."""

    ref: ContextRef
    epoch: int
    revision: int
    version: int
    """Count of changes of facts and choices."""
    is_group: bool = False
    choices: FactChoices = field(default_factory=FactChoices)
    people: Mapping[int, str] = field(default_factory=dict[int, str])
    """Sender id → the name shown last."""
    zones: Mapping[int, str] = field(default_factory=dict[int, str])
    """Sender id → time zone, of those who have chosen one."""
    messages: tuple[Message, ...] = ()
    """Messages that facts may cite, oldest first."""
    is_older: bool = False
    """True for messages from before facts were extracted here: they are read within a daily budget."""
    context: tuple[Message, ...] = ()
    """Messages around them, oldest first, which facts may not cite."""
    known: tuple[Fact, ...] = ()
    """Facts that still hold, first those about writers of the messages, then those about things named in them."""
    page: "FactPageRead"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPageRead:
    """The part of the history that a work covers, as scripts note it."""

    read: tuple[str, ...] = ()
    """Ids that are unread no longer."""
    facts_from: str | None = None
    """For older messages: the sequence below which nothing was read now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """A statement that a model has found in messages of one writer. See Fact."""

    subject: str
    subject_id: int | None = None
    statement: str
    kind: FactKind = "fact"
    said_by: int
    message_ids: tuple[str, ...]
    valid_from: float
    confidence: float
    replaces: tuple[str, ...] = ()
    """Ids of known facts that it contradicts. The one that began earlier ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A new fact as save_facts.lua reads it."""

    id: str
    repeated_id: str
    """Its id if the same statement has held before and ended."""
    json: str
    """The fact; the script writes its id."""
    replaces: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSave:
    """Facts to save, and the messages that are read with that."""

    id: str
    facts: tuple[FactRow, ...]
    page: FactPageRead
    limit: int


class FactQueue(LeasedQueue):
    """Contexts with messages to read for facts, and what a reader of them needs and saves."""

    name = "extract"
    failures = "fact_failures"

    def __init__(
        self, redis: RedisClient, *, clock: Callable[[], float], tokens_per_day: int = TOKENS_PER_DAY
    ) -> None:
        """`tokens_per_day` is the budget of all contexts for reading older messages."""
        super().__init__(redis, clock=clock)
        self._tokens_per_day = tokens_per_day

    async def load(self, claim: QueueClaim, *, limit: int) -> FactWork:
        """Return the next messages to read: unread ones, else a page of older ones, if the budget is not used up.

        Messages that facts may not rest on count as read: answers, forwarded ones, those of people who have chosen
        off. The result has no messages if there are none left to read. Raises Forgotten after a reset meanwhile.
        """
        while True:
            work = await self._load(claim.ref, limit=limit)
            if work.messages or not (work.page.read or work.is_older):
                return work
            if await self.save(claim, work, ()) == "lost":
                return replace(work, page=FactPageRead())

    async def save(self, claim: QueueClaim, work: FactWork, facts: Sequence[NewFact]) -> SaveOutcome:
        """Store these facts, note the work's messages as read, and queue the index work of all cited messages.

        One script checks the claim, the epoch (raises Forgotten), and that no message, fact or choice has changed
        since the work was loaded. Otherwise it writes nothing. Saving twice is "saved". A statement that is known
        about its subject adds no fact. Raises ValueError for a fact that cites none of the work's messages, or others.
        """
        known = {message.id for message in work.messages}
        for fact in facts:
            if not fact.message_ids or not known.issuperset(fact.message_ids):
                raise ValueError("a fact cites messages of the work, and at least one")
        ref = claim.ref
        save = FactSave(
            id=message_id(ref.context_id, work.epoch, "facts", work.version, *work.page.read),
            facts=tuple(_row(work, fact) for fact in facts),
            page=work.page,
            limit=FACTS_LIMIT,
        )
        call = save_facts(
            ref,
            token=claim.token,
            expected_epoch=work.epoch,
            revision=work.revision,
            version=work.version,
            save=save,
        )
        return await self._redis.run(call)

    async def finish(self, claim: QueueClaim, *, given_up: FactWork | None = None) -> None:
        """End the claim, unless it is lost. The context waits again if there is more to read.

        The messages of work that is `given_up` count as read.

        Older messages count only as long as the budget is not used up; the next turn queues the context again.
        """
        ref = claim.ref
        call = finish_extraction(
            ref,
            token=claim.token,
            now=self._clock(),
            page=given_up.page if given_up else FactPageRead(),
            reads_older=await self._reads_older(),
        )
        await self._redis.run(call)

    async def spend(self, tokens: int) -> None:
        """Subtract tokens of older messages from today's budget (UTC)."""
        key = self._budget()
        await self._redis.calls([("INCRBY", key, tokens), ("EXPIRE", key, USAGE_TTL_S)])

    async def tokens_left(self) -> int:
        """Return what is left of today's budget for older messages."""
        spent = await self._redis.call("GET", self._budget())
        return max(0, self._tokens_per_day - int(spent or 0))

    async def _reads_older(self) -> bool:
        return self._tokens_per_day > 0 and await self.tokens_left() > 0

    def _budget(self) -> Key:
        return global_key("{usage}:facts", int(self._clock() // _DAY_S))

    async def _load(self, ref: ContextRef, *, limit: int) -> FactWork:
        key, redis = partial(context_key, ref), self._redis
        # The epoch and the counts of changes come first: `save` refuses work of which anything has changed since.
        epoch, state, entry, choices, people, unread = await redis.calls(
            [
                ("GET", key("epoch")),
                ("HMGET", key("meta"), "revision", "facts_version", "facts_from", "first_sequence"),
                ("HGET", partition_key(ref.partition, "contexts"), ref.context_id),
                ("HGETALL", key("choices")),
                ("HGETALL", key("people")),
                ("ZRANGE", key("unread"), 0, limit - 1, "WITHSCORES"),
            ]
        )
        revision, version, facts_from, end = (int(each or 0) for each in state)
        rows: _Rows = unread
        has_older = not unread and state[2] is not None and facts_from > end
        if is_older := has_older and await self._reads_older():
            rows = (await redis.call(*_rows_before(ref, facts_from, limit)))[::-1]
        read, around = await self._read(ref, rows), await self._read(ref, await self._around(ref, rows))
        writers = [each.sender.id for each in read if each.sender]
        chosen, first = parse_choices(choices), await self._values(key("meta"), writers, "facts_since:")
        is_group = bool(entry) and parse_context(ref, entry).keys.get("chat_id", 0) < 0
        is_on = are_extracted(chosen, is_group=is_group)
        messages = [each for each in read if is_on and _may_be_read(each, chosen, first)]
        context = [each for each in around if _may_be_shown(each, chosen)]
        # A page of older messages that is not full was the last one.
        lowest = sequence_of(read[0]) if is_older and len(read) == limit else end
        names = {int(each): name for each, name in people.items()}
        return FactWork(
            ref=ref,
            epoch=int(epoch or 0),
            revision=revision,
            version=version,
            is_group=is_group,
            choices=chosen,
            people=names,
            zones=await self._values(partition_key(ref.partition, "local_zones"), names),
            messages=tuple(messages),
            is_older=is_older,
            context=tuple(sorted(context, key=sequence_of)),
            known=_choose_known(*await self._facts(ref, set(writers)), messages=messages),
            page=FactPageRead(
                read=tuple([each for each, _ in unread]), facts_from=str(lowest) if is_older else None
            ),
        )

    async def _around(self, ref: ContextRef, rows: _Rows) -> _Rows:
        """Return the rows just before each of these rows, without the rows themselves."""
        reaches = [CONTEXT_MESSAGES, *[2] * len(rows)]
        commands = [
            _rows_before(ref, sequence, reach) for (_, sequence), reach in zip(rows, reaches, strict=False)
        ]
        pages: list[_Rows] = await self._redis.calls(commands) if commands else []
        return list(({each: at for page in pages for each, at in page}.items()) - dict(rows).items())

    async def _read(self, ref: ContextRef, rows: _Rows) -> list[Message]:
        ids = [each for each, _ in rows]
        lines: list[str | None] = []
        if ids:
            lines = await self._redis.call("HMGET", context_key(ref, "messages"), *ids)
        found = [(*row, line) for row, line in zip(rows, lines, strict=True) if line]
        return parse_messages([str(word) for row in found for word in row])

    async def _values(self, key: Key, people: Iterable[int], prefix: str = "") -> dict[int, str]:
        """Return the fields of these people, by their ids."""
        ids = list(people)
        values: list[str | None] = []
        if ids:
            values = await self._redis.call("HMGET", key, *(f"{prefix}{each}" for each in ids))
        return {each: value for each, value in zip(ids, values, strict=True) if value}

    async def _facts(self, ref: ContextRef, writers: Collection[int]) -> tuple[list[Fact], list[Fact]]:
        """Return facts that hold, newest first: those about these writers, and enough of the others."""
        of_writers, of_others = list[Fact](), list[Fact]()
        ids: list[str] = await self._redis.call("ZREVRANGE", context_key(ref, "fact_order"), 0, -1)
        for start in range(0, len(ids), _FACTS_AT_ONCE):
            page = ids[start : start + _FACTS_AT_ONCE]
            for fact in parse_facts(await self._redis.call("HMGET", context_key(ref, "facts"), *page)):
                if fact.valid_to is None:
                    (of_writers if fact.subject_id in writers else of_others).append(fact)
            if len(of_writers) >= KNOWN_FACTS and len(of_others) >= _OTHER_FACTS:
                break
        return of_writers, of_others


def _rows_before(ref: ContextRef, sequence: float, limit: int) -> Command:
    """Return the command that reads the rows before this sequence, the newest first."""
    order = context_key(ref, "order")
    return ("ZREVRANGEBYSCORE", order, f"({int(sequence)}", "-inf", "WITHSCORES", "LIMIT", 0, limit)


def _may_be_read(message: Message, choices: FactChoices, first: Mapping[int, str]) -> bool:
    sender = message.sender
    if sender is None or sender.id in choices.off or not is_source(message):
        return False
    return sequence_of(message) >= int(first.get(sender.id, BEFORE_ALL))


def _may_be_shown(message: Message, choices: FactChoices) -> bool:
    is_off = message.sender is not None and message.sender.id in choices.off
    return not is_off and not message.is_refused and bool(render_message(message).strip())


def _choose_known(
    of_writers: Sequence[Fact], of_others: Sequence[Fact], *, messages: Sequence[Message]
) -> tuple[Fact, ...]:
    """Return KNOWN_FACTS at most: those about writers first, then those whose subject is named in a message."""
    text = "\n".join(map(own_words, messages)).casefold()
    named = [fact for fact in of_others if fact.subject.casefold() in text]
    others = [fact for fact in of_others if fact.subject.casefold() not in text]
    return (*of_writers, *named, *others)[:KNOWN_FACTS]


def _row(work: FactWork, fact: NewFact) -> FactRow:
    """Return the row of a fact. One that rests on an imported message has less force: anybody can write a file."""
    imported = [each for each in work.messages if each.id in fact.message_ids and each.imported_from]
    service = imported[0].imported_from if imported else ""
    told = {each.id for each in work.known if not each.imported_from and each.valid_from <= fact.valid_from}
    about = fact.subject.casefold() if fact.subject_id is None else fact.subject_id
    statement = (work.ref.context_id, work.epoch, "fact", about, fact.statement.casefold(), service)
    stored = Fact(
        id="",
        subject=fact.subject,
        subject_id=fact.subject_id,
        statement=fact.statement,
        kind="fact" if service else fact.kind,
        said_by=fact.said_by,
        message_ids=tuple(dict.fromkeys(fact.message_ids)),
        valid_from=fact.valid_from,
        confidence=fact.confidence,
        imported_from=service,
    )
    return FactRow(
        id=message_id(*statement),
        repeated_id=message_id(*statement, *fact.message_ids),
        json=dump_json(Fact, stored),
        replaces=tuple(each for each in fact.replaces if not (service and each in told)),
    )


@lua_script(_SCRIPTS)
def save_facts(
    ref: ContextRef, *, token: str, expected_epoch: int, revision: int, version: int, save: FactSave
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def finish_extraction(
    ref: ContextRef, *, token: str, now: float, page: FactPageRead, reads_older: bool
) -> ScriptCall: ...
