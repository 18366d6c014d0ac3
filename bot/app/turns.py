"""Builds the turns and their worker, from settings and open stores."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bot.agent.agents_file import TeamSpec
from bot.agent.options import Options
from bot.agent.team import Team
from bot.app.agents import counter_for, model_of
from bot.app.build import (
    Outside,
    build_access,
    build_catch_up_writer,
    build_chat_contexts,
    build_conversations,
    build_page_links,
    build_team,
    compression_limits,
    loaded_messages,
)
from bot.app.models import sees_pictures
from bot.app.stores import Stores
from bot.inbox.isolation import Isolation
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.signals import Signals
from bot.inbox.slots import Slots
from bot.inbox.worker import Worker
from bot.media.reader import MediaReader
from bot.settings import Settings
from bot.transport.gating import FACTS_BUTTON, HELP_BUTTON, RESET_BUTTON, WHY_BUTTON
from bot.transport.page_links import PageLinks
from bot.transport.people import Administrators
from bot.transport.rates import OF_TELEGRAM, OF_THE_SIMULATOR, SendRates
from bot.turn.answer import Answerer, AnswerLimits
from bot.turn.batch import BurstWaits
from bot.turn.chat_events import Buttons, Edits, Interruptions, Memberships
from bot.turn.commands import Commands
from bot.turn.commands.catchup import CatchUpCommand, CatchUpLimits
from bot.turn.commands.facts import FactsCommand
from bot.turn.commands.forget import ForgetCommand
from bot.turn.commands.help import HelpCommand
from bot.turn.commands.memory import MemoryCommand
from bot.turn.commands.new import NewCommand
from bot.turn.commands.reset import ResetCommand
from bot.turn.commands.start import StartCommand
from bot.turn.commands.stats import StatsCommand
from bot.turn.commands.stop import say_nothing_to_stop
from bot.turn.commands.usage import UsageCommand
from bot.turn.commands.why import WhyCommand
from bot.turn.commit import Committer
from bot.turn.delivery import Delivery, Reachability, send_part
from bot.turn.erasure import ChatContexts, Eraser
from bot.turn.forgetting import Forgetting
from bot.turn.limits import LimitGuard, OwnerLimits, Prices, UsageLimits
from bot.turn.media import MessageReader
from bot.turn.permissions import Permissions
from bot.turn.preview import Previews
from bot.turn.store import TurnStore
from bot.turn.turn import Turns
from memory.facts.redis_facts import RedisFacts
from memory.history.heard import HeardLines
from memory.history.redis_history import RedisTalk

BURST_WAITS = BurstWaits()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """Parts that several others take."""

    store: TurnStore
    team: Team
    guard: LimitGuard
    permissions: Permissions
    buttons: Buttons
    eraser: Eraser
    chat_contexts: ChatContexts
    committer: Committer
    page_links: PageLinks


def build_turns(
    settings: Settings,
    stores: Stores,
    outside: Outside,
    *,
    spec: TeamSpec,
    inbox: RedisInbox,
    slots: Slots,
    clock: Callable[[], float],
) -> Turns:
    """Return the turns with all their parts."""
    shared = _build_shared(settings, stores, outside, spec=spec, slots=slots, clock=clock)
    return Turns(
        bot=outside.bot,
        store=shared.store,
        history=stores.history,
        signals=Signals(inbox),
        guard=shared.guard,
        answerer=Answerer(
            bot=outside.bot,
            team=shared.team,
            conversations=build_conversations(settings, stores, spec.options, clock=clock),
            reader=build_reader(settings, spec, outside),
            previews=_build_previews(outside, shared, is_streaming=settings.streaming),
            interruptions=Interruptions(
                store=shared.store, permissions=shared.permissions, buttons=shared.buttons
            ),
            permissions=shared.permissions,
            guard=shared.guard,
            committer=shared.committer,
            limits=_answer_limits(settings, spec),
        ),
        commands=_build_commands(
            settings,
            stores,
            shared,
            catch_up=_build_catch_up(settings, stores, outside, spec=spec, shared=shared, clock=clock),
            inbox=inbox,
            clock=clock,
        ),
        memberships=_build_memberships(settings, spec.options, stores, outside, shared=shared),
        edits=Edits(bot=outside.bot, history=stores.history, tokenizer=counter_for(settings.openai_model)),
        committer=shared.committer,
        buttons=shared.buttons,
        burst_waits=BURST_WAITS,
        clock=clock,
    )


def build_worker(
    settings: Settings, inbox: RedisInbox, turns: Turns, *, slots: Slots, consumer: str
) -> Worker:
    """Return the worker that runs the turns."""
    isolation = Isolation(inbox, slots)
    return Worker(
        inbox,
        partial(turns.work_on, settling=isolation),
        consumer=consumer,
        partitions=settings.partitions,
        isolation=isolation,
        lease_s=settings.lease_s,
    )


def build_reader(settings: Settings, spec: TeamSpec, outside: Outside) -> MessageReader:
    """Return the reader of messages with files. Pictures are for the agent that has the chat, if its model sees."""
    models = {name: model_of(settings, agent) for name, agent in spec.agents.items()}
    eyes = {name: model if sees_pictures(settings, model) else "" for name, model in models.items()}
    media = MediaReader(outside.files, transcriber=outside.models.transcriber)
    return MessageReader(media, bot=outside.bot, eyes={**eyes, "": eyes[spec.main]})


def build_limits(settings: Settings, options: Options) -> UsageLimits:
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
            per_million_input=options.input_price,
            per_million_output=options.output_price,
        ),
    )


def _build_shared(
    settings: Settings,
    stores: Stores,
    outside: Outside,
    *,
    spec: TeamSpec,
    slots: Slots,
    clock: Callable[[], float],
) -> _Shared:
    access, team = build_access(settings), build_team(settings, spec, outside.models)
    store = TurnStore(stores.redis, clock=clock)
    administrators = Administrators(outside.telegram.is_administrator, clock=clock)
    delivery = Delivery(
        store=store,
        send=partial(send_part, outside.telegram),
        rates=SendRates(stores.redis, OF_THE_SIMULATOR if settings.is_simulated else OF_TELEGRAM),
        marks=Reachability(stores.redis, clock=clock),
        learn_migration=stores.migrations.learn,
        slots=slots,
    )
    return _Shared(
        store=store,
        team=team,
        guard=LimitGuard(
            stores.redis, build_limits(settings, spec.options), exempt=access.operator_ids, clock=clock
        ),
        permissions=Permissions(access=access, administrators=administrators, team=team),
        buttons=Buttons(telegram=outside.telegram),
        eraser=Eraser(store, stores.history, stores.recall),
        chat_contexts=build_chat_contexts(stores, bot_id=outside.bot.id, clock=clock),
        committer=Committer(store=store, delivery=delivery),
        page_links=build_page_links(settings, outside),
    )


def _build_previews(outside: Outside, shared: _Shared, *, is_streaming: bool) -> Previews:
    delivery = shared.committer.delivery
    return Previews(outside.telegram, delivery.rates, delivery.marks.seems_marked, is_streaming=is_streaming)


def _build_commands(
    settings: Settings,
    stores: Stores,
    shared: _Shared,
    *,
    catch_up: CatchUpCommand,
    inbox: RedisInbox,
    clock: Callable[[], float],
) -> Commands:
    permissions, guard = shared.permissions, shared.guard
    help_command = HelpCommand(permissions=permissions, buttons=shared.buttons)
    start = StartCommand(
        guests=stores.guests, help=help_command, page_links=shared.page_links, is_offline=settings.is_offline
    )
    reset = _build_reset(stores, shared, clock=clock)
    stats = StatsCommand(
        guard=guard,
        permissions=permissions,
        redis=stores.redis,
        inbox=inbox,
        partitions=stores.partitions,
    )
    why = _build_why(stores, shared, clock=clock)
    facts = _build_facts(settings, stores, shared, clock=clock)
    return Commands(
        {
            "start": start.run,
            "help": help_command.run,
            "new": NewCommand(permissions=permissions).run,
            "catchup": catch_up.run,
            "memory": _build_memory(stores, shared).run,
            "facts": facts.run,
            "why": why.run,
            "forget": _build_forget(stores, shared).run,
            "reset": reset.run,
            "stop": say_nothing_to_stop,
            "usage": UsageCommand(guard=guard).run,
            "stats": stats.run,
        },
        buttons={
            HELP_BUTTON: help_command.press,
            RESET_BUTTON: reset.press,
            WHY_BUTTON: why.press,
            FACTS_BUTTON: facts.press,
        },
        correct=facts.correct,
    )


def _build_catch_up(
    settings: Settings,
    stores: Stores,
    outside: Outside,
    *,
    spec: TeamSpec,
    shared: _Shared,
    clock: Callable[[], float],
) -> CatchUpCommand:
    return CatchUpCommand(
        heard=HeardLines(stores.redis, RedisTalk(stores.redis), stores.history),
        forgetting=_build_forgetting(stores, shared),
        store=shared.store,
        guard=shared.guard,
        writer=build_catch_up_writer(settings, spec, outside.models),
        previews=_build_previews(outside, shared, is_streaming=False),
        limits=CatchUpLimits(
            lines=settings.group_context_messages,
            deadline_s=settings.turn_deadline_s,
            keeps_talk=settings.group_context,
            hears_all=outside.bot.can_read_all_group_messages,
        ),
        clock=clock,
    )


def _build_reset(stores: Stores, shared: _Shared, *, clock: Callable[[], float]) -> ResetCommand:
    return ResetCommand(
        permissions=shared.permissions,
        eraser=shared.eraser,
        chat_contexts=shared.chat_contexts,
        history=stores.history,
        store=shared.store,
        buttons=shared.buttons,
        clock=clock,
    )


def _build_forget(stores: Stores, shared: _Shared) -> ForgetCommand:
    return ForgetCommand(
        permissions=shared.permissions,
        forgetting=_build_forgetting(stores, shared),
        history=stores.history,
        recall=stores.recall,
    )


def _build_forgetting(stores: Stores, shared: _Shared) -> Forgetting:
    return Forgetting(
        redis=stores.redis, store=shared.store, history=stores.history, talk=RedisTalk(stores.redis)
    )


def _build_memory(stores: Stores, shared: _Shared) -> MemoryCommand:
    return MemoryCommand(history=stores.history, recall=stores.recall, page_links=shared.page_links)


def _build_facts(
    settings: Settings, stores: Stores, shared: _Shared, *, clock: Callable[[], float]
) -> FactsCommand:
    return FactsCommand(
        permissions=shared.permissions,
        facts=RedisFacts(stores.redis, clock=clock),
        recall=stores.recall,
        buttons=shared.buttons,
        page_links=shared.page_links,
        is_extracting=settings.extracts_facts,
        clock=clock,
    )


def _build_why(stores: Stores, shared: _Shared, *, clock: Callable[[], float]) -> WhyCommand:
    return WhyCommand(
        redis=stores.redis,
        store=shared.store,
        history=stores.history,
        facts=RedisFacts(stores.redis, clock=clock),
        buttons=shared.buttons,
        page_links=shared.page_links,
    )


def _build_memberships(
    settings: Settings,
    options: Options,
    stores: Stores,
    outside: Outside,
    *,
    shared: _Shared,
) -> Memberships:
    return Memberships(
        bot=outside.bot,
        telegram=outside.telegram,
        reachability=shared.committer.delivery.marks,
        migrations=stores.migrations,
        eraser=shared.eraser,
        chat_contexts=shared.chat_contexts,
        keeps_talk=settings.group_context,
        talk_lines=settings.group_context_messages,
        erases_on_leave=options.erase_on_leave,
    )


def _answer_limits(settings: Settings, spec: TeamSpec) -> AnswerLimits:
    return AnswerLimits(
        max_actions=settings.max_actions,
        deadline_s=settings.turn_deadline_s,
        window_messages=loaded_messages(settings),
        long_answers=spec.options.long_answers,
        shows_sources=settings.show_sources,
        compression=compression_limits(settings, spec),
        extracts_facts=settings.extracts_facts,
    )
