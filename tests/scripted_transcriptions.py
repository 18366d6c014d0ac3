"""The transcription half of the scripted OpenAI server: what is heard in a recording, and the ways in which it fails."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.openai_checker import RequestFault
from tests.scripted_replies import Failure

ENDINGS = ("flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcriptions:
    """How `/v1/audio/transcriptions` behaves: what it hears (`texts`: in some recordings other than in all), or what
    goes wrong (`failures`: by model). `hangs`: it answers nothing.
    """

    text: str = "what was said"
    texts: Mapping[bytes, str] | None = None
    failure: Failure | None = None
    failures: Mapping[str, Failure] | None = None
    hangs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recording as it came."""

    model: str
    file_name: str
    data: bytes


def find_recording_fault(model: object, file: object) -> RequestFault | None:
    """Why OpenAI would refuse a request for a transcription, or None."""
    if not isinstance(model, str) or not model:
        return RequestFault(message="you must provide a model parameter")
    name = getattr(file, "filename", None)
    if not isinstance(name, str):
        return RequestFault(message="Missing required parameter: 'file'.", param="file")
    if name.rpartition(".")[2] not in ENDINGS:
        return RequestFault(message=f"Invalid file format. Supported formats: {list(ENDINGS)}")
    return None


def transcription_body(recording: Recording, behaviour: Transcriptions) -> dict[str, Any]:
    """The answer to a valid request."""
    heard = (behaviour.texts or {}).get(recording.data, behaviour.text)
    usage = {"type": "tokens", "input_tokens": 14, "output_tokens": 5, "total_tokens": 19}
    return {"text": heard, "usage": usage}
