"""The state of one running simulator, and the operations that the Bot API and the page share."""

from dataclasses import dataclass

from simulator.api.api_objects import message_json
from simulator.api.config import SimulatorConfig
from simulator.api.delivery import WebhookDelivery
from simulator.api.events import CallLog, EventFeed
from simulator.api.faults import FaultPlan, FloodLimits
from simulator.api.files import FileStore
from simulator.api.interactions import Callbacks, Command, CommandLists, Drafts
from simulator.api.polling import Polling
from simulator.api.updates import UpdateQueue
from simulator.api.wakeup import Wakeup
from simulator.api.webhook import Webhook
from simulator.api.world import Chat, Message, World, default_world

_EPOCH = 1_600_000_000
_IDS_PER_SECOND = 4
# The bell does not ring when a client stops polling.
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
    calls: CallLog
    limits: FloodLimits

    def now(self) -> int:
        """Return the time in Unix seconds, as the Bot API writes dates."""
        return int(self.config.clock())

    async def watch_deliveries(self) -> None:
        """Publish the mode of delivery and the number of pending updates at each change, until closed."""
        published: dict[str, str | int] | None = None
        while not self.bell.is_closed:
            if (deliveries := self.deliveries()) != published:
                published = deliveries
                self.feed.publish("deliveries", **deliveries)
            await self.bell.wait(_LOOK_AGAIN_S)

    def close(self) -> None:
        """End long polls and page streams. Webhook deliveries end with the task that runs them."""
        self.bell.close()
        self.feed.close()

    def publish_message(self, kind: str, message: Message) -> None:
        """Publish a message to the page; `kind` is `message` or `edit`."""
        self.feed.publish(kind, message=message_json(self.world, message))

    def commands_of(self, chat: Chat) -> list[Command]:
        """Return the commands of a private chat in its person's language, or those that all members of a group see."""
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
    """Build a simulator with the default world; its tasks are not started yet.

    Ids of updates and events begin at a number that grows with the clock. Otherwise a bot that remembers the ids of an
    earlier run would take new updates for duplicates.
    """
    first_id = max(int(config.clock()) - _EPOCH, 1) * _IDS_PER_SECOND
    bell = Wakeup()
    queue = UpdateQueue(config.clock, bell, first_id=first_id)
    webhook = Webhook(bell)
    return Simulation(
        config=config,
        world=default_world(config, first_number=first_id),
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
        calls=CallLog(),
        limits=FloodLimits(),
    )
