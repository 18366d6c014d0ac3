"""The speech of the scripted OpenAI server, and every kind of failure."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.openai_checker import RequestFault
from tests.scripted_replies import Failure
from tests.sent_files import make_voice_note

FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
LONGEST_INPUT = 4_096
WORDS_PER_SECOND = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """The behaviour of `/v1/audio/speech`: silence of the text's length, `data`, or a failure.

    It waits for the `gate`, if there is one.
    """

    data: bytes | None = None
    failure: Failure | None = None
    gate: asyncio.Event | None = None


def find_speech_fault(body: Mapping[str, Any]) -> RequestFault | None:
    """Return the reason why OpenAI would refuse a request for speech, or None."""
    for name in ("model", "input", "voice"):
        if not isinstance(body.get(name), str) or not body[name]:
            return RequestFault(message=f"Missing required parameter: '{name}'.", param=name)
    if len(body["input"]) > LONGEST_INPUT:
        return RequestFault(message="string_above_max_length", param="input")
    if body.get("response_format", "mp3") not in FORMATS:
        return RequestFault(message=f"Supported formats: {list(FORMATS)}", param="response_format")
    return None


def speech_of(body: Mapping[str, Any], behaviour: Speech) -> bytes:
    """Return the response to a valid request. Only Opus is real: other formats are the name of the format."""
    if behaviour.data is not None:
        return behaviour.data
    if body.get("response_format") != "opus":
        return str(body.get("response_format")).encode()
    return make_voice_note(max(1, len(body["input"].split()) // WORDS_PER_SECOND))
