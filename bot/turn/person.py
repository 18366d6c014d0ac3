"""Forgets in one context what a person said and what was concluded about them. Others' own words stay as they are."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.turn.answer_receipt import AnswerReceipt, load_receipts
from bot.turn.forgetting import Forgetting
from memory import keys
from memory.codec import parse_json
from memory.erasure import ErasureReceipt, sum_receipts
from memory.facts.context_facts import erase_facts
from memory.facts.redis_facts import FACTS_LIMIT, RedisFacts
from memory.history.fact import Fact, dump_corrections, parse_corrections
from memory.history.message import CONVERSATION_ROLES, Message, forwarded_name, people_of, sequence_of
from memory.history.store import BEFORE_ALL, Erasure, RecordCounts
from memory.history.talk import TalkLine
from memory.keys import ContextRef, context_key, partition_key
from memory.recall.recall import Recall
from memory.redis.client import Command
from memory.redis.lua import ScriptCall, lua_script
from memory.reminders.redis_reminders import RedisReminders
from memory.transfer.foreign import LATEST_AHEAD_S

PAGE = 200
"""Messages that one step looks at."""
_TALK_AT_MOST = 100_000
_OWN_CHOICES = ("model", "choices", "active_agent", "offers", "corrections", "talk_after", "zone_asked")
"""Fields of the meta of a private chat that its person has chosen or caused."""
NOTHING = ErasureReceipt(erased=RecordCounts(), left=RecordCounts())


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person to be forgotten, up to a time: what comes later is new."""

    id: int
    until: float
    """Unix seconds."""
    names: tuple[str, ...] = ()
    """Names that they have shown in the context: older records of forwarded and quoted words have no ids."""
    asked_by: int | None = None
    """The update that asks for it, which ends by itself. Those with higher ids are new."""
    asked_in: str = ""
    """Id of the context where they ask, "" for none."""
    below: int = 0
    """Sequence of the first new message there: Telegram's dates have whole seconds."""

    def asked_after(self, message: Message) -> bool:
        """Return True for a message from before they asked. The date of an imported one may be a day ahead."""
        return message.sent_at <= self.until + (LATEST_AHEAD_S if message.imported_from else 0)

    def said(self, message: Message) -> bool:
        """Return True for words of theirs, also if somebody else has forwarded them."""
        return self.asked_after(message) and (
            self.id in people_of(message) or forwarded_name(message) in self.names
        )

    def is_quoted_in(self, message: Message) -> bool:
        """Return True for a message with a quotation of theirs."""
        quote = message.quote
        if quote is None or not self.asked_after(message):
            return False
        is_named = quote.sender_id is None and quote.sender_name in self.names
        return quote.sender_id == self.id or is_named

    def is_in(self, fact: Fact) -> bool:
        """Return True for a fact by or about them."""
        is_named = fact.subject_id is None and fact.subject in self.names
        return fact.valid_from <= self.until and (self.id in (fact.subject_id, fact.said_by) or is_named)

    def has_said(self, line: TalkLine) -> bool:
        """Return True for a line of talk of theirs, also if somebody else has forwarded it."""
        starts = (f"(forwarded from {name})" for name in self.names)
        return line.sent_at <= self.until and (
            line.sender.id == self.id or any(map(line.text.startswith, starts))
        )

    def has_sent(self, update: WaitingUpdate) -> bool:
        """Return True for an update of theirs that came before they asked."""
        message, reminder = update.message, update.reminder
        people = {message.sender_id, message.forwarded_id, reminder.person_id if reminder else None}
        is_earlier = message.date <= self.until if self.asked_by is None else update.update_id < self.asked_by
        return self.id in people and is_earlier and update.callback is None

    def is_quoted_by(self, update: WaitingUpdate) -> bool:
        """Return True for an update of somebody else with a quotation of theirs."""
        reply = update.message.reply_to
        return reply is not None and reply.author_id == self.id and update.message.date <= self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The messages of one step: recorded before they are erased, so that an interrupted step goes on with the same."""

    ids: tuple[str, ...] = ()
    unquoted: tuple[str, ...] = ()
    """Messages of others that lose a quotation."""
    after: int = BEFORE_ALL
    """Sequence up to which the context was looked at."""
    is_answered: bool = True
    """False if an answer to them may follow."""


@lua_script("bot.inbox.scripts")
def erase_emptied(
    ref: ContextRef, *, prefixes: dict[str, str], erased_keys: dict[str, str]
) -> ScriptCall: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonEraser:
    """The steps for one context. Every method raises the store's errors, and Forgotten after a reset meanwhile."""

    forgetting: Forgetting
    facts: RedisFacts
    reminders: RedisReminders
    recall: Recall | None

    async def count(self, ref: ContextRef, person: int) -> RecordCounts:
        """Count what is quickly counted: messages, talk, facts and reminders."""
        messages = await self.forgetting.redis.call("HGET", context_key(ref, "senders"), str(person))
        talk = [line for _, line in await self._talk(ref) if line.sender.id == person]
        facts = await self.facts.list(ref, people=[person], limit=1)
        reminders = [each for each in await self.reminders.list(ref) if each.person_id == person]
        return RecordCounts(
            messages=int(messages or 0), talk=len(talk), facts=facts.total, reminders=len(reminders)
        )

    async def names(self, ref: ContextRef, person: int) -> str:
        """Return the name that this person has here, "" if none is stored."""
        name = await self.forgetting.redis.call("HGET", context_key(ref, "people"), str(person))
        return str(name or "")

    async def choose(self, ref: ContextRef, person: Person, before: Chosen, *, is_own: bool) -> Chosen | None:
        """Return what is theirs in the next page of the history, with the answers to it; None at the end.

        Answers whose prompts had these messages are chosen too: they may repeat the words. In the person's own chat
        everything is theirs.
        """
        page = await self.forgetting.history.page(ref, after_sequence=before.after, limit=PAGE, whole=True)
        if ref.context_id == person.asked_in:
            page = [message for message in page if sequence_of(message) < person.below]
            person = replace(person, until=inf)
        if not page:
            return None
        said, ids, unquoted, is_answered = list[Message](), list[str](), list[str](), before.is_answered
        for message in page:
            is_theirs = person.said(message) or (is_own and person.asked_after(message))
            if is_theirs or (message.role == "assistant" and not is_answered):
                said.append(message)
                ids.append(message.id)
            elif person.is_quoted_in(message):
                unquoted.append(message.id)
            if message.role in CONVERSATION_ROLES:
                is_answered = is_answered and not is_theirs if message.role == "user" else True
        if said and not is_own:
            ids += await self._answers_with(ref, person, said)
        return Chosen(
            ids=tuple(dict.fromkeys(ids)),
            unquoted=tuple(unquoted),
            after=sequence_of(page[-1]),
            is_answered=is_answered,
        )

    async def erase(self, ref: ContextRef, chosen: Chosen) -> ErasureReceipt:
        """Erase the chosen messages with everything about them. Repeating it erases nothing more."""
        history, receipt = self.forgetting.history, NOTHING
        epoch = (await history.load(ref, limit=0)).epoch
        if chosen.ids:
            found = await history.get(ref, chosen.ids)
            numbers = await self.forgetting.numbers_of(ref, list(found.values()), is_moved=False)
            done = await self.forgetting.erase(
                ref, chosen.ids, epoch=epoch, recall=self.recall, numbers=numbers, spares_running=True
            )
            receipt = done.receipt
        if chosen.unquoted:
            lost = await history.delete(ref, (), epoch=epoch, unquoted=chosen.unquoted)
            receipt += replace(NOTHING, erased=RecordCounts(**lost.by_name()), not_copied=lost.not_copied)
        return receipt

    async def clear(self, ref: ContextRef, person: Person, *, is_own: bool) -> ErasureReceipt:
        """Erase everything of theirs that is no message, after the messages."""
        receipts = [
            await self._clear_updates(ref, person),
            await self._clear_talk(ref, person),
            await self._clear_facts(ref, person, is_own=is_own),
            await self._clear_reminders(ref, person),
        ]
        await self._clear_choices(ref, person, is_own=is_own)
        if is_own:
            call = erase_emptied(
                ref, prefixes=dict(keys.listed_prefixes(ref)), erased_keys=dict(keys.ERASED_KEYS)
            )
            if line := await self.forgetting.redis.run(call):
                erased = RecordCounts(**parse_json(Erasure, line).by_name())
                receipts.append(replace(NOTHING, erased=replace(erased, people=0)))
        return sum_receipts(receipts)

    async def forget(self, ref: ContextRef, person: Person, *, is_own: bool) -> ErasureReceipt:
        """Forget everything of theirs in a context, in one go."""
        receipts, chosen = list[ErasureReceipt](), Chosen()
        while (chosen := await self.choose(ref, person, chosen, is_own=is_own)) is not None:
            receipts.append(await self.erase(ref, chosen))
        return sum_receipts([*receipts, await self.clear(ref, person, is_own=is_own)])

    async def _answers_with(self, ref: ContextRef, person: Person, said: Sequence[Message]) -> list[str]:
        """Return the answers before the request whose prompts had one of these messages, or a fact that cites one."""
        redis, ids = self.forgetting.redis, {message.id for message in said}
        cited = await redis.call("HMGET", context_key(ref, "cited"), *ids)
        facts = {each for words in cited if words for each in str(words).split()}
        return await self._answers(
            ref,
            person,
            lambda receipt, place: (
                receipt.used(ids, [sequence_of(each) for each in said], answer=place)
                or not facts.isdisjoint(receipt.facts)
            ),
        )

    async def _answers(
        self, ref: ContextRef, person: Person, repeats: Callable[[AnswerReceipt, int], bool]
    ) -> list[str]:
        redis = self.forgetting.redis
        listed: list[str] = await redis.call("ZRANGE", context_key(ref, "receipts"), 0, -1)
        receipts = await load_receipts(redis, ref, listed)
        if not receipts:
            return []
        places = await redis.call("ZMSCORE", context_key(ref, "order"), *receipts)
        return [
            each.message_id
            for each, place in zip(receipts.values(), places, strict=True)
            if place is not None and each.at <= person.until and repeats(each, int(place))
        ]

    async def _talk(self, ref: ContextRef) -> list[tuple[int, TalkLine]]:
        return await self.forgetting.talk.newest(ref, limit=_TALK_AT_MOST)

    async def _clear_talk(self, ref: ContextRef, person: Person) -> ErasureReceipt:
        lines = [(score, line) for score, line in await self._talk(ref) if person.has_said(line)]
        heard = [line.telegram_message_id for _, line in lines]
        answers = await self._answers(ref, person, lambda receipt, _: receipt.heard(heard)) if heard else []
        count = sum([await self.forgetting.talk.forget(ref, score) for score, _ in lines])
        receipt = replace(NOTHING, erased=RecordCounts(talk=count))
        return receipt + await self.erase(ref, Chosen(ids=tuple(answers))) if answers else receipt

    async def _clear_facts(self, ref: ContextRef, person: Person, *, is_own: bool) -> ErasureReceipt:
        page = await self.facts.list(ref, limit=FACTS_LIMIT)
        ids = [
            each.id
            for each in page.facts
            if person.is_in(each) or (is_own and each.valid_from <= person.until)
        ]
        if not ids:
            return NOTHING
        epoch = (await self.forgetting.history.load(ref, limit=0)).epoch
        return await erase_facts(ref, ids, epoch=epoch, facts=self.facts, recall=self.recall)

    async def _clear_reminders(self, ref: ContextRef, person: Person) -> ErasureReceipt:
        ids = [
            each.id
            for each in await self.reminders.list(ref)
            if each.person_id == person.id and each.created_at <= person.until
        ]
        if not ids:
            return NOTHING
        epoch = (await self.forgetting.history.load(ref, limit=0)).epoch
        count = await self.reminders.cancel(ref, ids, epoch=epoch)
        return replace(NOTHING, erased=RecordCounts(reminders=count))

    async def _clear_choices(self, ref: ContextRef, person: Person, *, is_own: bool) -> None:
        """Erase what they have chosen here, and their name unless they have written since."""
        redis, meta = self.forgetting.redis, context_key(ref, "meta")
        id, people = str(person.id), context_key(ref, "people")
        asked, corrections, messages = await redis.calls(
            [
                ("HGET", meta, "zone_asked"),
                ("HGET", meta, "corrections"),
                ("HGET", context_key(ref, "senders"), id),
            ]
        )
        commands: list[Command] = [
            ("HDEL", context_key(ref, "choices"), f"off:{id}"),
            ("HDEL", context_key(ref, "fact_lists"), id),
            ("HDEL", meta, f"facts_since:{id}"),
        ]
        if str(asked or "").partition(" ")[0] == id:
            commands.append(("HDEL", meta, "zone_asked"))
        waiting = parse_corrections(corrections or "")
        others = [each for each in waiting if person.id not in (each.sender_id, each.owner_id)]
        if len(others) < len(waiting):
            left = dump_corrections(others)
            commands.append(("HSET", meta, "corrections", left) if left else ("HDEL", meta, "corrections"))
        if not int(messages or 0):
            commands.append(("HDEL", people, id))
            if is_own:
                commands.append(("HDEL", meta, *_OWN_CHOICES))
        if any(map(int, [each for each in await redis.calls(commands) if each is not None])):
            await redis.call("INCR", partition_key(ref.partition, "erasures"))

    async def _clear_updates(self, ref: ContextRef, person: Person) -> ErasureReceipt:
        """Erase their waiting updates and dead letters, and dead letters of others that quote them."""
        store = self.forgetting.store
        dead = [parse_waiting(payload) for payload in (await store.dead_letters(ref)).values()]
        letters = [each for each in dead if person.has_sent(each) or person.is_quoted_by(each)]
        waiting = [each for each in await self._waiting(ref) if person.has_sent(each)]
        if gone := [each.update_id for each in (*letters, *waiting)]:
            await store.forget_updates(ref, gone)
        return replace(NOTHING, updates_forgotten=len(gone))

    async def _waiting(self, ref: ContextRef) -> Iterable[WaitingUpdate]:
        ids: Collection[str] = await self.forgetting.redis.call("ZRANGE", context_key(ref, "box"), 0, -1)
        payloads = [await self.forgetting.store.payload_of(ref, int(each)) for each in ids]
        return [parse_waiting(each) for each in payloads if each]
