"""The agent that decides by a model's function calls, from recall, the recent window and its completed steps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog

from bot.agent.actions import Action, Finish
from bot.agent.context import AgentContext
from bot.agent.model import ChatModel, ModelReply
from bot.agent.output_parser import parse_reply
from bot.agent.prompt import PromptDraft, draft_prompt
from bot.agent.prompt_fit import fit, measure
from bot.agent.tool import Tool
from bot.errors import ModelRepliedNothing, PromptTooLong
from bot.observe.metrics import RECALL_FAILURES, RECALL_SECONDS
from bot.observe.tracing import trace_llm_call
from memory.errors import RecallUnavailable
from memory.message import Message
from memory.message_selectors import MessageSelector, TokenCounter

LAST_ANSWER_NOTE = "You have no tool calls left for this message. Answer now from what you have, and say plainly what is missing."

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLimits:
    """Of the model's window (tokens), `answer_tokens` are kept free for its answer; `recall_k` messages at most."""

    context_window: int
    answer_tokens: int
    recall_k: int = 3

    @property
    def prompt_tokens(self) -> int:
        """What is left for the prompt, tools included."""
        return self.context_window - self.answer_tokens


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
    ) -> None:
        """Raises ValueError when two tools have one name."""
        self.model = model
        self.prompt = prompt
        self.message_selector = message_selector
        self.tokenizer = tokenizer
        self.limits = limits
        self._tools = {tool.name: tool for tool in tools}
        if len(self._tools) != len(tools):
            raise ValueError("two tools have the same name")

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by their names."""
        return self._tools

    async def next_action(self, context: AgentContext) -> Action:
        """What to do next in this run. Raises the TellUser errors of the model."""
        prompt = await self.user_prompt(context)
        recalled = await self.recall(context, prompt)
        recent = await self.select_recent(context)
        draft = self.draft(context, system=self.prompt, recalled=recalled, recent=recent, prompt=prompt)
        reply = await self.chat(context, draft, list(self.tools.values()))
        return self.parse_output(context, reply)

    async def last_answer(self, context: AgentContext) -> Finish:
        """The answer when no action is left: the same prompt, without tools."""
        prompt = await self.user_prompt(context)
        recalled = await self.recall(context, prompt)
        recent = await self.select_recent(context)
        system = f"{self.prompt}\n\n{LAST_ANSWER_NOTE}"
        draft = self.draft(context, system=system, recalled=recalled, recent=recent, prompt=prompt)
        reply = await self.chat(context, draft, [])
        if not reply.text.strip():  # a call of a tool that was not offered
            raise ModelRepliedNothing
        return Finish(text=reply.text, reply=reply)

    async def user_prompt(self, context: AgentContext) -> tuple[Message, ...]:
        """The messages to answer: those of this turn, or the last one that a user has in the history."""
        if context.user_messages:
            return context.user_messages
        last = await context.chat_history.last_user_message()
        return (last,) if last else ()

    async def recall(self, context: AgentContext, prompt: Sequence[Message]) -> tuple[Message, ...]:
        """The best hits for the last message of the prompt, without the prompt itself; searched once per run.

        Without recall the answer is given all the same: a failure is logged and counted.
        """
        if context.recalled is None:
            context.recalled = await self._search(context, prompt)
        return context.recalled

    async def select_recent(self, context: AgentContext) -> list[Message]:
        """The window of the history that the selector chooses."""
        return await context.chat_history.select_messages(self.message_selector)

    def draft(
        self,
        context: AgentContext,
        *,
        system: str,
        recalled: Sequence[Message],
        recent: Sequence[Message],
        prompt: Sequence[Message],
    ) -> PromptDraft:
        """The request in order, each message once: system, recalled, recent, prompt, completed steps."""
        return draft_prompt(
            system=system,
            recalled=recalled,
            window=recent,
            prompt=prompt,
            steps=context.completed_steps,
            is_group=context.is_group,
        )

    async def chat(self, context: AgentContext, draft: PromptDraft, tools: Sequence[Tool]) -> ModelReply:
        """The model's reply to the draft, made to fit. An endpoint that finds it too long gets half of it, once."""
        specs = [tool.spec for tool in tools]
        fitted = fit(draft, specs, meter=self.tokenizer, room=self.limits.prompt_tokens)
        turn = len(context.completed_steps) + 1
        try:
            trace_llm_call(turn, len(fitted.messages()))
            return await self.model.chat(fitted.messages(), specs, on_text=context.on_text)
        except PromptTooLong:
            half = measure(fitted, specs, self.tokenizer) // 2
            log.warning("prompt_too_long", assumed_window=self.limits.context_window, retried_with=half)
            fitted = fit(fitted, specs, meter=self.tokenizer, room=half)
        trace_llm_call(turn, len(fitted.messages()))
        return await self.model.chat(fitted.messages(), specs, on_text=context.on_text)

    def parse_output(self, context: AgentContext, reply: ModelReply) -> Action:
        """The action that the reply asks for."""
        return parse_reply(reply, self.tools, earlier=context.completed_steps)

    async def _search(self, context: AgentContext, prompt: Sequence[Message]) -> tuple[Message, ...]:
        if not prompt or not context.chat_history.is_searchable():
            return ()
        own = {message.id for message in prompt}  # an exact match, and known anyway
        try:
            with RECALL_SECONDS.time():
                ranked = await context.chat_history.search(prompt[-1].text, self.limits.recall_k, exclude=own)
        except RecallUnavailable as error:
            RECALL_FAILURES.inc()
            log.warning("recall_unavailable", context_id=context.context_id, reason=str(error))
            return ()
        found = {hit.message.id: round(hit.score, 3) for hit in ranked}
        log.info("recalled", count=len(found), messages=list(found), scores=list(found.values()))
        return tuple(hit.message for hit in ranked)
