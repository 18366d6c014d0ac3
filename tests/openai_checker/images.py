"""Faults of the pictures of a request, as OpenAI reports them."""

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, cast

from tests.openai_checker import RequestFault, wrong_type

_DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
_FORMATS = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
_DETAILS = ("auto", "low", "high", "original")


def image_faults(at: str, image: object) -> Iterator[RequestFault]:
    """Return the faults of the `image_url` of a part at `at`. Links are not fetched."""
    if not isinstance(image, dict):
        yield wrong_type(f"{at}.image_url", "an object", image)
        return
    fields = cast("Mapping[str, Any]", image)
    url, detail = fields.get("url"), fields.get("detail", "auto")
    if not isinstance(url, str):
        yield RequestFault(
            message=f"Missing required parameter: '{at}.image_url.url'.",
            param=f"{at}.image_url.url",
            code="missing_required_parameter",
        )
    elif not url.startswith(("https://", "http://")):
        yield from _data_faults(at, url)
    if detail not in _DETAILS:
        known = ", ".join(f"'{each}'" for each in _DETAILS)
        yield RequestFault(
            message=f"Invalid value: {detail!r}. Supported values are: {known}.",
            param=f"{at}.image_url.detail",
            code="invalid_value",
        )


def _data_faults(at: str, url: str) -> Iterator[RequestFault]:
    found = _DATA_URL.fullmatch(url)
    if not found or not found[1].startswith("image/"):
        yield RequestFault(
            message=f"Invalid '{at}.image_url.url'. Expected a base64-encoded data URL with an image MIME type.",
            param=f"{at}.image_url.url",
            code="invalid_value",
        )
        return
    try:
        data = b64decode(found[2], validate=True)
    except binascii.Error:
        data = b""
    # It is the content that decides: a wrong MIME type of a known kind is overlooked.
    if not any(data.startswith(start) for starts in _FORMATS.values() for start in starts):
        yield RequestFault(
            message="You uploaded an unsupported image. Please make sure your image has of one the following formats:"
            " ['png', 'jpeg', 'gif', 'webp'].",
            code="invalid_image_format",
        )
