"""Builds the parts that the service, the console and the turns share, from settings and open stores."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version

from bot.agent.abilities import Abilities
from bot.agent.agents_file import AgentSpec, Options, TeamSpec
from bot.agent.fact_model import ModelFactReader
from bot.agent.functions_based import FunctionsBasedAgent
from bot.agent.mcp_servers import McpTools
from bot.agent.model import ChatModel, JsonModel
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
    with_model,
)
from bot.app.models import NoModel
from bot.errors import SettingsInvalid
from bot.features.facts.command import place_lists
from bot.features.parts import Models, Outside, Stores
from bot.inbox.inspection import InboxInspection
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.reminders import FiringRules, ReminderClock
from bot.settings import Access, GroupTalk, PageViewers, Settings, UsageLimits
from bot.transport.page_links import PageLinks
from bot.transport.reminder_updates import ReminderUpdates
from bot.turn.conversations import Conversations
from bot.turn.costs import BudgetWatch, CostReader
from bot.turn.erasure import ChatContexts
from memory.facts.extractor import FactExtractor
from memory.facts.queue import FactQueue
from memory.history.selectors import WINDOW_CHUNK, MessageSelector, TokenWindowMessageSelector
from memory.keys import ContextRef, partition_key
from memory.redis.client import RedisClient
from memory.summary.compression import CompressionLimits, limits_for
from memory.summary.compressor import Compressor, RedisSummaries

SIMULATED_OPERATORS = frozenset({1001})
"""The simulator's Olga Marin is an operator, unless OPERATOR_IDS says otherwise."""
WINDOW_MESSAGES = 50
"""The recent window without a summary model, or while it fails: at most so many messages and WINDOW_TOKENS tokens."""
UNCOVERED_MESSAGES = 450
"""With one: the newest messages that no summary covers. More than start a compression, which needs a moment."""
SUMMARY_TIMEOUT_S = 90.0


def build_page_links(settings: Settings, outside: Outside) -> PageLinks:
    """Return the maker of the memory page's links."""
    return PageLinks(
        token=settings.token,
        bot_username=outside.bot.username,
        page_url=outside.page_url,
        has_main_web_app=outside.bot.has_main_web_app,
        group_access=settings.of(PageViewers).group_memory_page,
    )


def build_access(settings: Settings) -> Access:
    """Return the access to the bot. The simulator has an operator."""
    access = settings.of(Access)
    if access.operator_ids or not settings.is_simulated:
        return access
    return access.model_copy(update={"operator_ids": SIMULATED_OPERATORS})


def build_teams(
    settings: Settings, spec: TeamSpec, models: Models | None, servers: McpTools | None = None
) -> Callable[[str], Team]:
    """Return a function from a chosen model, "" for the default, to its team. Each is built once, when it is needed.

    Without `models` the agents can only show their prompts. Without `servers` they have no tools of MCP servers.
    Raises SettingsInvalid if an agent's prompt and tools leave no room in its model's window.
    """
    if problems := find_room_problems(settings, spec):
        raise SettingsInvalid(problems)

    @cache
    def team_with(model: str) -> Team:
        build = partial(_build_agent, settings, options=spec.options, models=models, servers=servers)
        agents = with_model(spec, model).agents
        return Team(
            agents={name: build(agent) for name, agent in agents.items()},
            main=spec.main,
            delegates={name: build(agent.within_delegation()) for name, agent in agents.items()},
            limits=spec.limits,
            digester=build_summarizer(settings, spec, models),
        )

    return team_with


def build_summarizer(settings: Settings, spec: TeamSpec, models: Models | None) -> ModelSummarizer | None:
    """The writer of summaries, None without a summary model."""
    limits = compression_limits(settings, spec).get("")
    if models is None or models.summary is None or limits is None:
        return None
    model = _structured(settings, models.summary, settings.summary_model)
    return ModelSummarizer(model, summary_tokens=limits.summary_tokens)


def build_writer(settings: Settings, spec: TeamSpec, models: Models) -> StructuredModel:
    """The summary model, else the chat model of the main agent, as a writer of JSON."""
    name = settings.summary_model or model_of(settings, spec.agents[spec.main])
    return _structured(settings, models.summary or models.chat[name], name)


def _structured(settings: Settings, model: JsonModel, name: str) -> StructuredModel:
    return StructuredModel(
        model,
        tokenizer=counter_for(name),
        context_window=window_of(settings, name),
        timeout_s=SUMMARY_TIMEOUT_S,
    )


