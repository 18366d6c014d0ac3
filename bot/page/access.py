"""Access to chats on the page: which contexts a visitor may see, and what they may do with them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from operator import itemgetter

import structlog

from bot.errors import TelegramFailure
from bot.page.visitors import PageError, Visitor
from bot.settings import Access, PageViewers
from bot.transport.forms import ChatPlace, place_of
from bot.transport.ingest import has_access, telegram_ref
from bot.transport.migrations import Migrations
from bot.transport.page_links import PagePlace
from bot.transport.people import Guests
from memory.history.contexts import Context, find_context, scan_contexts
from memory.keys import ContextRef
from memory.redis.client import RedisClient

log = structlog.get_logger()

HasRole = Callable[[int, int], Awaitable[bool]]
"""Return True if a person (the second id) has a role in a chat. Raises the TelegramFailure errors."""

_LAST_GROUP_ID = -1_000_000_000_000
"""Ids of supergroups are below."""
NOT_YOURS = "You may not see this memory."
"""The sentence for every context that a visitor may not see. It does not tell whether the context exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What a visitor may do with the memory of a chat that they see."""

    may_reset: bool = False
    may_forget_all: bool = False
    """Others' messages and the bot's. Everybody may forget their own."""
    may_export: bool = False


OWNER = Rights(may_reset=True, may_forget_all=True, may_export=True)
OPERATOR = Rights(may_reset=True, may_forget_all=True)
"""Of an operator who looks into other people's chats, as with /reset and /forget."""
MEMBER = Rights()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """A context that a visitor may see."""

    ref: ContextRef
    anchor_id: int
    """The chat's first id."""
    thread_id: int | None
    title: str
    rights: Rights

    @property
    def is_private(self) -> bool:
        """Return True for a private chat."""
        return self.anchor_id > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAccess:
    """Decides at each request. Answers of Telegram are believed for a minute; without an answer nobody gets in."""

    redis: RedisClient
    bot_id: int
    partitions: int
    access: Access
    guests: Guests
    migrations: Migrations
    is_administrator: HasRole
    is_member: HasRole
    viewers: PageViewers

    async def find(self, visitor: Visitor, context_id: str) -> PageContext:
        """Return the context. Raises PageError: the same "forbidden" for a foreign and for an unknown one."""
        try:
            return await self._find_own(visitor, context_id)
        except PageError:
            if visitor.is_operator and self.viewers.operators_read_chats:
                return await self._look_into(visitor, context_id)
            raise

    async def list_contexts(self, visitor: Visitor) -> tuple[list[PageContext], str | None]:
        """Return the contexts of the visitor's chats, and the id of the one that the page was opened for.

        A chat without a memory yet has its own context. Raises PageError if the page was opened for a chat that the
        visitor may not see; operators get the rest.
        """
        found: list[PageContext] = []
        current: str | None = None
        for anchor_id in await self._chats_of(visitor):
            try:
                rights = await self._rights(visitor, anchor_id)
            except PageError:
                if not visitor.is_operator:
                    raise
                continue
            listed = await self._list_chat(await self._home(visitor, anchor_id))
            contexts = [replace(context, rights=rights) for context in listed]
            thread_id = await self._thread_of_link(visitor, anchor_id)
            opened = [context for context in contexts if context.thread_id == thread_id] or contexts
            current, found = opened[0].ref.context_id, found + contexts
        if not found and not visitor.is_operator:
            raise PageError("forbidden", NOT_YOURS)
        return found, current

    async def _find_own(self, visitor: Visitor, context_id: str) -> PageContext:
        for anchor_id in await self._chats_of(visitor):
            context = await self._find_in_chat(await self._home(visitor, anchor_id), context_id)
            if context is not None:
                return replace(context, rights=await self._rights(visitor, anchor_id))
        raise PageError("forbidden", NOT_YOURS)

    async def _chats_of(self, visitor: Visitor) -> list[int]:
        """Return the anchors of the visitor's own chat and of the link's, without those that are closed to them.

        ALLOWED_CHAT_IDS may admit a person to a group only.
        """
        if visitor.user_id is None:
            return []
        anchors = [visitor.user_id]
        if visitor.place is not None and visitor.place.chat_id < 0:
            anchors.append(await self.migrations.resolve(visitor.place.chat_id))
        return [anchor for anchor in anchors if await self._admits(visitor, anchor)]

    async def _admits(self, visitor: Visitor, anchor_id: int) -> bool:
        """Return True if the settings let this person use the bot in this chat."""
        ids = (anchor_id, *([visitor.place.chat_id] if anchor_id < 0 and visitor.place else []))
        return await has_access(self.access, self.guests, visitor.user_id, *ids)

    async def _rights(self, visitor: Visitor, anchor_id: int) -> Rights:
        """Return the rights of a visitor in one of `_chats_of`. Raises PageError if they may not see its memory."""
        if anchor_id == visitor.user_id:
            return OWNER
        place, user_id = visitor.place, visitor.user_id
        if place is None or user_id is None or self.viewers.group_memory_page == "off":
            raise PageError("forbidden", NOT_YOURS)
        if place.is_direct:  # Telegram tells nothing about the people of such a chat
            if place.person_id == user_id:
                return OWNER
            raise PageError("forbidden", NOT_YOURS)
        chat_id = await self._present_id(anchor_id, place)
        if await _ask(self.is_administrator, chat_id, user_id):
            return OWNER
        if self.viewers.group_memory_page == "members" and await _ask(self.is_member, chat_id, user_id):
            return OPERATOR if visitor.is_operator else MEMBER
        raise PageError("forbidden", NOT_YOURS)

    async def _present_id(self, anchor_id: int, place: PagePlace) -> int:
        """Return the id by which Telegram knows the people of the link's chat today.

        Of a group that has become a supergroup it may still tell the old people.
        """
        if place.chat_id < _LAST_GROUP_ID:
            return place.chat_id
        return (await self.migrations.present_ids()).get(anchor_id, place.chat_id)

    async def _find_in_chat(self, home: ChatPlace, context_id: str) -> PageContext | None:
        """Return the context if it is one of `_list_chat`."""
        own = self._own(home)
        if own.context_id == context_id:
            return self._context(own, home, await find_context(self.redis, own))
        ref = ContextRef(context_id=context_id, partition=own.partition)
        entry = await find_context(self.redis, ref)
        place = None if entry is None else self._place_of(entry)
        return self._context(ref, place, entry) if place and _is_topic_of(home, place) else None

    async def _list_chat(self, home: ChatPlace) -> list[PageContext]:
        """Return the context of `home`, which needs no entry in the registry, and those of its topics."""
        own = self._own(home)
        first = self._context(own, home, await find_context(self.redis, own))
        if home.is_direct:
            return [first]
        topics = [
            (entry.created_at, entry.ref.context_id, self._context(entry.ref, place, entry))
            async for entry in scan_contexts(self.redis, own.partition, name="chat_id", value=home.chat_id)
            if entry.ref != own and (place := self._place_of(entry)) and _is_topic_of(home, place)
        ]
        return [first, *(context for _, _, context in sorted(topics, key=itemgetter(0, 1)))]

    async def _look_into(self, visitor: Visitor, context_id: str) -> PageContext:
        """Return the context of somebody else's chat for an operator. Each such look is logged."""
        for partition in range(self.partitions):
            ref = ContextRef(context_id=context_id, partition=partition)
            entry = await find_context(self.redis, ref)
            place = None if entry is None else self._place_of(entry)
            if place is not None:
                log.warning("operator_reads_chat", operator=visitor.user_id, context=context_id)
                return replace(self._context(ref, place, entry), rights=OPERATOR)
        raise PageError("forbidden", NOT_YOURS)

    async def _home(self, visitor: Visitor, anchor_id: int) -> ChatPlace:
        """Return the chat, or in the direct messages of a channel the topic of the visitor's link."""
        link = visitor.place
        if link is None or not link.is_direct or await self.migrations.resolve(link.chat_id) != anchor_id:
            return ChatPlace(chat_id=anchor_id, thread_id=None)
        return ChatPlace(chat_id=anchor_id, thread_id=link.thread_id, is_direct=True)

    async def _thread_of_link(self, visitor: Visitor, anchor_id: int) -> int | None:
        place = visitor.place
        if place is None or await self.migrations.resolve(place.chat_id) != anchor_id:
            return None
        return place.thread_id

    def _own(self, home: ChatPlace) -> ContextRef:
        return telegram_ref(
            self.bot_id, home.chat_id, home.thread_id, is_direct=home.is_direct, partitions=self.partitions
        )

    def _place_of(self, entry: Context) -> ChatPlace | None:
        """Return the place of the entry's chat; None for another bot's or another program's context."""
        return place_of(entry.keys) if entry.keys.get("bot_id") == self.bot_id else None

    def _context(self, ref: ContextRef, place: ChatPlace, entry: Context | None) -> PageContext:
        return PageContext(
            ref=ref,
            anchor_id=place.chat_id,
            thread_id=place.thread_id,
            title=entry.title if entry else "",
            rights=MEMBER,
        )


def _is_topic_of(home: ChatPlace, place: ChatPlace) -> bool:
    """Return True if who sees `home` sees the place too: each topic of direct messages is another person's."""
    return place.chat_id == home.chat_id and not place.is_direct and not home.is_direct


async def _ask(has_role: HasRole, chat_id: int, user_id: int) -> bool:
    """Return Telegram's answer. Raises PageError without one."""
    try:
        return await has_role(chat_id, user_id)
    except TelegramFailure:
        raise PageError(
            "unavailable", "Telegram does not say who may see this memory. Please try again."
        ) from None
