"""The inbox on the real store against a small model: no crash loses, doubles or reorders an update."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bot.errors import Fenced
from bot.inbox.records import ATTEMPTS_AT_MOST, ISOLATED_FROM, Claim
from memory import keys
from memory.redis.client import open_redis
from tests.contract.inbox_kit import Inbox, open_inbox
from tests.messages import make_ref

T = TypeVar("T")

CHATS = (1, 2, 3)
WORKERS = ("anna", "bert")
CHAT_OF = {make_ref(chat).context_id: chat for chat in CHATS}


@dataclass(slots=True)
class Chat:
    """The model's state of a chat: waiting updates, holder, and finished updates."""

    waiting: set[int] = field(default_factory=set[int])
    finished: list[int] = field(default_factory=list[int])
    dead: set[int] = field(default_factory=set[int])
    holder: Claim | None = None

    @property
    def line(self) -> list[int]:
        return sorted(self.waiting)


@dataclass(slots=True)
class Attempts:
    """The number of attempts of an update, and the last delivery that began it."""

    count: int = 0
    last: tuple[str, str] | None = None
    alone: tuple[str, str] | None = None
    """The attempt in which it runs alone."""

    def is_dead_letter(self, key: tuple[str, str]) -> bool:
        """Return True if the attempt `key` may not begin: the last attempt died alone, or its turn failed."""
        if self.count < ATTEMPTS_AT_MOST or self.last in (None, key):
            return False
        return self.last == self.alone or self.last[0] != key[0]


