"""The transcriptions of the scripted OpenAI server, and every kind of failure."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.openai_checker import RequestFault
from tests.scripted_replies import Failure

ENDINGS = ("flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcriptions:
    """The behaviour of `/v1/audio/transcriptions`:

    its texts (`texts`: special ones by recording), or its failures (`failures`: by model). `hangs`: it
    sends no response. It waits for the `gate`.
    """

    text: str = "what was said"
    texts: Mapping[bytes, str] | None = None
    failure: Failure | None = None
    failures: Mapping[str, Failure] | None = None
    hangs: bool = False
    gate: asyncio.Event | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recording as it arrived."""

    model: str
    file_name: str
    data: bytes


def find_recording_fault(model: object, file: object) -> RequestFault | None:
    """Return the reason why OpenAI would refuse a request for a transcription, or None."""
    if not isinstance(model, str) or not model:
        return RequestFault(message="you must provide a model parameter")
    name = getattr(file, "filename", None)
    if not isinstance(name, str):
        return RequestFault(message="Missing required parameter: 'file'.", param="file")
    if name.rpartition(".")[2] not in ENDINGS:
        return RequestFault(message=f"Invalid file format. Supported formats: {list(ENDINGS)}")
    return None


def transcription_body(recording: Recording, behaviour: Transcriptions) -> dict[str, Any]:
    """Return the response to a valid request."""
    heard = (behaviour.texts or {}).get(recording.data, behaviour.text)
    usage = {"type": "tokens", "input_tokens": 14, "output_tokens": 5, "total_tokens": 19}
    return {"text": heard, "usage": usage}
