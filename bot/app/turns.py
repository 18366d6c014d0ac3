"""Builds the turns and their worker, from settings and open stores."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from bot.agent.agents_file import TeamSpec
from bot.agent.team import Team
from bot.app.agents import counter_for, model_of, with_model
from bot.app.build import (
    Outside,
    build_access,
    build_catch_up_writer,
    build_chat_contexts,
    build_conversations,
    build_costs,
    build_page_links,
    build_teams,
    compression_limits,
    loaded_messages,
)
from bot.app.models import BookedModel, Models, sees_pictures
from bot.app.stores import Stores
from bot.inbox.isolation import Isolation
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.signals import Signals
from bot.inbox.slots import Slots
from bot.inbox.worker import Worker
from bot.media.reader import MediaReader
from bot.settings import Settings
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
from bot.turn.commands.model import ModelCommand
from bot.turn.commands.new import NewCommand
from bot.turn.commands.reminders import RemindersCommand
from bot.turn.commands.reset import ResetCommand
from bot.turn.commands.start import StartCommand
from bot.turn.commands.stats import StatsCommand
from bot.turn.commands.stop import say_nothing_to_stop
from bot.turn.commands.timezone import TimezoneCommand
from bot.turn.commands.usage import UsageCommand
from bot.turn.commands.voice import VoiceCommand
from bot.turn.commands.why import WhyCommand
from bot.turn.commit import Committer
from bot.turn.delivery import Delivery, Reachability, send_part
from bot.turn.erasure import ChatContexts, Eraser
from bot.turn.forgetting import Forgetting
from bot.turn.later_use import LaterUses
from bot.turn.limits import LimitGuard, OwnerLimits, UsageLimits
from bot.turn.media import MessageReader
from bot.turn.permissions import Permissions
from bot.turn.pictures import Pictures
from bot.turn.preview import Previews
from bot.turn.reminders import ReminderTurns
from bot.turn.rest import RestOfAnswer
from bot.turn.speech import VoiceReplies
from bot.turn.store import TurnStore
from bot.turn.turn import Turns
from memory.facts.redis_facts import RedisFacts
from memory.history.heard import HeardLines
from memory.history.redis_history import RedisTalk
from memory.redis.client import RedisClient
from memory.reminders.redis_reminders import RedisReminders

BURST_WAITS = BurstWaits()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Everything that the turns are made of: what was given, and parts that several others take."""

    settings: Settings
    stores: Stores
    outside: Outside
    spec: TeamSpec
    inbox: RedisInbox
    clock: Callable[[], float]
    store: TurnStore
    team_with: Callable[[str], Team]
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
    access, team_with = build_access(settings), build_teams(settings, spec, outside.models, outside.servers)
    store = TurnStore(stores.redis, clock=clock)
    administrators = Administrators(outside.telegram.is_administrator, clock=clock)
    permissions = Permissions(access=access, administrators=administrators, team=team_with(""))
    buttons = Buttons(telegram=outside.telegram)
    rest = RestOfAnswer(
        redis=stores.redis,
        may_change=permissions.may_change,
        answer_press=buttons.answer,
        tokenizer=counter_for(settings.openai_model),
    )
    delivery = Delivery(
        store=store,
        send=partial(send_part, outside.telegram),
        rates=SendRates(stores.redis, OF_THE_SIMULATOR if settings.is_simulated else OF_TELEGRAM),
        marks=Reachability(stores.redis, clock=clock),
        learn_migration=stores.migrations.learn,
        slots=slots,
        plan_rest=rest.plan,
    )
    parts = _Parts(
        settings=settings,
        stores=stores,
        outside=outside,
        spec=spec,
        inbox=inbox,
        clock=clock,
        store=store,
        team_with=team_with,
        guard=LimitGuard(stores.redis, build_limits(settings), exempt=access.operator_ids, clock=clock),
        permissions=permissions,
        buttons=buttons,
        eraser=Eraser(stores.redis, store, stores.history, stores.recall),
        chat_contexts=build_chat_contexts(stores, bot_id=outside.bot.id, clock=clock),
        committer=Committer(store=store, delivery=delivery),
        page_links=build_page_links(settings, outside),
    )
    return _assemble(parts)