class InboxMachine(RuleBasedStateMachine):
    """Two workers, three chats, and every event between them."""

    claims = Bundle("claims")
    stale = Bundle("stale")
    redis_url = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.chats = {chat: Chat() for chat in CHATS}
        self.attempts: dict[int, Attempts] = {}
        self.box: Inbox = self.run(self._open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def _open(self) -> Inbox:
        redis = await self.stack.enter_async_context(open_redis(self.redis_url))
        await redis.call("FLUSHALL")
        return await open_inbox(redis, box_limit=100)

    @rule(chat=st.sampled_from(CHATS), number=st.integers(1, 40))
    def accept(self, chat: int, number: int) -> None:
        update = number * 10 + chat  # a chat's ids come in any order, and again
        known = update in self.attempts

        outcome = self.run(self.box.accept(update, chat=chat))

        assert outcome == ("duplicate" if known else "accepted")
        if not known:
            self.attempts[update] = Attempts()
            self.chats[chat].waiting.add(update)

    @rule(target=claims, worker=st.sampled_from(WORKERS))
    def claim(self, worker: str) -> Any:
        claimed = self.run(self.box.claim(worker, count=2))
        for claim in claimed:
            chat = self._chat(claim)
            assert chat.holder is None, "a context that somebody holds was claimed"
            chat.holder = claim
        free = [chat for chat in self.chats.values() if chat.waiting and chat.holder is None]
        assert len(claimed) == 2 or not free, "a context that waits was not claimed"
        return multiple(*claimed)

    @rule(target=claims, worker=st.sampled_from(WORKERS))
    def sweep(self, worker: str) -> Any:
        """Treat every holder as dead, whether it is or not."""
        taken = self.run(self.box.sweep(worker))
        held = [chat for chat in self.chats.values() if chat.holder is not None]
        assert len(taken) == len(held)
        for claim in taken:
            self._chat(claim).holder = claim
            self._isolate(claim)
        return multiple(*taken)

    def _isolate(self, claim: Claim) -> None:
        """Run an update alone after two workers died while it was running."""
        key = (claim.fence.entry, claim.fence.delivery)
        for update in self._chat(claim).line[:1]:
            attempts = self.attempts[update]
            deaths = 0 if attempts.is_dead_letter(key) else attempts.count
            if deaths >= ISOLATED_FROM:
                attempts.alone = key
            assert claim.deaths == deaths

    @rule(claim=claims)
    def let_others_in(self, claim: Claim) -> None:
        if not self._holds(claim):
            return self._is_fenced(claim)
        self.run(self.box.inbox.let_others_in(claim))
        for update in self._chat(claim).line[:1]:
            self.attempts[update].alone = None
        return None

    @rule(claim=claims)
    def take(self, claim: Claim) -> None:
        if not self._holds(claim):
            return self._is_fenced(claim)
        chat = self._chat(claim)
        buried = self._bury(chat, claim)

        todo = self.run(self.box.take(claim))

        assert list(todo.buried) == buried
        assert list(todo.updates) == chat.line
        return None

    @rule(claim=claims)
    def commit(self, claim: Claim) -> None:
        if not self._holds(claim):
            return self._is_fenced(claim)
        chat = self._chat(claim)
        if chat.waiting:
            first = chat.line[0]
            self.run(self.box.commit(claim, first))
            self.run(self.box.commit(claim, first))  # a repetition changes nothing
            chat.waiting.remove(first)
            chat.finished.append(first)
        return None

    @rule(claim=consumes(claims), is_rotated=st.booleans())
    def settle(self, claim: Claim, is_rotated: bool) -> None:
        if not self._holds(claim):
            return self._is_fenced(claim)
        chat = self._chat(claim)
        others_wait = any(other.waiting and other.holder is None for other in self.chats.values())
        has_more = self.run(self.box.inbox.settle(claim, rotate=is_rotated))
        assert has_more == (bool(chat.waiting) and not is_rotated and not others_wait)
        if not has_more:
            chat.holder = None
        return None

    @rule(claim=claims)
    def heartbeat(self, claim: Claim) -> None:
        if not self._holds(claim):
            return self._is_fenced(claim)
        return self.run(self.box.inbox.keep(claim))

    @precondition(lambda self: any(chat.holder for chat in self.chats.values()))
    @rule()
    def lose_the_scripts(self) -> None:
        self.run(self.box.redis.call("SCRIPT", "FLUSH"))

    @invariant()
    def every_waiting_context_has_one_entry(self) -> None:
        entries = self.run(self.box.redis.call("XRANGE", keys.partition_key(0, "ready"), "-", "+"))
        active = self.run(self.box.redis.call("HGETALL", keys.partition_key(0, "active")))
        assert {fields["context"]: entry for entry, fields in entries} == active
        assert len(entries) == len(active)
        for chat_id, chat in self.chats.items():
            assert self.run(self.box.waiting(chat_id)) == chat.line
            if chat.waiting or chat.holder:
                assert make_ref(chat_id).context_id in active

    def teardown(self) -> None:
        try:
            self._finish_everything()
            for chat in self.chats.values():
                assert chat.waiting == set()
                assert len(set(chat.finished)) == len(chat.finished)
                assert not chat.dead & set(chat.finished)
            ended = sum(len(chat.finished) + len(chat.dead) for chat in self.chats.values())
            assert ended == len(self.attempts)
            assert self.run(self.box.redis.call("XLEN", keys.partition_key(0, "ready"))) == 0
        finally:
            self.run(self.stack.aclose())
            self.runner.close()

    def _finish_everything(self) -> None:
        """Let a surviving worker take over and finish everything."""
        for claim in [*self.run(self.box.sweep("last")), *self.run(self.box.claim("last", count=9))]:
            chat = self._chat(claim)
            while True:
                if todo := self.run(self.box.take(claim)).updates:
                    first = next(iter(todo))
                    self.run(self.box.commit(claim, first))
                    chat.waiting.discard(first)
                    chat.finished.append(first)
                if not self.run(self.box.inbox.settle(claim)):
                    break
            for update in sorted(chat.waiting):  # what was left is what was buried on the way
                assert self.run(self.box.state_of(update))[0] == "dead"
                chat.waiting.remove(update)
                chat.dead.add(update)

    def _bury(self, chat: Chat, claim: Claim) -> list[int]:
        """Check the dead letter that a take must create, and the attempt that it must count."""
        key, buried = (claim.fence.entry, claim.fence.delivery), list[int]()
        for update in chat.line:
            attempts = self.attempts[update]
            if not attempts.is_dead_letter(key):
                if not buried and attempts.last != key:
                    attempts.count += 1
                    attempts.last = key
                break
            buried.append(update)
            chat.waiting.remove(update)
            chat.dead.add(update)
        return buried

    def _chat(self, claim: Claim) -> Chat:
        return self.chats[CHAT_OF[claim.ref.context_id]]

    def _holds(self, claim: Claim) -> bool:
        return self._chat(claim).holder == claim

    def _is_fenced(self, claim: Claim) -> None:
        """Check that a lost claim writes nothing."""
        line = self._chat(claim).line
        for work in (
            self.box.take(claim),
            self.box.record(claim, "model:1"),
            self.box.commit(claim, *line[:1]),
            self.box.inbox.keep(claim),
            self.box.inbox.let_others_in(claim),
            self.box.inbox.settle(claim),
        ):
            try:
                self.run(work)
            except Fenced:
                continue
            raise AssertionError("a worker that lost its context has written")


def test_no_crash_loses_doubles_or_reorders_an_update(redis_url: str) -> None:
    InboxMachine.redis_url = redis_url
    run_state_machine_as_test(InboxMachine, settings=settings(max_examples=15, stateful_step_count=35))
