"""A state machine of the inbox and of the turn's commit: every event, on the real store and in a model."""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from bot.errors import Fenced, TurnStopped
from bot.inbox.inspection import InboxInspection
from bot.inbox.records import ATTEMPTS_AT_MOST, ISOLATED_FROM, Claim
from bot.transport.migrations import Migrations
from bot.turn.outbox import Part
from memory import keys
from memory.codec import parse_json
from memory.errors import Forgotten
from memory.history.redis_history import RedisHistory
from memory.history.store import Erasure
from memory.redis.client import open_redis
from tests.contract.inbox_kit import NOW, Inbox, open_inbox, some_parts
from tests.messages import make_message, make_ref
from tests.stores import stray_keys

T = TypeVar("T")

CHATS = (1, 2)
WORKERS = ("anna", "bert")
CHAT_OF = {make_ref(chat).context_id: chat for chat in CHATS}
SENDS_AT_MOST = 2
UPDATE_NUMBERS = 30

Outcome = Literal["sent", "unknown", "refused", "crash"]
Meanwhile = Literal["nothing", "clear", "reset"]
"""An event from outside between a turn's read and its commit."""


@dataclass(slots=True)
class Update:
    """The model's state of an update: its chat, its state, and its attempts."""

    chat: int
    state: str = "pending"
    attempts: int = 0
    attempt: tuple[str, str] | None = None
    alone: tuple[str, str] | None = None

    def is_dead_letter(self, key: tuple[str, str]) -> bool:
        """Return True if the attempt `key` may not begin: the last attempt died alone, or its turn failed."""
        if self.attempts < ATTEMPTS_AT_MOST or self.attempt in (None, key):
            return False
        return self.attempt == self.alone or self.attempt[0] != key[0]


@dataclass(slots=True)
class Chat:
    """The model's state of a chat: waiting updates, journal, outbox, and history."""

    number: int
    waiting: set[int] = field(default_factory=set[int])
    journal: dict[str, str] = field(default_factory=dict[str, str])
    outbox: list[Part] = field(default_factory=list[Part])
    begun: int = 0
    delivering: list[int] = field(default_factory=list[int])
    sent_epoch: int = 0
    history: list[str] = field(default_factory=list[str])
    shown: dict[str, str] = field(default_factory=dict[str, str])
    epoch: int = 0
    stop: int = 0
    holder: Claim | None = None
    is_active: bool = False

    @property
    def line(self) -> list[int]:
        return sorted(self.waiting)

    @property
    def has_work(self) -> bool:
        return bool(self.waiting or self.outbox)

    def clear(self) -> None:
        """Clear everything except the epoch and the holder, as a reset does."""
        self.journal.clear()
        self.outbox.clear()
        self.delivering.clear()
        self.history.clear()
        self.shown.clear()
        self.begun = self.stop = 0
        self.epoch += 1


@dataclass(slots=True)
class Seen:
    """A worker's knowledge of its context since its last take."""

    epoch: int
    line: list[int]
    begun: int | None = None


def _is_held(machine: "TurnMachine") -> bool:
    return bool(machine.held())


def _may_commit(machine: "TurnMachine") -> bool:
    return bool(machine.committing())


def _may_send(machine: "TurnMachine") -> bool:
    return bool(machine.sending())


def _has_dead(machine: "TurnMachine") -> bool:
    return bool(machine.dead)


