"""People whom an invitation lets in although the settings do not: who they are, and the invitations themselves."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from memory import keys
from memory.redis.client import RedisClient, load_script

KNOWN_S, UNKNOWN_S = 60.0, 5.0
"""How long a process believes that somebody is a guest, and that somebody is none."""
REMEMBERED = 10_000
"""People whose standing a process remembers at most."""
TRIES = 10
"""Wrong invitations that one person may try in an hour. A code has 144 bits: this only keeps the line free."""

_CODE_BYTES = 18

Redeemed = Literal["accepted", "invalid", "later", "silent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """Somebody whom an invitation has let in; `since` is Unix seconds."""

    user_id: int
    since: float


def digest_of(argument: str) -> str:
    """The SHA-256 of an invitation's code in hex: all that is ever kept of it."""
    return hashlib.sha256(argument.encode("utf-8", "surrogatepass")).hexdigest()


class Guests:
    """The guests of all processes, with a short memory of one's own. Every method raises the store's errors."""

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock
        self._believed: dict[int, tuple[bool, float]] = {}

    async def includes(self, user_id: int) -> bool:
        """Whether this person is a guest. Of a guest whose invitation is revoked it is believed for KNOWN_S more."""
        is_guest, until = self._believed.get(user_id, (False, 0.0))
        if self._clock() < until:
            return is_guest
        is_guest = bool(int(await self._redis.call("HEXISTS", keys.guests_key(), user_id)))
        self._believe(user_id, is_guest)
        return is_guest

    def doubt(self, user_id: int) -> None:
        """Ask anew for this person: they are about to be let in, maybe by another process."""
        self._believed.pop(user_id, None)

    async def redeem(self, user_id: int, digest: str) -> Redeemed:
        """Use an invitation up; "accepted" again for who is a guest already, who then leaves it unused.

        After TRIES "invalid" ones it is "later" once, and "silent" until an hour has passed since the first.
        """
        answer = await self._redis.run(
            load_script("bot.transport.scripts", "redeem"),
            [keys.invitation_key(digest), keys.guests_key(), keys.invitation_tries_key(user_id)],
            [user_id, digest, self._clock(), TRIES, keys.INVITATION_TRIES_TTL_S],
        )
        if answer == "accepted":
            self._believe(user_id, True)
        return cast(Redeemed, answer)

    async def invite(self) -> str:
        """A new invitation's code, which is told once: only its digest is kept, for INVITATION_TTL_S."""
        code = secrets.token_urlsafe(_CODE_BYTES)
        await self._redis.call("SET", keys.invitation_key(digest_of(code)), "", "EX", keys.INVITATION_TTL_S)
        return code

    async def revoke(self, user_id: int) -> bool:
        """Let this person in no more; whether they were a guest."""
        self.doubt(user_id)
        return bool(int(await self._redis.call("HDEL", keys.guests_key(), user_id)))

    async def known(self) -> list[Guest]:
        """All guests, the first one first."""
        found = cast("dict[str, str]", await self._redis.call("HGETALL", keys.guests_key()))
        guests = [
            Guest(user_id=int(user), since=float(line.partition(":")[0])) for user, line in found.items()
        ]
        return sorted(guests, key=lambda guest: (guest.since, guest.user_id))

    def _believe(self, user_id: int, is_guest: bool) -> None:
        if len(self._believed) >= REMEMBERED:
            self._believed.clear()
        self._believed[user_id] = (is_guest, self._clock() + (KNOWN_S if is_guest else UNKNOWN_S))
