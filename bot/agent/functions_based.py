"""The agent that decides by a model's function calls, from recall, the recent window and its completed steps."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import structlog

from bot.agent.abilities import Abilities
from bot.agent.actions import Action, parse_reply
from bot.agent.context import AgentContext, Caller, Role
from bot.agent.filtered import answer_without_refused
from bot.agent.mcp_servers import McpTools, McpToolset, fit_tools
from bot.agent.model import ChatModel, MeteredCall, ModelReply, PromptMessage, ToolSpec
from bot.agent.prompt.assembly import assemble, measure
from bot.agent.prompt.draft import recall_budget
from bot.agent.prompt.parts import (
    AssembledPrompt,
    ChatView,
    PromptBudget,
    PromptOrder,
    PromptParts,
    PromptSize,
)
from bot.agent.tool import Subject, Tool, permitted
from bot.errors import ModelFiltered, ModelRepliedNothing, PromptTooLong, TellUser
from bot.observe.metrics import RECALL_FAILURES, RECALL_SECONDS
from bot.observe.tracing import trace_llm_call
from memory.characters import is_blank
from memory.errors import RecallUnavailable
from memory.facts.selection import Memories, RecallBudget
from memory.history.fact import Fact
from memory.history.ledger import LedgerEntry, LedgerTurn, is_visible
from memory.history.message import Message
from memory.history.selectors import AfterSequence, MessageSelector, TokenCounter
from memory.zones.clocks import Clocks

LAST_ANSWER_NOTE = (
    "You have no tool calls left for this message. "
    "Answer now from what you have, and say plainly what is missing."
)

_SEARCHED_MESSAGES = 3
"""Messages to answer that are searched for, newest first, until one search finds something."""

_MOST_TOOLS = 128
"""Tools that OpenAI accepts in a request."""
_MCP_SHARE = 2
"""The share of the free room that the tools of MCP servers may take: a half."""
_SHOWN_SHARE = 2
"""The share of the room up to which all messages surely stay in a prompt: a half."""
_CALLERS = 1_024
"""Callers of an agent whose tools it knows."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLimits:
    """Limits of an agent's prompts, in tokens and messages."""

    # The window of the model, and the part of it that stays free for the answer.
    context_window: int
    answer_tokens: int
    # Recalled messages and facts, their tokens, and the messages before and after each of these messages.
    recall_k: int = 25
    recall_tokens: int = 1_000
    recall_neighbours: int = 0

    @property
    def prompt_tokens(self) -> int:
        """The room for the prompt, tools included."""
        return self.context_window - self.answer_tokens


