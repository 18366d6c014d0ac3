"""One call of a model, whose use is known also where the endpoint does not tell it, or where it is cut off."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.agent.model import ModelReply, OnText, Usage
from bot.errors import ModelRepliedNothing, TellUser
from memory.history.selectors import TokenCounter


@dataclass(slots=True, kw_only=True)
class MeteredCall:
    """A call with a prompt of `prompt_tokens` by the count of `meter`. `on_text` is told what is written, as it grows.

    `usages` gets what a call used that ends without a reply: it is paid for all the same.
    """

    prompt_tokens: int
    meter: TokenCounter
    usages: list[Usage]
    on_text: OnText | None = None
    _written: str = ""

    async def run(self, ask: Callable[[OnText], Awaitable[ModelReply]]) -> ModelReply:
        """The reply, with a usage: where nobody says what it used, that is counted here. Raises what `ask` raises.

        Without a reply the prompt and what was written are counted: of a call that is cancelled (the turn is stopped or
        begins anew, or its time is over), and of one that fails once the endpoint has begun to answer.
        """
        try:
            reply = await ask(self._take)
        except (asyncio.CancelledError, ModelRepliedNothing):
            self.usages.append(self._used(self._written))
            raise
        except TellUser:
            if self._written:
                self.usages.append(self._used(self._written))
            raise
        if reply.usage != Usage():
            return reply
        calls = (text for call in reply.tool_calls for text in (call.name, call.arguments))
        return replace(reply, usage=self._used(reply.text, *calls))

    async def _take(self, text: str) -> None:
        self._written = text
        if self.on_text is not None:
            await self.on_text(text)

    def _used(self, *written: str) -> Usage:
        return Usage(prompt_tokens=self.prompt_tokens, completion_tokens=sum(map(self.meter.count, written)))
