"""The turn: what is done for a claimed context, from its waiting updates to delivered replies."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

import structlog

from bot.errors import Fenced
from bot.inbox.facts import Claim, PendingUpdate, Todo
from bot.observe import metrics
from bot.transport import texts
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.rendering import render
from bot.transport.rich_text import RichText
from bot.transport.splitting import split
from bot.transport.updates import Command, context_keys
from bot.turn.answering import Question, answer
from bot.turn.batch import is_stopped, plan_batch
from bot.turn.commands import CommandCall, Commands
from bot.turn.edits import replace_edited
from bot.turn.journal import TurnJournal, joined_updates
from bot.turn.outbox import Destination, dump_part, plan_parts
from bot.turn.services import TurnServices
from bot.turn.turn_store import Commit
from memory import contexts
from memory.buffered_history import BufferedHistory
from memory.errors import Forgotten, MemoryFailure
from memory.history_store import HistorySnapshot

log = structlog.get_logger()

QUANTUM = 8
"""Turns of one context in a row, before it goes to the end of the line for the others' sake."""


class Settling(Protocol):
    """Lets a context rest, keeps it for its next turn, or sends it to the end of the line."""

    async def settle(self, claim: Claim, *, rotate: bool = False, handed_back: int | None = None) -> bool: ...


