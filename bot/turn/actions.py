"""What a turn does, by what its updates ask for: an answer, a command, an edit, a refusal."""

from collections.abc import Sequence

import structlog

from bot.inbox.records import Claim, TerminalState, Todo
from bot.observe import metrics
from bot.transport.gating import strip_mention
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.updates import Command, context_keys
from bot.transport.words import words_for
from bot.turn.answering import Outcome, answer
from bot.turn.batch import Batch, is_stopped, own_presses
from bot.turn.command_call import CommandCall
from bot.turn.commands import Commands
from bot.turn.committing import Reply, commit_and_deliver, destination_of, put_back
from bot.turn.edits import replace_edited, says_the_same
from bot.turn.journal import TurnJournal
from bot.turn.limits import Refusal
from bot.turn.memberships import MembershipCall, follow_membership, follow_migration
from bot.turn.preview_screens import STEP, parse_noted
from bot.turn.question import Presses, Question
from bot.turn.reanswering import LastTurn, find_last_turn, plan_again
from bot.turn.services import TurnServices
from bot.turn.stop_presses import STOPPED, answer_press, answer_stale_press
from bot.turn.turn_store import Commit
from bot.turn.turn_trace import dump_trace
from bot.turn.work import Work
from memory.errors import Forgotten
from memory.history import contexts

log = structlog.get_logger()


