"""Puts the parts together: from settings and open stores to what works on turns."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.agent.agents_file import AgentSpec, TeamSpec
from bot.agent.context import AgentContext
from bot.agent.functions_based import FunctionsBasedAgent
from bot.agent.model import ChatModel
from bot.agent.summarizer import ModelSummarizer
from bot.agent.team import Team
from bot.app.agents import (
    conversation_window,
    counter_for,
    find_room_problems,
    limits_of,
    model_of,
    window_of,
)
from bot.app.models import Models, NoModel, sees_pictures
from bot.app.stores import Stores
from bot.errors import SettingsInvalid
from bot.inbox.inspection import InboxInspection
from bot.inbox.isolation import Isolation
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.signals import Signals
from bot.inbox.slots import Slots
from bot.inbox.worker import Worker
from bot.media.pdf import PdfReader
from bot.media.reader import Files, MediaReader
from bot.settings import Settings
from bot.transport.administrators import Administrators
from bot.transport.gating import Access, BotIdentity
from bot.transport.rates import OF_TELEGRAM, OF_THE_SIMULATOR, SendRates
from bot.transport.telegram_api import TelegramApi
from bot.turn.batch import BurstWaits
from bot.turn.chat_contexts import find_chat
from bot.turn.conversation import Conversations
from bot.turn.delivery import Delivery, Traffic
from bot.turn.limit_texts import OwnerLimits, Prices, UsageLimits
from bot.turn.limits import LimitGuard
from bot.turn.preview import Previews, PreviewSettings
from bot.turn.reachability import Reachability
from bot.turn.reading import Reader
from bot.turn.resetting import Resetting
from bot.turn.sending import PartSender
from bot.turn.services import GroupRules, Statistics, TurnLimits, TurnServices
from bot.turn.turn import Turns
from bot.turn.turn_store import TurnStore
from memory.history import contexts
from memory.history.redis_history import RedisHeard
from memory.history.selectors import WINDOW_CHUNK, MessageSelector, TokenWindowMessageSelector
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from memory.summary.compression import CompressionLimits, limits_for
from memory.summary.compressor import Compressor
from memory.summary.redis_summaries import RedisSummaries

SIMULATED_OPERATORS = frozenset({1001})
"""The simulator's Olga Marin is an operator, unless OPERATOR_IDS says otherwise."""
WINDOW_MESSAGES = 50
"""The recent window without a summary model, or while it fails: at most so many messages and WINDOW_TOKENS tokens."""
UNCOVERED_MESSAGES = 450
"""With one: the newest messages that no summary covers. More than start a compression, which needs a moment."""
SUMMARY_TIMEOUT_S = 90.0
BURST_WAITS = BurstWaits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is not ours: Telegram and its files, who we are there, and the models."""

    telegram: TelegramApi
    files: Files
    bot: BotIdentity
    models: Models


def build_access(settings: Settings) -> Access:
    """Who may use the bot."""
    operators = settings.operator_ids or (SIMULATED_OPERATORS if settings.is_simulated else frozenset())
    return Access(
        allowed_chat_ids=settings.allowed_chat_ids,
        allowed_user_ids=settings.allowed_user_ids,
        operator_ids=operators,
        is_invited_only=settings.invited_only,
    )


def build_limits(settings: Settings) -> UsageLimits:
    """What each person and each chat may have."""
    return UsageLimits(
        user=OwnerLimits(
            messages_per_minute=settings.user_messages_per_minute,
            tokens_per_day=settings.user_tokens_per_day,
            money_per_day=settings.user_money_per_day,
        ),
        chat=OwnerLimits(
            messages_per_minute=settings.chat_messages_per_minute,
            tokens_per_day=settings.chat_tokens_per_day,
            money_per_day=settings.chat_money_per_day,
        ),
        prices=Prices(
            per_million_input=settings.price_per_million_input,
            per_million_output=settings.price_per_million_output,
        ),
    )


def build_team(settings: Settings, spec: TeamSpec, models: Models | None) -> Team:
    """The agents of AGENTS_FILE, or the built-in one. Without `models` they can only show their prompts.

    Raises SettingsInvalid where an agent's prompt and tools leave no room in its model's window.
    """
    if problems := find_room_problems(settings, spec):
        raise SettingsInvalid(problems)
    agents = {name: _build_agent(settings, agent, models) for name, agent in spec.agents.items()}
    return Team(
        agents=agents,
        main=spec.main,
        delegates={
            name: _build_agent(settings, agent.within_delegation(), models)
            for name, agent in spec.agents.items()
        },
        limits=spec.limits,
        digester=build_summarizer(settings, spec, models),
    )


def build_summarizer(settings: Settings, spec: TeamSpec, models: Models | None) -> ModelSummarizer | None:
    """The writer of summaries, None without a summary model."""
    limits = compression_limits(settings, spec)
    if models is None or models.summary is None or limits is None:
        return None
    return ModelSummarizer(
        models.summary,
        tokenizer=counter_for(settings.summary_model),
        context_window=window_of(settings, settings.summary_model),
        summary_tokens=limits.summary_tokens,
        timeout_s=SUMMARY_TIMEOUT_S,
    )


def compression_limits(settings: Settings, spec: TeamSpec) -> CompressionLimits | None:
    """When a conversation is compressed, and what stays verbatim; None without a summary model."""
    if not settings.summary_model:
        return None
    return limits_for(
        conversation_window(settings, spec),
        window_of(settings, settings.summary_model),
        trigger=settings.compression_trigger,
        cap_tokens=settings.compression_tokens,
    )


def build_compressor(
    settings: Settings,
    spec: TeamSpec,
    stores: Stores,
    models: Models,
    *,
    partition: int,
    clock: Callable[[], float],
) -> Compressor | None:
    """What compresses conversations after their replies, None without a summary model."""
    summarizer = build_summarizer(settings, spec, models)
    limits = compression_limits(settings, spec)
    if summarizer is None or limits is None:
        return None
    return Compressor(
        history=stores.history,
        summaries=RedisSummaries(stores.redis, clock=clock),
        summarizer=summarizer,
        limits=limits,
        partition=partition,
        clock=clock,
        lease_s=settings.lease_s,
    )


def build_conversations(settings: Settings, stores: Stores, *, clock: Callable[[], float]) -> Conversations:
    """What opens the contexts that agents work in."""
    return Conversations(
        redis=stores.redis,
        history=stores.history,
        recall=stores.recall,
        tokenizer=counter_for(settings.openai_model),
        clock=clock,
        artifact_ttl_s=settings.artifact_ttl_s,
        artifact_chars=settings.artifact_chars,
        is_summarizing=bool(settings.summary_model),
        tells_talk=settings.group_context,
    )


def loaded_messages(settings: Settings) -> int:
    """How many of the newest messages are loaded with each turn."""
    return UNCOVERED_MESSAGES if settings.summary_model else WINDOW_MESSAGES


def build_inbox(settings: Settings, redis: RedisClient, *, clock: Callable[[], float]) -> RedisInbox:
    """The inbox of all partitions."""
    return RedisInbox(
        redis,
        partitions=settings.partitions,
        box_limit=settings.box_limit,
        heard_limit=settings.group_context_messages,
        clock=clock,
    )


def build_services(
    settings: Settings,
    stores: Stores,
    outside: Outside,
    *,
    spec: TeamSpec,
    inbox: RedisInbox,
    clock: Callable[[], float],
) -> TurnServices:
    """What a turn works with."""
    access, store = build_access(settings), TurnStore(stores.redis, clock=clock)
    reachability = Reachability(stores.redis, clock=clock)
    traffic = _build_traffic(settings, stores, reachability)
    limits = build_limits(settings)
    return TurnServices(
        bot=outside.bot,
        access=access,
        guests=stores.guests,
        guard=LimitGuard(stores.redis, limits, exempt=access.operator_ids, clock=clock),
        store=store,
        history=stores.history,
        heard=RedisHeard(stores.redis),
        recall=stores.recall,
        tokenizer=counter_for(settings.openai_model),
        team=build_team(settings, spec, outside.models),
        conversations=build_conversations(settings, stores, clock=clock),
        reader=build_reader(settings, spec, outside),
        compression=compression_limits(settings, spec),
        signals=Signals(inbox),
        delivery=Delivery(store, PartSender(outside.telegram), traffic),
        previews=_build_previews(settings, outside, traffic, reachability),
        reachability=reachability,
        slots=traffic.slots,
        resetting=Resetting(store, stores.history, stores.recall),
        chats=outside.telegram,
        administrators=Administrators(outside.telegram, clock=clock),
        migrations=stores.migrations,
        groups=_group_rules(settings),
        limits=_turn_limits(settings),
        clock=clock,
        is_offline=settings.is_offline,
        chat_contexts=_finder_of_contexts(stores, outside, clock=clock),
        statistics=_statistics_of(stores, inbox),
    )


def _build_traffic(settings: Settings, stores: Stores, reachability: Reachability) -> Traffic:
    return Traffic(
        rates=SendRates(stores.redis, OF_THE_SIMULATOR if settings.is_simulated else OF_TELEGRAM),
        marks=reachability,
        moves=stores.migrations,
        slots=Slots(settings.worker_concurrency),
    )


def _build_previews(
    settings: Settings, outside: Outside, traffic: Traffic, reachability: Reachability
) -> Previews:
    shown = PreviewSettings(is_streaming=settings.streaming)
    return Previews(outside.telegram, traffic.rates, reachability, shown)


def _group_rules(settings: Settings) -> GroupRules:
    return GroupRules(
        keeps_talk=settings.group_context,
        talk_lines=settings.group_context_messages,
        erases_on_leave=settings.erase_on_leave,
    )


def _turn_limits(settings: Settings) -> TurnLimits:
    return TurnLimits(
        max_actions=settings.max_actions,
        deadline_s=settings.turn_deadline_s,
        window_messages=loaded_messages(settings),
        long_answers=settings.long_answers,
        burst_waits=BURST_WAITS,
    )


def _finder_of_contexts(
    stores: Stores, outside: Outside, *, clock: Callable[[], float]
) -> Callable[[int], Awaitable[list[ContextRef]]]:
    inspection = InboxInspection(stores.redis, partitions=stores.partitions, clock=clock)

    async def find(chat_id: int) -> list[ContextRef]:
        return await find_chat(
            stores.redis,
            inspection,
            stores.migrations,
            bot_id=outside.bot.id,
            chat_id=chat_id,
            partitions=stores.partitions,
        )

    return find


def _statistics_of(stores: Stores, inbox: RedisInbox) -> Callable[[], Awaitable[Statistics]]:
    async def count() -> Statistics:
        known = await contexts.list_contexts(stores.redis, range(stores.partitions))
        depths = [await inbox.depth(partition) for partition in range(stores.partitions)]
        waiting, oldest = sum(depth for depth, _ in depths), max(age for _, age in depths)
        return Statistics(contexts=len(known), waiting=waiting, oldest_s=oldest)

    return count


def build_reader(settings: Settings, spec: TeamSpec, outside: Outside) -> Reader:
    """What reads the files that come with messages. Pictures are for whoever has the chat, if its model sees."""

    def eyes(context: AgentContext) -> str:
        model = model_of(settings, spec.agents.get(context.agent_name, spec.agents[spec.main]))
        return model if sees_pictures(settings, model) else ""

    media = MediaReader(
        outside.files,
        transcriber=outside.models.transcriber,
        pdfs=PdfReader(at_most=settings.document_chars),
        largest=settings.media_bytes,
        document_chars=settings.document_chars,
    )
    return Reader(media, bot=outside.bot, eyes=eyes)


def build_worker(settings: Settings, inbox: RedisInbox, services: TurnServices, *, consumer: str) -> Worker:
    """The worker that runs the turns."""
    isolation = Isolation(inbox, services.slots)
    return Worker(
        inbox,
        Turns(services, isolation).work_on,
        consumer=consumer,
        partitions=settings.partitions,
        isolation=isolation,
        lease_s=settings.lease_s,
    )


def _build_agent(settings: Settings, spec: AgentSpec, models: Models | None) -> FunctionsBasedAgent:
    name = model_of(settings, spec)
    limits, counter = limits_of(settings, spec), counter_for(name)
    model: ChatModel = models.chat[name] if models else NoModel()
    selector, fallback = _build_selectors(settings, spec)
    return FunctionsBasedAgent(
        name=spec.name,
        model=model,
        prompt=spec.prompt,
        tools=spec.tools,
        message_selector=selector,
        fallback_selector=fallback,
        tokenizer=counter,
        limits=limits,
        order=settings.prompt_order,
        shows_ledger=settings.ledger_in_prompt,
    )


def _build_selectors(settings: Settings, spec: AgentSpec) -> tuple[MessageSelector, MessageSelector]:
    """Return the selector of the window, and the one while no summary can be written (row I7)."""
    if spec.selector is not None:
        return spec.selector(), spec.selector()
    room, counter = limits_of(settings, spec).prompt_tokens, counter_for(model_of(settings, spec))
    chunk = WINDOW_CHUNK if settings.prompt_order == "cached" else 1
    sizes = (room, UNCOVERED_MESSAGES), (min(settings.window_tokens, room), WINDOW_MESSAGES)
    usual, short = (
        TokenWindowMessageSelector(tokens, counter, max_messages=messages, chunk=chunk)
        for tokens, messages in sizes
    )
    return usual, short
