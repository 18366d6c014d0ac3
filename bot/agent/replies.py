"""Replies to assembled prompts: metered, and continued if the model stopped at its limit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from bot.agent.context import AgentContext
from bot.agent.model import ChatModel, MeteredCall, ModelReply, PromptMessage, ToolSpec
from bot.agent.prompt.parts import AssembledPrompt
from bot.errors import TellUser
from memory.history.selectors import TokenCounter

CONTINUE_NOTE = "Your answer was cut off. Continue exactly where it ends, and repeat nothing."
_LEAST_CONTINUATION = 256
"""Tokens for the continuation and the request for it."""
_LEAST_OVERLAP, _LONGEST_OVERLAP = 12, 400
"""Characters that a continuation may repeat."""

log = structlog.get_logger()


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
