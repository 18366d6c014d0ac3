"""Guests with an accepted invitation, and administrators of groups. Each process caches both for a short time."""

import hashlib
import secrets
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, cast

from bot.errors import ChatMigrated
from memory import keys
from memory.keys import Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

GUEST_S, STRANGER_S = 60.0, 5.0
"""Lifetime of a cached guest, and of the fact that somebody is not a guest."""
ADMINISTRATOR_S = 60.0
"""Lifetime of the cached answer whether somebody is an administrator."""
CACHED = 10_000
"""Maximum number of people in a cache."""
TRIES = 10
"""Invalid invitations that one person may try in an hour. A code has 144 bits: this only limits the load."""

_CODE_BYTES = 18
_OPEN = keys.global_key("{access}:open")

K = TypeVar("K", bound=Hashable)
Redeemed = Literal["accepted", "invalid", "later", "silent"]


@lua_script("bot.transport.scripts")
def redeem(
    *,
    invitation: Key,
    guests: Key,
    tries: Key,
    unused: Key,
    user_id: int,
    entry: str,
    tries_at_most: Mapping[str, int],
) -> ScriptCall: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A person with an accepted invitation; `since` is Unix seconds."""

    user_id: int
    since: float


def digest_of(argument: str) -> str:
    """Return the SHA-256 of an invitation's code in hex. Only this is ever stored."""
    return hashlib.sha256(argument.encode("utf-8", "surrogatepass")).hexdigest()


class Guests:
    """The guests, shared by all processes. Every method raises the store's errors."""

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock
        self._cache: _Cache[int] = _Cache(clock)

    async def includes(self, user_id: int) -> bool:
        """Return True if this person is a guest. A revoked guest stays one for up to GUEST_S."""
        is_guest = self._cache.get(user_id)
        if is_guest is None:
            is_guest = bool(
                int(await self._redis.call("HEXISTS", keys.global_key("{access}:guests"), user_id))
            )
            self._remember(user_id, is_guest)
        return is_guest

    def doubt(self, user_id: int) -> None:
        """Forget the cached state of this person, because any process may be about to accept them."""
        self._cache.drop(user_id)

    async def redeem(self, user_id: int, digest: str) -> Redeemed:
        """Use an invitation up. A person who is a guest already is "accepted" and leaves it unused.

        After TRIES "invalid" ones the result is "later" once, then "silent" until an hour after the first.
        """
        answer = await self._redis.run(
            redeem(
                guests=keys.global_key("{access}:guests"),
                invitation=keys.global_key("{access}:invitation", digest),
                tries=keys.global_key("{access}:tries", user_id),
                unused=_OPEN,
                user_id=user_id,
                entry=f"{self._clock()}:{digest}",
                tries_at_most={"count": TRIES, "ttl": keys.INVITATION_TRIES_TTL_S},
            )
        )
        if answer == "accepted":
            self._remember(user_id, True)
        return cast(Redeemed, answer)

    async def invite(self) -> str:
        """Return a new invitation's code. Only its digest is stored, for INVITATION_TTL_S."""
        code = secrets.token_urlsafe(_CODE_BYTES)
        digest, ttl, now = digest_of(code), keys.INVITATION_TTL_S, self._clock()
        await self._redis.calls(
            [
                ("SET", keys.global_key("{access}:invitation", digest), "", "EX", ttl),
                ("ZREMRANGEBYSCORE", _OPEN, "-inf", now),
                ("ZADD", _OPEN, now + ttl, digest),
                ("EXPIRE", _OPEN, ttl),
            ]
        )
        return code

    async def count_open(self) -> int:
        """Return the number of invitations that nobody has used yet, and that have not expired."""
        return int(await self._redis.call("ZCOUNT", _OPEN, self._clock(), "+inf"))

    async def revoke(self, user_id: int) -> bool:
        """Remove a guest. Return True if this person was one."""
        self.doubt(user_id)
        return bool(int(await self._redis.call("HDEL", keys.global_key("{access}:guests"), user_id)))

    async def list(self) -> list[Guest]:
        """Return all guests, the oldest first."""
        fields = cast("dict[str, str]", await self._redis.call("HGETALL", keys.global_key("{access}:guests")))
        guests = [
            Guest(user_id=int(user), since=float(line.partition(":")[0])) for user, line in fields.items()
        ]
        return sorted(guests, key=lambda guest: (guest.since, guest.user_id))

    def _remember(self, user_id: int, is_guest: bool) -> None:
        self._cache.put(user_id, is_guest, for_s=GUEST_S if is_guest else STRANGER_S)


class Administrators:
    """The administrators of groups, from `is_administrator` (a call of the Bot API) with a cache."""

    def __init__(
        self, is_administrator: Callable[[int, int], Awaitable[bool]], *, clock: Callable[[], float]
    ) -> None:
        self._is_administrator = is_administrator
        self._cache: _Cache[tuple[int, int]] = _Cache(clock)

    async def includes(self, chat_id: int, user_id: int) -> bool:
        """Return True if this person administers the chat, by any of its ids. Raises the TelegramFailure errors."""
        may = self._cache.get((chat_id, user_id))
        if may is None:
            try:
                may = await self._is_administrator(chat_id, user_id)
            except ChatMigrated as moved:
                may = await self._is_administrator(moved.new_chat_id, user_id)
            self._cache.put((chat_id, user_id), may, for_s=ADMINISTRATOR_S)
        return may


class _Cache(Generic[K]):
    """Answers for up to CACHED people, each with its own lifetime."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._answers: dict[K, tuple[bool, float]] = {}

    def get(self, key: K) -> bool | None:
        answer, until = self._answers.get(key, (None, 0.0))
        return answer if self._clock() < until else None

    def put(self, key: K, answer: bool, *, for_s: float) -> None:
        if len(self._answers) >= CACHED:
            self._answers.clear()
        self._answers[key] = (answer, self._clock() + for_s)

    def drop(self, key: K) -> None:
        self._answers.pop(key, None)
