"""The errors of the bot in one tree, sorted by the person who can act on them.

BotError
├── ModelCanFix                 returned to the model as the result of its tool call
│   └── ToolFailed              unknown tool, malformed arguments, or a tool that raised
├── TellUser                    the chat gets one sentence (bot/transport/texts.py)
│   ├── ModelUnavailable        no connection, 429, 5xx or a cut stream, after our retries
│   ├── ModelQuotaExhausted     429 that no retry can change
│   ├── ModelRefused            4xx: the endpoint does not accept this request
│   │   ├── AbilityRefused      the endpoint does not know an option of the request, which the next one leaves out
│   │   ├── ModelBarred         the endpoint accepts no request: wrong key
│   │   ├── ModelMissing        the endpoint does not have the model, in `model`
│   │   └── ModelFiltered       the endpoint's content filter refused the prompt
│   ├── PromptTooLong           the endpoint's context length is smaller than we assumed
│   ├── ModelRepliedNothing     no text and no tool call, twice
│   └── DeadlinePassed          the turn took longer than TURN_DEADLINE_S
├── PageOperator                ends the start, or is logged as an error
│   ├── SettingsInvalid         one line per problem, which names the setting; exit status 2
│   └── PortInUse               HTTP_PORT or the simulator's port is in use
├── TelegramFailure             a Bot API call failed
│   ├── TelegramUnavailable     not sent: no connection, 429 or 5xx; has `retry_after` in seconds
│   ├── SendUnknown             the request was sent, but no response came: the message may exist
│   ├── ChatUnreachable         403: blocked, kicked or deactivated
│   ├── ChatMigrated            the group has a new id, in `new_chat_id`
│   ├── FileTooLarge            the file is larger than our limit or Telegram's
│   ├── FileGone                Telegram does not have the file
│   └── TelegramRefused         any other 4xx
│       ├── TokenRefused        the token is wrong or was revoked; every call fails
│       ├── MessageGone         the message to edit or delete does not exist, or is not ours
│       ├── FileExpired         the file was not sent within its time to live
│       └── ThreadGone          the topic was deleted
├── MediaUnreadable             a file of a message cannot be read; `reason` selects the sentence for its sender
├── TurnEnded                   the turn must not continue; nothing was written
│   ├── Fenced                  another worker has this context now
│   ├── TurnStopped             ended by /stop, a Stop button or the sender's next message
│   └── TurnRestarted           its messages have changed, so it starts again
"""

from typing import Literal


class BotError(Exception):
    """The bot failed."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__class__.__doc__ or "")


class ModelCanFix(BotError):
    """The model can fix this."""


class ToolFailed(ModelCanFix):
    """The tool call failed."""


class TellUser(BotError):
    """The user should know."""

    said = ""
    """The words of a model endpoint for the log and the doctor, masked and cut."""

    may_be_length = False
    """True for an endpoint's refusal that does not name its reason: a long prompt may be it."""


class ModelUnavailable(TellUser):
    """The model endpoint does not answer."""


class ModelQuotaExhausted(TellUser):
    """The model account has no quota left."""


class ModelRefused(TellUser):
    """The model endpoint refused the request."""


class AbilityRefused(ModelRefused):
    """The model endpoint refused an option of the request."""


class ModelBarred(ModelRefused):
    """The model endpoint refuses every request."""


class ModelMissing(ModelRefused):
    """The model endpoint does not have the model."""

    model = ""
    """The name of the model, if it is known."""


class ModelFiltered(ModelRefused):
    """The filter of the model endpoint refused the prompt."""


class PromptTooLong(TellUser):
    """The prompt is longer than the model's context window."""


class ModelRepliedNothing(TellUser):
    """The model gave an empty reply."""


class DeadlinePassed(TellUser):
    """The turn took too long."""


class PageOperator(BotError):
    """The operator must act."""


class SettingsInvalid(PageOperator):
    """Settings are wrong or missing. `problems` has one line for each, which names the setting."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class PortInUse(PageOperator):
    """The port is in use."""


class TelegramFailure(BotError):
    """A Bot API call failed."""


class TelegramUnavailable(TelegramFailure):
    """The Bot API did not accept the call. `retry_after` is the wait in seconds that it demands, if any."""

    def __init__(self, message: str | None = None, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SendUnknown(TelegramFailure):
    """The call was sent, but no response came."""


class ChatUnreachable(TelegramFailure):
    """The chat does not accept our messages."""


class ChatMigrated(TelegramFailure):
    """The group became a supergroup with another id."""

    def __init__(self, new_chat_id: int) -> None:
        super().__init__()
        self.new_chat_id = new_chat_id


class FileTooLarge(TelegramFailure):
    """The file is too large to download."""


class FileGone(TelegramFailure):
    """Telegram does not have the file."""


class TelegramRefused(TelegramFailure):
    """The Bot API refused the call."""


class TokenRefused(TelegramRefused):
    """Telegram does not know the bot's token."""


class MessageGone(TelegramRefused):
    """The message does not exist or cannot be changed."""


class FileExpired(TelegramRefused):
    """The file was not sent within its time to live."""


class ThreadGone(TelegramRefused):
    """The topic was deleted."""


MediaReason = Literal[
    "deaf",
    "empty",
    "encoding",
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
    """The file cannot be read. "media-" + `reason` is a key of the texts, with these `variables`."""

    def __init__(self, reason: MediaReason, **variables: str | int) -> None:
        super().__init__(reason)
        self.reason: MediaReason = reason
        self.variables = variables


class TurnEnded(BotError):
    """The turn must not continue."""


class Fenced(TurnEnded):
    """Another worker has this context."""


class TurnStopped(TurnEnded):
    """A user stopped the turn."""


class TurnRestarted(TurnEnded):
    """The messages of the turn have changed, so it starts again."""
