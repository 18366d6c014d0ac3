"""Links to the operators' page that work once, and the sessions that they open. Only digests are stored."""

import hashlib
import secrets
from collections.abc import Callable, Mapping

from memory import keys
from memory.keys import Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

SESSIONS_AT_MOST = 20
"""Sessions at a time. A further one ends the one that would end first."""
_TOKEN_BYTES = 24


@lua_script("bot.page.scripts")
def open_session(
    *, link: Key, sessions: Key, session: str, now: float, ttl: int, most: int
) -> ScriptCall: ...


class Dashboard:
    """The links and sessions of all processes. Every method raises the store's errors."""

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        """`clock` is Unix seconds."""
        self._redis = redis
        self._clock = clock

    async def make_link(self) -> str:
        """Return the token of a new link, which opens one session within DASHBOARD_TTL_S."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        await self._redis.call("SET", _link_key(token), "", "EX", keys.DASHBOARD_TTL_S)
        return token

    async def open_session(self, token: str) -> Mapping[str, object] | None:
        """Use up a link. Return a session's token and its end; None if the link is unknown, used or too old."""
        session, now = secrets.token_urlsafe(_TOKEN_BYTES), self._clock()
        call = open_session(
            link=_link_key(token),
            sessions=keys.global_key("{access}:sessions"),
            session=_digest(session),
            now=now,
            ttl=keys.SESSION_TTL_S,
            most=SESSIONS_AT_MOST,
        )
        if not await self._redis.run(call):
            return None
        return {"session": session, "expires_at": now + keys.SESSION_TTL_S}

    async def has_session(self, token: str) -> bool:
        """Return True if this session has not ended."""
        end = await self._redis.call("ZSCORE", keys.global_key("{access}:sessions"), _digest(token))
        return end is not None and self._clock() < float(end)


def _link_key(token: str) -> Key:
    return keys.global_key("{access}:dashboard", _digest(token))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
