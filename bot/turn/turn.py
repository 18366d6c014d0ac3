"""The turn: what is done for a claimed context, from its waiting updates to delivered replies."""

import asyncio
from contextlib import suppress

import structlog

from bot.errors import Fenced, TurnRestarted
from bot.inbox.isolation import Settling
from bot.inbox.records import Claim, Todo
from bot.inbox.signals import Incoming
from bot.observe import metrics
from bot.transport.ingest import parse_waiting
from bot.turn.actions import Actions
from bot.turn.batch import is_outdated, is_stopped, plan_batch, seconds_for_more
from bot.turn.services import TurnServices
from bot.turn.work import Work
from memory.errors import Forgotten, MemoryFailure
from memory.history.store import HistorySnapshot

log = structlog.get_logger()

QUANTUM = 8
"""Turns of one context in a row, before it goes to the end of the line for the others' sake."""


class Turns:
    """Works on claimed contexts, one turn after the other."""

    def __init__(self, services: TurnServices, settling: Settling) -> None:
        self._services = services
        self._settling = settling
        self._actions = Actions(services)

    async def work_on(self, claim: Claim) -> None:
        """Do all there is for the context, or a quantum of it. Cancelled, it hands the context back.

        A turn that breaks is tried again until its update is dead-lettered. Raises Fenced and store errors.
        """
        head: int | None = None
        try:
            for number in range(1, QUANTUM + 1):
                head = None
                with self._services.signals.watch(claim.ref.context_id) as incoming:
                    todo, snapshot = await self._take(claim)
                    head = todo.updates[0].update_id if todo.updates and not todo.parts else None
                    is_whole = await self._do(claim, todo, snapshot, incoming)
                # A turn that is done acquits: the next one begins with an entry of its own.
                is_over = number == QUANTUM or not is_whole or claim.is_taken_over
                if not await self._settling.settle(claim, rotate=is_over):
                    return
        except asyncio.CancelledError:
            with suppress(Fenced, MemoryFailure):
                await self._settling.settle(claim, rotate=True, handed_back=head)
            raise

    async def _take(self, claim: Claim) -> tuple[Todo, HistorySnapshot]:
        with metrics.TURN_SECONDS.labels("load").time():
            return await self._services.store.take(claim, window=self._services.limits.window_messages)

    async def _do(self, claim: Claim, todo: Todo, snapshot: HistorySnapshot, incoming: Incoming) -> bool:
        """One piece of work: what a crash left undelivered, then apologies, then a turn. False: it broke."""
        try:
            if todo.parts:
                log.info("delivery_resumed", parts=len(todo.parts), sends_begun=todo.sends_begun)
                await self._services.delivery.deliver(claim, todo.parts, sends_begun=todo.sends_begun)
            elif todo.buried:
                await self._actions.apologise(claim, todo, epoch=snapshot.epoch)
            elif todo.updates:
                with metrics.TURN_SECONDS.labels("whole").time():
                    await self._turn(await self._gather(claim, todo, snapshot, incoming))
        except Forgotten:
            log.info("turn_forgotten", context=claim.ref.context_id)
        except TurnRestarted:
            metrics.TURNS_RESTARTED.inc()
            await self._services.store.restart(claim)
        except (Fenced, MemoryFailure):
            raise
        except Exception:
            # The broad catch of the turn: the context goes on, and after three tries without this update.
            metrics.WORKER_FAILURES.labels("turn").inc()
            log.exception("turn_broke", context=claim.ref.context_id)
            return False
        return True

    async def _gather(self, claim: Claim, todo: Todo, snapshot: HistorySnapshot, incoming: Incoming) -> Work:
        """What waits, once nothing of it may still go on: an album, forwards and a long paste come in several messages."""
        loop, newest, ends_at = asyncio.get_running_loop(), None, 0.0
        while True:
            waiting = [parse_waiting(update.payload) for update in todo.updates]
            work = Work(claim=claim, todo=todo, snapshot=snapshot, waiting=waiting, incoming=incoming)
            if not waiting or work.joined:
                return work
            batch = plan_batch(waiting, stopped_before=todo.stopped_before)
            seconds = seconds_for_more(batch, waiting, self._services.limits.burst_waits)
            if newest != batch.newest.update_id:
                newest, ends_at = batch.newest.update_id, loop.time() + seconds
            is_over = is_stopped(batch, waiting, todo.stopped_before)
            if seconds <= 0 or loop.time() >= ends_at or is_over:
                return work
            await incoming.wait(ends_at - loop.time())
            todo, snapshot = await self._take(claim)

    async def _turn(self, work: Work) -> None:
        """One turn. Raises TurnRestarted where what an interrupted one had joined was edited since."""
        if not work.waiting:
            return
        if work.joined:
            if is_outdated(work.waiting, work.joined):
                raise TurnRestarted
            metrics.TURNS_RESUMED.inc()
            log.info("turn_resumed", steps=len(work.todo.journal))
        batch = plan_batch(work.waiting, joined=work.joined, stopped_before=work.todo.stopped_before)
        first = batch.first
        structlog.contextvars.bind_contextvars(update=first.update_id, chat=first.message.chat_id)
        await self._actions.act(work, batch)
