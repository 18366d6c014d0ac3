"""The agent that decides by a model's function calls, from recall, the recent window and its completed steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import structlog

from bot.agent.actions import Action, Finish
from bot.agent.context import AgentContext
from bot.agent.metered_call import MeteredCall
from bot.agent.model import ChatModel, ModelReply
from bot.agent.output_parser import parse_reply
from bot.agent.pair_repair import repair_pairs
from bot.agent.prompt.assembly import assemble, measure
from bot.agent.prompt.parts import AssembledPrompt, PromptBudget, PromptOrder, PromptParts, PromptSize
from bot.agent.scope import permitted
from bot.agent.tool import Tool
from bot.errors import ModelRepliedNothing, PromptTooLong
from bot.observe.metrics import RECALL_FAILURES, RECALL_SECONDS
from bot.observe.tracing import trace_llm_call
from memory.errors import RecallUnavailable
from memory.history.ledger import LedgerTurn, is_visible
from memory.history.message import Message
from memory.history.selectors import AfterSequence, MessageSelector, TokenCounter
from memory.recall.history_search import RankedMessage

LAST_ANSWER_NOTE = "You have no tool calls left for this message. Answer now from what you have, and say plainly what is missing."

log = structlog.get_logger()

_ASKED_AT_MOST = 3
"""Of the messages to answer so many, the newest first, are searched for until something is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLimits:
    """Of the model's window (tokens), `answer_tokens` are kept free for its answer.

    At most `recall_k` messages are recalled, each with `recall_neighbours` before and after it.
    """

    context_window: int
    answer_tokens: int
    recall_k: int = 3
    recall_neighbours: int = 0

    @property
    def prompt_tokens(self) -> int:
        """What is left for the prompt, tools included."""
        return self.context_window - self.answer_tokens


class PromptOptions(TypedDict, total=False):
    """`name` (default "") is the agent's in receipts, `order` (cached) that of its prompts.

    `tells_ledger` (True): whether the calls of past turns are told. `fallback_selector` chooses the window where no
    summary can be written (row I7); without it `message_selector` does.
    """

    name: str
    order: PromptOrder
    tells_ledger: bool
    fallback_selector: MessageSelector


