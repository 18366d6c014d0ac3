"""Causes of failed requests in words, by the errors that clients raise."""

import errno
import socket
import ssl

import pytest

from memory.causes import find_cause, with_cause


def _verification(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code = code
    return error


def _tls(reason: str) -> ssl.SSLError:
    error = ssl.SSLError(1, "in the handshake")
    error.reason = reason
    return error


class ServerDisconnectedError(Exception):
    """Named like the error of aiohttp."""


class BadStatusLine(Exception):
    """Named like the error of aiohttp."""


@pytest.mark.parametrize(
    ("error", "beginning"),
    [
        (_verification(18), "its certificate is not trusted. Set SSL_CERT_FILE"),
        (_verification(10), "its certificate has expired"),
        (_verification(62), "its certificate is for another name"),
        (_tls("WRONG_VERSION_NUMBER"), "it has no TLS at this port. Begin the address with http://"),
        (
            _tls("TLSV13_ALERT_CERTIFICATE_REQUIRED"),
            "its TLS handshake failed (TLSV13_ALERT_CERTIFICATE_REQUIRED)",
        ),
        (
            BadStatusLine(r"b'\x15\x03\x03\x00\x02'"),
            "it has TLS at this port. Begin the address with https://",
        ),
        (BadStatusLine("-ERR"), "the server at this port speaks another protocol"),
        (socket.gaierror(socket.EAI_NONAME, "not known"), "its name has no address"),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), "no name server answers for its name"),
        (ConnectionRefusedError(), "nothing listens at this port"),
        (FileNotFoundError(), "there is no socket at this path"),
        (PermissionError(), "this user may not connect"),
        (OSError(errno.EHOSTUNREACH, "no route"), "no network leads to its address"),
        (TimeoutError(), "it does not answer in time"),
        (ConnectionResetError(), "it closed the connection"),
        (ServerDisconnectedError(), "it closed the connection"),
    ],
)
def test_the_cause_is_found_in_and_under_an_error(error: Exception, beginning: str) -> None:
    assert find_cause(error).startswith(beginning)
    outer = OSError("redis://:hidden@host")
    outer.__cause__ = RuntimeError()
    outer.__cause__.__context__ = error
    assert find_cause(outer).startswith(beginning)
    assert "hidden" not in with_cause("It failed", outer)


def test_redis_is_told_with_its_own_schemes() -> None:
    assert "redis://" in find_cause(_tls("WRONG_VERSION_NUMBER"), "redis")
    assert "rediss://" in find_cause(ConnectionResetError(), "redis")


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        ("max number of clients reached", "it has too many clients. Increase its maxclients"),
        ("max daily request limit exceeded. Limit: 10000, Usage: 10000.", "its account has no requests left"),
        ("max requests limit exceeded. Limit: 500000", "its account has no requests left"),
        ("Cluster mode is not enabled on this node", "It is no cluster: begin the address with redis://"),
        ("SELECT is not allowed in cluster mode", "Begin the address with redis+cluster://"),
    ],
)
def test_replies_of_redis_get_the_next_step(reply: str, cause: str) -> None:
    assert find_cause(RuntimeError(reply), "redis").startswith(cause)


def test_an_unknown_cause_is_named_by_its_type() -> None:
    assert find_cause(ZeroDivisionError("hidden")) == ""
    assert with_cause("It failed", ZeroDivisionError("hidden")) == "It failed (ZeroDivisionError)"
