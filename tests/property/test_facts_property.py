"""Facts under any order of turns, extractions and erasures: what is stored agrees with itself and with the choices."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from memory.errors import Forgotten
from memory.facts.context_facts import erase_facts, switch_off
from memory.facts.queue import FactWork, NewFact
from memory.keys import ContextName, context_key, partition_key
from memory.leased import QueueClaim
from memory.redis.client import open_redis
from tests.contract.facts_kit import ANNA, BEN, LEASE_S, REF, FactStore, open_facts, said, told
from tests.planted_facts import standing_member

_PEOPLE = (ANNA, BEN)
_STEPS = (
    *("learn", "learn", "learn", "learn", "commit", "load", "save", "finish", "fail", "later"),
    *("forget", "edit", "erase", "correct", "off", "on", "off_all", "on_all", "reset"),
)


@given(steps=st.lists(st.tuples(st.sampled_from(_STEPS), st.integers(0, 999)), max_size=40))
def test_stored_facts_agree_with_messages_and_choices_after_every_step(
    redis_url: str, steps: list[tuple[str, int]]
) -> None:
    asyncio.run(_play(redis_url, steps))


async def _play(redis_url: str, steps: Sequence[tuple[str, int]]) -> None:
    async with open_redis(redis_url) as redis:
        await redis.call("FLUSHALL")
        player = _Player(store=await open_facts(redis, tokens_per_day=1_000))
        for name, number in steps:
            await getattr(player, name)(number)
            await player.check()


@dataclass(slots=True, kw_only=True)
class _Player:
    """Takes steps on one context; `number` chooses whom or what a step is about."""

    store: FactStore
    epoch: int = 0
    count: int = 0
    claim: QueueClaim | None = None
    work: FactWork | None = None

    async def commit(self, number: int) -> None:
        messages = [
            said(f"m{self.count + at}", by=_PEOPLE[(number + at) % 2]) for at in range(number % 3 + 1)
        ]
        self.count += len(messages)
        await self.store.commit(*messages, epoch=self.epoch, facts="on" if number % 9 else "")

    async def learn(self, number: int) -> None:
        """Say something, read it and save facts of it, as an undisturbed extraction does."""
        await self.commit(number)
        await self.later(number)
        await self.load(number)
        await self.save(number)

    async def load(self, number: int) -> None:
        """Claim what is due, or go on with the claim, and load a page."""
        if self.claim is None:
            self.claim = await self.store.queue.claim(0, lease_s=LEASE_S)
        if self.claim is not None:
            self.work = await self.store.queue.load(self.claim, limit=number % 4 + 2)

    async def save(self, number: int) -> None:
        """Save facts of the page as it was when it was loaded; a lost reply repeats it."""
        if self.claim is None or self.work is None:
            return
        facts = _some_facts(self.work, number)
        try:
            outcome = await self.store.queue.save(self.claim, self.work, facts)
            if number % 3 == 0:
                assert await self.store.queue.save(self.claim, self.work, facts) == outcome
        except Forgotten:
            self.claim = None
        self.work = None

    async def finish(self, number: int) -> None:
        if self.claim is not None:
            await self.store.queue.finish(self.claim)
        self.claim = self.work = None

    async def fail(self, number: int) -> None:
        if self.claim is not None and (
            await self.store.queue.fail(self.claim, pauses_s=(10,) * (number % 2)) == "given_up"
        ):
            await self.store.queue.finish(self.claim, given_up=self.work)
        self.claim = self.work = None

    async def later(self, number: int) -> None:
        """Let time pass: waiting work is due, leases end."""
        self.store.clock.now += 2 * LEASE_S

    async def forget(self, number: int) -> None:
        chosen = [f"m{number % max(1, self.count)}", f"m{number // 7 % max(1, self.count)}"]
        deleted = await self.store.history.delete(REF, chosen, epoch=self.epoch)
        left = await self.store.history.count_traces(REF, mentioning=deleted)
        assert left.facts == 0

    async def edit(self, number: int) -> None:
        chosen = f"m{number % max(1, self.count)}"
        when = self.store.clock.now
        await self.store.history.replace(
            REF, chosen, text=f"text {number}", tokens=2, edited_at=when, epoch=self.epoch
        )

    async def erase(self, number: int) -> None:
        for fact in (await self.store.all_facts())[number % 3 :][:1]:
            receipt = await erase_facts(REF, [fact.id], epoch=self.epoch, facts=self.store.facts, recall=None)
            assert receipt.is_proven

    async def correct(self, number: int) -> None:
        for fact in (await self.store.all_facts())[number % 3 :][:1]:
            by = _PEOPLE[number % 2].id
            assert await self.store.facts.correct(REF, fact.id, f"no, {number}", epoch=self.epoch, by=by)

    async def off(self, number: int) -> None:
        person = _PEOPLE[number % 2].id
        await switch_off(REF, person=person, epoch=self.epoch, facts=self.store.facts, recall=None)

    async def on(self, number: int) -> None:
        await self.store.facts.switch_on(REF, person=_PEOPLE[number % 2].id, context=False)

    async def off_all(self, number: int) -> None:
        await switch_off(REF, person=None, epoch=self.epoch, facts=self.store.facts, recall=None)

    async def on_all(self, number: int) -> None:
        await self.store.facts.switch_on(REF, person=None, context=True)

    async def reset(self, number: int) -> None:
        self.epoch = (await self.store.history.erase(REF)).epoch

    async def _scores(self, name: ContextName) -> dict[str, float]:
        rows = await self.store.redis.call("ZRANGE", _key(name), 0, -1, "WITHSCORES")
        return {member: float(score) for member, score in rows}

    async def check(self) -> None:
        redis = self.store.redis
        order = await self._scores("order")
        unread = await self._scores("unread")
        listed = await self.store.facts.list(REF, limit=1_000)
        facts = {fact.id: fact for fact in listed.facts}
        choices = await self.store.facts.choices(REF)

        assert len(facts) == listed.total == await redis.call("HLEN", _key("facts"))
        expected: dict[str, set[str]] = {}
        for fact in facts.values():
            assert set(fact.message_ids) <= set(order), "a fact cites a missing message"
            assert not {fact.subject_id, fact.said_by} & choices.off
            assert (fact.valid_to is None) == (fact.closed_by == "")
            assert not fact.closed_by or fact.closed_by in facts
            for name in (*fact.message_ids, *([f"closed:{fact.closed_by}"] if fact.closed_by else [])):
                expected.setdefault(name, set()).add(fact.id)
        cited = {name: ids.split() for name, ids in (await self.store.cited()).items()}
        assert {name: set(ids) for name, ids in cited.items()} == expected
        assert all(len(set(ids)) == len(ids) for ids in cited.values())
        standing = await self._scores("standing")
        assert sorted(standing) == sorted(
            standing_member(each) for each in facts.values() if each.is_standing
        )
        assert unread.items() <= order.items()
        is_queued = await redis.call("ZSCORE", partition_key(0, "extract"), REF.context_id) is not None
        assert is_queued or not unread
        if choices.is_on is False:
            assert not facts
            assert not unread


def _some_facts(work: FactWork, number: int) -> list[NewFact]:
    """Return up to three facts of the page: about the writer, somebody else or a thing, some of them known before."""
    facts: list[NewFact] = []
    for at, message in enumerate(work.messages[: number % 4]):
        sender = message.sender
        assert sender is not None
        others = [m.id for m in work.messages if m.sender == sender and m.id != message.id]
        subject = (sender, _PEOPLE[number % 2], None)[(number + at) % 3]
        if subject is not None and subject.id in work.choices.off:
            continue
        fact = told(
            f"statement {(number + at) % 5}",
            message.id,
            *others[: number % 2],
            by=sender,
            subject=subject.name if subject else "Rex",
            subject_id=subject.id if subject else None,
            valid_from=float(number % 7 + at),
            kind="standing" if number % 3 == 0 else "fact",
            replaces=tuple(known.id for known in work.known[at : at + number % 3]),
        )
        facts.append(fact)
    return facts


def _key(name: ContextName) -> str:
    return context_key(REF, name)
