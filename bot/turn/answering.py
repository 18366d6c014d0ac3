"""Answers a batch of messages with the agent, within the deadline, until it is stopped."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from bot.agent.context import AgentContext
from bot.agent.prompt_receipt import dump_receipt
from bot.agent.runner import RunLimits, run_agent
from bot.errors import DeadlinePassed, TellUser, TurnStopped
from bot.inbox.facts import Claim
from bot.transport import texts
from bot.transport.gating import strip_mention
from bot.transport.ingest import WaitingUpdate
from bot.turn.journal import TurnJournal
from bot.turn.outbox import Destination
from bot.turn.services import TurnServices
from bot.turn.typing import typing
from memory.buffered_history import BufferedHistory
from memory.chat_history import ChatHistory
from memory.compression import is_due
from memory.history_store import HistorySnapshot
from memory.ledger import LedgerEntry
from memory.message import Message, Sender, message_id

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

    `active_agent` is None where nobody was transferred. `compresses`: the conversation has grown long enough.
    """

    answer: Answer
    ledger: Sequence[LedgerEntry]
    receipt: str
    active_agent: str | None
    compresses: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The batch to answer, with the claim that it is answered under and what was loaded with it.

    What the turn is to remember gathers in the `history`, for its commit.
    """

    claim: Claim
    batch: Sequence[WaitingUpdate]
    snapshot: HistorySnapshot
    history: BufferedHistory
    journal: TurnJournal
    to: Destination
    is_stopped: bool

    @property
    def newest_update(self) -> int:
        """The update id after which a stop means this turn."""
        return self.batch[-1].update_id


async def answer(services: TurnServices, question: Question) -> Outcome:
    """The answer, for the turn's commit. A failure that the user can be told is an answer too.

    Raises Fenced and Forgotten from the journal, and the store's errors.
    """
    context = await _context(services, question)
    await question.journal.restore_appended()
    given = await _answer(services, question, context)
    before, limits = question.snapshot, services.compression
    return Outcome(
        answer=given,
        ledger=tuple(context.ledger),
        receipt=_last_receipt(services, context),
        active_agent=None if context.agent_name == before.active_agent else context.agent_name,
        compresses=limits is not None
        and is_due(before, question.history.pending, limits, loaded_limit=services.limits.window_messages),
    )


async def _answer(services: TurnServices, question: Question, context: AgentContext) -> Answer:
    history = context.chat_history
    partial = _Partial()
    context.on_text = partial.take
    try:
        async with asyncio.timeout(services.limits.deadline_s), typing(services.chats, question.to):
            text = await _run(services, question, context)
    except TurnStopped:
        return await _stopped(question, history, partial.text)
    except (TellUser, TimeoutError) as failure:
        told = failure if isinstance(failure, TellUser) else DeadlinePassed()
        log.warning("turn_failed", failure=type(told).__name__, reason=str(told))
        return Answer(text=texts.failure_text(told), reason=type(told).__name__)
    reply_id = _reply_id(question)
    await history.append_assistant_message(text, id=reply_id)
    return Answer(text=text, message_id=reply_id)


def _last_receipt(services: TurnServices, context: AgentContext) -> str:
    """Of the last prompt of who has the chat: those that it delegated to have left theirs there too."""
    agent = services.team.name_of(context)
    own = [receipt for receipt in context.receipts if receipt.agent == agent]
    return dump_receipt(own[-1]) if own else ""


class _Partial:
    """The text so far, for the case that it is stopped."""

    def __init__(self) -> None:
        self.text = ""

    async def take(self, text: str) -> None:
        self.text = text


async def _context(services: TurnServices, question: Question) -> AgentContext:
    context = services.conversations.open(
        question.claim.ref,
        question.snapshot,
        question.history,
        is_group=question.batch[0].message.chat_type != "private",
        request_id=str(question.batch[0].update_id),
        metadata={"chat_id": question.to.chat_id, "thread_id": question.to.thread_id},
    )
    history = context.chat_history
    context.user_messages = tuple(
        [await _append(services, question, history, update) for update in question.batch]
    )
    return context


async def _append(
    services: TurnServices, question: Question, history: ChatHistory, update: WaitingUpdate
) -> Message:
    message = update.message
    sender_id = 0 if message.sender_id is None else message.sender_id
    return await history.append_user_message(
        strip_mention(message, bot=services.bot),
        sender=Sender(id=sender_id, name=message.sender_name),
        telegram_message_id=message.message_id,
        sent_at=float(message.date),
        id=message_id(question.claim.ref.context_id, question.snapshot.epoch, update.update_id),
    )


async def _run(services: TurnServices, question: Question, context: AgentContext) -> str:
    """Run the agent beside the stop signal. Raises TurnStopped when that comes first."""
    if question.is_stopped:
        raise TurnStopped
    replies: list[str] = []

    async def emit(reply: str) -> None:
        replies.append(reply)

    context.emit_functions.append(emit)
    limits = RunLimits(max_actions=services.limits.max_actions)
    with services.stops.watch(context.context_id, newest_update=question.newest_update) as stopped:
        run = asyncio.create_task(
            run_agent(services.team, context, journal=question.journal, limits=limits), name="agent-run"
        )
        stop = asyncio.create_task(stopped.wait(), name="stop-signal")
        try:
            await asyncio.wait([run, stop], return_when=asyncio.FIRST_COMPLETED)
            if not run.done():
                raise TurnStopped
            run.result()
        finally:
            run.cancel()
            stop.cancel()
            await asyncio.wait([run, stop])
    return replies[-1]


async def _stopped(question: Question, history: ChatHistory, partial: str) -> Answer:
    """What was written by then is kept, marked as stopped, in the chat and in memory."""
    if not partial.strip():
        return Answer(text=texts.STOPPED, reason="stopped")
    reply_id = _reply_id(question)
    await history.append_assistant_message(partial, id=reply_id, is_stopped=True)
    return Answer(text=partial + texts.STOPPED_MARK, message_id=reply_id, reason="stopped")


def _reply_id(question: Question) -> str:
    return message_id(question.claim.ref.context_id, question.snapshot.epoch, question.newest_update, "reply")
