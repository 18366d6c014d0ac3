"""Forgets a person in all chats, in small steps. Each is recorded in the store, so that any process can go on."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, cast
from uuid import uuid4

from bot.inbox.inspection import InboxInspection
from bot.times import iso
from bot.transport.forms import place_of
from bot.transport.ingest import telegram_ref
from bot.turn.costs import last_months, ranking_key
from bot.turn.forget_requests import ForgetJob, ForgetRequests
from bot.turn.person import NOTHING, Chosen, Person, PersonEraser
from memory import keys
from memory.erasure import ErasureReceipt
from memory.errors import Forgotten
from memory.history.contexts import Context, list_contexts
from memory.history.store import RecordCounts
from memory.keys import ContextRef
from memory.redis.client import Command, RedisClient
from memory.tombstones import load_secret
from memory.transfer.backup import scan_contexts

PAUSE_S = 0.2
CONTEXTS_AT_ONCE = 20
OWN_CHAT_WITHIN_S = 30.0
PASSES_AT_MOST = 4
"""Passes over all chats. The last one finds nothing, and so reads back the ones before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCounts:
    """What is quickly counted of a person in one context."""

    ref: ContextRef
    chat: str
    """Title or id of the chat."""
    is_of_other: bool
    """True for the private chat of somebody else, who may have imported messages. The person must not see its title."""
    counts: RecordCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonFinder:
    """Finds the contexts where a person may occur, and counts. Every method raises the store's errors."""

    redis: RedisClient
    eraser: PersonEraser
    inspection: InboxInspection
    bot_id: int
    partitions: int

    async def count(self, person: int, *, context: str = "") -> list[PersonCounts]:
        """Count what there is of a person, by chat or topic."""
        known = {each.ref: each for each in await list_contexts(self.redis, range(self.partitions))}
        refs = [ref for ref in await self.contexts() if context in ("", ref.context_id)]
        counted = [
            PersonCounts(
                ref=ref,
                chat=(ref in known and known[ref].title) or ref.context_id[:8],
                is_of_other=ref in known and _is_of_other(known[ref], person),
                counts=await self.eraser.count(ref, person),
            )
            for start in range(0, len(refs), CONTEXTS_AT_ONCE)
            for ref in await self._perhaps_with(refs[start : start + CONTEXTS_AT_ONCE], person)
        ]
        return [each for each in counted if each.counts.total]

    async def _perhaps_with(self, refs: Sequence[ContextRef], person: int) -> list[ContextRef]:
        """Return those of these contexts that have a message of the person, or talk of anybody."""
        replies = await asyncio.gather(
            *(
                self.redis.calls(
                    [
                        ("HEXISTS", keys.context_key(ref, "senders"), str(person)),
                        ("EXISTS", keys.context_key(ref, "talk")),
                    ]
                )
                for ref in refs
            )
        )
        return [ref for ref, found in zip(refs, replies, strict=True) if any(map(int, found))]

    async def contexts(self) -> list[ContextRef]:
        """Return every context with a memory, or with updates that wait for a turn."""
        found = {ref: None async for ref in scan_contexts(self.redis, self.partitions)}
        for partition in range(self.partitions):
            found |= {ref: None for ref, _ in await self.inspection.unanswered(partition)}
        return sorted(found, key=lambda ref: (ref.partition, ref.context_id))

    async def own_contexts(self, person: int) -> set[ContextRef]:
        """Return the contexts of the person's private chat."""
        own = {telegram_ref(self.bot_id, person, None, partitions=self.partitions)}
        for each in await list_contexts(self.redis, range(self.partitions)):
            place = place_of(each.keys)
            if place is not None and place.chat_id == person and not place.is_direct:
                own.add(each.ref)
        return own


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetJobs:
    """The steps of the requests. Every method raises the store's errors."""

    requests: ForgetRequests
    finder: PersonFinder
    eraser: PersonEraser
    clock: Callable[[], float]

    async def run(self, id: str, notify: Callable[[ForgetJob], None]) -> ForgetJob | None:
        """Do all steps of a request. Return it with its receipt; None if another runner has it, or if it is done."""
        before: ForgetJob | None = None
        while await self.requests.hold(id):
            job = await self.step(id)
            if job is None or job.receipt:
                return job
            if job == before:
                await asyncio.sleep(PAUSE_S)
            notify(job)
            before = job
        return None

    async def forget_again(self, ref: ContextRef, person: int, until: float) -> int:
        """Forget a person in a context that a restore has brought back. Return the number of messages."""
        own = await self.finder.own_contexts(person)
        known = await self._known_in(ref, Person(id=person, until=until))
        receipt = await self.eraser.forget(ref, known, is_own=ref in own)
        return receipt.messages_erased

    async def step(self, id: str) -> ForgetJob | None:
        """Do the next step of a request that we hold, and record it. Return the job, or None if it is done.

        A job with a receipt waits for `end`.
        """
        job = await self.requests.find(id)
        if job is None or job.receipt:
            return job
        if job.at < 0:
            job = await self._listed(job)
        elif job.at >= len(job.refs):
            job = await self._passed(job)
        elif job.chosen is None:
            job = await self._chosen(job)
        else:
            job = await self._erased(job, job.chosen)
        await self.requests.save(job)
        return job

    async def _listed(self, job: ForgetJob) -> ForgetJob:
        """List the contexts, those of the person's private chat at the end."""
        refs = list(job.refs) if job.context else await self.finder.contexts()
        own = await self.finder.own_contexts(job.person.id)
        refs.sort(key=lambda ref: ref in own)
        return replace(job, refs=tuple(refs), own=tuple(ref.context_id for ref in refs if ref in own), at=0)

    async def _known_in(self, ref: ContextRef, person: Person) -> Person:
        """Return the person with the name that they have in this context.

        Names of other chats do not count: anybody may take one, and would have the words about its bearers erased.
        """
        name = await self.eraser.names(ref, person.id)
        return replace(person, names=(name,) if name else ())

    async def _chosen(self, job: ForgetJob) -> ForgetJob:
        """Choose what is erased next; at the end of a context erase the rest of it."""
        ref, is_own = job.find_ref(), job.find_ref().context_id in job.own
        person = await self._known_in(ref, job.person)
        chosen = await self.eraser.choose(ref, person, job.before, is_own=is_own)
        if chosen is not None and (chosen.ids or chosen.unquoted):
            return replace(job, chosen=chosen)
        if chosen is not None:
            return replace(job, before=chosen)
        receipt = await _unless_reset(self.eraser.clear(ref, person, is_own=is_own))
        return replace(_counted(job, receipt), at=job.at + 1, before=Chosen())

    async def _erased(self, job: ForgetJob, chosen: Chosen) -> ForgetJob:
        """Erase what was chosen. What a dead runner has erased of it is counted by its messages."""
        there = len(await self.eraser.forgetting.history.get(job.find_ref(), chosen.ids))
        is_again = there < len(chosen.ids)
        receipt = await _unless_reset(self.eraser.erase(job.find_ref(), chosen))
        if is_again:
            receipt = replace(receipt, erased=replace(receipt.erased, messages=len(chosen.ids)))
        after = Chosen(after=chosen.after, is_answered=chosen.is_answered)
        job = replace(_counted(job, receipt), before=after, chosen=None)
        return replace(job, is_interrupted=job.is_interrupted or is_again)

    async def _passed(self, job: ForgetJob) -> ForgetJob:
        """Begin another pass, until one finds nothing; then erase what is in no chat, and write the receipt."""
        passes = job.passes + 1
        if job.erased_in_pass and passes < PASSES_AT_MOST:
            return replace(job, at=0, passes=passes, erased_in_pass=0)
        for ref in job.refs:
            if ref.context_id in job.own:
                receipt = await _unless_reset(self.eraser.clear(ref, job.person, is_own=True))
                job = _counted(replace(job, at=job.refs.index(ref)), receipt)
        if await self._is_busy(job):
            return replace(job, at=len(job.refs))
        if job.is_everywhere:
            await self._clear_bot(job.person.id)
        return replace(job, at=len(job.refs), passes=passes, receipt=await self._sign(job))

    async def _is_busy(self, job: ForgetJob) -> bool:
        """Return True while the person's own chat sends the answer to the request: then it is erased a bit later."""
        if self.clock() > job.asked_at + OWN_CHAT_WITHIN_S:
            return False
        for ref in job.refs:
            active = keys.partition_key(ref.partition, "active")
            if ref.context_id in job.own and await self.requests.redis.call(
                "HEXISTS", active, ref.context_id
            ):
                return True
        return False

    async def _clear_bot(self, person: int) -> None:
        """Erase the person's time zone and costs. Limits of the day stay: they end by themselves within three days."""
        await self.eraser.reminders.set_zone(person, None)
        commands: list[Command] = [
            ("ZREM", ranking_key(owner, unit, month), str(person))
            for month in last_months(self.clock())
            for owner in ("user", "chat")
            for unit in ("tokens", "micros")
        ]
        await self.requests.redis.calls(commands)

    async def _sign(self, job: ForgetJob) -> str:
        total = job.total
        fields: dict[str, Any] = {
            "id": uuid4().hex,
            "person": str(job.person.id),
            "where": "everywhere" if job.is_everywhere else f"context {job.context[:8]}",
            "said_before": iso(job.person.until),
            "asked_at": iso(job.asked_at),
            "done_at": iso(self.clock()),
            "version": version("mnemogram"),
            "chats": len(job.chats),
            "erased": {**_without_zeros(total.erased.by_name()), "search_entries": total.vectors_erased},
            "updates_forgotten": total.updates_forgotten,
            "left": {"found_by_the_last_pass": job.erased_in_pass, "search_entries": total.vectors_left},
            "passes": job.passes + 1,
            "may_be_more": job.is_interrupted,
            "tombstone_beside_the_store": total.not_copied or "yes",
        }
        return sign(await load_secret(self.requests.redis), fields)