def compression_limits(settings: Settings, spec: TeamSpec) -> Mapping[str, CompressionLimits]:
    """Return the limits at which a conversation is compressed, by chosen model; {} without a summary model.

    "" is the default. Each summary fits the smallest window of all, because people may change the model.
    """
    if not settings.summary_model:
        return {}
    limits = {
        model: limits_for(
            conversation_window(settings, with_model(spec, model)),
            window_of(settings, settings.summary_model),
            trigger=spec.options.compression_trigger,
            cap_tokens=spec.options.compression_tokens,
        )
        for model in ("", *settings.model_names[1:])
    }
    smallest = min(limits.values(), key=lambda each: each.trigger_tokens)
    return {
        model: replace(smallest, trigger_tokens=each.trigger_tokens, keep_tokens=each.keep_tokens)
        for model, each in limits.items()
    }


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
    if summarizer is None:
        return None
    return Compressor(
        history=stores.history,
        summaries=RedisSummaries(stores.redis, clock=clock),
        summarizer=summarizer,
        limits=compression_limits(settings, spec),
        partition=partition,
        clock=clock,
        lease_s=settings.lease_s,
    )


def build_fact_queue(settings: Settings, stores: Stores, *, clock: Callable[[], float]) -> FactQueue | None:
    """The queue of messages to read for facts, None if facts are off."""
    return FactQueue(stores.redis, clock=clock) if settings.extracts_facts else None


def build_extractor(
    settings: Settings, stores: Stores, models: Models, *, partition: int, clock: Callable[[], float]
) -> FactExtractor | None:
    """Return the extractor of facts, which works after replies; None if facts are off or no summary model is set."""
    queue = build_fact_queue(settings, stores, clock=clock)
    if queue is None or models.summary is None:
        return None
    reader = ModelFactReader(_structured(settings, models.summary, settings.summary_model))
    return FactExtractor(queue=queue, reader=reader, partition=partition, lease_s=settings.lease_s)


def build_list_updates(
    settings: Settings, stores: Stores, *, partition: int, clock: Callable[[], float]
) -> Callable[[ContextRef], Awaitable[None]]:
    """Return the function that shows the lists of a context again once all its messages are read for facts."""
    rules = _firing_rules(settings, partition)
    return lambda ref: stores.redis.run(place_lists(ref, now=clock(), rules=rules))


def build_costs(settings: Settings, redis: RedisClient, *, clock: Callable[[], float]) -> CostReader:
    """Return the reader of the costs of months."""
    return CostReader(redis=redis, bot_id=settings.bot_id, partitions=settings.partitions, clock=clock)


def build_reminder_clock(
    settings: Settings, stores: Stores, *, partition: int, clock: Callable[[], float]
) -> ReminderClock:
    """Return the clock that fires the reminders of one partition."""
    return ReminderClock(
        stores.redis,
        _firing_rules(settings, partition),
        payload_of=ReminderUpdates(migrations=stores.migrations, clock=clock).payload_of,
        clock=clock,
    )


def _firing_rules(settings: Settings, partition: int) -> FiringRules:
    return FiringRules(
        partition=partition,
        partitions=settings.partitions,
        box=settings.box_limit,
        update_prefix=partition_key(partition, "update", ""),
    )


def build_budget_watch(settings: Settings, redis: RedisClient, *, clock: Callable[[], float]) -> BudgetWatch:
    """Return the watch over the month's budget."""
    return BudgetWatch(
        costs=build_costs(settings, redis, clock=clock),
        budget=settings.of(UsageLimits).money_per_month,
        operators=build_access(settings).operator_ids,
        rules_of=partial(_firing_rules, settings),
    )


def build_conversations(
    settings: Settings, stores: Stores, options: Options, *, clock: Callable[[], float]
) -> Conversations:
    """Return the factory of the contexts that agents work in."""
    return Conversations(
        redis=stores.redis,
        recall=stores.recall,
        facts=stores.facts,
        tokenizer=counter_for(settings.openai_model),
        clock=clock,
        artifact_ttl_s=options.artifact_ttl_s,
        artifact_chars=options.artifact_chars,
        models=settings.model_names,
        is_summarizing=bool(settings.summary_model),
        shows_talk=settings.of(GroupTalk).group_context,
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
        talk_limit=settings.of(GroupTalk).group_context_messages,
        clock=clock,
        version=version("mnemogram"),
    )


def _build_agent(
    settings: Settings, spec: AgentSpec, *, options: Options, models: Models | None, servers: McpTools | None
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
        abilities=models.abilities.get(name, Abilities()) if models else Abilities(),
        mcp=spec.mcp,
        servers=servers,
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
    """Return the selector of the window, and the one while no summary can be written."""
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
