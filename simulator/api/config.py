"""The configuration of a simulator."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from simulator.api.errors import InvalidToken

Clock = Callable[[], float]

DEFAULT_TOKEN = "4242:simulator-token-not-a-secret"  # noqa: S105 - opens nothing but a simulator
DEFAULT_OPERATORS = frozenset({1001})

_TOKEN = re.compile(r"(\d{1,16}):[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorConfig:
    """The configuration. A token without a bot id before its colon raises InvalidToken."""

    token: str = DEFAULT_TOKEN
    operator_ids: frozenset[int] = DEFAULT_OPERATORS  # people that the page shows as operators
    privacy_mode: bool = True  # of the bot in groups
    private_topics: bool = False  # people can create topics in their private chats
    real_limits: bool = False  # a bot that sends faster than Telegram allows gets a 429
    notice: str | None = None  # a line at the top of the page
    mini_app_url: str | None = None  # the main Mini App, as one sets it at BotFather
    retry_scale: float = 1.0  # multiplies each delay between two deliveries of an update, and Retry-After
    webhook_timeout_s: float = 60.0
    bot_first_name: str = "Mnemogram"
    bot_username: str = "mnemogram_bot"
    clock: Clock = time.time  # Unix seconds; decides dates and expiry
    folder: Path | None = None  # keeps the chats until the next run; it must exist

    def __post_init__(self) -> None:
        if not is_token(self.token):
            raise InvalidToken

    @property
    def bot_id(self) -> int:
        return int(self.token.partition(":")[0])


def is_token(text: str) -> bool:
    """Return True if `text` has the form of a bot token.

    Telegram answers 404 to other texts, and 401 to unknown tokens.
    """
    return _TOKEN.fullmatch(text) is not None
