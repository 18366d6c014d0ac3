"""The result of a tool of an MCP server as text for the model, with the pictures that it contains."""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import to_json

from bot.agent.known_models import picture_tokens
from bot.agent.model import Image
from bot.agent.tool_output import Illustrated, cut_middle
from bot.media.formats import picture_of

LARGEST_TEXT = 5_000_000
"""Characters of a result. A longer one loses its middle."""
MOST_IMAGES = 4
LARGEST_IMAGE = 5_000_000
"""Bytes of a picture."""


def read_result(result: Mapping[str, Any]) -> Illustrated:
    """Return the text of a result: its texts, a line for each other part, or else its structured content."""
    content = result.get("content")
    listed = cast("list[object]", content) if isinstance(content, list) else []
    images: list[Image] = []
    lines = [_line(cast("dict[str, Any]", each), images) for each in listed if isinstance(each, dict)]
    if not lines and result.get("structuredContent") is not None:
        lines = [to_json(result["structuredContent"], inf_nan_mode="constants").decode()]
    return Illustrated.of(cut_middle("\n".join(lines), at_most=LARGEST_TEXT), images)


def _line(part: Mapping[str, Any], images: list[Image]) -> str:
    """Return the line of a part, and append its picture if a model can see it."""
    kind, resource = part.get("type"), part.get("resource")
    embedded = cast("dict[str, Any]", resource) if kind == "resource" and isinstance(resource, dict) else part
    if kind in ("text", "resource") and isinstance(embedded.get("text"), str):
        return embedded["text"]
    if kind == "resource_link":
        return f"[link to {part.get('uri')}: {part.get('title') or part.get('name') or ''}]"
    if kind != "image":
        return f"[{embedded.get('mimeType') or kind} that cannot be shown as text]"
    image = _read_image(str(part.get("data", "")))
    if image is None or len(images) == MOST_IMAGES:
        return "[a picture that cannot be shown]"
    images.append(image)
    return f"[picture {len(images)}: {image.mime_type}]"


def _read_image(encoded: str) -> Image | None:
    """Return the picture, whatever type the server claims; None if it is too large or in no format for models."""
    try:
        data = b64decode(encoded, validate=True) if len(encoded) <= LARGEST_IMAGE * 4 // 3 else b""
    except ValueError:
        return None
    picture = picture_of(data)
    if picture is None:
        return None
    tokens = picture_tokens("", picture.width, picture.height)
    return Image(data=data, mime_type=picture.mime_type, tokens=tokens)
