"""Everything that one running simulator holds, and the changes that both of its faces share."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from simulator.api.api_objects import message_json
from simulator.api.bot_commands import Command, CommandLists
from simulator.api.callbacks import Callbacks
from simulator.api.calls import CallLog
from simulator.api.config import SimulatorConfig
from simulator.api.default_world import default_world
from simulator.api.delivery import WebhookDelivery
from simulator.api.drafts import Drafts
from simulator.api.events import EventFeed
from simulator.api.faults import FaultPlan
from simulator.api.files import FileStore
from simulator.api.limits import FloodLimits
from simulator.api.polling import Polling
from simulator.api.reactions import Reactions
from simulator.api.updates import UpdateQueue
from simulator.api.wakeup import Wakeup
from simulator.api.webhook import Webhook
from simulator.api.world import Chat, Message, World

_EPOCH = 1_600_000_000
_IDS_PER_SECOND = 4
# That nobody polls any more rings no bell.
_LOOK_AGAIN_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    config: SimulatorConfig
    world: World
    queue: UpdateQueue
    webhook: Webhook
    polling: Polling
    delivery: WebhookDelivery
    feed: EventFeed
    faults: FaultPlan
    commands: CommandLists
    drafts: Drafts
    callbacks: Callbacks
    bell: Wakeup
    files: FileStore
    reactions: Reactions
    calls: CallLog
    limits: FloodLimits
    numbers: Iterator[int]

    def next_number(self) -> int:
        """For albums, polls and whatever else has an id of its own; no run of a simulator gives it again."""
        return next(self.numbers)

    def now(self) -> int:
        """Unix seconds, as dates are written."""
        return int(self.config.clock())

    async def watch_deliveries(self) -> None:
        """Tell the page how updates leave and how many wait, whenever that changes, until closed."""
        told: dict[str, str | int] | None = None
        while not self.bell.is_closed:
            if (deliveries := self.deliveries()) != told:
                told = deliveries
                self.feed.publish("deliveries", **deliveries)
            await self.bell.wait(_LOOK_AGAIN_S)

    def close(self) -> None:
        """End long polls and page streams; the deliveries end with the task that runs them."""
        self.bell.close()
        self.feed.close()

    def publish_message(self, kind: str, message: Message) -> None:
        """Tell the page: `kind` is `message` or `edit`."""
        self.feed.publish(kind, message=message_json(self.world, message))

    def commands_of(self, chat: Chat) -> list[Command]:
        """The list that a chat's person sees in the person's language; of a group, the one that every member sees."""
        person = self.world.people.get(chat.id)
        if person is None:
            return self.commands.shown_in(chat)
        return self.commands.shown_in(chat, user_id=person.id, language=person.language_code[:2].lower())

    def deliveries(self) -> dict[str, str | int]:
        if self.webhook.settings is not None:
            mode = "webhook"
        else:
            mode = "polling" if self.polling.is_active else "none"
        return {"mode": mode, "pending": len(self.queue)}


def build_simulation(config: SimulatorConfig) -> Simulation:
    """A simulator with the default world, that nothing runs yet.

    Ids of updates and events begin at a number that grows with the clock: a bot that remembers those of
    an earlier run must not take new ones for repeats.
    """
    first_id = max(int(config.clock()) - _EPOCH, 1) * _IDS_PER_SECOND
    bell = Wakeup()
    queue = UpdateQueue(config.clock, bell, first_id=first_id)
    webhook = Webhook(bell)
    return Simulation(
        config=config,
        world=default_world(config),
        queue=queue,
        webhook=webhook,
        polling=Polling(queue, webhook, bell),
        delivery=WebhookDelivery(
            queue,
            webhook,
            bell,
            clock=config.clock,
            scale=config.retry_scale,
            timeout_s=config.webhook_timeout_s,
        ),
        feed=EventFeed(first_id=first_id),
        faults=FaultPlan(),
        commands=CommandLists(),
        drafts=Drafts(config.clock),
        callbacks=Callbacks(config.clock, first_id=first_id),
        bell=bell,
        files=FileStore(first_number=first_id),
        reactions=Reactions(),
        calls=CallLog(),
        limits=FloodLimits(),
        numbers=count(first_id),
    )
