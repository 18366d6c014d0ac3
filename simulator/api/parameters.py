"""Parameters of a Bot API call: from the query string, a form, a multipart form with files, or JSON."""

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import parse_qsl

from python_multipart.multipart import parse_options_header
from starlette.requests import Request

from simulator.api.errors import BadRequest, TooLarge
from simulator.api.files import Upload
from simulator.api.payloads import parse_json

MAX_BODY = 10 * 1024 * 1024
# A bot may send a file of 50 MB; the parameters come on top.
MAX_UPLOAD = 51 * 1024 * 1024
_MAX_PARTS = 1_000
_MULTIPART = "multipart/form-data"


async def read_parameters(request: Request) -> dict[str, Any]:
    """Return the parameters of the query string and of the body; files as Upload.

    Raises BadRequest for a body that is not UTF-8 or does not fit its content type, TooLarge for one that is too long.
    """
    parameters: dict[str, Any] = dict(request.query_params)
    content_type = request.headers.get("content-type", "")
    body = await _read_body(request, most=MAX_UPLOAD if _kind_of(content_type) == _MULTIPART else MAX_BODY)
    try:
        parameters |= _parse_body(body, content_type)
    except UnicodeError:
        raise BadRequest("strings must be encoded in UTF-8") from None
    return parameters


def _kind_of(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


async def _read_body(request: Request, *, most: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise TooLarge
    return bytes(body)


def _parse_body(body: bytes, content_type: str) -> dict[str, Any]:
    if not body:
        return {}
    match _kind_of(content_type):
        case "application/json":
            return _parse_json(body)
        case "multipart/form-data":
            return dict(_parse_multipart(body, content_type))
        case _:
            return dict(parse_qsl(body.decode(), keep_blank_values=True, errors="strict"))


def _parse_json(body: bytes) -> dict[str, Any]:
    try:
        parameters = parse_json(body.decode())
    except UnicodeError:
        raise
    except ValueError:
        raise BadRequest("can't parse JSON object") from None
    if not isinstance(parameters, dict):
        raise BadRequest("can't parse JSON object: expected an Object")
    return cast("dict[str, Any]", parameters)


def _parse_multipart(body: bytes, content_type: str) -> Iterator[tuple[str, str | Upload]]:
    """Yield the name and the content of each part; skip malformed parts."""
    boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
    if not boundary:
        return
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary, _MAX_PARTS)[1:]:
        head, blank, content = part.partition(b"\r\n\r\n")
        if not blank or part.startswith(b"--"):
            continue
        headers = dict(_headers_of(head))
        options = parse_options_header(headers.get(b"content-disposition", b""))[1]
        name = options.get(b"name", b"").decode()
        if b"filename" not in options:
            yield name, content.decode()
        else:
            mime_type = headers.get(b"content-type", b"").partition(b";")[0].strip().decode()
            file_name = options[b"filename"].decode().replace("%22", '"')
            yield name, Upload(name=file_name, mime_type=mime_type, data=content)


def _headers_of(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        yield name.strip().lower(), value.strip()
