"""Puts the parts together: from settings and open stores to what works on turns."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.agent.agents_file import AgentSpec
from bot.agent.context_windows import context_window
from bot.agent.functions_based import FunctionsBasedAgent, PromptLimits
from bot.agent.model import ChatModel
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.stops import StopSignals
from bot.inbox.worker import Worker
from bot.settings import Settings
from bot.stores import Stores
from bot.transport.gating import Access, BotIdentity
from bot.transport.ingest import telegram_ref
from bot.transport.telegram_api import TelegramApi
from bot.turn.delivery import Delivery
from bot.turn.resetting import Resetting
from bot.turn.sending import PartSender
from bot.turn.services import TurnLimits, TurnServices
from bot.turn.turn import Turns
from bot.turn.turn_store import TurnStore
from memory import contexts
from memory.keys import ContextRef
from memory.message_selectors import TokenWindowMessageSelector
from memory.redis_client import RedisClient
from memory.tokens import Tokenizer

SIMULATED_OPERATORS = frozenset({1001})
"""The simulator's Olga Marin is an operator, unless OPERATOR_IDS says otherwise."""
WINDOW_MESSAGES = 50
"""The recent window without a summarizer: at most so many messages and WINDOW_TOKENS tokens. What a turn loads."""
_ANSWER_TOKENS = 4096
_ANSWER_SHARE = 4
"""A quarter of a small window is kept for the answer, and never more than _ANSWER_TOKENS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is not ours: Telegram, who we are there, and the model."""

    telegram: TelegramApi
    bot: BotIdentity
    model: ChatModel


def build_access(settings: Settings) -> Access:
    """Who may use the bot."""
    operators = settings.operator_ids or (SIMULATED_OPERATORS if settings.is_simulated else frozenset())
    return Access(
        allowed_chat_ids=settings.allowed_chat_ids,
        allowed_user_ids=settings.allowed_user_ids,
        operator_ids=operators,
    )


def build_agent(
    settings: Settings, spec: AgentSpec, model: ChatModel, tokenizer: Tokenizer
) -> FunctionsBasedAgent:
    """The agent of AGENTS_FILE, or the built-in one."""
    window = context_window(spec.model or settings.openai_model, settings.model_context_window)
    answer_tokens = min(_ANSWER_TOKENS, window // _ANSWER_SHARE)
    window_tokens = min(settings.window_tokens, window - answer_tokens)
    return FunctionsBasedAgent(
        model=model,
        prompt=spec.prompt,
        tools=spec.tools,
        message_selector=TokenWindowMessageSelector(window_tokens, tokenizer, max_messages=WINDOW_MESSAGES),
        tokenizer=tokenizer,
        limits=PromptLimits(context_window=window, answer_tokens=answer_tokens, recall_k=settings.recall_k),
    )


def build_inbox(settings: Settings, redis: RedisClient, *, clock: Callable[[], float]) -> RedisInbox:
    """The inbox of all partitions."""
    return RedisInbox(redis, partitions=settings.partitions, box_limit=settings.box_limit, clock=clock)


def build_services(
    settings: Settings,
    stores: Stores,
    outside: Outside,
    *,
    agent: FunctionsBasedAgent,
    tokenizer: Tokenizer,
    inbox: RedisInbox,
    clock: Callable[[], float],
) -> TurnServices:
    """What a turn works with."""
    turn_store = TurnStore(stores.redis, clock=clock)

    async def chat_contexts(chat_id: int) -> list[ContextRef]:
        return await find_chat(stores, bot_id=outside.bot.id, chat_id=chat_id)

    async def statistics() -> str:
        known = await contexts.list_contexts(stores.redis, range(stores.partitions))
        depths = [await inbox.depth(partition) for partition in range(stores.partitions)]
        waiting, oldest = sum(depth for depth, _ in depths), max(age for _, age in depths)
        return f"Contexts: {len(known)}.\nIn the queue: {waiting}, the oldest for {oldest:.0f} s."

    return TurnServices(
        bot=outside.bot,
        access=build_access(settings),
        store=turn_store,
        history=stores.history,
        recall=stores.recall,
        tokenizer=tokenizer,
        agent=agent,
        stops=StopSignals(inbox),
        delivery=Delivery(turn_store, PartSender(outside.telegram)),
        resetting=Resetting(turn_store, stores.history, stores.recall),
        chats=outside.telegram,
        limits=TurnLimits(
            max_actions=settings.max_actions,
            deadline_s=settings.turn_deadline_s,
            window_messages=WINDOW_MESSAGES,
        ),
        clock=clock,
        is_offline=settings.is_offline,
        chat_contexts=chat_contexts,
        statistics=statistics,
    )


def build_worker(settings: Settings, inbox: RedisInbox, services: TurnServices, *, consumer: str) -> Worker:
    """The worker that runs the turns."""
    return Worker(
        inbox,
        Turns(services, inbox).work_on,
        consumer=consumer,
        partitions=settings.partitions,
        concurrency=settings.worker_concurrency,
        lease_s=settings.lease_s,
    )


async def find_chat(stores: Stores, *, bot_id: int, chat_id: int) -> list[ContextRef]:
    """Every context of a chat: its own, registered or not (its first message may still wait), and its topics'."""
    known = await contexts.list_contexts(stores.redis, range(stores.partitions))
    own = telegram_ref(bot_id, chat_id, None, partitions=stores.partitions)
    registered = [
        context.ref
        for context in known
        if context.keys.get("bot_id") == bot_id and context.keys.get("chat_id") == chat_id
    ]
    return list(dict.fromkeys([own, *registered]))