async def _unless_reset(erasing: Awaitable[ErasureReceipt]) -> ErasureReceipt:
    """Return the receipt, an empty one if a reset has erased the context meanwhile."""
    try:
        return await erasing
    except Forgotten:
        return NOTHING


def _counted(job: ForgetJob, receipt: ErasureReceipt) -> ForgetJob:
    """Return the job with what a step has erased."""
    count = receipt.erased.total + receipt.updates_forgotten
    here = (job.find_ref().context_id,) if count else ()
    total = job.total + receipt
    return replace(
        job,
        total=replace(total, vectors_left=receipt.vectors_left if count else job.total.vectors_left),
        erased_in_pass=job.erased_in_pass + count,
        chats=tuple(dict.fromkeys((*job.chats, *here))),
    )


def _without_zeros(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: number for name, number in counts.items() if number}


def _is_of_other(context: Context, person: int) -> bool:
    place = place_of(context.keys)
    return place is None or (place.chat_id > 0 and place.chat_id != person)


def describe_counts(counts: Sequence[PersonCounts]) -> list[dict[str, Any]]:
    """Return the counts as documents, by chat."""
    return [{"chat": each.chat, **_without_zeros(each.counts.by_name())} for each in counts]


def dump_receipt_name(job: ForgetJob) -> str:
    """Return the name of the receipt's file."""
    return f"forgotten-{json.loads(job.receipt)['id'][:8]}.json"


