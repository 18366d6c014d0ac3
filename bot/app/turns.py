"""Builds the turns and their worker, from settings, open stores and the features."""

from collections import ChainMap
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from bot.agent.agents_file import TeamSpec
from bot.agent.team import Team
from bot.app.agents import counter_for, model_of, with_model
from bot.app.build import (
    build_access,
    build_chat_contexts,
    build_conversations,
    build_costs,
    build_page_links,
    build_teams,
    build_writer,
    compression_limits,
    loaded_messages,
)
from bot.app.erasures import build_forget_jobs
from bot.app.models import BookedModel, sees_pictures
from bot.features import CONTROLS, FEATURES
from bot.features.parts import Built, Models, Outside, Parts, Stores
from bot.inbox.isolation import Isolation, Slots
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.signals import Signals
from bot.inbox.worker import Worker
from bot.media.reader import MediaReader
from bot.settings import GroupTalk, Settings, UsageLimits
from bot.transport.people import Administrators
from bot.transport.rates import OF_TELEGRAM, OF_THE_SIMULATOR, SendRates
from bot.turn.answer import Answerer, AnswerLimits
from bot.turn.batch import BurstWaits
from bot.turn.chat_events import Buttons, Edits, Interruptions, Memberships
from bot.turn.commands import Commands
from bot.turn.commit import Committer
from bot.turn.delivery import Delivery, Reachability, send_part
from bot.turn.erasure import Eraser
from bot.turn.hooks import Hooks
from bot.turn.limits import LimitGuard
from bot.turn.media import MessageReader
from bot.turn.permissions import Permissions
from bot.turn.preview import Previews
from bot.turn.rest import RestOfAnswer
from bot.turn.store import TurnStore
from bot.turn.turn import Turns
from memory.redis.client import RedisClient

BURST_WAITS = BurstWaits()


async def build_turns(
    settings: Settings,
    stores: Stores,
    outside: Outside,
    *,
    spec: TeamSpec,
    inbox: RedisInbox,
    slots: Slots,
    clock: Callable[[], float],
) -> Turns:
    """Return the turns with all their parts and features."""
    access, team_with = build_access(settings), build_teams(settings, spec, outside.models, outside.servers)
    store, tokenizer = TurnStore(stores.redis, clock=clock), counter_for(settings.openai_model)
    administrators = Administrators(outside.telegram.is_administrator, clock=clock)
    permissions = Permissions(access=access, administrators=administrators, team=team_with(""))
    buttons = Buttons(telegram=outside.telegram)
    rest = RestOfAnswer(
        redis=stores.redis,
        may_change=permissions.may_change,
        answer_press=buttons.answer,
        tokenizer=tokenizer,
    )
    delivery = _build_delivery(settings, stores, outside, rest, store=store, slots=slots)
    parts = Parts(
        settings=settings,
        stores=stores,
        outside=outside,
        spec=spec,
        inbox=inbox,
        clock=clock,
        controls=CONTROLS,
        store=store,
        guard=build_guard(settings, stores.redis, exempt=access.operator_ids, clock=clock),
        permissions=permissions,
        interruptions=Interruptions(store=store, permissions=permissions, buttons=buttons),
        eraser=Eraser(stores.redis, store, stores.history, stores.recall),
        chat_contexts=build_chat_contexts(stores, bot_id=outside.bot.id, clock=clock),
        forget_jobs=build_forget_jobs(settings, stores.redis, clock=clock),
        committer=Committer(store=store, delivery=delivery),
        previews=_build_previews(outside, delivery, is_streaming=settings.streaming),
        page_links=build_page_links(settings, outside),
        costs=build_costs(settings, stores.redis, clock=clock),
        tokenizer=tokenizer,
        writer=build_writer(settings, spec, outside.models),
        limits=_answer_limits(settings, spec),
    )
    return _assemble(parts, [await each.built(parts) for each in FEATURES], team_with)


def _assemble(parts: Parts, features: Sequence[Built], team_with: Callable[[str], Team]) -> Turns:
    settings, stores, outside = parts.settings, parts.stores, parts.outside
    hooks = sum((each.hooks for each in features), Hooks())
    return Turns(
        bot=outside.bot,
        store=parts.store,
        history=stores.history,
        signals=Signals(parts.inbox),
        guard=parts.guard,
        answerer=Answerer(
            bot=outside.bot,
            team_with=team_with,
            conversations=build_conversations(settings, stores, parts.spec.options, clock=parts.clock),
            reader=build_reader(settings, parts.spec, outside),
            previews=parts.previews,
            interruptions=parts.interruptions,
            permissions=parts.permissions,
            guard=parts.guard,
            committer=parts.committer,
            hooks=hooks,
            limits=parts.limits,
        ),
        commands=Commands(
            handlers=ChainMap(*(dict(each.commands) for each in features)),
            presses=ChainMap(*(dict(each.buttons) for each in features)),
        ),
        permissions=parts.permissions,
        memberships=_build_memberships(parts),
        hooks=hooks,
        edits=Edits(bot=outside.bot, history=stores.history, tokenizer=parts.tokenizer),
        committer=parts.committer,
        buttons=parts.interruptions.buttons,
        burst_waits=BURST_WAITS,
        clock=parts.clock,
    )


def _build_previews(outside: Outside, delivery: Delivery, *, is_streaming: bool) -> Previews:
    return Previews(outside.telegram, delivery.rates, delivery.marks.seems_marked, is_streaming=is_streaming)


def _build_delivery(
    settings: Settings,
    stores: Stores,
    outside: Outside,
    rest: RestOfAnswer,
    *,
    store: TurnStore,
    slots: Slots,
) -> Delivery:
    return Delivery(
        store=store,
        send=partial(send_part, outside.telegram),
        rates=SendRates(stores.redis, OF_THE_SIMULATOR if settings.is_simulated else OF_TELEGRAM),
        marks=Reachability(stores.redis, clock=store.clock),
        learn_migration=stores.migrations.learn,
        slots=slots,
        plan_rest=rest.plan,
    )


def _build_memberships(parts: Parts) -> Memberships:
    return Memberships(
        bot=parts.outside.bot,
        telegram=parts.outside.telegram,
        reachability=parts.committer.delivery.marks,
        migrations=parts.stores.migrations,
        talk=parts.settings.of(GroupTalk),
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
    guard = build_guard(settings, redis, exempt=frozenset(), clock=clock)
    return replace(models, summary=BookedModel(models.summary, guard.book_memory))


def build_guard(
    settings: Settings, redis: RedisClient, *, exempt: frozenset[int], clock: Callable[[], float]
) -> LimitGuard:
    """Return the guard of the limits of each person, of each chat and of the whole bot."""
    models = settings.priced_models
    prices = {each.name: each for each in models if each.input_price or each.output_price}
    return LimitGuard(redis, settings.of(UsageLimits), exempt=exempt, clock=clock, prices=prices)
