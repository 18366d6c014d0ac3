"""What a simulator is started with."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from simulator.api.errors import InvalidToken

Clock = Callable[[], float]

DEFAULT_TOKEN = "4242:simulator-token-not-a-secret"  # noqa: S105 - opens nothing but a simulator
DEFAULT_OPERATORS = frozenset({1001})

_TOKEN = re.compile(r"(\d{1,16}):[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorConfig:
    """`retry_scale` multiplies every waiting time between two deliveries of an update, `Retry-After`
    included; `private_topics` lets people make topics in their private chats; `real_limits` answers
    429 to who sends faster than Telegram lets bots send; `clock` gives Unix seconds and decides dates and expiry. The bot's id is the number
    before the token's colon; a token without one raises InvalidToken.
    """

    token: str = DEFAULT_TOKEN
    operator_ids: frozenset[int] = DEFAULT_OPERATORS
    privacy_mode: bool = True
    private_topics: bool = False
    real_limits: bool = False
    notice: str | None = None
    retry_scale: float = 1.0
    webhook_timeout_s: float = 60.0
    bot_first_name: str = "Mnemogram"
    bot_username: str = "mnemogram_bot"
    clock: Clock = time.time

    def __post_init__(self) -> None:
        if not is_token(self.token):
            raise InvalidToken

    @property
    def bot_id(self) -> int:
        return int(self.token.partition(":")[0])


def is_token(text: str) -> bool:
    """Whether a text has the form of a bot token; Telegram answers 404 to others and 401 to unknown ones."""
    return _TOKEN.fullmatch(text) is not None