_SEALS, _SIGNATURE = "seals", "signature"
KIND = "mnemogram erasure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a check of a receipt."""

    is_true: bool
    changed: tuple[str, ...] = ()
    """Fields that were changed, added or taken away, as far as they are known."""
    reason: str = ""
    """The reason why it is none of ours, if the fields do not tell."""


def sign(secret: bytes, fields: Mapping[str, Any]) -> str:
    """Return the receipt's file with these fields of plain JSON. `id` keeps seals of other receipts apart."""
    seals = {name: _seal(secret, fields, name) for name in fields}
    whole: dict[str, Any] = {"kind": KIND, **fields, _SEALS: seals}
    return json.dumps({**whole, _SIGNATURE: _sign(secret, whole)}, indent=1, ensure_ascii=False) + "\n"


def verify(secret: bytes, text: str) -> Verdict:
    """Return whether the installation with this secret has written this file, and what was changed since."""
    try:
        document: Any = json.loads(text, object_pairs_hook=_once_each)
    except (ValueError, RecursionError):
        return Verdict(is_true=False, reason="this is not JSON, so it is no receipt of ours")
    if not isinstance(document, dict):
        return Verdict(is_true=False, reason="this is no receipt of ours")
    given = cast("dict[str, Any]", document)
    seals, signature = given.get(_SEALS), given.pop(_SIGNATURE, None)
    if given.get("kind") != KIND or not isinstance(seals, dict) or not isinstance(signature, str):
        return Verdict(is_true=False, reason="this is no receipt of ours")
    if hmac.compare_digest(signature.encode(errors="replace"), _sign(secret, given).encode()):
        return Verdict(is_true=True)
    fields = {name: value for name, value in given.items() if name not in ("kind", _SEALS)}
    known = cast("dict[str, Any]", seals)
    names = dict.fromkeys([*fields, *known])
    changed = tuple(each for each in names if known.get(each) != _seal(secret, fields, each))
    if len(changed) == len(names):
        return Verdict(is_true=False, reason="another installation has written it, or everything was changed")
    return Verdict(is_true=False, changed=changed or (_SIGNATURE,))


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises ValueError for one with a name twice: readers would take either value."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError
    return fields


def _seal(secret: bytes, fields: Mapping[str, Any], name: str) -> str:
    """Return the short HMAC of one field."""
    if name not in fields:
        return ""
    return _sign(secret, {"id": fields.get("id"), "field": name, "value": fields[name]})[:16]


def _sign(secret: bytes, fields: Mapping[str, Any]) -> str:
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hmac.new(b"receipts" + secret, text.encode(), hashlib.sha256).hexdigest()
