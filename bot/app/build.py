"""Builds the parts that the service, the console and the turns share, from settings and open stores."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from bot.agent.agents_file import AgentSpec, TeamSpec
from bot.agent.catch_up import CatchUpWriter
from bot.agent.fact_model import ModelFactReader
from bot.agent.functions_based import FunctionsBasedAgent
from bot.agent.model import ChatModel
from bot.agent.options import Options
from bot.agent.structured import StructuredModel
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
from bot.app.models import Models, NoModel
from bot.app.stores import Stores
from bot.errors import SettingsInvalid
from bot.inbox.inspection import InboxInspection
from bot.inbox.redis_inbox import RedisInbox
from bot.media.reader import Files
from bot.settings import Settings
from bot.transport.gating import Access, BotIdentity
from bot.transport.page_links import PageLinks
from bot.transport.telegram_api import TelegramApi
from bot.turn.answer import Conversations
from bot.turn.erasure import ChatContexts
from memory.facts.extractor import FactExtractor
from memory.facts.queue import FactQueue
from memory.facts.redis_facts import RedisFacts
from memory.history.selectors import WINDOW_CHUNK, MessageSelector, TokenWindowMessageSelector
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is not ours: Telegram and its files, who we are there, the models, and our address."""

    telegram: TelegramApi
    files: Files
    bot: BotIdentity
    models: Models
    page_url: str | None = None
    """The address of the memory page, as people reach it; None if there is none."""


def build_page_links(settings: Settings, outside: Outside) -> PageLinks:
    """Return the maker of the memory page's links."""
    return PageLinks(
        token=settings.token,
        bot_username=outside.bot.username,
        page_url=outside.page_url,
        has_main_web_app=outside.bot.has_main_web_app,
        group_access=settings.group_memory_page,
    )


def build_access(settings: Settings) -> Access:
    """Who may use the bot."""
    operators = settings.operator_ids or (SIMULATED_OPERATORS if settings.is_simulated else frozenset())
    return Access(
        allowed_chat_ids=settings.allowed_chat_ids,
        allowed_user_ids=settings.allowed_user_ids,
        operator_ids=operators,
        is_invited_only=settings.invited_only,
    )


def build_team(settings: Settings, spec: TeamSpec, models: Models | None) -> Team:
    """The agents of AGENTS_FILE, or the built-in one. Without `models` they can only show their prompts.

    Raises SettingsInvalid where an agent's prompt and tools leave no room in its model's window.
    """
    if problems := find_room_problems(settings, spec):
        raise SettingsInvalid(problems)
    agents = {
        name: _build_agent(settings, agent, spec.options, models) for name, agent in spec.agents.items()
    }
    return Team(
        agents=agents,
        main=spec.main,
        delegates={
            name: _build_agent(settings, agent.within_delegation(), spec.options, models)
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


def build_catch_up_writer(settings: Settings, spec: TeamSpec, models: Models) -> CatchUpWriter:
    """The writer of /catchup: the summary model, else the chat model of the main agent."""
    name = settings.summary_model or model_of(settings, spec.agents[spec.main])
    window = window_of(settings, name)
    model = StructuredModel(
        models.summary or models.chat[name],
        tokenizer=counter_for(name),
        context_window=window,
        timeout_s=SUMMARY_TIMEOUT_S,
    )
    return CatchUpWriter(model, context_window=window)


def compression_limits(settings: Settings, spec: TeamSpec) -> CompressionLimits | None:
    """When a conversation is compressed, and what stays verbatim; None without a summary model."""
    if not settings.summary_model:
        return None
    return limits_for(
        conversation_window(settings, spec),
        window_of(settings, settings.summary_model),
        trigger=spec.options.compression_trigger,
        cap_tokens=spec.options.compression_tokens,
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


def build_fact_queue(settings: Settings, stores: Stores, *, clock: Callable[[], float]) -> FactQueue | None:
    """The queue of messages to read for facts, None if facts are off."""
    if not settings.extracts_facts:
        return None
    return FactQueue(stores.redis, clock=clock, tokens_per_day=settings.facts_tokens_per_day)


def build_extractor(
    settings: Settings, stores: Stores, models: Models, *, partition: int, clock: Callable[[], float]
) -> FactExtractor | None:
    """Return the extractor of facts, which works after replies; None if facts are off or no summary model is set."""
    queue = build_fact_queue(settings, stores, clock=clock)
    if queue is None or models.summary is None:
        return None
    reader = ModelFactReader(
        models.summary,
        tokenizer=counter_for(settings.summary_model),
        context_window=window_of(settings, settings.summary_model),
        timeout_s=SUMMARY_TIMEOUT_S,
    )
    return FactExtractor(queue=queue, reader=reader, partition=partition, lease_s=settings.lease_s)


def build_conversations(
    settings: Settings, stores: Stores, options: Options, *, clock: Callable[[], float]
) -> Conversations:
    """Return the factory of the contexts that agents work in."""
    return Conversations(
        redis=stores.redis,
        recall=stores.recall,
        facts=RedisFacts(stores.redis, clock=clock),
        tokenizer=counter_for(settings.openai_model),
        clock=clock,
        artifact_ttl_s=options.artifact_ttl_s,
        artifact_chars=options.artifact_chars,
        is_summarizing=bool(settings.summary_model),
        shows_talk=settings.group_context,
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
        talk_limit=settings.group_context_messages,
        clock=clock,
        version=version("mnemogram"),
    )


def _build_agent(
    settings: Settings, spec: AgentSpec, options: Options, models: Models | None
) -> FunctionsBasedAgent:
    name = model_of(settings, spec)
    limits, counter = limits_of(settings, spec, options), counter_for(name)
    model: ChatModel = models.chat[name] if models else NoModel()
    selector, fallback = _build_selectors(settings, spec, options)
    return FunctionsBasedAgent(
        name=spec.name,
        model=model,
        prompt=spec.prompt,
        tools=spec.tools,
        message_selector=selector,
        fallback_selector=fallback,
        tokenizer=counter,
        limits=limits,
        order=options.prompt_order,
        shows_ledger=options.ledger_in_prompt,
    )


def _build_selectors(
    settings: Settings, spec: AgentSpec, options: Options
) -> tuple[MessageSelector, MessageSelector]:
    """Return the selector of the window, and the one while no summary can be written (row I7)."""
    if spec.selector is not None:
        return spec.selector(), spec.selector()
    room, counter = limits_of(settings, spec, options).prompt_tokens, counter_for(model_of(settings, spec))
    chunk = WINDOW_CHUNK if options.prompt_order == "cached" else 1
    sizes = (room, UNCOVERED_MESSAGES), (min(settings.window_tokens, room), WINDOW_MESSAGES)
    usual, short = (
        TokenWindowMessageSelector(tokens, counter, max_messages=messages, chunk=chunk)
        for tokens, messages in sizes
    )
    return usual, short


def build_chat_contexts(stores: Stores, *, bot_id: int, clock: Callable[[], float]) -> ChatContexts:
    """Return the finder of a chat's contexts."""
    return ChatContexts(
        redis=stores.redis,
        inspection=InboxInspection(stores.redis, partitions=stores.partitions, clock=clock),
        migrations=stores.migrations,
        bot_id=bot_id,
        partitions=stores.partitions,
    )
