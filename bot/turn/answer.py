"""Answers a question with the agent: read its files, run the agent, show the text as it grows, stop if asked to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from bot.agent.context import AgentContext
from bot.agent.daemon_thread import call_in_daemon_thread
from bot.agent.filtered import leave_out_question
from bot.agent.loop import run_agent
from bot.agent.model import Usage
from bot.agent.prompt.parts import quoted_key
from bot.agent.team import Team
from bot.errors import DeadlinePassed, ModelMissing, TellUser, TurnRestarted, TurnStopped
from bot.inbox.signals import run_until
from bot.transport.controls import WHY_BUTTON
from bot.transport.forms import context_keys
from bot.transport.gating import BotIdentity
from bot.transport.ingest import WaitingUpdate
from bot.transport.telegram_api import Button
from bot.transport.texts import failure_text
from bot.transport.unfinished import with_closed_code
from bot.turn.answer_receipt import AnswerReceipt, make_receipt
from bot.turn.batch import dump_stop, is_stopped
from bot.turn.chat_events import Interruptions
from bot.turn.commit import Committer, TurnTrace, counted_in, trace_of
from bot.turn.conversations import Conversations
from bot.turn.hooks import Hooks
from bot.turn.limits import LimitGuard
from bot.turn.media import MessageReader, ReadMessage
from bot.turn.outbox import LongAnswers, Part, plan_files, plan_reply, plan_spoken, with_stop_button
from bot.turn.permissions import Permissions
from bot.turn.preview import Preview, Previews
from bot.turn.question import Question
from bot.turn.store import Commit, FactsDefault, LaterWork, MetaField, TurnNote
from memory.codec import dump_json
from memory.errors import Forgotten
from memory.history import contexts
from memory.history.ledger import LedgerEntry, LedgerFile
from memory.history.transcript import quote
from memory.redis.lua import ScriptCall
from memory.summary.compression import CompressionLimits, is_due

LONG_TEXT = 4_096
"""Characters of an answer from which it is rendered in a thread of its own."""
_NOTED_CHARACTERS = 500
_CUT_WORDS = {"length": "cut-length", "content_filter": "cut-filter"}
"""Keys of the line behind an answer that is not whole, by its finish reason."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLimits:
    """Bounds of an answer."""

    max_actions: int
    deadline_s: float
    """Seconds for the whole turn."""
    window_messages: int
    """Newest messages that are loaded with each turn."""
    long_answers: LongAnswers = "parts"
    shows_sources: bool = False
    """True if answers that used memories have a button that tells which."""
    compression: Mapping[str, CompressionLimits] = field(default_factory=dict[str, CompressionLimits])
    """By chosen model, "" for the default; empty if no model writes summaries."""
    extracts_facts: bool = False

    def facts_in(self, chat_type: str) -> FactsDefault:
        """Return whether facts are extracted in this kind of chat if nobody has chosen."""
        if not self.extracts_facts:
            return ""
        return "on" if chat_type == "private" else "off"


