"""The turn: take the waiting updates of a claimed context, batch them, act, and settle the context."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import structlog

from bot.errors import Fenced, TurnRestarted
from bot.inbox.isolation import Settling
from bot.inbox.records import Claim, TerminalState
from bot.inbox.signals import Incoming, Signals
from bot.observe import metrics
from bot.observe.logs import hide_texts
from bot.transport.gating import UNKNOWN_BUTTON, BotIdentity, strip_mention
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.words import words_for
from bot.turn.answer import Answerer
from bot.turn.batch import (
    BurstWaits,
    LastTurn,
    find_last_turn,
    is_outdated,
    is_stopped,
    plan_again,
    plan_batch,
    read_waiting,
    seconds_for_more,
    with_overheard,
)
from bot.turn.chat_events import Buttons, Edits, Memberships, has_same_text
from bot.turn.commands import CommandCall, Commands
from bot.turn.commit import Committer, Reply
from bot.turn.hooks import Hooks
from bot.turn.limits import LimitGuard, payer_of
from bot.turn.outbox import plan_reply
from bot.turn.permissions import Permissions
from bot.turn.question import Question, TurnJournal, joined_updates, preview_in
from bot.turn.rest import is_reset_press
from bot.turn.store import Commit, Todo, TurnStore
from memory.errors import Forgotten, MemoryFailure
from memory.history.buffered import BufferedHistory
from memory.history.store import HistorySnapshot, HistoryStore

log = structlog.get_logger()

QUANTUM = 8
"""Turns of one context in a row. Then it goes to the end of the line, so that other chats get a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Works on claimed contexts, one turn after the other."""

    bot: BotIdentity
    store: TurnStore
    history: HistoryStore
    signals: Signals
    guard: LimitGuard
    answerer: Answerer
    commands: Commands
    permissions: Permissions
    memberships: Memberships
    hooks: Hooks
    edits: Edits
    committer: Committer
    buttons: Buttons
    burst_waits: BurstWaits
    clock: Callable[[], float]

    async def work_on(self, claim: Claim, settling: Settling) -> None:
        """Do the context's work, or a quantum of it. A cancellation hands the context back.

        A turn that fails is tried again until its update is a dead letter. Raises Fenced and store errors.
        """
        head: int | None = None
        try:
            for number in range(1, QUANTUM + 1):
                head = None
                with self.signals.watch(claim.ref.context_id) as incoming:
                    todo, snapshot = await self._take(claim)
                    head = next(iter(todo.updates), None) if not todo.parts else None
                    is_whole = await self._do(claim, todo, snapshot, incoming)
                # After a turn that an earlier worker died over, the next one begins with a new entry.
                is_over = number == QUANTUM or not is_whole or claim.is_taken_over
                if claim.settled.is_set() or not await settling.settle(claim, rotate=is_over):
                    return
        except asyncio.CancelledError:
            with suppress(Fenced, MemoryFailure):
                await settling.settle(claim, rotate=True, handed_back=head)
            raise

    async def _take(self, claim: Claim) -> tuple[Todo, HistorySnapshot]:
        with metrics.TURN_SECONDS.labels("load").time():
            return await self.store.take(claim, window=self.answerer.limits.window_messages)

    async def _do(self, claim: Claim, todo: Todo, snapshot: HistorySnapshot, incoming: Incoming) -> bool:
        """Deliver what a crash has left, or apologise for dead letters, or do a turn. False: the turn failed."""
        try:
            if todo.parts and not _is_reset_next(todo):
                log.info("delivery_resumed", parts=len(todo.parts), sends_begun=todo.sends_begun)
                await self.committer.delivery.deliver(claim, todo.parts, sends_begun=todo.sends_begun)
            elif todo.buried:
                await self._apologise(claim, todo, epoch=snapshot.epoch)
            elif todo.updates:
                with metrics.TURN_SECONDS.labels("whole").time():
                    question = await self._gather(claim, todo, snapshot, incoming)
                    if question is not None:
                        await self._act(question)
        except Forgotten:
            log.info("turn_forgotten", context=claim.ref.context_id)
            with suppress(Forgotten):
                await self._end_inline(claim, todo)
        except TurnRestarted:
            metrics.TURNS_RESTARTED.inc()
            await self.store.restart(claim, epoch=snapshot.epoch)
        except (Fenced, MemoryFailure):
            raise
        except Exception:
            # The turn's broad catch: the context goes on, after three tries without this update.
            metrics.WORKER_FAILURES.labels("turn").inc()
            log.exception("turn_broke", context=claim.ref.context_id)
            return False
        return True

    async def _gather(
        self, claim: Claim, todo: Todo, snapshot: HistorySnapshot, incoming: Incoming
    ) -> Question | None:
        """Return the next question once it is complete: an album, forwards and a long paste are several messages.

        Return None if everything was forgotten meanwhile. Raises TurnRestarted if a message of an interrupted
        turn was edited since.
        """
        loop, newest, ends_at = asyncio.get_running_loop(), None, 0.0
        while True:
            waiting = read_waiting(todo.updates.values(), unkept=todo.unkept, answers=todo.answers)
            if not waiting:
                return None
            joined = [each for each in joined_updates(todo.journal) if each in todo.updates]
            batch = plan_batch(waiting, joined, todo.stopped_before, corrections=todo.corrections)
            if joined:
                _check_edits(waiting, joined)
                metrics.TURNS_RESUMED.inc()
                log.info("turn_resumed", steps=len(todo.journal))
                break
            seconds = seconds_for_more(batch, waiting, self.burst_waits)
            if seconds <= 0 or is_stopped(batch, waiting, todo.stopped_before):
                break
            if newest != batch.updates[-1].update_id:
                newest, ends_at = batch.updates[-1].update_id, loop.time() + seconds
            if loop.time() >= ends_at:
                break
            with suppress(TimeoutError):
                async with asyncio.timeout(ends_at - loop.time()):
                    await incoming.get()
            todo, snapshot = await self._take(claim)
        if self.answerer.conversations.shows_talk:
            batch, snapshot = with_overheard(batch, snapshot)
        history = BufferedHistory(self.history, claim.ref, snapshot)
        journal = TurnJournal(
            store=self.store,
            claim=claim,
            history=history,
            batch=batch,
            own_messages=len(batch.messages),
            steps=todo.journal,
        )
        return Question(
            claim=claim,
            batch=batch,
            snapshot=snapshot,
            history=history,
            journal=journal,
            incoming=incoming,
            waiting=waiting,
            joined=joined,
            stopped_before=todo.stopped_before,
            corrections=todo.corrections,
        )

    async def _act(self, question: Question) -> None:
        """Do what the batch asks for; each case ends with one commit. Raises TurnRestarted."""
        first = question.first
        structlog.contextvars.bind_contextvars(update=first.update_id, chat=first.message.chat_id)
        hide_texts(is_hidden=first.is_incognito)
        match first.admission.action:
            case "refuse":
                await self._refuse(question)
            case "edit":
                await self._edit(question)
            case "press":
                await self._press(question)
            case "remind":
                if all([await take_turn(question) for take_turn in self.hooks.own_turns]):
                    await self._answer(question)
            case "notice":
                await self._end(question, Reply(text=first.message.text), reason=first.admission.reason)
            case "membership" | "migration":
                epoch = question.snapshot.epoch
                reply = await self.memberships.follow(first, question.claim.ref, epoch=epoch)
                await self._end(question, reply, reason=first.admission.reason)
            case _ if (command := first.admission.command) is not None:
                reply = await self.commands.run(
                    command.name, _call(question, command.argument, self.permissions)
                )
                await self._end(question, reply, reason=f"command_{command.name}")
            case _:
                text = strip_mention(first.message, bot=self.bot)
                call = _call(question, text, self.permissions)
                # What a feature takes is written into memory.
                taken = await _reply_of_feature(self.hooks, call) if first.is_kept else None
                if taken is None:
                    await self._answer(question)
                else:
                    await self._end(question, taken[1], reason=taken[0])

    async def _answer(self, question: Question) -> None:
        """Answer the question unless a limit forbids it. A resumed turn was admitted before.

        Raises TurnRestarted if an earlier try has read a message that was forgotten since.
        """
        if question.joined and question.journal.is_outdated:
            raise TurnRestarted
        refusal = None
        if not question.joined:
            refusal = await self.guard.check(
                question.batch.update_ids,
                question.words,
                user_id=question.user_id,
                chat_id=question.to.chat_id,
                always_says=bool(question.to.inline_id),
            )
        if refusal is not None:
            await self._refuse_by_limit(question, refusal)
            return
        with metrics.TURN_SECONDS.labels("agent").time():
            await self.answerer.answer(question)

    async def _refuse_by_limit(self, question: Question, refusal: tuple[str, str]) -> None:
        """Say which limit is reached. A refused message is not kept; an edit of an older one is, with its answer."""
        reason, text = refusal
        claim, epoch, newest = question.claim, question.snapshot.epoch, question.newest
        if question.again is not None:
            for edit in question.batch.updates:
                await self.edits.replace(claim.ref, edit.message, epoch=epoch)
            await self._put_back(question, question.again.answer.text)
        shown_in = None if question.again else await question.journal.shown_in()
        await self.committer.end(
            claim,
            newest,
            Reply(text=text, deletes=_only(shown_in)),
            epoch=epoch,
            update_ids=question.batch.update_ids,
            state="refused",
            reason=reason,
        )

    async def _put_back(self, question: Question, text: str) -> None:
        """Restore the first message of the older answer: a preview may have overwritten it."""
        epoch = question.snapshot.epoch
        parts = plan_reply(
            text,
            question.to,
            words=question.words,
            long_answers=self.answerer.limits.long_answers,
            edits=question.shown_as,
        )[:1]
        await self.committer.commit(question.claim, Commit(update_ids=[], epoch=epoch, parts=parts))

    async def _edit(self, question: Question) -> None:
        """Answer the last turn again if this is an edit of it. Otherwise only replace the stored message."""
        message, snapshot, ref = question.first.message, question.snapshot, question.claim.ref
        if not question.first.is_kept:
            await self._end(question, Reply(), state="ignored", reason="edit_in_incognito")
            return
        last = find_last_turn(snapshot, message, now=self.clock())
        stored = last.find(message.message_id) if last else None
        if stored is not None and has_same_text(stored, message, strip_mention(message, bot=self.bot)):
            await self._end(question, Reply(), state="ignored", reason="edit_changes_nothing")
            return
        shown_as = await self.store.shown_as(ref, last.answer.id) if last else ()
        if last is not None and shown_as:
            await self._answer(self._again(question, last, shown_as))
            return
        outcome = await self.edits.replace(ref, message, epoch=snapshot.epoch)
        state: TerminalState = "answered" if outcome == "edited" else "ignored"
        # Part of an answer whose question or older answer is gone.
        begun = await question.journal.shown_in()
        await self._end(question, Reply(deletes=_only(begun)), state=state, reason=outcome)

    def _again(self, question: Question, last: LastTurn, shown_as: Sequence[int]) -> Question:
        """Return the question that the edits make of the last turn, on a history without that turn."""
        batch = plan_again(last, question.waiting, question.joined)
        history = BufferedHistory(
            self.history, question.claim.ref, question.snapshot, hidden_from=last.sequence
        )
        return replace(
            question,
            batch=batch,
            history=history,
            journal=replace(question.journal, history=history, batch=batch, own_messages=len(last.messages)),
            again=last,
            shown_as=shown_as,
        )

    async def _press(self, question: Question) -> None:
        """Run the command of the button. Stop buttons of running turns do not come here.

        A press that has waited may have expired. A notice without a reply then becomes a message.
        """
        press, batch, reply = question.first, question.batch, None
        if press.callback is not None and press.admission.reason != UNKNOWN_BUTTON:
            reply = await self.commands.press(_call(question, press.callback.data, self.permissions))
        if reply is None:
            reply = Reply()
            await self.buttons.answer_stale_stop(press)
        else:
            if reply.closes_menu:
                await self.buttons.remove(press)
            is_seen = await self.buttons.show(press, reply.notice, is_alert=bool(reply.notice))
            if not (is_seen or reply.text or reply.rich):
                reply = replace(reply, text=reply.notice)
            for each in question.waiting:
                if each.update_id in batch.folded:
                    await self.buttons.answer(each)
        await self._end(question, reply, reason=press.admission.reason)

    async def _refuse(self, question: Question) -> None:
        """Refuse politely once for each person and chat, then stay silent. All who write as channels are one person."""
        update, chat_id = question.first, question.first.message.chat_id
        is_first = bool(update.inline_id) or await self.store.note_refusal(
            question.claim.ref,
            chat_id=chat_id,
            sender_id=payer_of(question.user_id, chat_id),
            update_id=update.update_id,
        )
        text = question.words("refused") if is_first else ""
        await self._end(question, Reply(text=text), state="refused", reason="not_allowed")

    async def _end_inline(self, claim: Claim, todo: Todo) -> None:
        """Replace the inline messages whose questions a reset has erased: nothing else will ever edit them."""
        for update in map(parse_waiting, todo.updates.values()):
            if update.inline_id:
                reply = Reply(text=words_for(update.message.language_code)("inline-erased"))
                wordless = replace(update, message=replace(update.message, text=""))
                epoch = (await self._take(claim))[1].epoch
                await self.committer.end(claim, wordless, reply, epoch=epoch, update_ids=[])

    async def _apologise(self, claim: Claim, todo: Todo, *, epoch: int) -> None:
        """Say one sentence about updates that became dead letters, and delete the message that showed them."""
        buried = todo.buried
        metrics.DEAD_LETTERS.inc(len(buried))
        metrics.FINISHED.labels("dead").inc(len(buried))
        log.error("dead_letter", updates=list(buried))
        update = parse_waiting(list(buried.values())[-1])
        words = words_for(update.message.language_code)
        text = words("buried-edit" if update.admission.action == "edit" else "buried")
        reply = Reply(text=text, deletes=_only(preview_in(todo.journal)))
        await self.committer.end(claim, update, reply, epoch=epoch, update_ids=[])

    async def _end(
        self, question: Question, reply: Reply, *, reason: str, state: TerminalState = "answered"
    ) -> None:
        """End the first update, and presses that repeat it, with a reply that is not kept in the history."""
        is_press = question.first.callback is not None
        await self.committer.end(
            question.claim,
            question.first,
            reply,
            epoch=question.snapshot.epoch,
            update_ids=question.batch.update_ids if is_press else [question.first.update_id],
            state=state,
            reason=reason,
        )


async def _reply_of_feature(hooks: Hooks, call: CommandCall) -> tuple[str, Reply] | None:
    """Return the reason and the reply of the first feature that takes the message; None if none does."""
    for reason, handler in filter(None, [takes(call) for takes in hooks.takes]):
        if (reply := await handler(call)) is not None:
            return reason, reply
    return None


def _check_edits(waiting: Sequence[WaitingUpdate], joined: Sequence[int]) -> None:
    if is_outdated(waiting, joined):
        raise TurnRestarted


def _only(message_id: int | None) -> Sequence[int]:
    """Return the message as a list, which is empty without one."""
    return () if message_id is None else (message_id,)


def _is_reset_next(todo: Todo) -> bool:
    """Return True if the next update confirms a reset: it goes before the parts, and erases them."""
    return bool(todo.updates) and is_reset_press(parse_waiting(next(iter(todo.updates.values()))))


def _call(question: Question, argument: str, permissions: Permissions) -> CommandCall:
    return CommandCall(
        claim=question.claim,
        update=question.first,
        argument=argument,
        snapshot=question.snapshot,
        corrections=question.corrections,
        journal=question.journal,
        permissions=permissions,
        incoming=question.incoming,
        is_stopped=is_stopped(question.batch, question.waiting, question.stopped_before),
    )
