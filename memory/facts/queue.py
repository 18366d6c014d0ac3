"""The queue of messages to read for facts: who reads them, what they are, and the facts that are saved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.codec import dump_json
from memory.facts.redis_facts import FACTS_LIMIT, FactChoices, are_extracted, parse_choices
from memory.history.contexts import parse_context
from memory.history.fact import Fact, FactKind, is_source
from memory.history.message import Message, message_id, own_words, render_message, sequence_of
from memory.history.redis_history import parse_facts, parse_messages
from memory.history.store import BEFORE_ALL
from memory.keys import USAGE_TTL_S, ContextRef, Key, global_key
from memory.leased import LeasedQueue, QueueClaim, SaveOutcome
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script, named, numbered

CONTEXT_MESSAGES = 6
"""Messages before the first unread one that are read with it."""
KNOWN_FACTS = 60
"""Facts that still hold and are read with the messages."""

_SCRIPTS = "memory.redis.scripts"
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

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float], tokens_per_day: int = 0) -> None:
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
        call = load_fact_work(
            ref, limit=limit, before=CONTEXT_MESSAGES, reads_older=await self._reads_older()
        )
        reply = named(await self._redis.run(call))
        chosen, read = parse_choices(reply["choices"]), parse_messages(reply["rows"])
        is_older, first = "is_older" in reply, numbered(reply["since"])
        is_group = "entry" in reply and parse_context(ref, reply["entry"]).keys.get("chat_id", 0) < 0
        is_on = are_extracted(chosen, is_group=is_group)
        messages = [each for each in read if is_on and _may_be_read(each, chosen, first)]
        context = [each for each in parse_messages(reply["around"]) if _may_be_shown(each, chosen)]
        # A page of older messages that is not full was the last one.
        end = int(reply.get("first_sequence", 0))
        lowest = sequence_of(read[0]) if is_older and len(read) == limit else end
        return FactWork(
            ref=ref,
            epoch=int(reply.get("epoch", 0)),
            revision=int(reply.get("revision", 0)),
            version=int(reply.get("facts_version", 0)),
            is_group=is_group,
            choices=chosen,
            people=numbered(reply["people"]),
            zones=numbered(reply["zones"]),
            messages=tuple(messages),
            is_older=is_older,
            context=tuple(sorted(context, key=sequence_of)),
            known=_choose_known(
                parse_facts(reply["of_writers"]), parse_facts(reply["of_others"]), messages=messages
            ),
            page=FactPageRead(read=tuple(reply["ids"]), facts_from=str(lowest) if is_older else None),
        )


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
def load_fact_work(ref: ContextRef, *, limit: int, before: int, reads_older: bool) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def save_facts(
    ref: ContextRef, *, token: str, expected_epoch: int, revision: int, version: int, save: FactSave
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def finish_extraction(
    ref: ContextRef, *, token: str, now: float, page: FactPageRead, reads_older: bool
) -> ScriptCall: ...