class Turns:
    """Works on claimed contexts, one turn after the other."""

    def __init__(self, services: TurnServices, settling: Settling) -> None:
        self._services = services
        self._settling = settling
        self._commands = Commands(services)

    async def work_on(self, claim: Claim) -> None:
        """Do all there is for the context, or a quantum of it. Cancelled, it hands the context back.

        A turn that breaks is tried again until its update is dead-lettered. Raises Fenced and store errors.
        """
        head: int | None = None
        try:
            for number in range(1, QUANTUM + 1):
                head = None
                todo, snapshot = await self._take(claim)
                head = todo.updates[0].update_id if todo.updates and not todo.parts else None
                is_whole = await self._do(claim, todo, snapshot)
                if not await self._settling.settle(claim, rotate=number == QUANTUM or not is_whole):
                    return
        except asyncio.CancelledError:
            with suppress(Fenced, MemoryFailure):
                await self._settling.settle(claim, rotate=True, handed_back=head)
            raise

    async def _take(self, claim: Claim) -> tuple[Todo, HistorySnapshot]:
        with metrics.TURN_SECONDS.labels("load").time():
            return await self._services.store.take(claim, window=self._services.limits.window_messages)

    async def _do(self, claim: Claim, todo: Todo, snapshot: HistorySnapshot) -> bool:
        """One piece of work: what a crash left undelivered, then apologies, then a turn. False: it broke."""
        try:
            if todo.parts:
                await self._services.delivery.resume(claim, todo.parts, sends_begun=todo.sends_begun)
            elif todo.buried:
                await self._apologise(claim, todo.buried, snapshot)
            elif todo.updates:
                with metrics.TURN_SECONDS.labels("whole").time():
                    await self._turn(claim, todo, snapshot)
        except Forgotten:
            log.info("turn_forgotten", context=claim.ref.context_id)
        except (Fenced, MemoryFailure):
            raise
        except Exception:
            # The broad catch of the turn: the context goes on, and after three tries without this update.
            metrics.WORKER_FAILURES.labels("turn").inc()
            log.exception("turn_broke", context=claim.ref.context_id)
            return False
        return True

    async def _turn(self, claim: Claim, todo: Todo, snapshot: HistorySnapshot) -> None:
        waiting = [parse_waiting(update.payload) for update in todo.updates]
        batch = plan_batch(waiting, joined=joined_updates(todo.journal), stopped_before=todo.stopped_before)
        first = batch[0]
        structlog.contextvars.bind_contextvars(update=first.update_id, chat=first.message.chat_id)
        if todo.journal:
            metrics.TURNS_RESUMED.inc()
            log.info("turn_resumed", steps=len(todo.journal))
        history = self._services.conversations.buffer(claim.ref, snapshot)
        question = Question(
            claim=claim,
            batch=batch,
            snapshot=snapshot,
            history=history,
            journal=self._journal(claim, batch, todo, history),
            to=_destination(batch[-1]),
            is_stopped=is_stopped(batch[-1], todo.stopped_before),
        )
        if first.admission.action == "refuse":
            await self._refuse(claim, first, snapshot)
        elif first.admission.action == "edit":
            await self._edit(claim, first, snapshot)
        elif first.admission.command is not None:
            await self._command(question, first.admission.command)
        else:
            await self._answer(question)

    def _journal(
        self, claim: Claim, batch: Sequence[WaitingUpdate], todo: Todo, history: BufferedHistory
    ) -> TurnJournal:
        return TurnJournal(
            self._services.store,
            claim,
            history,
            update_ids=[update.update_id for update in batch],
            found=todo.journal,
        )

    async def _answer(self, question: Question) -> None:
        with metrics.TURN_SECONDS.labels("agent").time():
            outcome = await answer(self._services, question)
        given = outcome.answer
        commit = Commit(
            update_ids=[update.update_id for update in question.batch],
            epoch=question.history.epoch,
            reason=given.reason,
            messages=question.history.pending,
            registered=self._registration(question),
            ledger=outcome.ledger,
            receipt=outcome.receipt,
            active_agent=outcome.active_agent,
            compresses=outcome.compresses,
        )
        await self._reply(question.claim, commit, given.text, question.to, message_id=given.message_id)

    def _registration(self, question: Question) -> str:
        """The entry in the registry of a context that is new, or was cleared by this turn, which took it off there; it is
        written by the commit, or not at all.
        """
        is_cleared = question.history.epoch != question.snapshot.epoch
        if question.snapshot.created_at is not None and not is_cleared:
            return ""
        message = question.batch[0].message
        keys = context_keys(self._services.bot.id, message.chat_id, message.thread_id)
        title = message.chat_title or message.sender_name
        return contexts.dump_entry(keys, title=title, created_at=self._services.clock())

    async def _command(self, question: Question, command: Command) -> None:
        (update,) = question.batch
        call = CommandCall(
            claim=question.claim,
            update=update,
            command=command,
            snapshot=question.snapshot,
            journal=question.journal,
        )
        reply = await self._commands.run(call)
        commit = Commit(
            update_ids=[update.update_id],
            epoch=reply.epoch,
            reason=f"command_{command.name}",
            starts_conversation=reply.starts_conversation,
        )
        await self._reply(question.claim, commit, reply.text, question.to)

    async def _edit(self, claim: Claim, update: WaitingUpdate, snapshot: HistorySnapshot) -> None:
        """Keep what an edited message says now, where it is kept at all; nobody is answered."""
        is_kept = await replace_edited(self._services, claim.ref, update.message, epoch=snapshot.epoch)
        commit = Commit(
            update_ids=[update.update_id],
            epoch=snapshot.epoch,
            state="answered" if is_kept else "ignored",
            reason="edited" if is_kept else "edit_of_unkept_message",
        )
        await self._reply(claim, commit, "", _destination(update))

    async def _refuse(self, claim: Claim, update: WaitingUpdate, snapshot: HistorySnapshot) -> None:
        """One polite sentence for each person and chat, and silence from then on."""
        is_first = await self._services.store.note_refusal(
            claim.ref,
            chat_id=update.message.chat_id,
            sender_id=update.message.sender_id or 0,
            update_id=update.update_id,
        )
        commit = Commit(
            update_ids=[update.update_id], epoch=snapshot.epoch, state="refused", reason="not_allowed"
        )
        await self._reply(claim, commit, texts.REFUSED if is_first else "", _destination(update))

    async def _apologise(
        self, claim: Claim, buried: Sequence[PendingUpdate], snapshot: HistorySnapshot
    ) -> None:
        metrics.DEAD_LETTERS.inc(len(buried))
        metrics.FINISHED.labels("dead").inc(len(buried))
        log.error("dead_letter", updates=[update.update_id for update in buried])
        update = parse_waiting(buried[-1].payload)
        commit = Commit(update_ids=[], epoch=snapshot.epoch)
        told = texts.BURIED_EDIT if update.admission.action == "edit" else texts.BURIED
        await self._reply(claim, commit, told, _destination(update), update_id=update.update_id)

    async def _reply(
        self,
        claim: Claim,
        commit: Commit,
        text: str,
        to: Destination,
        *,
        message_id: str = "",
        update_id: int | None = None,
    ) -> None:
        """Commit the turn with its rendered reply in the outbox, then deliver that. No text: nothing is sent."""
        parts = plan_parts(
            _messages(text),
            to,
            update_id=commit.update_ids[-1] if update_id is None else update_id,
            epoch=commit.epoch,
            message_id=message_id,
        )
        lines = [dump_part(part) for part in parts]
        with metrics.TURN_SECONDS.labels("commit").time():
            await self._services.store.commit(claim, replace(commit, parts=lines))
        with metrics.TURN_SECONDS.labels("deliver").time():
            await self._services.delivery.deliver(claim, lines, sends_begun=1)
        metrics.FINISHED.labels(commit.state).inc(len(commit.update_ids))


def _messages(text: str) -> list[RichText]:
    """The messages that show a text: as written where Markdown leaves nothing of it, none for an empty one."""
    if not text:
        return []
    as_written = RichText(text=text)
    return split(render(text)) or split(as_written) or [RichText(text=texts.NOTHING_TO_SHOW)]


def _destination(update: WaitingUpdate) -> Destination:
    message = update.message
    is_private = message.chat_type == "private"
    return Destination(
        chat_id=message.chat_id,
        thread_id=message.thread_id,
        reply_to=None if is_private else message.message_id,
    )
