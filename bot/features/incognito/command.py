"""/incognito begins and ends incognito, and so does its button; each answer meanwhile is marked."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.agent.context import AgentContext
from bot.features.parts import Built, Parts
from bot.inbox.records import IncognitoChange
from bot.settings import Settings
from bot.transport.controls import press_data
from bot.transport.forms import context_keys
from bot.transport.gating import BotIdentity
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.transport.words import Words
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.hooks import Hooks
from bot.turn.question import Question
from memory.history import contexts
from memory.history.store import HistorySnapshot

_END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncognitoCommand:
    """Begins and ends incognito. In groups only administrators may."""

    bot: BotIdentity
    clock: Callable[[], float]

    async def run(self, call: CommandCall) -> Reply:
        """End it if it is on, else begin it, at the time of the command."""
        if refused := await call.refused():
            return refused
        if call.update.is_incognito:
            return self._end(call, at=call.message.date)
        words = call.words
        return Reply(
            rich=RichText(text=words("incognito-on", place="group" if call.is_group else "private")),
            buttons=[Button(text=words("incognito-end"), data=press_data("incognito", _END))],
            incognito=self._change(call, is_on=True, at=call.message.date),
        )

    async def press(self, call: CommandCall) -> Reply | None:
        """End it, and say so below what was said meanwhile."""
        if call.argument != _END:
            return None
        if not call.update.is_incognito:
            return Reply(notice=call.words("incognito-off"))
        return self._end(call, at=int(self.clock()))

    def _end(self, call: CommandCall, *, at: int) -> Reply:
        return Reply(text=call.words("incognito-off"), incognito=self._change(call, is_on=False, at=at))

    def _change(self, call: CommandCall, *, is_on: bool, at: int) -> IncognitoChange:
        message = call.message
        keys = context_keys(
            self.bot.id, call.update.anchor_id, message.thread_id, is_direct=message.is_direct
        )
        title = message.chat_title or message.sender_name
        entry = contexts.dump_entry(keys, title=title, created_at=self.clock())
        return IncognitoChange(is_on=is_on, at=at, registered=entry)


def mark(question: Question, context: AgentContext) -> None:
    """Show in the chat, and tell the agent, that nothing is kept."""
    if question.first.is_incognito:
        question.notice = question.words("incognito-mark")
        context.conversation = replace(context.conversation, is_incognito=True)


async def build(parts: Parts) -> Built:
    """Return the command, its button, and the hook that marks answers."""
    incognito = IncognitoCommand(bot=parts.outside.bot, clock=parts.clock)
    return Built(
        commands={"incognito": incognito.run},
        buttons={"incognito": incognito.press},
        hooks=Hooks(before_run=(mark,)),
    )


def page_line(settings: Settings, words: Words, snapshot: HistorySnapshot) -> str:
    """Return a line while incognito is on, else ""."""
    return words("incognito-line") if snapshot.incognito_until > time.time() else ""
