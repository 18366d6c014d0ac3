"""Reads the parameters of a Bot API call: query string, form, multipart form and JSON alike."""

from email import message_from_bytes, policy
from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.requests import Request

from bot.simulator.errors import BadRequest
from bot.simulator.payloads import parse_json

MAX_BODY = 10 * 1024 * 1024


async def read_parameters(request: Request) -> dict[str, Any]:
    """The query string's parameters, then the body's. Files are dropped: no method here takes any.

    Raises BadRequest for a body that is too long, not UTF-8, or not what its content type says.
    """
    given: dict[str, Any] = dict(request.query_params)
    body = await _read_body(request)
    try:
        given |= _parse_body(body, request.headers.get("content-type", ""))
    except UnicodeError:
        raise BadRequest("strings must be encoded in UTF-8") from None
    return given


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise BadRequest("request entity too large")
    return bytes(body)


def _parse_body(body: bytes, content_type: str) -> dict[str, Any]:
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return {}
    if kind == "application/json":
        return _parse_json(body)
    if kind == "multipart/form-data":
        return _parse_multipart(body, content_type)
    return dict(parse_qsl(body.decode(), keep_blank_values=True, errors="strict"))


def _parse_json(body: bytes) -> dict[str, Any]:
    try:
        given = parse_json(body.decode())
    except UnicodeError:
        raise
    except ValueError:
        raise BadRequest("can't parse JSON object") from None
    if not isinstance(given, dict):
        raise BadRequest("can't parse JSON object: expected an Object")
    return cast("dict[str, Any]", given)


def _parse_multipart(body: bytes, content_type: str) -> dict[str, Any]:
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    form = message_from_bytes(head + body, policy=policy.HTTP)
    fields: dict[str, Any] = {}
    for part in form.iter_parts() if form.is_multipart() else ():
        name = part.get_param("name", header="content-disposition")
        if isinstance(name, str) and part.get_filename() is None:
            content = part.get_payload(decode=True)
            fields[name] = content.decode() if isinstance(content, bytes) else ""
    return fields