CONTINUE_NOTE = "Your answer was cut off. Continue exactly where it ends, and repeat nothing."
_LEAST_CONTINUATION = 256
"""Tokens for the continuation and the request for it."""
_LEAST_OVERLAP, _LONGEST_OVERLAP = 12, 400
"""Characters that a continuation may repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """Asks one model. `window` is its context window in tokens."""

    model: ChatModel
    meter: TokenCounter
    window: int

    async def ask(
        self, context: AgentContext, prompt: AssembledPrompt, tools: Sequence[ToolSpec], *, after: str = ""
    ) -> ModelReply:
        """Return the reply to a prompt. Its text is shown behind `after`. Raises the TellUser errors of the model."""

        async def show(text: str) -> None:
            if context.on_text is not None:
                await context.on_text(after + text)

        call = MeteredCall(
            model=self.model.name,
            prompt_tokens=prompt.record.tokens,
            meter=self.meter,
            usages=context.record.usages,
            on_text=show,
        )
        return await call.run(self.model.chat(prompt.messages, tools, on_text=call.take))

    async def complete(self, context: AgentContext, prompt: AssembledPrompt, begun: ModelReply) -> ModelReply:
        """Return the reply, with its continuation if it reached the model's limit.

        It stays as it is if the window has no room for more, or if the model fails now.
        """
        tokens = prompt.record.tokens + self.meter.count(begun.text)
        is_cut = begun.finish_reason == "length" and begun.text and not begun.tool_calls
        if not is_cut or tokens + _LEAST_CONTINUATION > self.window:
            return begun
        messages = (
            *prompt.messages,
            PromptMessage(role="assistant", text=begun.text),
            PromptMessage(role="user", text=CONTINUE_NOTE),
        )
        longer = replace(prompt, messages=messages, record=replace(prompt.record, tokens=tokens))
        try:
            rest = await self.ask(context, longer, (), after=begun.text)
        except TellUser as error:
            log.warning("reply_not_continued", failure=type(error).__name__, said=error.said)
            return begun
        context.record.usages.append(begun.usage)
        return replace(rest, text=begun.text + _without_overlap(begun.text, rest.text), tool_calls=())


def _without_overlap(text: str, rest: str) -> str:
    """Return the continuation without what it repeats of the end of the text."""
    for size in range(min(_LONGEST_OVERLAP, len(rest)), _LEAST_OVERLAP, -1):
        if text.endswith(rest[:size]):
            return rest[size:]
    return rest


@dataclass(kw_only=True, eq=False)
class FunctionsBasedAgent:
    """An agent whose tools are a model's functions. Subclasses may override `next_action` or any of its steps."""

    model: ChatModel
    prompt: str
    tools: Sequence[Tool]
    message_selector: MessageSelector
    tokenizer: TokenCounter
    limits: PromptLimits
    # The agent's name in prompt records.
    name: str = ""
    order: PromptOrder = "cached"
    # True if prompts contain the tool calls of past turns.
    shows_ledger: bool = True
    # Chooses the window while no summary can be written; None: `message_selector` does.
    fallback_selector: MessageSelector | None = None
    # What its model is known to lack, and the room that its endpoint has for prompts.
    abilities: Abilities = field(default_factory=Abilities)
    # The tools of MCP servers, and the servers.
    mcp: McpToolset | None = None
    servers: McpTools | None = None

    def __post_init__(self) -> None:
        """Raises ValueError if two tools have the same name."""
        self._own = {tool.name: tool for tool in self.tools}
        if len(self._own) != len(self.tools):
            raise ValueError("two tools have the same name")
        limits = self.limits
        self._budget = PromptBudget(window=limits.context_window, room=limits.prompt_tokens, order=self.order)
        self._replies = Replies(model=self.model, meter=self.tokenizer, window=limits.context_window)
        self._left_out: frozenset[str] = frozenset()

        def offer_own(caller: Caller) -> tuple[Tool, ...]:
            return tuple(permitted(self._own, caller).values())

        self._offered = lru_cache(maxsize=_CALLERS)(offer_own)

    @property
    def context_window(self) -> int:
        """The window of its model in tokens."""
        return self.limits.context_window

    @property
    def roles(self) -> Collection[Role]:
        """The roles in the scopes of its tools."""
        own: set[Role] = {tool.scope.who for tool in self.tools}
        return own | self.mcp.roles if self.mcp else own

    async def all_tools(self) -> Mapping[str, Tool]:
        """Return its tools by their names: its own, and those of its MCP servers that fit its prompts."""
        if self.mcp is None or self.servers is None:
            return self._own
        listed = await self.mcp.load(self.servers)
        added = {name: tool for name, tool in listed.items() if name not in self._own}
        own = [tool.spec for tool in self.tools]
        taken = measure(PromptParts(system=self.prompt, tools=own, is_group=True), meter=self.tokenizer)
        room = (self.limits.prompt_tokens - taken.tokens) // _MCP_SHARE
        fitting = fit_tools(
            added,
            room=room,
            at_most=_MOST_TOOLS - len(self.tools),
            size=lambda tool: self.tokenizer.count(tool.spec.described),
        )
        left_out = frozenset(added.keys() - fitting.keys())
        if left_out - self._left_out:
            log.warning("mcp_tools_too_large", agent=self.name, tools=sorted(left_out), room=room)
        self._left_out = left_out
        return {**self._own, **fitting}

    async def next_action(self, context: AgentContext) -> Action:
        """Return the next action of this run. Raises the TellUser errors of the model."""
        reply = await self.chat(context, await self.gather(context))
        return await self.parse_output(context, reply)

    async def last_answer(self, context: AgentContext) -> Action:
        """Return the answer when no action is left: the same prompt, without tools."""
        parts = await self.gather(context)
        last = replace(parts, system=f"{self.prompt}\n\n{LAST_ANSWER_NOTE}", tools=())
        reply = await self.chat(context, last)
        if is_blank(reply.text):  # a call of a tool that was not offered
            context.record.usages.append(reply.usage)
            raise ModelRepliedNothing
        return replace(reply, tool_calls=())

    async def preview(self, context: AgentContext) -> AssembledPrompt:
        """Return the next request of this context without a model call. Raises PromptTooLong."""
        return assemble(await self.gather(context), self._budget, meter=self.tokenizer, agent=self.name)

    async def prompt_size(self, context: AgentContext) -> PromptSize:
        """Return the size of the next request before anything is left out."""
        return measure(await self.gather(context), meter=self.tokenizer)

    async def gather(self, context: AgentContext) -> PromptParts:
        """Return the parts of the next prompt: recall, window, prompt, completed steps.

        The prompt is the messages of this turn, or else the last user message of the history. The agent sees
        the tools of this caller, and the calls that it may see.
        """
        here, conversation, thinking = context.delegation.path, context.conversation, context.thinking
        prompt = context.user_messages
        if not prompt:
            last = await context.chat_history.last_user_message()
            prompt = (last,) if last else ()
        recent = await self.select_recent(context)
        recalled = await self.recall(context, prompt, recent)
        unselected = 0
        if conversation.count is not None and not thinking.is_window_refused:
            selected = {each.id for each in (*recent, *prompt) if each.sequence is not None}
            unselected = max(0, conversation.count().uncovered - len(selected))
        ledger = conversation.ledger if self.shows_ledger else ()
        record = context.record.ledger
        return PromptParts(
            system=self.prompt,
            tools=_of_use(
                await self._offer(context.caller), context, (*recent, *prompt), self.limits.prompt_tokens
            ),
            summary=conversation.summary,
            recalled=recalled,
            talk=() if here else conversation.talk,
            standing=_standing_of(conversation.standing, _sender_id(prompt)),
            window=recent,
            unselected=unselected,
            ledger=_visible_turns(ledger, here) if ledger else (),
            prompt=prompt,
            images=context.images,
            record=_entries_of_others(record, here) if record else (),
            task=context.delegation.task,
            digest=thinking.digest,
            steps=thinking.completed_steps,
            is_group=conversation.is_group,
            is_incognito=conversation.is_incognito,
            clocks=Clocks(zones=conversation.zones, reader=_sender_id(prompt)),
        )

    async def select_recent(self, context: AgentContext) -> list[Message]:
        """Return the window that the selector chooses from the messages without a summary."""
        conversation = context.conversation
        if context.thinking.is_window_refused:
            return []
        selector = self.message_selector
        if conversation.is_window_short and self.fallback_selector is not None:
            selector = self.fallback_selector
        if conversation.summary is not None:
            selector = AfterSequence(selector, conversation.summary.upto_sequence)
        return await context.chat_history.select_messages(selector)

    async def recall(
        self, context: AgentContext, prompt: Sequence[Message], recent: Sequence[Message]
    ) -> Memories:
        """Return the best memories for the last message of the prompt, without messages of prompt and window.

        If nothing is found ("thanks!", after a question), search for one of the two messages before it. A run
        searches once. A failure is logged and counted, and the answer goes without recall. The search knows
        the whole window: a budget that shortens the window has removed the recalled messages first.
        """
        thinking, history = context.thinking, context.chat_history
        if thinking.recalled is not None:
            return thinking.recalled
        memories = thinking.recalled = Memories()
        if not prompt:
            return memories
        try:
            with RECALL_SECONDS.time():
                for message in prompt[: -_SEARCHED_MESSAGES - 1 : -1]:
                    memories = await history.recall(
                        message.text,
                        _recall_budget(self.limits, context, prompt, self.tokenizer),
                        asker_id=message.sender.id if message.sender else None,
                        now=message.sent_at,
                        visible=(*recent, *prompt),
                        neighbours=self.limits.recall_neighbours,
                    )
                    if memories.messages:
                        break
        except RecallUnavailable as error:
            RECALL_FAILURES.inc()
            log.warning("recall_unavailable", context_id=context.context_id, reason=str(error))
            return memories
        messages = [hit.message.id for hit in memories.messages]
        scores = [round(hit.score, 3) for hit in memories.messages]
        facts = [fact.id for fact in memories.facts]
        log.info("recalled", count=len(messages), messages=messages, scores=scores, facts=facts)
        thinking.recalled = memories
        return memories

    async def chat(self, context: AgentContext, parts: PromptParts) -> ModelReply:
        """Return the model's reply to these parts, without a part that its filter refuses."""
        ask = partial(self._ask, context)
        try:
            return await ask(parts)
        except ModelFiltered:
            return await answer_without_refused(parts, context, ask)

    async def _ask(self, context: AgentContext, parts: PromptParts) -> ModelReply:
        """Return the model's reply to these parts, made to fit, and append the record of each request.

        If the endpoint finds the prompt too long, or refuses a prompt of more than half of the window, retry once with
        half of its tokens. If that is answered, later prompts are as short. A reply that was cut at the model's limit
        is continued once.
        """
        room = self.abilities.room(self._budget.room)
        budget = replace(self._budget, room=room)
        while True:
            prompt = assemble(parts, budget, meter=self.tokenizer, agent=self.name)
            context.record.prompts.append(prompt.record)
            trace_llm_call(len(context.thinking.completed_steps) + 1, len(prompt.messages))
            try:
                reply = await self._replies.ask(context, prompt, parts.tools)
                break
            except TellUser as error:
                is_long = error.may_be_length and prompt.record.tokens > budget.window // 2
                if budget.room < room or not (is_long or isinstance(error, PromptTooLong)):
                    raise
                budget = replace(budget, room=prompt.record.tokens // 2)
                log.warning(
                    "prompt_too_long", assumed_window=budget.window, retried_with=budget.room, said=error.said
                )
        if budget.room < room:
            self.abilities.learn_room(budget.room)
        return await self._replies.complete(context, prompt, reply)

    async def parse_output(self, context: AgentContext, reply: ModelReply) -> Action:
        """Return the action of a reply. A reply of text alone is one already."""
        if not (is_blank(reply.text) or reply.tool_calls):
            return reply
        tools = permitted(await self.all_tools(), context.caller)
        return parse_reply(reply, tools, earlier=context.thinking.completed_steps)

    async def _offer(self, caller: Caller) -> tuple[Tool, ...]:
        """Return the tools of this caller for a request. Without MCP servers they are computed once a caller."""
        if self.mcp is None:
            return self._offered(caller)
        return tuple(permitted(await self.all_tools(), caller).values())


def _recall_budget(
    limits: PromptLimits, context: AgentContext, prompt: Sequence[Message], meter: TokenCounter
) -> RecallBudget:
    conversation = context.conversation
    clocks = Clocks(zones=conversation.zones, reader=_sender_id(prompt))
    return recall_budget(
        lines=limits.recall_k,
        tokens=limits.recall_tokens,
        view=ChatView(is_group=conversation.is_group, clocks=clocks),
        people=conversation.people,
        now=prompt[-1].sent_at,
        meter=meter,
    )


def _of_use(
    tools: Sequence[Tool], context: AgentContext, shown: Sequence[Message], room: int
) -> tuple[ToolSpec, ...]:
    """Return the tools whose subject exists, and those that this run has called.

    Each subject appears about once in a chat, so that providers can cache the beginning of its prompts.
    """
    subjects = {None, *_subjects(context, shown, room)}
    called = {call.name for step in context.thinking.completed_steps for call in step.reply.tool_calls}
    return tuple(tool.spec for tool in tools if tool.subject in subjects or tool.name in called)


def _subjects(context: AgentContext, shown: Sequence[Message], room: int) -> Iterator[Subject]:
    """Yield the subjects of tools that exist beyond the `shown` messages."""
    conversation, artifacts = context.conversation, context.artifacts
    if artifacts is not None and artifacts.has_any:
        yield "artifacts"
    if conversation.facts is not None:
        yield "facts"
    # The window and the messages to answer may overlap. A prompt may have to leave out messages of a long window.
    tokens = {message.id: message.tokens for message in shown}
    is_long = sum(tokens.values()) > room // _SHOWN_SHARE
    if conversation.count is None or is_long or conversation.count().total > len(tokens):
        yield "older_messages"


def _standing_of(wishes: Sequence[Fact], writer: int | None) -> tuple[Fact, ...]:
    """Return the wishes of this writer. Anonymous writers have no id of their own, and no wishes."""
    return tuple(fact for fact in wishes if writer and fact.said_by == writer)


def _sender_id(prompt: Sequence[Message]) -> int | None:
    return prompt[-1].sender.id if prompt and prompt[-1].sender else None


def _visible_turns(ledger: Sequence[LedgerTurn], delegation_id: str) -> list[LedgerTurn]:
    """Return the turns with their visible entries, without turns that have none."""
    turns: list[LedgerTurn] = []
    for turn in ledger:
        entries = tuple(each for each in turn.entries if is_visible(each, delegation_id))
        if entries:
            turns.append(replace(turn, entries=entries))
    return turns


def _entries_of_others(entries: Sequence[LedgerEntry], delegation_id: str) -> list[LedgerEntry]:
    """Return the visible calls of other agents in this run."""
    return [
        each for each in entries if each.delegation_id != delegation_id and is_visible(each, delegation_id)
    ]