def _assemble(parts: _Parts) -> Turns:
    settings, stores, outside = parts.settings, parts.stores, parts.outside
    return Turns(
        bot=outside.bot,
        store=parts.store,
        history=stores.history,
        signals=Signals(parts.inbox),
        guard=parts.guard,
        answerer=Answerer(
            bot=outside.bot,
            team_with=parts.team_with,
            conversations=build_conversations(settings, stores, parts.spec.options, clock=parts.clock),
            reader=build_reader(settings, parts.spec, outside),
            previews=_build_previews(parts, is_streaming=settings.streaming),
            interruptions=_build_interruptions(parts),
            permissions=parts.permissions,
            guard=parts.guard,
            committer=parts.committer,
            voices=_build_voices(parts),
            pictures=_build_pictures(parts),
            limits=_answer_limits(settings, parts.spec),
        ),
        commands=_build_commands(parts),
        memberships=_build_memberships(parts),
        reminders=ReminderTurns(
            access=parts.permissions.access,
            guests=stores.guests,
            member_status=outside.telegram.member_status,
            reminders=RedisReminders(stores.redis, clock=parts.clock),
            committer=parts.committer,
            tokenizer=counter_for(settings.openai_model),
        ),
        edits=Edits(bot=outside.bot, history=stores.history, tokenizer=counter_for(settings.openai_model)),
        committer=parts.committer,
        buttons=parts.buttons,
        burst_waits=BURST_WAITS,
        clock=parts.clock,
    )


def _build_previews(parts: _Parts, *, is_streaming: bool) -> Previews:
    delivery = parts.committer.delivery
    marks = delivery.marks
    return Previews(parts.outside.telegram, delivery.rates, marks.seems_marked, is_streaming=is_streaming)


def _build_interruptions(parts: _Parts) -> Interruptions:
    return Interruptions(store=parts.store, permissions=parts.permissions, buttons=parts.buttons)


def _build_voices(parts: _Parts) -> VoiceReplies:
    return VoiceReplies(
        speaker=parts.outside.models.speaker,
        default=parts.settings.voice_replies,
        redis=parts.stores.redis,
        guard=parts.guard,
        interruptions=_build_interruptions(parts),
        tokenizer=counter_for(parts.settings.openai_model),
    )


def _build_pictures(parts: _Parts) -> Pictures | None:
    painter, model = parts.outside.models.painter, parts.settings.image_model
    if painter is None or model is None:
        return None
    return Pictures(
        painter=painter,
        model=model,
        per_day=parts.settings.pictures_per_day,
        guard=parts.guard,
        files=parts.outside.files,
        redis=parts.stores.redis,
    )