@dataclass(frozen=True, slots=True)
class _Answer:
    """The text of an answer."""

    text: str
    reason: str = ""
    """Why the answer is not the agent's; empty if it is."""
    cut: str = ""
    """One line behind an answer that is not whole."""
    spoken: str = ""
    """The file that speaks it, if one does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answerer:
    """Answers questions; each answer ends with one commit."""

    bot: BotIdentity
    team_with: Callable[[str], Team]
    """Returns the team with a chosen model, "" for the default."""
    conversations: Conversations
    reader: MessageReader
    previews: Previews
    interruptions: Interruptions
    permissions: Permissions
    guard: LimitGuard
    committer: Committer
    hooks: Hooks
    limits: AnswerLimits

    async def answer(self, question: Question) -> None:
        """Answer the question and commit. A failure that the person can be told is an answer too.

        Raises TurnRestarted if the question has changed, Fenced and Forgotten from the journal and the commit,
        and the store's errors. The usage of a run that was restarted or forgotten is booked.
        """
        first, to = question.first.message, question.to
        context = self.conversations.open(
            question.claim.ref,
            question.history,
            is_group=first.chat_type != "private",
            request_id=str(question.first.update_id),
            metadata={"chat_id": to.chat_id, "thread_id": to.thread_id},
        )
        if not question.first.is_kept and context.artifacts is not None:
            context.artifacts = replace(context.artifacts, is_read_only=True)  # they would outlive the turn
        if to.inline_id:  # the answer is the edit of one message
            context.conversation = replace(context.conversation, files=None)
        for prepare in self.hooks.before_run:
            prepare(question, context)
        preview = Preview(question.words, edits=tuple(question.shown_as))
        reads: dict[int, ReadMessage] = {}
        try:
            answer = await self._answer(question, context, preview, reads)
            if not answer.reason:
                answer = replace(answer, spoken=await self._spoken(question, context, answer.text))
        except (TurnRestarted, Forgotten):
            await self.guard.book(
                context.record.usages,
                update_id=max(question.batch.update_ids),
                user_id=question.user_id,
                chat_id=to.chat_id,
            )
            raise
        for press in question.stop_presses:
            await self.interruptions.buttons.answer(press, "stopped")
        plan = partial(self._commit, question, context, preview, answer, reads=reads)
        is_long = len(answer.text) > LONG_TEXT
        commit = await call_in_daemon_thread(plan, name="render-answer") if is_long else plan()
        try:
            await self.committer.commit(question.claim, commit, revision=question.history.revision)
        except Forgotten:
            await self.previews.take_away(to.chat_id, preview.shown)
            raise

    async def _spoken(self, question: Question, context: AgentContext, text: str) -> str:
        """Return the id of the file that speaks the answer; "" for none."""
        for finish in self.hooks.before_commit:
            if spoken := await finish(question, context, text):
                return spoken
        return ""

    async def _answer(
        self, question: Question, context: AgentContext, preview: Preview, reads: dict[int, ReadMessage]
    ) -> _Answer:
        try:
            answer = await self._run(question, context, preview, reads)
        except (TurnStopped, TellUser, TimeoutError) as end:
            if not context.user_messages:  # the turn ended before its files were read
                await self._append(question, context, reads)
            if isinstance(end, TurnStopped):
                return _Answer(await self._stopped(question, context, preview.text), "stopped")
            known = end if isinstance(end, TellUser) else DeadlinePassed()
            log.warning("turn_failed", failure=type(known).__name__, reason=str(known), said=known.said)
            await leave_out_question(known, context)
            return _Answer(failure_text(question.words, known, context.user_messages), type(known).__name__)
        if answer.reason:
            return answer
        note = _note_of_files(context.record.ledger)
        if answer.cut:
            answer = replace(answer, text=f"{with_closed_code(answer.text)}\n\n({answer.cut})")
        await context.chat_history.append_assistant_message(answer.text, id=question.reply_id, note=note)
        missing, default = self._missing_model(question, context), self.conversations.models[0]
        notices = [question.words("left-out", what=each) for each in context.record.left_out]
        if missing:
            notices.append(question.words("model-missing", model=f"`{missing}`", other=f"`{default}`"))
        return _Answer("\n\n".join([answer.text, *notices]))

    async def _run(
        self, question: Question, context: AgentContext, preview: Preview, reads: dict[int, ReadMessage]
    ) -> _Answer:
        """Run the agent, and show its text, until it ends, is interrupted or has taken too long.

        Raises TurnStopped, TurnRestarted or Forgotten after an interruption, and TurnStopped at once if a stop
        came before the turn.
        """
        async with self.previews.show(
            preview,
            question.to,
            is_private=question.first.message.chat_type == "private",
            stop_data=dump_stop(question.user_id, question.first.update_id),
            journal=question.journal,
        ):
            context.on_text, context.on_status = preview.take, preview.tell
            if is_stopped(question.batch, question.waiting, question.stopped_before):
                raise TurnStopped
            return await run_until(
                self._read_and_run(question, context, reads),
                self.interruptions.wait(question, has_written=preview.has_text),
                within_s=self.limits.deadline_s,
            )

    async def _read_and_run(
        self, question: Question, context: AgentContext, reads: dict[int, ReadMessage]
    ) -> _Answer:
        journal = question.journal
        if files := question.with_files:
            find = partial(self.conversations.find_by_telegram, question.claim.ref, question.history)
            reads |= await self.reader.read(
                files, journal=journal, context=context, words=question.words, find=find
            )
        await self._append(question, context, reads)
        if question.joined:
            await journal.restore_appended()
        problem = question.problem_in(reads) if files else ""
        if problem:
            return _Answer(problem, "unreadable_media")
        context.caller = await self.permissions.caller_of(question)
        model = context.conversation.model
        try:
            return await self._run_agent(question, context)
        except ModelMissing as missing:
            if not model or missing.model != model:
                raise
            log.warning("chosen_model_missing", model=model)
        context.conversation = replace(context.conversation, model="")
        context.agent_name = question.snapshot.choices.agent
        return await self._run_agent(question, context)

    async def _run_agent(self, question: Question, context: AgentContext) -> _Answer:
        team = self.team_with(context.conversation.model)
        text = await run_agent(team, context, journal=question.journal, max_actions=self.limits.max_actions)
        cut = _CUT_WORDS.get(context.record.finish_reason)
        return _Answer(text, cut=question.words(cut) if cut else "")

    def _missing_model(self, question: Question, context: AgentContext) -> str:
        """Return the chosen model if the default answered instead, else ""."""
        chosen = question.snapshot.choices.model
        return "" if chosen in (context.conversation.model, self.conversations.models[0]) else chosen

    async def _append(
        self, question: Question, context: AgentContext, reads: Mapping[int, ReadMessage]
    ) -> None:
        """Append the question's messages to the history, and their pictures to the run."""
        messages = question.messages(reads, bot=self.bot, tokenizer=self.conversations.tokenizer)
        appended = await question.history.append(question.claim.ref, messages, epoch=question.history.epoch)
        context.user_messages = tuple([each for each in appended if not each.is_refused])
        if reads:
            read_of: dict[int | None, ReadMessage] = {
                update.message.message_id: reads[update.update_id]
                for update in question.batch.messages
                if update.update_id in reads
            }
            pictures = {
                key: images
                for each in appended
                if (read := read_of.get(each.telegram_message_id)) is not None
                for key, images in ((each.id, read.images), (quoted_key(each), read.quoted_images))
            }
            context.images = {key: images for key, images in pictures.items() if images}

    async def _stopped(self, question: Question, context: AgentContext, text: str) -> str:
        """Keep the text so far in memory and in the chat, marked as stopped."""
        if not text.strip():
            return question.words("stopped")
        await context.chat_history.append_assistant_message(text, id=question.reply_id, is_stopped=True)
        return text + f"\n\n_({question.words('stopped-mark')})_"

    def _commit(
        self,
        question: Question,
        context: AgentContext,
        preview: Preview,
        answer: _Answer,
        *,
        reads: Mapping[int, ReadMessage],
    ) -> Commit:
        """Return the changes of the answer. If a turn is answered again, they replace that turn's."""
        before, history, limits = question.snapshot, question.history, self.limits
        micros, left_out = self.guard.cost_of(context.record.usages), context.record.left_out
        if not question.first.is_kept:
            return self._unkept(question, context, preview, answer, files=len(reads))
        compression = limits.compression.get(context.conversation.model)
        compresses = compression is not None and is_due(
            before, history.pending, compression, loaded_limit=limits.window_messages
        )
        trace = trace_of(context, micros=micros, files=len(reads), compresses=compresses)
        agent, now = self.team_with("").name_of(context), self.conversations.clock()
        receipt = None
        if answer_id := question.kept_reply_id:
            receipt = make_receipt(
                context, agent=agent, message_id=answer_id, at=now, micros=micros, history=history
            )
        is_known = before.created_at is not None and history.epoch == before.epoch
        meta: dict[MetaField, str] = {}
        if context.agent_name != before.choices.agent:
            meta["active_agent"] = context.agent_name
        if not answer.reason and self._missing_model(question, context):
            meta["model"] = ""
        meta |= {"talk_after": repr(before.talk.lines[-1].sent_at)} if "talk" in left_out else {}
        return Commit(
            update_ids=_ending(question),
            epoch=history.epoch,
            reason=answer.reason,
            messages=history.pending,
            parts=self._parts(question, preview, answer, receipt=receipt, files=_made(context, answer)),
            registered="" if is_known else self._registration(question.first),
            ledger=[*(entry for read in reads.values() for entry in read.ledger), *context.record.ledger],
            receipt=receipt,
            meta=meta,
            starts_conversation="conversation" in left_out,
            later=LaterWork(compresses=compresses, facts=limits.facts_in(question.first.message.chat_type)),
            deletes=question.again.ids if question.again else (),
            booking=self._booking(question, context.record.usages),
            note=self._note(context, trace),
        )

    def _unkept(
        self, question: Question, context: AgentContext, preview: Preview, answer: _Answer, *, files: int
    ) -> Commit:
        """Return the commit of an answer that is sent and booked, and of which nothing is stored."""
        micros = self.guard.cost_of(context.record.usages)
        return Commit(
            update_ids=_ending(question),
            epoch=question.history.epoch,
            reason=answer.reason,
            parts=self._parts(question, preview, answer, receipt=None, files=_made(context, answer)),
            booking=self._booking(question, context.record.usages),
            note=self._note(context, trace_of(context, micros=micros, files=files, compresses=False)),
        )

    def _booking(self, question: Question, usages: Sequence[Usage]) -> tuple[ScriptCall, ...]:
        """Return the booking of this run. Another revision means another run: the turn has begun again."""
        return self.guard.booking(
            usages,
            update_id=max(question.batch.update_ids),
            user_id=question.user_id,
            chat_id=question.to.chat_id,
            run=str(question.history.revision),
        )

    def _note(self, context: AgentContext, trace: TurnTrace) -> TurnNote:
        counted = counted_in(trace, context.record.usages, self.guard)
        return TurnNote(trace=dump_json(TurnTrace, trace), counted=counted)

    def _parts(
        self,
        question: Question,
        preview: Preview,
        answer: _Answer,
        *,
        receipt: AnswerReceipt | None,
        files: Sequence[LedgerFile],
    ) -> list[Part]:
        shows_sources = (
            self.limits.shows_sources and receipt is not None and bool(receipt.memories or receipt.facts)
        )
        text = answer.text
        shown = f"{question.notice}\n\n{text}" if question.notice and text else text
        message_id = receipt.message_id if receipt else ""
        blank = replace(question.to, epoch=question.history.epoch, message_id=message_id)
        buttons = [Button(text="🧠", data=WHY_BUTTON)] if shows_sources else ()
        if answer.spoken:
            deletes = (*preview.edits, *preview.deletes)
            parts = plan_spoken(
                shown,
                blank,
                file_id=answer.spoken,
                words=question.words,
                long_answers=self.limits.long_answers,
                deletes=deletes,
                buttons=buttons,
            )
        else:
            parts = plan_reply(
                shown,
                blank,
                words=question.words,
                long_answers=self.limits.long_answers,
                edits=preview.edits,
                deletes=preview.deletes,
                buttons=buttons,
            )
            data = dump_stop(question.user_id, question.first.update_id)
            parts = with_stop_button(parts, Button(text=question.words("preview-stop"), data=data))
        return [*parts, *plan_files(files, blank, first_number=len(parts), words=question.words)]

    def _registration(self, first: WaitingUpdate) -> str:
        """Return the registry's entry of a context that is new, or that this turn has erased."""
        message = first.message
        keys = context_keys(self.bot.id, first.anchor_id, message.thread_id, is_direct=message.is_direct)
        title = message.chat_title or message.sender_name
        return contexts.dump_entry(keys, title=title, created_at=self.conversations.clock())


def _ending(question: Question) -> list[int]:
    """Return the ids of the updates that end with the answer."""
    stops = (press.update_id for press in question.stop_presses)
    return [*question.batch.update_ids, *question.settled_presses, *stops]


def _made(context: AgentContext, answer: _Answer) -> list[LedgerFile]:
    """Return the files of the answer."""
    return [file for entry in context.record.ledger for file in entry.files if not answer.reason]


def _note_of_files(ledger: Sequence[LedgerEntry]) -> str:
    """Return the note of an answer with pictures: the words that they were made from; "" without pictures."""
    prompts = [file.prompt for entry in ledger for file in entry.files if file.prompt]
    return f"a picture: {quote('; '.join(prompts)[:_NOTED_CHARACTERS])}" if prompts else ""
