"""The people, chats, messages and reactions of the simulated Telegram, in memory and bounded."""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any, Literal, cast

from simulator.api.config import SimulatorConfig
from simulator.api.entities import Entity
from simulator.api.errors import BadRequest

ChatType = Literal["private", "group", "supergroup", "channel"]
BotStatus = Literal["member", "administrator", "left", "kicked"]

MAX_MESSAGES_PER_CHAT = 5_000
_SUPERGROUP_PREFIX = 1_000_000_000_000
_BROAD: frozenset[ChatType] = frozenset(["supergroup", "channel"])
"""Chats whose ids begin with -100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A Telegram user; the bot is one too."""

    id: int
    first_name: str
    username: str | None = None
    last_name: str | None = None
    is_operator: bool = False
    is_bot: bool = False
    is_premium: bool = False
    language_code: str = "en"


ANONYMOUS = Person(id=1087968824, first_name="Group", username="GroupAnonymousBot", is_bot=True)
"""Sender of the messages that anonymous administrators of a group write."""
CHANNEL_BOT = Person(id=136817688, first_name="Channel", username="Channel_Bot", is_bot=True)
"""Sender of the messages that people write as a channel."""
TELEGRAM = Person(id=777000, first_name="Telegram")
"""Sender of the posts of a channel in its group of comments."""
_DIRECT_TOPICS = 5_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic of a forum; General has no thread id."""

    thread_id: int | None
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat. `members` are people only; `bot_status` tells if the bot is in the chat or blocked."""

    id: int
    type: ChatType
    title: str | None = None
    is_forum: bool = False
    members: tuple[int, ...]
    admins: tuple[int, ...] = ()
    topics: tuple[Topic, ...] = ()
    bot_status: BotStatus = "member"
    migrated_to: int | None = None
    comments_id: int | None = None  # the group of comments of a channel
    direct_messages_id: int | None = None  # the direct messages of a channel
    parent_id: int | None = None  # the channel, if these are its direct messages

    @property
    def is_direct(self) -> bool:
        """True for the direct messages of a channel: a supergroup with a topic for each person."""
        return self.parent_id is not None

    @property
    def has_bot(self) -> bool:
        """True if the bot is neither removed nor blocked."""
        return self.bot_status in {"member", "administrator"}

    @property
    def has_topics(self) -> bool:
        """True for a forum, and for a private chat with topics."""
        return self.is_forum or (self.type == "private" and bool(self.topics))

    def has_thread(self, thread_id: int) -> bool:
        """Return True if messages can be sent to this topic. General has no thread id."""
        return any(topic.thread_id == thread_id for topic in self.topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a chat. Fields with a dict hold the Bot API's fields of the same name, unless a comment differs."""

    chat_id: int
    sender_id: int  # a channel's id, if people write as the channel
    date: int  # Unix seconds
    text: str = ""  # the caption, if there is `content`
    entities: tuple[Entity, ...] = ()
    id: int = 0  # 0 before it is posted
    thread_id: int | None = None
    reply_to: int | None = None
    edit_date: int | None = None
    reply_markup: dict[str, Any] | None = None
    link_preview_options: dict[str, Any] | None = None
    service: dict[str, Any] | None = None  # all fields of a service message
    content: dict[str, Any] | None = None  # the fields of a photo, a document and other content than text
    quote: dict[str, Any] | None = None
    forward_origin: dict[str, Any] | None = None
    media_group_id: str | None = None
    is_via_bot: bool = False  # a chosen result of the bot's inline mode


def direct_topic_of(person_id: int) -> int:
    """Return the id of a person's topic in the direct messages of channels. It has more than 32 bits."""
    return _DIRECT_TOPICS + person_id


def person_of_topic(topic_id: int) -> int:
    """Return the person to whom a topic in direct messages belongs."""
    return topic_id - _DIRECT_TOPICS


MAX_REACTIONS = 50_000
# Bot API documentation, ReactionTypeEmoji.
_EMOJI = (
    "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻"
    " 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"
)
_REACTIONS = frozenset(_EMOJI.split())

Reaction = dict[str, str]


class Reactions:
    """Reactions by chat, message and user. The oldest are dropped if there are too many."""

    def __init__(self) -> None:
        self._set: OrderedDict[tuple[int, int, int], list[Reaction]] = OrderedDict()

    def put(self, chat_id: int, message_id: int, user_id: int, reactions: list[Reaction]) -> list[Reaction]:
        """Replace a user's reactions to a message; return the previous ones."""
        key = (chat_id, message_id, user_id)
        before = self._set.pop(key, [])
        if reactions:
            self._set[key] = reactions
        if len(self._set) > MAX_REACTIONS:
            self._set.popitem(last=False)
        return before

    def as_json(self) -> list[dict[str, Any]]:
        """Return all reactions in the form of the page's events."""
        return [
            {"chat_id": chat_id, "message_id": message_id, "user_id": user_id, "reactions": reactions}
            for (chat_id, message_id, user_id), reactions in self._set.items()
        ]


def read_reaction(item: object) -> Reaction:
    """Read a ReactionType. Raises BadRequest for a reaction that nobody may set."""
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    emoji = str(fields.get("emoji", ""))
    # Clients send some emoji, such as ❤️, with or without the variation selector.
    if fields.get("type") != "emoji" or emoji.replace("\ufe0f", "") not in _REACTIONS:
        raise BadRequest("REACTION_INVALID")
    return {"type": "emoji", "emoji": emoji}


@dataclass(slots=True, kw_only=True)
class World:
    """All people, chats, messages and reactions.

    Message ids rise over all private chats and groups together, and in each supergroup and channel separately, as in
    Telegram.
    """

    bot: Person
    first_message_id: int = 1
    people: dict[int, Person] = field(default_factory=dict[int, Person])
    chats: dict[int, Chat] = field(default_factory=dict[int, Chat])
    reactions: Reactions = field(default_factory=Reactions)
    numbers: Iterator[int] = field(default_factory=count)
    _messages: dict[int, OrderedDict[int, Message]] = field(
        default_factory=dict[int, OrderedDict[int, Message]]
    )
    _last_ids: dict[int, int] = field(default_factory=dict[int, int])

    def add_person(self, person: Person) -> Chat:
        """Add a person; return their private chat with the bot, which has the person's id."""
        self.people[person.id] = person
        return self.put_chat(Chat(id=person.id, type="private", members=(person.id,)))

    def put_chat(self, chat: Chat) -> Chat:
        self.chats[chat.id] = chat
        self._messages.setdefault(chat.id, OrderedDict())
        return chat

    def user(self, user_id: int) -> Person | None:
        of_telegram = {each.id: each for each in (self.bot, ANONYMOUS, CHANNEL_BOT, TELEGRAM)}
        return of_telegram.get(user_id) or self.people.get(user_id)

    def user_named(self, username: str) -> Person | None:
        """Find a user by a name without @, in upper or lower case."""
        everyone = (self.bot, *self.people.values())
        return next((one for one in everyone if (one.username or "").lower() == username.lower()), None)

    def next_message_id(self, chat_id: int) -> int:
        """Return a message id that no other message gets."""
        counter = _counter_of(self.chats[chat_id])
        self._last_ids[counter] = self._last_ids.get(counter, self.first_message_id - 1) + 1
        return self._last_ids[counter]

    def next_number(self) -> int:
        """Return an id for an album or a poll. No other run of the simulator returns the same one."""
        return next(self.numbers)

    def put_message(self, message: Message) -> Message:
        """Add or replace a message; drop the oldest one of a chat that has too many. New ids are higher."""
        counter, messages = _counter_of(self.chats[message.chat_id]), self._messages[message.chat_id]
        self._last_ids[counter] = max(self._last_ids.get(counter, self.first_message_id - 1), message.id)
        messages[message.id] = message
        if len(messages) > MAX_MESSAGES_PER_CHAT:
            messages.popitem(last=False)
        return message

    def message(self, chat_id: int, message_id: int) -> Message | None:
        return self._messages.get(chat_id, OrderedDict()).get(message_id)

    def delete_message(self, chat_id: int, message_id: int) -> None:
        self._messages[chat_id].pop(message_id, None)

    def in_thread(self, chat_id: int, thread_id: int) -> list[Message]:
        """Return the messages of a topic, oldest first."""
        return [one for one in self._messages[chat_id].values() if one.thread_id == thread_id]

    def newest(self, chat_id: int, count: int) -> list[Message]:
        """Return the newest messages of a chat, oldest first."""
        return list(islice(reversed(self._messages[chat_id].values()), count))[::-1]

    def next_person_id(self) -> int:
        return max(self.people, default=1000) + 1

    def next_chat_id(self, kind: ChatType) -> int:
        if kind in _BROAD:
            return min(_of_type(self.chats.values(), _BROAD), default=-_SUPERGROUP_PREFIX) - 1
        return min(_of_type(self.chats.values(), {"group"}), default=-2000) - 1


def _counter_of(chat: Chat) -> int:
    """Return the id of the chat whose message ids it shares; 0 for private chats and groups."""
    return chat.id if chat.type in _BROAD else 0


def _of_type(chats: Iterable[Chat], kinds: Collection[ChatType]) -> list[int]:
    return [chat.id for chat in chats if chat.type in kinds]


OLGA, BEN, CHIARA = 1001, 1002, 1003
WEEKEND_PLANS, WORKSHOP = -2001, -1003001
_MESSAGE_ID_EPOCH = 1_700_000_000


def default_world(config: SimulatorConfig, *, first_number: int = 1) -> World:
    """Build the world of a new simulator: three people, a group and a forum.

    The first message id grows by one a second, so ids do not repeat after a restart, as in Telegram. Otherwise a bot
    would confuse new messages with stored ones.
    """
    bot = Person(
        id=config.bot_id, first_name=config.bot_first_name, username=config.bot_username, is_bot=True
    )
    now = int(config.clock())
    world = World(
        bot=bot, first_message_id=max(now - _MESSAGE_ID_EPOCH, 0) + 100, numbers=count(first_number)
    )
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
    """Add a chat with its topics. The thread id of a topic is the id of the service message that created it."""
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
    """Return the topics with these names, after General, which every forum has."""
    named = [name for name in names if name != "General"]
    return (Topic(thread_id=None, name="General"), *_topics(*named))


def _topics(*names: str) -> tuple[Topic, ...]:
    return tuple(Topic(thread_id=number, name=name) for number, name in enumerate(names, start=2))