class TurnMachine(RuleBasedStateMachine):
    """Two workers, two chats, operators, and updates from Telegram. Replies of the store may get lost."""

    claims = Bundle("claims")
    redis_url = ""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.chats = {chat: Chat(chat) for chat in CHATS}
        self.updates: dict[int, Update] = {}
        self.dead: set[int] = set()
        self.seen: dict[Claim, Seen] = {}
        self.sends: dict[Part, int] = {}
        self.told = 0
        self.box: Inbox = self.run(self._open())
        self.history = RedisHistory(self.box.redis)
        self.operator = InboxInspection(self.box.redis, partitions=1, clock=lambda: NOW)
        self.migrations = Migrations(self.box.redis, clock=lambda: NOW)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def _open(self) -> Inbox:
        redis = await self.stack.enter_async_context(open_redis(self.redis_url))
        await redis.call("FLUSHALL")
        return await open_inbox(redis, box_limit=100)

    @initialize(target=claims, first=st.integers(1, 20))
    def begin(self, first: int) -> Any:
        """Begin with some updates and a worker."""
        for number in range(first, first + 3):
            for chat in CHATS:
                self.come(chat, number, "turn")
        return multiple(*(self._claimed("anna")))

    @rule(
        chat=st.sampled_from(CHATS),
        number=st.integers(1, UPDATE_NUMBERS),
        mode=st.sampled_from(["turn", "turn", "stop", "ignored"]),
    )
    def come(self, chat: int, number: int, mode: Literal["turn", "stop", "ignored"]) -> None:
        """Accept an update."""
        update, box = number * 10 + chat, self.chats[chat]
        outcome = self.run(self.box.accept(update, chat=chat, mode=mode))
        if update in self.updates:
            assert outcome == "duplicate"
            return
        self.updates[update] = Update(chat=chat)
        if mode == "ignored":
            assert outcome == "ignored"
            self.updates[update].state = "ignored"
        elif mode == "stop" and box.is_active and not box.outbox:
            assert outcome == "control"
            self.updates[update].state, box.stop = "answered", update
        else:
            assert outcome == "accepted"
            if mode == "stop" and box.is_active:  # the delivery of the outbox looks for it in the line
                box.stop = update
            box.waiting.add(update)
            box.is_active = True

    @rule(target=claims, worker=st.sampled_from(WORKERS))
    def claim(self, worker: str) -> Any:
        return multiple(*self._claimed(worker))

    def _claimed(self, worker: str) -> list[Claim]:
        claimed = self.run(self.box.claim(worker, count=1))
        for claim in claimed:
            assert self._chat(claim).holder is None, "a context that somebody holds was claimed"
            self._chat(claim).holder = claim
        free = [chat for chat in self.chats.values() if chat.is_active and chat.holder is None]
        assert claimed or not free, "a context that waits was not claimed"
        return claimed

    @rule(target=claims, worker=st.sampled_from(WORKERS))
    def sweep(self, worker: str) -> Any:
        """Treat every holder as dead, whether it is or not."""
        return multiple(*self._swept(worker))

    def _swept(self, worker: str) -> list[Claim]:
        taken = self.run(self.box.sweep(worker))
        assert len(taken) == sum(chat.holder is not None for chat in self.chats.values())
        for claim in taken:
            before, self._chat(claim).holder = self._chat(claim).holder, claim
            assert before is not None
            self._writes_nothing(before)
            self._isolate(claim)
        return taken

    @precondition(_is_held)
    @rule(data=st.data())
    def take(self, data: st.DataObject) -> None:
        self._take(self._draw_holder(data))

    def _take(self, claim: Claim) -> None:
        chat = self._chat(claim)
        buried = [] if chat.outbox else self._bury(chat, claim)

        todo = self.run(self.box.take(claim))

        assert list(todo.buried) == buried
        assert list(todo.updates) == chat.line
        assert (list(todo.parts), todo.journal) == (chat.outbox, chat.journal)
        assert todo.sends_begun == chat.begun
        seen = self.seen[claim] = Seen(epoch=chat.epoch, line=chat.line)
        if chat.outbox:  # a send that was begun may have arrived
            seen.begun = chat.begun

    @precondition(_is_held)
    @rule(data=st.data(), step=st.sampled_from(["model:1", "tool:1:0"]))
    def record(self, data: st.DataObject, step: str) -> None:
        claim = self._draw_holder(data)
        seen, chat = self.seen.get(claim), self._chat(claim)
        if seen is None or not seen.line:
            return None
        work = self.box.turns.record(
            claim, epoch=seen.epoch, newest_update=seen.line[0], fields={step: "done"}
        )
        if seen.epoch != chat.epoch or seen.line[0] not in chat.waiting:
            return self._raises(Forgotten, work)
        chat.journal[step] = "done"
        return self._raises(TurnStopped, work) if chat.stop > seen.line[0] else self.run(work)

    @precondition(_is_held)
    @rule(data=st.data())
    def restart(self, data: st.DataObject) -> None:
        claim = self._draw_holder(data)
        for number in self._chat(claim).line[:1]:
            update = self.updates[number]
            if update.attempt == (claim.fence.entry, claim.fence.delivery):
                update.attempts, update.attempt = update.attempts - 1, None
        self._chat(claim).journal.clear()
        self.run(self.box.turns.restart(claim))

    @precondition(_may_commit)
    @rule(
        data=st.data(),
        count=st.integers(1, 2),
        parts=st.integers(0, 2),
        is_repeated=st.booleans(),
        meanwhile=st.sampled_from(["nothing", "nothing", "clear", "reset"]),
    )
    def commit(
        self, data: st.DataObject, count: int, parts: int, is_repeated: bool, meanwhile: Meanwhile
    ) -> None:
        """End a turn, possibly after a reset. If the reply is lost, the commit runs again."""
        claim = data.draw(st.sampled_from(self.committing()))
        if claim not in self.seen:
            self._take(claim)
        match meanwhile:
            case "clear":
                self.clear(self._chat(claim).number)
            case "reset":
                self.reset(self._chat(claim).number)
            case "nothing":
                pass
        self._end_turn(claim, count, parts, is_repeated)

    def _end_turn(self, claim: Claim, count: int, parts: int, is_repeated: bool) -> None:
        seen, chat = self.seen[claim], self._chat(claim)
        if not seen.line or chat.outbox:
            return
        of = seen.line[:count]
        self.told += 1
        name = f"m{self.told}"
        lines = some_parts(
            *(f"{name} part {part}" for part in range(parts)), update_id=of[0], epoch=seen.epoch, of=name
        )
        work: dict[str, Any] = {"messages": [make_message(name)], "parts": lines, "epoch": seen.epoch}
        if seen.epoch != chat.epoch:
            self._raises(Forgotten, self.box.commit(claim, *of, **work))
            return
        is_done = of[0] not in chat.waiting
        self._commit(claim, of, work, times=2 if is_repeated else 1)
        if is_done:
            return
        chat.waiting -= set(of)
        chat.history.append(name)
        chat.journal.clear()
        chat.outbox = list(lines)
        for update in of:
            self.updates[update].state = "delivering" if lines else "answered"
        chat.delivering = list(of) if lines else chat.delivering
        seen.begun = 0 if lines else None
        chat.sent_epoch = chat.epoch

    def _commit(self, claim: Claim, of: list[int], work: dict[str, Any], *, times: int) -> None:
        """Commit. A commit of a forgotten or finished turn changes nothing and returns the reason."""
        for _ in range(times):
            if self.updates[of[0]].state == "forgotten":
                self._raises(Forgotten, self.box.commit(claim, *of, **work))
            else:
                self.run(self.box.commit(claim, *of, **work))

    @precondition(_may_send)
    @rule(
        data=st.data(),
        outcome=st.sampled_from(["sent", "sent", "unknown", "refused", "crash"]),
        is_repeated=st.booleans(),
    )
    def deliver(self, data: st.DataObject, outcome: Outcome, is_repeated: bool) -> None:
        """Send the outbox's first part, as the delivery does."""
        self._deliver(data.draw(st.sampled_from(self.sending())), outcome, is_repeated)

    def _deliver(self, claim: Claim, outcome: Outcome, is_repeated: bool) -> None:
        seen, chat = self.seen.get(claim), self._chat(claim)
        if seen is None or seen.begun is None or not chat.outbox:
            return
        line = chat.outbox[0]
        if seen.begun == SENDS_AT_MOST:
            self._note(claim, line, is_repeated=is_repeated)
            return
        seen.begun = chat.begun = seen.begun + 1
        assert self.run(self.box.turns.count_sends(claim, line, chat.begun))
        self.sends[line] = self.sends.get(line, 0) + 1
        assert self.sends[line] <= SENDS_AT_MOST, "a part was sent more than twice"
        match outcome:
            case "sent":
                self._note(claim, line, is_repeated=is_repeated, telegram_id=len(self.sends) + 1000)
            case "refused":
                self._note(claim, line, is_repeated=is_repeated, undeliverable="undeliverable_refused")
            case "unknown":
                pass
            case "crash":
                seen.begun = None  # nobody goes on before the next take

    def _note(self, claim: Claim, part: Part, *, is_repeated: bool, **outcome: Any) -> None:
        chat, seen = self._chat(claim), self.seen[claim]
        note = partial(self.box.turns.sent, claim, part, **outcome)
        settles = len(chat.outbox) == 1 and not chat.waiting and "undeliverable" not in outcome
        assert self.run(note())
        assert claim.settled.is_set() == settles
        if is_repeated and settles:
            self._raises(Fenced, note())
        elif is_repeated:  # after an erasure it cannot be told from one
            assert self.run(note()) == (chat.sent_epoch == chat.epoch)
        chat.outbox = [] if "undeliverable" in outcome else chat.outbox[1:]
        message_id = part.message_id
        if message_id and chat.sent_epoch == chat.epoch and (number := outcome.get("telegram_id")):
            chat.shown[str(number)] = message_id
        if chat.outbox:
            seen.begun = chat.begun = 0
            return
        for update in chat.delivering:
            self.updates[update].state = "ignored" if "undeliverable" in outcome else "answered"
        chat.delivering, chat.begun, seen.begun = [], 0, None
        if settles:
            chat.holder, chat.is_active = None, False

    @precondition(_is_held)
    @rule(data=st.data(), is_rotated=st.booleans())
    def settle(self, data: st.DataObject, is_rotated: bool) -> None:
        self._settle(self._draw_holder(data), is_rotated)

    def _settle(self, claim: Claim, is_rotated: bool) -> None:
        chat = self._chat(claim)
        others_wait = any(other.is_active and other.holder is None for other in self.chats.values())
        has_more = self.run(self.box.inbox.settle(claim, rotate=is_rotated))
        assert has_more == (chat.has_work and not is_rotated and not others_wait)
        if not has_more:
            chat.holder, chat.is_active = None, chat.has_work

    @rule(claim=claims)
    def come_late(self, claim: Claim) -> None:
        """Check that a worker without its claim writes nothing."""
        if self._chat(claim).holder != claim:
            self._writes_nothing(claim)

    def _writes_nothing(self, claim: Claim) -> None:
        (line,) = some_parts("late")
        for work in (
            self.box.take(claim),
            self.box.record(claim, "model:1"),
            self.box.turns.restart(claim),
            self.box.commit(claim, 11, parts=[line]),
            self.box.turns.count_sends(claim, line, 2),
            self.box.turns.replace_part(claim, line, [line]),
            self.box.turns.sent(claim, line, telegram_id=1),
            self.box.turns.reset(claim.ref, answering=(claim, 11)),
            self.box.inbox.keep(claim),
            self.box.inbox.settle(claim),
        ):
            self._raises(Fenced, work)

    @rule(chat=st.sampled_from(CHATS))
    def reset(self, chat: int) -> None:
        """Reset from outside, at any moment."""
        box = self.chats[chat]
        erased = self.run(self.box.turns.reset(make_ref(chat)))
        dead = {update for update in self.dead if self.updates[update].chat == chat}
        for update in {*box.waiting, *box.delivering, *dead}:
            self.updates[update].state = "forgotten"
        assert (erased.messages, erased.updates) == (
            len(box.history),
            len({*box.waiting, *box.delivering, *dead}),
        )
        self.dead -= dead
        box.waiting.clear()
        box.clear()
        assert erased.epoch == box.epoch

    @precondition(_is_held)
    @rule(data=st.data())
    def reset_by_the_turn(self, data: st.DataObject) -> None:
        """Reset by the running update. Later updates stay."""
        claim = self._draw_holder(data)
        seen, chat = self.seen.get(claim), self._chat(claim)
        if seen is None or not seen.line or seen.line[0] not in chat.waiting:
            return
        if chat.outbox:
            return
        own = seen.line[0]
        erased = self.run(self.box.turns.reset(make_ref(chat.number), answering=(claim, own)))
        dead = {update for update in self.dead if self.updates[update].chat == chat.number}
        gone = {update for update in chat.waiting if update < own} | dead
        for update in gone:
            self.updates[update].state = "forgotten"
        chat.waiting -= gone
        self.dead -= dead
        chat.clear()
        assert erased.epoch == chat.epoch
        line = self.run(
            self.box.redis.call("HGET", keys.context_key(make_ref(chat.number), "journal"), "reset")
        )
        assert parse_json(Erasure, line) == erased
        chat.journal["reset"] = line
        seen.epoch, seen.line = chat.epoch, [update for update in seen.line if update in chat.waiting]

    @rule(chat=st.sampled_from(CHATS))
    def clear(self, chat: int) -> None:
        """Erase the memory only. Waiting updates stay; a turn that has read before must not write."""
        box = self.chats[chat]
        assert self.run(self.history.erase(make_ref(chat))) is not None
        box.history.clear()
        box.shown.clear()
        box.epoch += 1

    @rule(chat=st.sampled_from(CHATS), which=st.integers(0, 3))
    def forget(self, chat: int, which: int) -> None:
        box = self.chats[chat]
        if not box.history:
            return
        name = box.history[which % len(box.history)]
        self.run(self.history.delete(make_ref(chat), [name], epoch=box.epoch))
        box.history.remove(name)
        box.shown = {number: of for number, of in box.shown.items() if of != name}

    @rule(chat=st.sampled_from(CHATS), where=st.integers(1, 2))
    def migrate(self, chat: int, where: int) -> None:
        box = self.chats[chat]
        is_first = self.run(self._migrate(chat, where))
        assert self.run(self._migrate(chat, where)) is False
        if is_first:
            box.shown.clear()

    async def _migrate(self, chat: int, where: int) -> bool:
        epoch = self.chats[chat].epoch
        return await self.migrations.forget_telegram_ids(make_ref(chat), epoch=epoch, new_chat_id=-where)

    @precondition(_has_dead)
    @rule(verb=st.sampled_from(["retry", "drop"]), which=st.integers(0, 3))
    def settle_dead(self, verb: str, which: int) -> None:
        update = sorted(self.dead)[which % len(self.dead)]
        settle = self.operator.retry if verb == "retry" else self.operator.drop
        assert self.run(settle(update))
        assert not self.run(settle(update)), "a dead letter was taken up twice"
        self.dead.remove(update)
        if verb == "retry":
            known, box = self.updates[update], self.chats[self.updates[update].chat]
            known.state, known.attempts = "pending", 0
            box.waiting.add(update)
            box.is_active = True

    @rule()
    def lose_the_scripts(self) -> None:
        self.run(self.box.redis.call("SCRIPT", "FLUSH"))

    @invariant()
    def the_store_is_as_the_model(self) -> None:
        entries, active, dead, *rows = self.run(self.box.redis.calls(self._questions()))
        assert {fields["context"]: entry for entry, fields in entries} == active
        assert len(entries) == len(active), "a context has two entries"
        assert set(active) == {
            make_ref(chat.number).context_id for chat in self.chats.values() if chat.is_active
        }
        assert {int(update) for update in dead} == self.dead
        for number, chat in enumerate(self.chats.values()):
            waiting, outbox, begun, delivering, journal, order, epoch, shown = rows[
                number * 8 : number * 8 + 8
            ]
            assert [int(update) for update in waiting] == chat.line
            assert (journal, order) == (chat.journal, chat.history)
            assert [parse_json(Part, line) for line in outbox] == chat.outbox
            assert (int(begun or 0), int(epoch or 0)) == (chat.begun, chat.epoch)
            assert sorted(map(int, delivering)) == sorted(chat.delivering)
            assert {n: of for n, of in shown.items() if n.isdigit()} == chat.shown
        assert self._states(rows[len(CHATS) * 8 :]) == {n: each.state for n, each in self.updates.items()}

    def _states(self, records: list[list[str | None]]) -> dict[int, str]:
        """Check the states of all updates. A payload exists only as long as it may be needed."""
        found: dict[int, str] = {}
        for update, (state, payload) in zip(self.updates, records, strict=True):
            needs = self.updates[update].state in {"pending", "dead"} and (
                update in self.dead or update in self.chats[self.updates[update].chat].waiting
            )
            assert (payload is not None) == needs
            found[update] = state or ""
        return found

    def _questions(self) -> list[tuple[str | int, ...]]:
        questions: list[tuple[str | int, ...]] = [
            ("XRANGE", keys.partition_key(0, "ready"), "-", "+"),
            ("HGETALL", keys.partition_key(0, "active")),
            ("ZRANGE", keys.partition_key(0, "dead"), 0, -1),
        ]
        for chat in CHATS:
            ref = make_ref(chat)
            questions += [
                ("ZRANGE", keys.context_key(ref, "box"), 0, -1),
                ("LRANGE", keys.context_key(ref, "outbox"), 0, -1),
                ("GET", keys.context_key(ref, "sending")),
                ("ZRANGE", keys.context_key(ref, "delivering"), 0, -1),
                ("HGETALL", keys.context_key(ref, "journal")),
                ("ZRANGE", keys.context_key(ref, "order"), 0, -1),
                ("GET", keys.context_key(ref, "epoch")),
                ("HGETALL", keys.context_key(ref, "telegram")),
            ]
        return questions + [
            ("HMGET", keys.partition_key(0, "update", update), "state", "payload") for update in self.updates
        ]

    def teardown(self) -> None:
        try:
            self._finish_everything()
            self.the_store_is_as_the_model()
            assert {update.state for update in self.updates.values()} <= {
                "answered",
                "ignored",
                "forgotten",
                "dead",
            }
            assert self.run(stray_keys(self.box.redis)) == []
        finally:
            self.run(self.stack.aclose())
            self.runner.close()

    def _finish_everything(self) -> None:
        """Let a surviving worker take over and finish everything."""
        self._swept("last")
        while any(chat.is_active for chat in self.chats.values()):
            self._claimed("last")
            for chat in self.chats.values():
                if chat.holder is None:
                    continue
                claim = chat.holder
                self._take(claim)
                while chat.outbox:
                    self._deliver(claim, "sent", True)
                if chat.waiting:
                    self.clear(chat.number)  # in every example one falls between the reading and the commit
                    self._end_turn(claim, 1, 1, True)
                    self._take(claim)
                    self._end_turn(claim, 1, 1, True)
                while chat.outbox:
                    self._deliver(claim, "sent", False)
                if not claim.settled.is_set():
                    self._settle(claim, True)

    def _isolate(self, claim: Claim) -> None:
        """Run an update alone after two workers died while it was running."""
        key = (claim.fence.entry, claim.fence.delivery)
        for number in [] if self._chat(claim).outbox else self._chat(claim).line[:1]:
            update = self.updates[number]
            deaths = 0 if update.is_dead_letter(key) else update.attempts
            if deaths >= ISOLATED_FROM:
                update.alone = key
            assert claim.deaths == deaths

    def _bury(self, chat: Chat, claim: Claim) -> list[int]:
        """Check the dead letter that a take must create, and the attempt that it must count."""
        key, buried = (claim.fence.entry, claim.fence.delivery), list[int]()
        for number in chat.line:
            update = self.updates[number]
            if not update.is_dead_letter(key):
                if not buried and update.attempt != key:
                    update.attempts += 1
                    update.attempt = key
                break
            buried.append(number)
            chat.waiting.remove(number)
            self.dead.add(number)
            update.state = "dead"
        return buried

    def _chat(self, claim: Claim) -> Chat:
        return self.chats[CHAT_OF[claim.ref.context_id]]

    def _draw_holder(self, data: st.DataObject) -> Claim:
        return data.draw(st.sampled_from(self.held()))

    def held(self) -> list[Claim]:
        """Return the valid claims."""
        return [chat.holder for chat in self.chats.values() if chat.holder]

    def committing(self) -> list[Claim]:
        """Return the claims whose worker may end a turn, because nothing waits for delivery."""
        return [claim for claim in self.held() if self._chat(claim).waiting and not self._chat(claim).outbox]

    def sending(self) -> list[Claim]:
        """Return the claims whose worker is delivering."""
        return [
            claim
            for claim in self.held()
            if self._chat(claim).outbox and claim in self.seen and self.seen[claim].begun is not None
        ]

    def _raises(self, error: type[Exception], work: Coroutine[Any, Any, Any]) -> None:
        try:
            self.run(work)
        except error:
            return
        raise AssertionError(f"{error.__name__} was not raised")
