"""The errors of the bot, one tree, by who can act on them.

BotError
├── ModelCanFix                 goes back to the model as the tool call's result
│   └── ToolFailed              unknown tool, malformed arguments, a tool that raised
├── TellUser                    the chat gets one honest sentence (bot/transport/texts.py has it)
│   ├── ModelUnavailable        connection, 429 with hope, 5xx, a cut stream: after our tries
│   ├── ModelQuotaExhausted     a 429 that no retry cures
│   ├── ModelRefused            a 4xx: a request that it does not take
│   │   └── ModelBarred         whatever is asked: a wrong key, or a model that there is not
│   ├── PromptTooLong           the endpoint's context length is smaller than we assumed
│   ├── ModelRepliedNothing     no text and no tool call, twice
│   └── DeadlinePassed          the whole turn took longer than TURN_DEADLINE_S
├── PageOperator                ends the start, or is logged as an error
│   ├── SettingsInvalid         one line per problem, each naming the setting; exit status 2
│   └── PortInUse               HTTP_PORT (or the simulator's) is taken
├── TelegramFailure             a Bot API call did not do what was asked
│   ├── TelegramUnavailable     not sent: no way there, 429, a 5xx of its own; carries `retry_after` seconds
│   ├── SendUnknown             the request went out, and no answer of the Bot API came: it may be sent
│   ├── ChatUnreachable         403: blocked, kicked, deactivated
│   ├── ChatMigrated            the group has a new id, in `new_chat_id`
│   ├── FileTooLarge            a file has more bytes than are fetched, or than Telegram gives
│   ├── FileGone                a file that Telegram does not have, or has no more
│   └── TelegramRefused         any other 4xx
│       ├── TokenRefused        whatever is asked: a wrong token, or one that was revoked
│       ├── MessageGone         the message to edit or delete is not there any more, or not ours to change
│       └── ThreadGone          the topic was deleted
├── MediaUnreadable             what came with a message cannot be read: its sender is told why, in `reason`'s words
├── TurnEnded                   the turn may not go on; nothing was written
│   ├── Fenced                  another worker holds this context now
│   ├── TurnStopped             a /stop, a Stop button or its sender's next message ended it
│   └── TurnRestarted           what it answers has changed: it begins anew
"""

from typing import Literal


class BotError(Exception):
    """The bot failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__class__.__doc__ or "")


class ModelCanFix(BotError):
    """The model can correct this."""


class ToolFailed(ModelCanFix):
    """The tool call failed."""


class TellUser(BotError):
    """The user should know."""


class ModelUnavailable(TellUser):
    """The model endpoint does not answer."""


class ModelQuotaExhausted(TellUser):
    """The model account has no quota left."""


class ModelRefused(TellUser):
    """The model endpoint refused the request."""


class ModelBarred(ModelRefused):
    """The model endpoint refuses every request."""


class PromptTooLong(TellUser):
    """The prompt is longer than the model's context window."""


class ModelRepliedNothing(TellUser):
    """The model gave an empty reply."""


class DeadlinePassed(TellUser):
    """The turn took too long."""


class PageOperator(BotError):
    """The operator must act."""


class SettingsInvalid(PageOperator):
    """Settings are wrong or missing. `problems` has one line for each, naming the setting."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class PortInUse(PageOperator):
    """The port is in use."""


class TelegramFailure(BotError):
    """A Bot API call failed."""


class TelegramUnavailable(TelegramFailure):
    """The Bot API did not take the call. `retry_after`: seconds it asked us to wait, if it did."""

    def __init__(self, message: str | None = None, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SendUnknown(TelegramFailure):
    """The call went out and no answer came back."""


class ChatUnreachable(TelegramFailure):
    """The chat does not accept our messages."""


class ChatMigrated(TelegramFailure):
    """The group became a supergroup with another id."""

    def __init__(self, new_chat_id: int) -> None:
        super().__init__()
        self.new_chat_id = new_chat_id


class FileTooLarge(TelegramFailure):
    """The file is too large to be fetched."""


class FileGone(TelegramFailure):
    """Telegram does not have the file."""


class TelegramRefused(TelegramFailure):
    """The Bot API refused the call."""


class TokenRefused(TelegramRefused):
    """Telegram does not know the bot's token."""


class MessageGone(TelegramRefused):
    """The message is not there to be changed."""


class ThreadGone(TelegramRefused):
    """The topic is not there any more."""


MediaReason = Literal[
    "deaf",
    "empty",
    "gone",
    "moving",
    "no-picture",
    "not-fetched",
    "pdf-corrupt",
    "pdf-empty",
    "pdf-encrypted",
    "pdf-scanned",
    "pdf-too-much",
    "silent",
    "too-large",
    "too-long",
    "unavailable",
    "unheard",
    "unknown",
    "unseen",
]


class MediaUnreadable(BotError):
    """The file cannot be read. `reason` with "media-" before it is a key of the catalogue, `variables` what it takes."""

    def __init__(self, reason: MediaReason, **variables: str | int) -> None:
        super().__init__(reason)
        self.reason: MediaReason = reason
        self.variables = variables


class TurnEnded(BotError):
    """The turn may not go on."""


class Fenced(TurnEnded):
    """Another worker holds this context."""


class TurnStopped(TurnEnded):
    """The turn was stopped by its reader."""


class TurnRestarted(TurnEnded):
    """What the turn answers has changed, so it begins anew."""
