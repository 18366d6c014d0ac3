"""What a turn works with, built once by the composition root."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from bot.agent.team import Team
from bot.inbox.stops import StopSignals
from bot.transport.gating import Access, BotIdentity
from bot.turn.conversation import Conversations
from bot.turn.delivery import Delivery
from bot.turn.resetting import Resetting
from bot.turn.turn_store import TurnStore
from memory.compression import CompressionLimits
from memory.keys import ContextRef
from memory.message_selectors import TokenCounter
from memory.recall import Recall
from memory.redis_history import RedisHistory


class Chats(Protocol):
    """What a turn asks of Telegram besides sending. Raises the TelegramFailure errors."""

    async def send_typing(self, chat_id: int, *, thread_id: int | None = None) -> None: ...
    async def is_administrator(self, chat_id: int, user_id: int) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """Bounds of a turn. `window_messages`: how many of the newest messages are loaded with each turn."""

    max_actions: int
    deadline_s: float
    window_messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnServices:
    """Everything that a turn needs; each is safe to share between turns that run at the same time.

    `chat_contexts` finds the contexts of a chat; `statistics` are a few lines for operators. `compression` is None
    where no model writes summaries.
    """

    bot: BotIdentity
    access: Access
    store: TurnStore
    history: RedisHistory
    recall: Recall
    tokenizer: TokenCounter
    team: Team
    conversations: Conversations
    compression: CompressionLimits | None
    stops: StopSignals
    delivery: Delivery
    resetting: Resetting
    chats: Chats
    limits: TurnLimits
    clock: Callable[[], float]
    is_offline: bool
    chat_contexts: Callable[[int], Awaitable[list[ContextRef]]]
    statistics: Callable[[], Awaitable[str]]