class FunctionsBasedAgent:
    """An agent whose tools are a model's functions. Each step of `next_action` can be overridden, or all of it."""

    def __init__(
        self,
        *,
        model: ChatModel,
        prompt: str,
        tools: Sequence[Tool],
        message_selector: MessageSelector,
        tokenizer: TokenCounter,
        limits: PromptLimits,
        **options: Unpack[PromptOptions],
    ) -> None:
        """Raises ValueError when two tools have one name."""
        self.model = model
        self.prompt = prompt
        self.message_selector = message_selector
        self.fallback_selector = options.get("fallback_selector", message_selector)
        self.tokenizer = tokenizer
        self.limits = limits
        self.name = options.get("name", "")
        self.order: PromptOrder = options.get("order", "cached")
        self.tells_ledger = options.get("tells_ledger", True)
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ValueError("two tools have the same name")

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by their names."""
        return self._tools

    async def next_action(self, context: AgentContext) -> Action:
        """What to do next in this run. Raises the TellUser errors of the model."""
        parts = await self.gather(context)
        reply = await self.chat(context, parts)
        return self.parse_output(context, reply)

    async def last_answer(self, context: AgentContext) -> Finish:
        """The answer when no action is left: the same prompt, without tools."""
        parts = await self.gather(context)
        last = replace(parts, system=f"{self.prompt}\n\n{LAST_ANSWER_NOTE}", tools=())
        reply = await self.chat(context, last)
        if not reply.text.strip():  # a call of a tool that was not offered
            context.usages.append(reply.usage)
            raise ModelRepliedNothing
        return Finish(text=reply.text, reply=reply)

    async def preview(self, context: AgentContext) -> AssembledPrompt:
        """The request that this context would get now; the model is not asked. Raises PromptTooLong."""
        return self._assemble(await self.gather(context), room=self.limits.prompt_tokens)

    async def prompt_size(self, context: AgentContext) -> PromptSize:
        """What the next request would take before anything is left out of it to make it fit."""
        return measure(await self.gather(context), meter=self.tokenizer)

    async def gather(self, context: AgentContext) -> PromptParts:
        """All that the next prompt could tell (row M10): recall, window, prompt, completed steps."""
        prompt = await self.user_prompt(context)
        recent = await self.select_recent(context)
        recalled = await self.recall(context, prompt, recent)
        parts = self.draft(context, recalled=recalled, recent=recent, prompt=prompt)
        if context.count_uncovered is None:
            return parts
        told = {message.id for message in (*recent, *prompt) if message.sequence is not None}
        return replace(parts, unselected=max(0, await context.count_uncovered() - len(told)))

    async def user_prompt(self, context: AgentContext) -> tuple[Message, ...]:
        """The messages to answer: those of this turn, or the last one that a user has in the history."""
        if context.user_messages:
            return context.user_messages
        last = await context.chat_history.last_user_message()
        return (last,) if last else ()

    async def recall(
        self, context: AgentContext, prompt: Sequence[Message], recent: Sequence[Message]
    ) -> Sequence[RankedMessage]:
        """The best hits for the last message of the prompt, none of them in the prompt or the window.

        Where it brings nothing ("thanks!", after a question), for one of the two before it. Searched once per run. Without recall the answer is given all the same: a failure is logged and counted.
        Where the budget makes the window shorter, it has taken the recalled messages before.
        """
        if context.recalled is None:
            context.recalled = await _search(context, prompt, recent, self.limits)
        return context.recalled

    async def select_recent(self, context: AgentContext) -> list[Message]:
        """The window of the history that the selector chooses, from what the summary does not cover."""
        selector = self.fallback_selector if context.is_window_short else self.message_selector
        if context.summary is not None:
            selector = AfterSequence(selector, context.summary.upto_sequence)
        return await context.chat_history.select_messages(selector)

    def draft(
        self,
        context: AgentContext,
        *,
        recalled: Sequence[RankedMessage],
        recent: Sequence[Message],
        prompt: Sequence[Message],
    ) -> PromptParts:
        """The parts of the prompt: the tools that its caller may use, of other agents' calls those that it may see (I11)."""
        here = context.delegation_id
        return PromptParts(
            system=self.prompt,
            tools=[tool.spec for tool in permitted(self.tools, context.caller).values()],
            summary=context.summary,
            recalled=[hit.message for hit in recalled],
            beside={hit.message.id: (*hit.before, *hit.after) for hit in recalled},
            heard=() if here else context.heard,
            window=recent,
            ledger=_visible_turns(context.past_ledger, here) if self.tells_ledger else (),
            prompt=prompt,
            images=context.images,
            record=[
                entry for entry in context.ledger if entry.delegation_id != here and is_visible(entry, here)
            ],
            task=context.task,
            digest=context.digest,
            steps=context.completed_steps,
            is_group=context.is_group,
        )

    async def chat(self, context: AgentContext, parts: PromptParts) -> ModelReply:
        """The model's reply to these parts, made to fit. An endpoint that finds them too long gets half, once.

        The receipt of each request is added to the context's.
        """
        prompt = self._assemble(parts, room=self.limits.prompt_tokens)
        try:
            return await self._send(context, prompt, parts)
        except PromptTooLong:
            half = prompt.receipt.tokens // 2
            log.warning("prompt_too_long", assumed_window=self.limits.context_window, retried_with=half)
        return await self._send(context, self._assemble(parts, room=half), parts)

    def parse_output(self, context: AgentContext, reply: ModelReply) -> Action:
        """The action that the reply asks for."""
        return parse_reply(reply, permitted(self.tools, context.caller), earlier=context.completed_steps)

    def _assemble(self, parts: PromptParts, *, room: int) -> AssembledPrompt:
        window = self.limits.context_window
        budget = PromptBudget(window=window, answer_tokens=window - room, order=self.order)
        return assemble(parts, budget, meter=self.tokenizer, agent=self.name)

    async def _send(self, context: AgentContext, prompt: AssembledPrompt, parts: PromptParts) -> ModelReply:
        messages = repair_pairs(prompt.messages)
        context.receipts.append(prompt.receipt)
        trace_llm_call(len(context.completed_steps) + 1, len(messages))
        call = MeteredCall(
            prompt_tokens=prompt.receipt.tokens,
            meter=self.tokenizer,
            usages=context.usages,
            on_text=context.on_text,
        )
        return await call.run(lambda on_text: self.model.chat(messages, parts.tools, on_text=on_text))


async def _search(
    context: AgentContext, prompt: Sequence[Message], recent: Sequence[Message], limits: PromptLimits
) -> Sequence[RankedMessage]:
    if not prompt or not context.chat_history.is_searchable():
        return ()
    ranked: Sequence[RankedMessage] = ()
    try:
        with RECALL_SECONDS.time():
            for asked in prompt[: -_ASKED_AT_MOST - 1 : -1]:
                ranked = await context.chat_history.search(
                    asked.text,
                    limits.recall_k,
                    asker_id=asked.sender.id if asked.sender else None,
                    now=asked.sent_at,
                    told=(*recent, *prompt),
                    neighbours=limits.recall_neighbours,
                )
                if ranked:
                    break
    except RecallUnavailable as error:
        RECALL_FAILURES.inc()
        log.warning("recall_unavailable", context_id=context.context_id, reason=str(error))
        return ()
    found = {hit.message.id: round(hit.score, 3) for hit in ranked}
    log.info("recalled", count=len(found), messages=list(found), scores=list(found.values()))
    return ranked


def _visible_turns(ledger: Sequence[LedgerTurn], delegation_id: str) -> list[LedgerTurn]:
    """The turns with the entries that are visible there; without those that have none."""
    turns = (
        replace(turn, entries=tuple(each for each in turn.entries if is_visible(each, delegation_id)))
        for turn in ledger
    )
    return [turn for turn in turns if turn.entries]
