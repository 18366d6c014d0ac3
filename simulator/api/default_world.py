"""The world that a simulator starts with: three people, a group and a forum."""

from simulator.api.config import SimulatorConfig
from simulator.api.world import Chat, Message, Person, Topic, World

OLGA, BEN, CHIARA = 1001, 1002, 1003
WEEKEND_PLANS, WORKSHOP = -2001, -1003001
_MESSAGE_ID_EPOCH = 1_700_000_000


def default_world(config: SimulatorConfig) -> World:
    """Message ids begin at a number that grows by one a second: like Telegram's, they do not come back
    after a restart, so that what a bot stored of an earlier run stays apart.
    """
    bot = Person(
        id=config.bot_id, first_name=config.bot_first_name, username=config.bot_username, is_bot=True
    )
    now = int(config.clock())
    world = World(bot=bot, first_message_id=max(now - _MESSAGE_ID_EPOCH, 0) + 100)
    for person_id, first, last, username in (
        (OLGA, "Olga", "Marin", "olga"),
        (BEN, "Ben", "Hart", "ben"),
        (CHIARA, "Chiara", "Rossi", "chiara"),
    ):
        is_operator = person_id in config.operator_ids
        world.add_person(
            Person(id=person_id, first_name=first, last_name=last, username=username, is_operator=is_operator)
        )
    everyone = (OLGA, BEN, CHIARA)
    world.put_chat(
        Chat(id=WEEKEND_PLANS, type="group", title="Weekend plans", members=everyone, admins=(OLGA,))
    )
    add_forum(
        world,
        Chat(
            id=WORKSHOP,
            type="supergroup",
            title="Workshop",
            is_forum=True,
            members=everyone,
            admins=(OLGA,),
            topics=(Topic(thread_id=None, name="General"), *_topics("Ideas", "Bugs")),
        ),
        date=now,
    )
    return world


def add_forum(world: World, chat: Chat, *, date: int) -> Chat:
    """A topic's thread id is the id of the service message that made it."""
    world.put_chat(chat)
    for topic in chat.topics:
        if topic.thread_id is not None:
            service = {"forum_topic_created": {"name": topic.name, "icon_color": 7322096}}
            world.put_message(
                Message(
                    id=topic.thread_id,
                    chat_id=chat.id,
                    sender_id=chat.admins[0],
                    date=date,
                    thread_id=topic.thread_id,
                    service=service,
                )
            )
    return chat


def forum_topics(names: list[str]) -> tuple[Topic, ...]:
    """General first, which every forum has, then the named ones."""
    named = [name for name in names if name != "General"]
    return (Topic(thread_id=None, name="General"), *_topics(*named))


def _topics(*names: str) -> tuple[Topic, ...]:
    return tuple(Topic(thread_id=number, name=name) for number, name in enumerate(names, start=2))
