"""What the index server refuses, each with its HTTP status.

RequestRefused
├── BadRequest       400: the request is wrong, or names what the collection does not have
├── Unauthorized     401, 403: no key, a wrong key
├── NotFound         404: no such collection or point
├── Conflict         409: the collection exists
├── TooLarge         413: the body is over the limit
├── Unsupported      501: Qdrant can do it, the embedded index cannot
└── EngineFailed     500: the engine refused a request that passed our checks
"""


class RequestRefused(Exception):
    """The request was refused."""

    status = 500


class BadRequest(RequestRefused):
    """Wrong input."""

    status = 400


class Unauthorized(RequestRefused):
    """No key, or a wrong one."""

    status = 401


class NotFound(RequestRefused):
    """There is no such thing."""

    status = 404


class Conflict(RequestRefused):
    """It exists already."""

    status = 409


class TooLarge(RequestRefused):
    """The body is too large."""

    status = 413


class Unsupported(RequestRefused):
    """The embedded index cannot do this."""

    status = 501


class EngineFailed(RequestRefused):
    """The engine failed."""

    status = 500
