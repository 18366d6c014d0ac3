"""What a turn works with, built once by the composition root."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from bot.agent.team import Team
from bot.inbox.signals import Signals
from bot.inbox.slots import Slots
from bot.transport.administrators import Administrators
from bot.transport.gating import Access, BotIdentity
from bot.transport.guests import Guests
from bot.transport.migrations import Migrations
from bot.turn.batch import BurstWaits
from bot.turn.conversation import Conversations
from bot.turn.delivery import Delivery
from bot.turn.limits import LimitGuard
from bot.turn.preview import Previews
from bot.turn.reachability import Reachability
from bot.turn.reading import Reader
from bot.turn.replies import LongAnswers
from bot.turn.resetting import Resetting
from bot.turn.turn_store import TurnStore
from memory.history.redis_history import RedisHeard, RedisHistory
from memory.history.selectors import TokenCounter
from memory.keys import ContextRef
from memory.recall.recall import Recall
from memory.summary.compression import CompressionLimits


class Chats(Protocol):
    """What a turn asks of Telegram besides sending. Raises the TelegramFailure errors."""

    async def answer_callback(self, callback_id: str, text: str = "", *, is_alert: bool = False) -> None: ...
    async def remove_buttons(self, chat_id: int, message_id: int) -> None: ...
    async def delete_message(self, chat_id: int, message_id: int) -> None: ...
    async def send_typing(self, chat_id: int, *, thread_id: int | None = None) -> None: ...
    async def is_administrator(self, chat_id: int, user_id: int) -> bool: ...
    async def get_me(self) -> BotIdentity: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnLimits:
    """Bounds of a turn. `window_messages`: how many of the newest messages are loaded with each turn."""

    max_actions: int
    deadline_s: float
    window_messages: int
    long_answers: LongAnswers = "parts"
    burst_waits: BurstWaits = field(default_factory=BurstWaits)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRules:
    """What is done in groups by the settings. `talk_lines`: how much talk is kept that was not addressed to us."""

    keeps_talk: bool
    talk_lines: int
    erases_on_leave: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """How many contexts there are, how many of them have something to do, and for how long the oldest has had."""

    contexts: int
    waiting: int
    oldest_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnServices:
    """Everything that a turn needs; each is safe to share between turns that run at the same time.

    `chat_contexts` finds the contexts of a chat; `statistics` is for operators. `compression` is None
    where no model writes summaries.
    """

    bot: BotIdentity
    access: Access
    guests: Guests
    guard: LimitGuard
    store: TurnStore
    history: RedisHistory
    heard: RedisHeard
    recall: Recall
    tokenizer: TokenCounter
    team: Team
    conversations: Conversations
    reader: Reader
    compression: CompressionLimits | None
    signals: Signals
    delivery: Delivery
    previews: Previews
    reachability: Reachability
    slots: Slots
    resetting: Resetting
    chats: Chats
    administrators: Administrators
    migrations: Migrations
    groups: GroupRules
    limits: TurnLimits
    clock: Callable[[], float]
    is_offline: bool
    chat_contexts: Callable[[int], Awaitable[list[ContextRef]]]
    statistics: Callable[[], Awaitable[Statistics]]