def _build_memberships(parts: _Parts) -> Memberships:
    return Memberships(
        bot=parts.outside.bot,
        telegram=parts.outside.telegram,
        reachability=parts.committer.delivery.marks,
        migrations=parts.stores.migrations,
        eraser=parts.eraser,
        chat_contexts=parts.chat_contexts,
        keeps_talk=parts.settings.group_context,
        talk_lines=parts.settings.group_context_messages,
        erases_on_leave=parts.spec.options.erase_on_leave,
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


def _build_commands(parts: _Parts) -> Commands:
    stores, permissions, links = parts.stores, parts.permissions, parts.page_links
    history, recall = stores.history, stores.recall
    forgetting = Forgetting(
        redis=stores.redis, store=parts.store, history=history, talk=RedisTalk(stores.redis)
    )
    help_command, is_offline = HelpCommand(permissions=permissions), parts.settings.is_offline
    start = StartCommand(guests=stores.guests, help=help_command, page_links=links, is_offline=is_offline)
    forget = _build_forget(parts, forgetting)
    reset, why = _build_reset(parts), _build_why(parts)
    facts, model, voice = _build_facts(parts), _build_model(parts), _build_voice(parts)
    memory = MemoryCommand(history=history, recall=recall, page_links=links)
    rows = RedisReminders(stores.redis, clock=parts.clock)
    reminders = RemindersCommand(permissions=permissions, reminders=rows)
    timezone = TimezoneCommand(reminders=rows)
    return Commands(
        {
            "start": start.run,
            "help": help_command.run,
            "new": NewCommand(permissions=permissions).run,
            "catchup": _build_catch_up(parts, forgetting).run,
            "memory": memory.run,
            "facts": facts.run,
            "reminders": reminders.run,
            "timezone": timezone.run,
            "why": why.run,
            "forget": forget.run,
            "reset": reset.run,
            "stop": say_nothing_to_stop,
            "model": model.run,
            "voice": voice.run,
            "usage": UsageCommand(guard=parts.guard).run,
            "stats": _build_stats(parts).run,
        },
        buttons={
            "help": help_command.run,
            "reset": reset.press,
            "why": why.press,
            "facts": facts.press,
            "forget": forget.press,
            "memory": memory.show_details,
            "reminders": reminders.press,
            "timezone": timezone.press,
            "model": model.press,
            "voice": voice.press,
        },
        correct=facts.correct,
        permissions=permissions,
    )


def _build_forget(parts: _Parts, forgetting: Forgetting) -> ForgetCommand:
    stores = parts.stores
    return ForgetCommand(
        permissions=parts.permissions,
        forgetting=forgetting,
        later_uses=LaterUses(redis=stores.redis, history=stores.history),
        history=stores.history,
        recall=stores.recall,
    )


def _build_catch_up(parts: _Parts, forgetting: Forgetting) -> CatchUpCommand:
    settings, stores, outside = parts.settings, parts.stores, parts.outside
    return CatchUpCommand(
        heard=HeardLines(stores.redis, RedisTalk(stores.redis), stores.history),
        forgetting=forgetting,
        store=parts.store,
        guard=parts.guard,
        writer=build_catch_up_writer(settings, parts.spec, outside.models),
        previews=_build_previews(parts, is_streaming=False),
        limits=CatchUpLimits(
            lines=settings.group_context_messages,
            deadline_s=settings.turn_deadline_s,
            keeps_talk=settings.group_context,
            hears_all=outside.bot.can_read_all_group_messages,
        ),
        clock=parts.clock,
    )


def _build_model(parts: _Parts) -> ModelCommand:
    chat_models = parts.outside.models.chat
    return ModelCommand(
        models=[chat_models[each].name for each in parts.settings.model_names],
        permissions=parts.permissions,
        compression=compression_limits(parts.settings, parts.spec),
        loaded_limit=loaded_messages(parts.settings),
    )


def _build_voice(parts: _Parts) -> VoiceCommand:
    voices = _build_voices(parts)
    return VoiceCommand(
        choice_in=voices.choice_in,
        can_speak=voices.speaker is not None,
        permissions=parts.permissions,
    )


def _build_reset(parts: _Parts) -> ResetCommand:
    return ResetCommand(
        permissions=parts.permissions,
        eraser=parts.eraser,
        chat_contexts=parts.chat_contexts,
        history=parts.stores.history,
        store=parts.store,
        buttons=parts.buttons,
        clock=parts.clock,
    )


def _build_facts(parts: _Parts) -> FactsCommand:
    return FactsCommand(
        permissions=parts.permissions,
        facts=RedisFacts(parts.stores.redis, clock=parts.clock),
        recall=parts.stores.recall,
        page_links=parts.page_links,
        redis=parts.stores.redis,
        is_extracting=parts.settings.extracts_facts,
        clock=parts.clock,
    )


def _build_stats(parts: _Parts) -> StatsCommand:
    return StatsCommand(
        guard=parts.guard,
        permissions=parts.permissions,
        redis=parts.stores.redis,
        inbox=parts.inbox,
        costs=build_costs(parts.settings, parts.stores.redis, clock=parts.clock),
        partitions=parts.stores.partitions,
    )


def _build_why(parts: _Parts) -> WhyCommand:
    return WhyCommand(
        redis=parts.stores.redis,
        store=parts.store,
        history=parts.stores.history,
        facts=RedisFacts(parts.stores.redis, clock=parts.clock),
        page_links=parts.page_links,
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

    def eyes_of(agent: str, chosen: str) -> str:
        agents = with_model(spec, chosen).agents
        model = model_of(settings, agents.get(agent, agents[spec.main]))
        return model if sees_pictures(settings, model) else ""

    media = MediaReader(outside.files, transcriber=outside.models.transcriber)
    return MessageReader(media, bot=outside.bot, eyes_of=eyes_of)


def build_memory_models(
    settings: Settings, redis: RedisClient, models: Models, *, clock: Callable[[], float]
) -> Models:
    """Return the models of summaries and facts. Their usage counts in the month's costs."""
    if models.summary is None:
        return models
    guard = LimitGuard(redis, build_limits(settings), exempt=frozenset(), clock=clock)
    return replace(models, summary=BookedModel(models.summary, guard.book_memory))


def build_limits(settings: Settings) -> UsageLimits:
    """Return the limits of each person, of each chat and of the whole bot."""
    models = (*filter(None, [settings.image_model]), *settings.models)  # a price in MODELS counts first
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
        money_per_month=settings.money_per_month,
        prices={each.name: each for each in models if each.input_price or each.output_price},
    )