class Actions:
    """Each action ends with one commit. All raise Fenced, Forgotten and the store's errors."""

    def __init__(self, services: TurnServices) -> None:
        self._services = services
        self._commands = Commands(services)

    async def act(self, work: Work, batch: Batch) -> None:
        """Do what the batch asks for. Raises TurnRestarted where that changes meanwhile."""
        first = batch.first
        match first.admission.action:
            case "refuse":
                await self._refuse(work, first)
            case "edit":
                await self._edit(work, batch)
            case "press":
                await answer_stale_press(self._services, first)
                await self._end(work, first, reason=first.admission.reason)
            case "membership":
                await self._follow_membership(work, batch)
            case "migration":
                await follow_migration(self._services, self._membership_call(work, batch))
                await self._end(work, first, reason="migration")
            case _ if first.admission.command is not None:
                await self._command(work, batch, first.admission.command)
            case _:
                await self._answer(work, self._question(work, batch))

    async def apologise(self, claim: Claim, todo: Todo, *, epoch: int) -> None:
        """One sentence for updates that were begun too often, and are dead letters now; what was shown of them goes."""
        buried = todo.buried
        metrics.DEAD_LETTERS.inc(len(buried))
        metrics.FINISHED.labels("dead").inc(len(buried))
        log.error("dead_letter", updates=[update.update_id for update in buried])
        update = parse_waiting(buried[-1].payload)
        words = words_for(update.message.language_code)
        told = words("buried-edit" if update.admission.action == "edit" else "buried")
        commit = Commit(update_ids=[], epoch=epoch)
        reply = Reply(update=update, text=told, deletes=_shown_before(todo))
        await commit_and_deliver(self._services, claim, commit, reply)

    async def _answer(self, work: Work, question: Question) -> None:
        """Answer the question, unless a limit forbids it."""
        services = self._services
        refusal = None if work.joined else await services.guard.check(question.asked, question.words)
        if refusal is not None:
            await self._limit(work, question, refusal)
            return
        with metrics.TURN_SECONDS.labels("agent").time():
            outcome = await answer(services, question)
        for press in question.presses.stopping:
            await answer_press(services, press, STOPPED)
        reply = Reply(
            update=question.batch.newest,
            text=outcome.answer.text,
            message_id=outcome.answer.message_id,
            edits=outcome.edits,
            deletes=outcome.deletes,
        )
        try:
            await commit_and_deliver(services, work.claim, self._answered(question, outcome), reply)
        except Forgotten:
            await services.previews.take_away(question.to, outcome.shown)
            raise

    def _answered(self, question: Question, outcome: Outcome) -> Commit:
        """What an answer changes; that of a turn which is answered again takes its place."""
        return Commit(
            update_ids=(*question.batch.update_ids, *question.presses.update_ids),
            epoch=question.history.epoch,
            reason=outcome.answer.reason,
            messages=question.history.pending,
            registered=self._registration(question),
            ledger=outcome.ledger,
            receipt=outcome.receipt,
            active_agent=outcome.active_agent,
            compresses=outcome.compresses,
            deletes=question.again.ids if question.again else (),
            booking=self._services.guard.booking(question.asked, outcome.usage),
            trace=dump_trace(outcome.trace),
        )

    def _question(
        self, work: Work, batch: Batch, *, again: LastTurn | None = None, shown_as: Sequence[int] = ()
    ) -> Question:
        history = self._services.conversations.buffer(
            work.claim.ref, work.snapshot, hidden_from=again.sequence if again else None
        )
        journal = TurnJournal(
            self._services.store,
            work.claim,
            history,
            update_ids=batch.update_ids,
            newest_update=batch.newest.update_id,
            own_messages=len(again.messages if again else batch.updates),
            found=work.todo.journal,
        )
        return Question(
            claim=work.claim,
            batch=batch,
            snapshot=work.snapshot,
            history=history,
            journal=journal,
            incoming=work.incoming,
            taken=frozenset(update.update_id for update in work.waiting),
            to=destination_of(batch.newest),
            is_stopped=is_stopped(batch, work.waiting, work.todo.stopped_before),
            again=again,
            shown_as=shown_as,
            presses=Presses(stopping=own_presses(batch, work.waiting)),
        )

    def _registration(self, question: Question) -> str:
        """The entry in the registry of a context that is new, or was cleared by this turn, which took it off there; it is
        written by the commit, or not at all.
        """
        is_cleared = question.history.epoch != question.snapshot.epoch
        if question.snapshot.created_at is not None and not is_cleared:
            return ""
        first = question.batch.first
        keys = context_keys(self._services.bot.id, first.anchor_id, first.message.thread_id)
        title = first.message.chat_title or first.message.sender_name
        return contexts.dump_entry(keys, title=title, created_at=self._services.clock())

    async def _limit(self, work: Work, question: Question, refusal: Refusal) -> None:
        """Say which limit is reached. A message that is refused is not kept; of an edited one what it says now is, and its
        answer stays.
        """
        if question.again is not None:
            for edit in question.batch.updates:
                await replace_edited(self._services, work.claim.ref, edit.message, epoch=work.snapshot.epoch)
            before = Reply(
                update=question.batch.newest, text=question.again.answer.text, edits=question.shown_as
            )
            await put_back(self._services, work.claim, before, epoch=work.snapshot.epoch)
        commit = Commit(
            update_ids=question.batch.update_ids,
            epoch=work.snapshot.epoch,
            state="refused",
            reason=refusal.reason,
        )
        reply = Reply(update=question.batch.newest, text=refusal.text, deletes=_shown_before(work.todo))
        await commit_and_deliver(self._services, work.claim, commit, reply)

    async def _edit(self, work: Work, batch: Batch) -> None:
        """Answer again what was answered last; of any other message only keep what it says now."""
        services, first, message = self._services, batch.first, batch.first.message
        last = find_last_turn(work.snapshot, message, now=services.clock())
        kept = last.find(message.message_id) if last else None
        if kept is not None and says_the_same(kept, message, strip_mention(message, bot=services.bot)):
            await self._end(work, first, state="ignored", reason="edit_changes_nothing")
            return
        shown_as = await services.store.shown_as(work.claim.ref, last.answer.id) if last else ()
        if last is not None and shown_as:
            edits = plan_again(last, work.waiting, work.joined)
            await self._answer(work, self._question(work, edits, again=last, shown_as=shown_as))
            return
        replaced = await replace_edited(services, work.claim.ref, message, epoch=work.snapshot.epoch)
        await self._end(work, first, state="answered" if replaced == "edited" else "ignored", reason=replaced)

    async def _command(self, work: Work, batch: Batch, command: Command) -> None:
        question = self._question(work, batch)
        call = CommandCall(
            claim=work.claim,
            update=batch.first,
            command=command,
            snapshot=work.snapshot,
            journal=question.journal,
        )
        done = await self._commands.run(call)
        commit = Commit(
            update_ids=batch.update_ids,
            epoch=done.epoch,
            reason=f"command_{command.name}",
            starts_conversation=done.starts_conversation,
        )
        await commit_and_deliver(
            self._services, work.claim, commit, Reply(update=batch.first, text=done.text)
        )

    async def _follow_membership(self, work: Work, batch: Batch) -> None:
        done = await follow_membership(self._services, self._membership_call(work, batch))
        reason = batch.first.admission.reason
        await self._end(work, batch.first, text=done.text, epoch=done.epoch, reason=reason)

    def _membership_call(self, work: Work, batch: Batch) -> MembershipCall:
        return MembershipCall(
            claim=work.claim,
            update=batch.first,
            snapshot=work.snapshot,
            journal=self._question(work, batch).journal,
        )

    async def _refuse(self, work: Work, update: WaitingUpdate) -> None:
        """One polite sentence for each person and chat, and silence from then on."""
        is_first = await self._services.store.note_refusal(
            work.claim.ref,
            chat_id=update.message.chat_id,
            sender_id=update.message.sender_id or 0,
            update_id=update.update_id,
        )
        text = words_for(update.message.language_code)("refused") if is_first else ""
        await self._end(work, update, text=text, state="refused", reason="not_allowed")

    async def _end(
        self,
        work: Work,
        update: WaitingUpdate,
        *,
        reason: str,
        state: TerminalState = "answered",
        text: str = "",
        epoch: int | None = None,
    ) -> None:
        """End the update with this reply, which nobody remembers, in the context's epoch, if it is not another by now."""
        commit = Commit(
            update_ids=[update.update_id],
            epoch=work.snapshot.epoch if epoch is None else epoch,
            state=state,
            reason=reason,
        )
        await commit_and_deliver(self._services, work.claim, commit, Reply(update=update, text=text))


def _shown_before(todo: Todo) -> tuple[int, ...]:
    """The message with a Stop button that an earlier try of this turn has shown."""
    noted = parse_noted(todo.journal.get(STEP))
    return () if noted is None else (noted,)
