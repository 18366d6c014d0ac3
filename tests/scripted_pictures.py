"""The pictures of the scripted OpenAI server, and every kind of failure."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.openai_checker import RequestFault
from tests.scripted_replies import Failure
from tests.sent_files import make_picture

SIZES = ("auto", "1024x1024", "1536x1024", "1024x1536")
LONGEST_PROMPT = 32_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The behaviour of `/v1/images/generations` and `/v1/images/edits`: a picture, an address, or a failure.

    `tokens` are those of input and output, None for an endpoint that does not count. `body` replaces the response. It
    waits for the `gate`.
    """

    data: bytes = make_picture(320, 200)
    url: str = ""
    body: Mapping[str, Any] | None = None
    tokens: tuple[int, int] | None = (20, 1_000)
    failure: Failure | None = None
    gate: asyncio.Event | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRequest:
    """A request as it arrived. `photo` is the file of an edit."""

    options: Mapping[str, Any]
    photo: bytes | None = None

    @property
    def prompt(self) -> str:
        return str(self.options["prompt"])


def find_picture_fault(options: Mapping[str, Any]) -> RequestFault | None:
    """Return the reason why OpenAI would refuse a request for a picture, or None."""
    for name in ("model", "prompt"):
        if not isinstance(options.get(name), str) or not options[name]:
            return RequestFault(message=f"Missing required parameter: '{name}'.", param=name)
    is_gpt_image = "gpt-image" in options["model"]
    if len(options["prompt"]) > LONGEST_PROMPT:
        return RequestFault(message="string_above_max_length", param="prompt")
    if options.get("size", "auto") not in SIZES:
        return RequestFault(message=f"Supported sizes: {list(SIZES)}", param="size")
    if is_gpt_image and "response_format" in options:
        return RequestFault(message="Unknown parameter: 'response_format'.", param="response_format")
    if not is_gpt_image and {"output_format", "output_compression"} & options.keys():
        return RequestFault(message="Unknown parameter: 'output_format'.", param="output_format")
    return None


def pictures_body(behaviour: Drawing) -> Mapping[str, Any]:
    """Return the response to a valid request."""
    if behaviour.body is not None:
        return behaviour.body
    picture = (
        {"url": behaviour.url} if behaviour.url else {"b64_json": base64.b64encode(behaviour.data).decode()}
    )
    body: dict[str, Any] = {"created": 1_790_000_000, "data": [picture]}
    if behaviour.tokens:
        given, made = behaviour.tokens
        body["usage"] = {
            "input_tokens": given,
            "output_tokens": made,
            "total_tokens": given + made,
            "input_tokens_details": {"image_tokens": 0, "text_tokens": given},
        }
    return body
