"""Causes of failures in words: an exception or a refused command becomes one sentence with the next step."""

import errno
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from time import monotonic
from types import MappingProxyType
from typing import Literal

from memory.errors import NotPermitted

Kind = Literal["http", "redis"]
"""Protocol of an address: with TLS it begins with `https://` or `rediss://`."""

_NAME_MISMATCH, _ADDRESS_MISMATCH, _EXPIRED = 62, 64, 10
"""Codes of X.509 verification, see `man openssl-verification-options`."""
_NO_ROUTE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN, errno.EADDRNOTAVAIL}
_NOT_TLS = {
    *("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_MESSAGE", "RECORD_LAYER_FAILURE"),
    *("PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL", "BAD_RECORD_TYPE"),
}
"""Reasons that OpenSSL gives for an answer without TLS. They depend on its version."""
_TLS_ALERTS = ("\x15\x03", r"\x15\x03", 'got "\x15"')
"""A server's alert in TLS, as errors of parsers quote it."""
_NAMED: Mapping[str, str] = MappingProxyType(
    {
        "BusyLoadingError": "it is still loading its data",
        "ClientPayloadError": "its answer broke off",
        "BadStatusLine": "the server at this port speaks another protocol. Correct the port",
        "MovedError": "it is one node of a cluster. Begin the address with redis+cluster://",
        "InvalidResponse": "the server at this port speaks another protocol. Correct the port",
        "SocksProxyFailed": "the proxy of the environment makes no connection. Check ALL_PROXY and NO_PROXY",
        "ClientHttpProxyError": "the proxy of the environment refuses. Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY",
        "ClientProxyConnectionError": "the proxy of the environment cannot be reached. Check HTTPS_PROXY and NO_PROXY",
        "max number of clients": "it has too many clients. Increase its maxclients, or lower WORKER_CONCURRENCY",
        " limit exceeded": "its account has no requests left",  # Upstash
        "unknown command 'SENTINEL'": "It is no sentinel: begin the address with redis://",
        "Cluster mode is not enabled": "It is no cluster: begin the address with redis://",
        "SELECT is not allowed": "Begin the address with redis+cluster://, without a database",
    }
)
"""Errors of clients by their names, so that no client is imported here, and parts of replies of Redis."""
_CLOSING = {"ServerDisconnectedError", "RemoteProtocolError", "IncompleteReadError"}
_CLOSED_TEXT = "Connection closed by server"
_FORBIDDEN = re.compile(
    r"no permissions to run the '(?P<command>[^' ]+)|no permissions to access"
    r"|ACL failure in script(?:.* run the '(?P<inner>[^' ]+))?|user executing the script can't (?:run|access)",
    re.IGNORECASE,
)
"""Replies about a permission. The driver drops their code NOPERM, and errors of scripts have none."""


def with_cause(says: str, error: BaseException, kind: Kind = "http") -> str:
    """Return the sentence with the cause of a failed request, or with the error's type if that is unknown.

    Nothing of the error's own text is in it, which may contain an address with a password.
    """
    cause = find_cause(error, kind)
    return f"{says}: {cause}" if cause else f"{says} ({type(error).__name__})"


def find_cause(error: BaseException, kind: Kind = "http") -> str:
    """Return the cause of a failed request, with the next step if there is one; "" if it is unknown."""
    chain = list(_chain(error))
    for find in (_certificate, _tls, _named, _name, _socket, _silence, _closing):
        for each in chain:
            if words := find(each, kind):
                return words
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and the errors that it comes from."""
    seen: set[int] = set()
    following: list[object] = [error]
    while following:
        each = following.pop(0)
        if isinstance(each, BaseException) and id(each) not in seen:
            seen.add(id(each))
            yield each
            # aiohttp keeps the error of the socket in an attribute.
            following += [getattr(each, "os_error", None), each.__cause__ or each.__context__]


def _certificate(error: BaseException, _: Kind) -> str:
    # aiohttp's errors have it in the error under them.
    code = getattr(error, "verify_code", None)
    if not isinstance(error, ssl.SSLCertVerificationError) or code is None:
        return ""
    if code in (_NAME_MISMATCH, _ADDRESS_MISMATCH):
        return "its certificate is for another name. Write the name that is in the certificate"
    if code == _EXPIRED:
        return "its certificate has expired. Renew it on the server"
    return (
        "its certificate is not trusted. Set SSL_CERT_FILE to the file with the certificate of its authority"
    )


def _tls(error: BaseException, kind: Kind) -> str:
    if isinstance(error, ssl.SSLError):
        reason = getattr(error, "reason", None)
        if reason in _NOT_TLS:
            return f"it has no TLS at this port. Begin the address with {kind}://, or correct the port"
        return f"its TLS handshake failed ({reason})" if reason else ""
    if not isinstance(error, OSError) and any(each in str(error) for each in _TLS_ALERTS):
        return f"it has TLS at this port. Begin the address with {kind}s://"
    return ""


def _named(error: BaseException, _: Kind) -> str:
    named = (words for name, words in _NAMED.items() if name == type(error).__name__ or name in str(error))
    return next(named, "")


def _name(error: BaseException, _: Kind) -> str:
    if not isinstance(error, socket.gaierror):
        return ""
    if error.errno == socket.EAI_AGAIN:
        return "no name server answers for its name. Check the name and the network"
    return "its name has no address. Correct the name"


def _socket(error: BaseException, _: Kind) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens at this port. Start the server, or correct the port"
    if isinstance(error, FileNotFoundError):
        return "there is no socket at this path. Start the server, or correct the path"
    if isinstance(error, PermissionError):
        return "this user may not connect to it"
    if isinstance(error, OSError) and error.errno in _NO_ROUTE:
        return "no network leads to its address"
    return ""


def _silence(error: BaseException, _: Kind) -> str:
    is_silent = isinstance(error, TimeoutError) or "Timeout" in type(error).__name__
    return "it does not answer in time" if is_silent else ""


def _closing(error: BaseException, kind: Kind) -> str:
    is_closed = isinstance(error, ConnectionError) or type(error).__name__ in _CLOSING
    if is_closed or str(error).startswith(_CLOSED_TEXT):
        return f"it closed the connection. With TLS its address begins with {kind}s://"
    return ""


def permission_failure(text: str) -> NotPermitted | None:
    """Return the failure that names the command or the keys, None for a reply about something else."""
    found = _FORBIDDEN.search(text)
    if found is None:
        return None
    if command := found["command"] or found["inner"]:
        what = f"run {command.upper()}: allow it (ACL SETUSER … +{command.lower()})"
    elif "access" in found[0].lower():
        what = "access all of our keys: allow mnemogram:* (ACL SETUSER … ~mnemogram:*)"
    else:
        what = "run a command of our scripts: docs/operating.md has the permissions that we need"
    return NotPermitted(f"Redis lets the user of REDIS_URL not {what}")


class StorePermissions:
    """Remembers the newest refusal of one client."""

    def __init__(self) -> None:
        self._newest: tuple[float, NotPermitted] | None = None

    def note(self, reply: object) -> object:
        """Remember the reply if it is such a refusal, and return it."""
        if isinstance(reply, NotPermitted):
            self._newest = (monotonic(), reply)
        return reply

    def missing(self, *, within_s: float) -> NotPermitted | None:
        """Return the newest refusal, unless it is older than `within_s`."""
        at, failure = self._newest or (0.0, None)
        return failure if monotonic() - at < within_s else None
