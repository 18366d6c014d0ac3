"""The people, chats and messages of the simulated Telegram, in memory and bounded."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from simulator.api.entities import Entity

ChatType = Literal["private", "group", "supergroup"]
BotStatus = Literal["member", "administrator", "left", "kicked"]

MAX_MESSAGES_PER_CHAT = 5_000
_SUPERGROUP_PREFIX = 1_000_000_000_000


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
"""Whom Telegram names as the sender of what a group's anonymous administrators write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic of a forum; General has no thread id."""

    thread_id: int | None
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """`members` are people; whether the bot is in the chat, or blocked by its person, is `bot_status`."""

    id: int
    type: ChatType
    title: str | None = None
    is_forum: bool = False
    members: tuple[int, ...]
    admins: tuple[int, ...] = ()
    topics: tuple[Topic, ...] = ()
    bot_status: BotStatus = "member"
    migrated_to: int | None = None

    @property
    def has_bot(self) -> bool:
        """Whether the bot can take part: not removed, and not blocked in a private chat."""
        return self.bot_status in {"member", "administrator"}

    @property
    def has_topics(self) -> bool:
        """A forum, or a private chat in which topics were made."""
        return self.is_forum or (self.type == "private" and bool(self.topics))

    def has_thread(self, thread_id: int) -> bool:
        """Whether messages can be sent to this topic; General cannot be named."""
        return any(topic.thread_id == thread_id for topic in self.topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of a chat; `service` holds the Bot API fields of a service message, `content` those of a photo,
    a document and all else that is not text: the text is its caption then. `quote`, `forward_origin`: as the Bot API
    has them.
    """

    chat_id: int
    sender_id: int
    date: int
    text: str = ""
    entities: tuple[Entity, ...] = ()
    id: int = 0
    thread_id: int | None = None
    reply_to: int | None = None
    edit_date: int | None = None
    reply_markup: dict[str, Any] | None = None
    link_preview_options: dict[str, Any] | None = None
    service: dict[str, Any] | None = None
    content: dict[str, Any] | None = None
    quote: dict[str, Any] | None = None
    forward_origin: dict[str, Any] | None = None
    media_group_id: str | None = None


@dataclass(slots=True, kw_only=True)
class World:
    """Message ids rise over all private chats and groups, and in each supergroup apart, as Telegram's do."""

    bot: Person
    first_message_id: int = 1
    people: dict[int, Person] = field(default_factory=dict[int, Person])
    chats: dict[int, Chat] = field(default_factory=dict[int, Chat])
    _messages: dict[int, OrderedDict[int, Message]] = field(
        default_factory=dict[int, OrderedDict[int, Message]]
    )
    _last_ids: dict[int, int] = field(default_factory=dict[int, int])

    def add_person(self, person: Person) -> Chat:
        """The person's private chat with the bot, which has the person's id."""
        self.people[person.id] = person
        return self.put_chat(Chat(id=person.id, type="private", members=(person.id,)))

    def put_chat(self, chat: Chat) -> Chat:
        self.chats[chat.id] = chat
        self._messages.setdefault(chat.id, OrderedDict())
        return chat

    def user(self, user_id: int) -> Person | None:
        of_telegram = {self.bot.id: self.bot, ANONYMOUS.id: ANONYMOUS}
        return of_telegram.get(user_id) or self.people.get(user_id)

    def user_named(self, username: str) -> Person | None:
        """The user of that name, written without @, in any case."""
        everyone = (self.bot, *self.people.values())
        return next((one for one in everyone if (one.username or "").lower() == username.lower()), None)

    def next_message_id(self, chat_id: int) -> int:
        """Taken: no other message gets it."""
        counter = chat_id if self.chats[chat_id].type == "supergroup" else 0
        self._last_ids[counter] = self._last_ids.get(counter, self.first_message_id - 1) + 1
        return self._last_ids[counter]

    def put_message(self, message: Message) -> Message:
        """Add or replace; the oldest message of a chat with too many is forgotten."""
        messages = self._messages[message.chat_id]
        messages[message.id] = message
        if len(messages) > MAX_MESSAGES_PER_CHAT:
            messages.popitem(last=False)
        return message

    def message(self, chat_id: int, message_id: int) -> Message | None:
        return self._messages.get(chat_id, OrderedDict()).get(message_id)

    def delete_message(self, chat_id: int, message_id: int) -> None:
        self._messages[chat_id].pop(message_id, None)

    def in_thread(self, chat_id: int, thread_id: int) -> list[Message]:
        """The messages of a topic, oldest first."""
        return [one for one in self._messages[chat_id].values() if one.thread_id == thread_id]

    def newest(self, chat_id: int, count: int) -> list[Message]:
        """Oldest first."""
        return list(islice(reversed(self._messages[chat_id].values()), count))[::-1]

    def next_person_id(self) -> int:
        return max(self.people, default=1000) + 1

    def next_chat_id(self, kind: ChatType) -> int:
        if kind == "supergroup":
            return min(_of_type(self.chats.values(), "supergroup"), default=-_SUPERGROUP_PREFIX) - 1
        return min(_of_type(self.chats.values(), "group"), default=-2000) - 1


def _of_type(chats: Iterable[Chat], kind: ChatType) -> list[int]:
    return [chat.id for chat in chats if chat.type == kind]
