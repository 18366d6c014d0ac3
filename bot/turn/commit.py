"""Ends a piece of work: one commit with the reply in the outbox, then its delivery."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from bot.agent.context import AgentContext, StepNote
from bot.agent.model import Usage
from bot.errors import Fenced
from bot.inbox.records import Claim, IncognitoChange, TerminalState
from bot.observe import metrics
from bot.transport.ingest import WaitingUpdate
from bot.transport.rich_text import RichText
from bot.transport.splitting import split
from bot.transport.telegram_api import Button
from bot.transport.words import words_for
from bot.turn.answer_receipt import tokens_by_model
from bot.turn.delivery import FIRST_PAUSE_S, Delivery, until_stored
from bot.turn.limits import LimitGuard
from bot.turn.outbox import blank_part, plan_changes, plan_parts, plan_reply
from bot.turn.store import Commit, LaterWork, MetaField, TurnNote, TurnStore
from memory.errors import MemoryFailure, StoreFull, StoreUnavailable
from memory.redis.lua import ScriptCall

STEPS_AT_MOST = 60
"""The steps that are kept of a longer run, about 3 kB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply that is not kept in the history."""

    text: str = ""
    """Markdown; nothing is sent for an empty text."""
    rich: RichText | None = None
    """A text that is shown as it is, in place of `text`."""
    epoch: int | None = None
    """The context's epoch after a reset; None if it did not change."""
    buttons: Sequence[Button] = ()
    edits: Sequence[int] = ()
    """The messages that the reply replaces."""
    notice: str = ""
    """A sentence of at most 200 characters for the person who pressed the button."""
    closes_menu: bool = False
    """True if the pressed menu loses its buttons."""
    deletes: Sequence[int] = ()
    starts_conversation: bool = False
    meta: Mapping[MetaField, str] = field(default_factory=dict[MetaField, str])
    """See `Commit.meta`."""
    revision: int | None = None
    """The history's revision that the reply was made from: if messages were forgotten since, the command runs again."""
    compresses: bool = False
    """True if the conversation should be compressed."""
    booking: Sequence[ScriptCall] = ()
    """Books the usage of models, whatever becomes of the reply."""
    counted: Mapping[str, int] = field(default_factory=dict[str, int])
    """Amounts for the counters of all processes, by name."""
    incognito: IncognitoChange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committer:
    """Commits turns and delivers their replies."""

    store: TurnStore
    delivery: Delivery

    async def commit(self, claim: Claim, commit: Commit, *, revision: int | None = None) -> None:
        """Commit and deliver. Raises Fenced, Forgotten, TurnRestarted and the store's errors.

        `revision` of the history is what the turn has read. If messages were forgotten since, nothing is committed.

        A commit whose reply was lost is repeated here: only this worker knows that its first send has not begun.
        After a crash the next worker delivers the committed parts.
        """
        parts, rates = commit.parts, self.delivery.rates
        reservation, wait = self.delivery.reservation(parts), None
        # If the first send will probably follow at once, the commit counts it.
        begins = reservation is not None and rates.seems_free(parts[0].chat_id)
        with metrics.TURN_SECONDS.labels("commit").time():
            try:
                try:
                    reply = await self.store.commit(
                        claim, commit, reservation=reservation, begins_send=begins, revision=revision
                    )
                    if reservation is not None:
                        wait = rates.wait_in(reply, parts[0].chat_id) or 0.0
                except (StoreUnavailable, StoreFull):  # a full store would reserve a place with each try
                    await asyncio.sleep(FIRST_PAUSE_S)
                    await until_stored(
                        self.store.commit, claim, commit, begins_send=begins, revision=revision
                    )
            except asyncio.CancelledError:
                if begins:
                    with suppress(Fenced, MemoryFailure):
                        await self.store.count_sends(claim, parts[0], 0)
                raise
        with metrics.TURN_SECONDS.labels("deliver").time():
            await self.delivery.deliver(claim, parts, reserved=wait, is_counted=begins)
        metrics.FINISHED.labels(commit.state).inc(len(commit.update_ids))

    async def end(
        self,
        claim: Claim,
        update: WaitingUpdate,
        reply: Reply,
        *,
        epoch: int,
        update_ids: Sequence[int],
        state: TerminalState = "answered",
        reason: str = "",
    ) -> None:
        """End these updates with a reply to one of them. `epoch` is the context's, unless the reply changes it."""
        epoch = epoch if reply.epoch is None else reply.epoch
        blank, words = blank_part(update, epoch=epoch), words_for(update.message.language_code)
        if reply.rich is not None:
            shown = plan_parts(
                split(reply.rich), blank, words=words, source=reply.rich.text, buttons=reply.buttons
            )
            parts = plan_changes(shown, blank, edits=reply.edits, deletes=reply.deletes)
        else:
            parts = plan_reply(
                reply.text,
                blank,
                words=words,
                edits=reply.edits,
                deletes=reply.deletes,
                buttons=reply.buttons,
            )
        commit = Commit(
            update_ids=update_ids,
            epoch=epoch,
            state=state,
            reason=reason,
            parts=parts,
            starts_conversation=reply.starts_conversation,
            meta=reply.meta,
            later=LaterWork(compresses=reply.compresses),
            booking=reply.booking,
            note=TurnNote(counted=reply.counted),
            incognito=reply.incognito,
        )
        await self.commit(claim, commit, revision=reply.revision)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTrace:
    """Steps and costs of a turn for operators, in the record of its first update. It has no text of the chat."""

    steps: Sequence[StepNote] = ()
    more_steps: int = 0
    """Steps that were left out."""
    recalled: int | None = None
    """Messages found in memory; None if memory was not searched."""
    facts: int = 0
    """Facts found in memory."""
    files: int = 0
    """Files that were read."""
    usage: Usage = field(default_factory=Usage)
    micros: int | None = None
    """The cost in millionths; None if no price is known."""
    compresses: bool = False


def counted_in(turn: TurnTrace, usages: Sequence[Usage], guard: LimitGuard) -> dict[str, int]:
    """Return what a turn adds to the counters of all processes: itself, and tokens and cost of each model."""
    return {"turns": 1} | ({"recalled": 1} if turn.recalled else {}) | spent_on(usages, guard)


def spent_on(usages: Sequence[Usage], guard: LimitGuard) -> dict[str, int]:
    """Return what is added to the counters of all processes for the tokens and the cost of each model."""
    amounts: dict[str, int] = {}
    for each in tokens_by_model(usages):
        amounts[f"prompt:{each.model}"] = each.prompt_tokens
        amounts[f"completion:{each.model}"] = each.completion_tokens
        amounts[f"micros:{each.model}"] = guard.cost_of([each]) or 0
    return {name: amount for name, amount in amounts.items() if amount}


def trace_of(context: AgentContext, *, micros: int | None, files: int, compresses: bool) -> TurnTrace:
    """Return the trace of the run in this context."""
    notes, recalled = context.record.notes, context.thinking.recalled
    return TurnTrace(
        steps=notes[:STEPS_AT_MOST],
        more_steps=max(0, len(notes) - STEPS_AT_MOST),
        recalled=None if recalled is None else len(recalled.messages),
        facts=0 if recalled is None else len(recalled.facts),
        files=files,
        usage=sum(context.record.usages, Usage()),
        micros=micros,
        compresses=compresses,
    )
