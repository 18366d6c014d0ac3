"""The errors of the simulator: those of the Bot API in Telegram's wording, and those of the page.

```
SimulatorError
├── ApiError            an answer {"ok": false, …} of the Bot API
│   ├── BadRequest 400 ── ChatMigrated
│   ├── Unauthorized 401
│   ├── Forbidden 403
│   ├── NotFound 404
│   ├── Conflict 409
│   ├── TooLarge 413
│   ├── TooManyRequests 429
│   └── ServerFault 500
├── PageError           an answer {"error": …} of the page API
└── InvalidToken
```
"""

from typing import Any


class SimulatorError(Exception):
    """Base of all errors that the simulator raises."""


class ApiError(SimulatorError):
    """A failed call of the Bot API; its text is the description."""

    code = 500
    prefix = "Internal Server Error"

    def __init__(self, reason: str = "", *, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(_describe(self.prefix, reason))
        self.parameters = parameters

    def as_json(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"ok": False, "error_code": self.code, "description": str(self)}
        if self.parameters:
            answer["parameters"] = self.parameters
        return answer


class BadRequest(ApiError):
    """The call has wrong parameters."""

    code = 400
    prefix = "Bad Request"


class ChatMigrated(BadRequest):
    """The group has a new id."""

    def __init__(self, chat_id: int) -> None:
        super().__init__(
            "group chat was upgraded to a supergroup chat", parameters={"migrate_to_chat_id": chat_id}
        )


class Unauthorized(ApiError):
    """The token belongs to another bot."""

    code = 401
    prefix = "Unauthorized"


class Forbidden(ApiError):
    """The bot may not do this in that chat."""

    code = 403
    prefix = "Forbidden"


class NotFound(ApiError):
    """The method or file does not exist."""

    code = 404
    prefix = "Not Found"


class Conflict(ApiError):
    """Two clients fetch updates, or a client polls while a webhook is set."""

    code = 409
    prefix = "Conflict"


class TooLarge(ApiError):
    """The request is too long."""

    code = 413
    prefix = "Request Entity Too Large"


class TooManyRequests(ApiError):
    """The bot sends too fast; `retry_after` is in whole seconds."""

    code = 429
    prefix = "Too Many Requests"

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"retry after {retry_after}", parameters={"retry_after": retry_after})


class ServerFault(ApiError):
    """Telegram has an internal error."""


class PageError(SimulatorError):
    """A person on the page asks for something impossible. The text is one sentence for that person."""

    def __init__(self, sentence: str, *, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


class InvalidToken(SimulatorError):
    """A bot token is a number, a colon, and letters, digits, `_` and `-`."""

    def __init__(self) -> None:
        super().__init__(self.__doc__)


def _describe(prefix: str, reason: str) -> str:
    """Return the description. Its reason begins in lower case, except for constants such as TEXTDRAFT_PEER_INVALID."""
    if not reason:
        return prefix
    if len(reason) > 1 and (reason[1] == "_" or reason[1].isupper()):
        return f"{prefix}: {reason}"
    return f"{prefix}: {reason[0].lower()}{reason[1:]}"
