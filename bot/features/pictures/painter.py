"""Draws and edits pictures with an OpenAI-compatible endpoint."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import structlog
from openai import APIStatusError, AsyncOpenAI, OpenAIError, Timeout

from bot.agent.model import Usage
from bot.errors import ToolFailed
from bot.media.formats import picture_of
from memory.openai_client import open_client

PICTURE_S = 90.0
"""Seconds for one picture: less than the deadline of a turn."""
_REFUSED = "The endpoint does not draw this, because of its rules for contents. Tell the person."
_FAILED = "The picture could not be made now. Tell the person, and try again only if they ask."
_COMPRESSION = 90
"""Of JPEG, in percent: a picture of 1536x1024 has about 1 MB."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIPainter:
    """Draws with `model`. A call is never repeated, because the endpoint may have charged for it."""

    client: AsyncOpenAI
    model: str

    async def paint(self, prompt: str, *, size: str, photo: bytes | None) -> tuple[bytes, Usage]:
        """Return a picture, or an edit of the photo, with its tokens. The size "" leaves it to the endpoint.

        The bytes are not checked. There are none if the endpoint gives no picture, or only its address. Raises
        ToolFailed, with a text for the model. Neither it nor the log quotes the endpoint.
        """
        options: dict[str, Any] = {"model": self.model, "prompt": prompt, "n": 1, **_format(self.model)}
        if size:
            options["size"] = size
        images = cast("Any", self.client.images)  # its overloads do not take a dict
        try:
            async with asyncio.timeout(PICTURE_S):
                answer: object = await (
                    images.edit(image=_upload(photo), **options) if photo else images.generate(**options)
                )
        except (OpenAIError, OSError, ValueError) as error:
            raise _failure(error) from error
        used = getattr(answer, "usage", None)
        prompt_tokens, completion_tokens = _count(used, "input_tokens"), _count(used, "output_tokens")
        usage = Usage(model=self.model, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
        return _bytes_of(answer), usage


@asynccontextmanager
async def open_painter(
    *, model: str, api_key: str | None, base_url: str | None
) -> AsyncGenerator[OpenAIPainter]:
    """Open the model at `base_url`, by default at OpenAI's own. Close its connections at the end."""
    async with open_client(api_key=api_key, base_url=base_url, timeout=Timeout(PICTURE_S)) as client:
        yield OpenAIPainter(client=client, model=model)


def _format(model: str) -> dict[str, Any]:
    """Return the options for bytes in the answer: GPT image models always send bytes, others may send addresses."""
    if "gpt-image" in model:
        return {"output_format": "jpeg", "output_compression": _COMPRESSION}
    return {"response_format": "b64_json"}


def _upload(photo: bytes) -> tuple[str, bytes, str]:
    picture = picture_of(photo)
    mime_type = picture.mime_type if picture else "application/octet-stream"
    return f"photo.{mime_type.rpartition('/')[2]}", photo, mime_type


def _bytes_of(answer: object) -> bytes:
    """Return the picture. An address in place of the bytes is not followed: it may lead into our network."""
    pictures = getattr(answer, "data", None)
    first = cast("object", pictures[0]) if isinstance(pictures, list) and pictures else None
    try:
        return b64decode(getattr(first, "b64_json", None) or "", validate=True)
    except (TypeError, ValueError):
        return b""


def _count(used: object, name: str) -> int:
    tokens = getattr(used, name, 0)
    return tokens if isinstance(tokens, int) else 0


def _failure(error: Exception) -> ToolFailed:
    code = f"{error.code} {error.type}" if isinstance(error, APIStatusError) else ""
    status = error.status_code if isinstance(error, APIStatusError) else None
    log.warning("picture_failed", error=type(error).__name__, status=status)
    is_refused = status in (400, 403) and ("moderation" in code or "content_policy" in code)
    return ToolFailed(_REFUSED if is_refused else _FAILED)
