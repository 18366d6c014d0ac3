"""Answers a batch of messages with the agent, within the deadline, until it is stopped."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from bot.agent.context import AgentContext
from bot.agent.loop import RunLimits, run_agent
from bot.agent.model import Usage
from bot.agent.prompt.parts import PromptReceipt
from bot.errors import DeadlinePassed, TellUser, TurnRestarted, TurnStopped
from bot.transport import texts
from bot.turn.asking import append_questions, append_unread
from bot.turn.callers import find_caller
from bot.turn.interruptions import wait_for_end
from bot.turn.preview import Preview
from bot.turn.question import Question
from bot.turn.reading import ReadMessage
from bot.turn.services import TurnServices
from bot.turn.stop_button import dump_stop
from bot.turn.turn_trace import TurnTrace, trace_of
from memory.codec import dump_json
from memory.errors import Forgotten
from memory.history.ledger import LedgerEntry
from memory.summary.compression import is_due

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a turn says. `message_id` is empty for a text that is not remembered."""

    text: str
    message_id: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """An answer with what the run leaves beside the history: its calls, its last prompt's receipt, who has the chat.

    `active_agent` is None where nobody was transferred. `compresses`: the conversation has grown long enough. `edits`
    and `deletes` are Telegram messages that the answer's parts replace, and that go with it; `shown` are those of them
    that have shown it growing.
    """

    answer: Answer
    ledger: Sequence[LedgerEntry]
    receipt: str
    active_agent: str | None
    compresses: bool
    usage: Usage
    edits: tuple[int, ...] = ()
    deletes: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    trace: TurnTrace = field(default_factory=TurnTrace)


@dataclass(slots=True, kw_only=True)
class _Run:
    """A run as it goes: what it works in, what was read, and the text so far, for the case that it is stopped."""

    context: AgentContext
    preview: Preview | None = None
    reads: Sequence[ReadMessage] = ()
    text: str = ""

    @property
    def usage(self) -> Usage:
        """Of all the calls of the model so far."""
        return sum(self.context.record.usages, Usage())

    async def take(self, text: str) -> None:
        self.text = text
        if self.preview is not None:
            await self.preview.take(text)

    def has_written(self) -> bool:
        return bool(self.text.strip())


async def answer(services: TurnServices, question: Question) -> Outcome:
    """The answer, for the turn's commit. A failure that the user can be told is an answer too.

    Raises TurnRestarted where what it answers has changed, Fenced and Forgotten from the journal, and the store's errors.
    What it used until it was restarted or forgotten is booked.
    """
    run = _open(services, question)
    try:
        given = await _answer(services, question, run)
    except (TurnRestarted, Forgotten):
        await services.guard.book(question.asked, run.usage)
        raise
    context, before, limits = run.context, question.snapshot, services.compression
    compresses = limits is not None and is_due(
        before, question.history.pending, limits, loaded_limit=services.limits.window_messages
    )
    return Outcome(
        answer=given,
        ledger=(*(entry for read in run.reads for entry in read.ledger), *context.record.ledger),
        receipt=_last_receipt(services, context),
        active_agent=None if context.agent_name == before.active_agent else context.agent_name,
        compresses=compresses,
        usage=run.usage,
        edits=run.preview.edits if run.preview else tuple(question.shown_as),
        deletes=run.preview.deletes if run.preview else (),
        shown=run.preview.shown if run.preview else (),
        trace=trace_of(
            context,
            usage=run.usage,
            micros=services.guard.cost_of(run.usage),
            files=sum(update.message.attachment is not None for update in question.batch.updates),
            compresses=compresses,
        ),
    )


def _open(services: TurnServices, question: Question) -> _Run:
    context = services.conversations.open(
        question.claim.ref,
        question.history.snapshot,
        question.history,
        is_group=question.batch.first.message.chat_type != "private",
        request_id=str(question.batch.first.update_id),
        metadata={"chat_id": question.to.chat_id, "thread_id": question.to.thread_id},
    )
    run = _Run(context=context)
    context.on_text = run.take
    return run


async def _answer(services: TurnServices, question: Question, run: _Run) -> Answer:
    try:
        given = await _show_and_run(services, question, run)
    except TurnStopped:
        await append_unread(services, question, run.context)
        return await _stopped(question, run)
    except (TellUser, TimeoutError) as failure:
        await append_unread(services, question, run.context)
        told = failure if isinstance(failure, TellUser) else DeadlinePassed()
        log.warning("turn_failed", failure=type(told).__name__, reason=str(told))
        return Answer(text=texts.failure_text(question.words, told), reason=type(told).__name__)
    if given.message_id:
        await run.context.chat_history.append_assistant_message(given.text, id=given.message_id)
    return given


async def _show_and_run(services: TurnServices, question: Question, run: _Run) -> Answer:
    """Run while what is written by then is shown. Raises TurnStopped at once where it was stopped before."""
    asker = question.batch.first
    shown = services.previews.show(
        question.to,
        is_private=asker.message.chat_type == "private",
        stop_data=dump_stop(question.asked.user_id, asker.update_id),
        journal=question.journal,
        words=question.words,
        edits=tuple(question.shown_as),
    )
    async with shown as preview:
        run.preview, run.context.on_status = preview, preview.tell
        if question.is_stopped:
            raise TurnStopped
        async with asyncio.timeout(services.limits.deadline_s):
            return await _run_until_ended(services, question, run)


async def _run_until_ended(services: TurnServices, question: Question, run: _Run) -> Answer:
    """Run the agent beside what may end it. Raises TurnStopped or TurnRestarted where that comes first."""
    running = asyncio.create_task(_read_and_run(services, question, run), name="agent-run")
    ending = asyncio.create_task(
        wait_for_end(services, question, has_written=run.has_written), name="turn-signals"
    )
    try:
        await asyncio.wait([running, ending], return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise ending.result()
        return running.result()
    finally:
        running.cancel()
        ending.cancel()
        await asyncio.wait([running, ending])


async def _read_and_run(services: TurnServices, question: Question, run: _Run) -> Answer:
    context, journal = run.context, question.journal
    run.reads = await services.reader.read(
        question.batch.updates, journal=journal, context=context, words=question.words
    )
    await append_questions(services, question, context, run.reads)
    await journal.restore_appended()
    problem = _unreadable(run.reads)
    if problem:
        return Answer(text=problem, reason="unreadable_media")
    context.caller = await find_caller(services, question)
    limits = RunLimits(max_actions=services.limits.max_actions)
    reply = await run_agent(services.team, context, journal=journal, limits=limits)
    return Answer(text=reply, message_id=question.reply_id)


def _unreadable(reads: Sequence[ReadMessage]) -> str:
    """What is said instead of an answer where nothing that came can be read."""
    if any(read.text or read.images for read in reads):
        return ""
    return next((read.problem for read in reads if read.problem), "")


async def _stopped(question: Question, run: _Run) -> Answer:
    """What was written by then is kept, marked as stopped, in the chat and in memory."""
    if not run.has_written():
        return Answer(text=question.words("stopped"), reason="stopped")
    reply_id, history = question.reply_id, run.context.chat_history
    await history.append_assistant_message(run.text, id=reply_id, is_stopped=True)
    told = run.text + texts.stopped_mark(question.words)
    return Answer(text=told, message_id=reply_id, reason="stopped")


def _last_receipt(services: TurnServices, context: AgentContext) -> str:
    """Of the last prompt of who has the chat: those that it delegated to have left theirs there too."""
    agent = services.team.name_of(context)
    own = [receipt for receipt in context.record.receipts if receipt.agent == agent]
    return dump_json(PromptReceipt, own[-1]) if own else ""
